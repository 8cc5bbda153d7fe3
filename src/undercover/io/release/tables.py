"""The tables of a release as files of every format, and back: what comes back is what was published, cell by cell.

Office and statistics programs hold less than a table may have. What they would alter is written as text, and what they
would alter even so is refused: every such file is read again before anybody gets it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyarrow as pa

from undercover.errors import DataError, MissingExtraError, listed
from undercover.io.cells import as_texts
from undercover.io.csv.kinds import lossless
from undercover.io.csv.text import read_csv, write_csv
from undercover.io.parquet import read_parquet, write_parquet
from undercover.io.source import tidy
from undercover.model.cells import CellForm
from undercover.model.formats import FORMATS, check_size, variables
from undercover.model.formats.writing import Writing, with_digits
from undercover.model.release import PublishedTable, Release

_NEEDS = {
    "xlsx": {"xlsxwriter": "XlsxWriter", "python_calamine": "python-calamine"},
    "dta": {"pyreadstat": "pyreadstat", "polars": "polars"},
    "sav": {"pyreadstat": "pyreadstat", "polars": "polars"},
}
"""What writing a format needs, by the name that is imported."""


def check_installed(file_format: str) -> None:
    """Refuse, before any work, a format that cannot be written here."""
    for module, package in _NEEDS.get(file_format, {}).items():
        if find_spec(module) is None:
            raise MissingExtraError(package, "office", f"Writing {FORMATS[file_format].title} files")


def write_table(
    table: PublishedTable, path: Path, file_format: str, words: Mapping[str, Any], writing: Mapping[str, Writing]
) -> list[dict[str, Any]]:
    """Write a table to ``path``; its columns as the manifest lists them.

    ``words`` are what is said of columns (:attr:`Schema.said`), ``writing`` how they were written where they came from.
    """
    names = [column.name for column in table.columns]
    columns: list[dict[str, Any]] = [{"name": one.name, "role": one.role, "form": one.form} for one in table.columns]
    if file_format == "csv":
        data, digits = _written(table.data, writing)
        write_csv(data, path)
        return [{**one, **({"digits": digits[one["name"]]} if one["name"] in digits else {})} for one in columns]
    if file_format == "parquet":
        write_parquet(table.data, path)
        return columns
    check_size(table.rows, len(columns), file_format)
    if file_format == "xlsx":
        from undercover.io.office.write_excel import write_excel

        write_excel(table, path, writing)
    else:
        from undercover.io.office.write_statistics import write_statistics

        write_statistics(table, path, file_format, {name: _words(one) for name, one in words.items()}, writing)
    called = variables(names, file_format)
    columns = [
        {**one, **({"variable": own} if own != one["name"] else {})} for one, own in zip(columns, called, strict=True)
    ]
    _check_same(table, path, columns)
    return columns


def _written(data: pa.Table, writing: Mapping[str, Writing]) -> tuple[pa.Table, dict[str, int]]:
    """A table with its decimals as they were written, and the digits after the point of each such column."""
    digits = {}
    for place, name in enumerate(data.column_names):
        wanted = writing[name].digits if name in writing else None
        texts = None if wanted is None else with_digits(data.column(name), wanted)
        if texts is not None and wanted is not None:
            data, digits[name] = data.set_column(place, name, texts), wanted
    return data, digits


def _words(said: Mapping[str, str]) -> str:
    unit = f" ({said['unit']})" if said.get("unit") else ""
    return f"{said.get('description', '')}{unit}".strip()


def _check_same(table: PublishedTable, path: Path, columns: Sequence[Mapping[str, Any]]) -> None:
    """Raise where a file does not give the cells back that were written to it."""
    again = read_table(path, columns, table.rows)
    changed = [
        name
        for name in table.data.column_names
        if not as_texts(table.data.column(name)).equals(as_texts(again.column(name)))
    ]
    if changed:
        raise DataError(
            f"{FORMATS[path.suffix[1:]].title} does not give {listed(changed)} back as it is written. "
            "Choose the format csv or parquet."
        )


def read_table(path: Path, columns: Sequence[Mapping[str, Any]], rows: int) -> pa.Table:
    """A file of a release by its manifest; columns that are not as it says keep the names that they have."""
    kind, names = path.suffix[1:], [column["name"] for column in columns]
    if kind == "csv":
        generalized = [column["name"] for column in columns if column["form"] != "value"]
        found = read_csv(path, separator=",", decimal=".", encoding="utf-8", text=None, dictionaries=generalized)[0]
        return _numbers(found, columns)
    if kind == "parquet":
        return read_parquet(path)
    if kind not in FORMATS:
        raise DataError(f"`{path}` is of no format that tables are published in. There are: {listed(FORMATS)}.")
    if kind == "xlsx":
        from undercover.io.office.excel import read_excel

        found = _filled_up(read_excel(path, None)[0], rows)
    else:
        from undercover.io.office.statistics import read_statistics

        found = read_statistics(path)[0]
    found = tidy(found, where=f"`{path.name}`")
    own = {column.get("variable") or column["name"]: column["name"] for column in columns}
    if len(own) < len(names):
        return found
    return found.rename_columns([own.get(name, name) for name in found.column_names])


def _filled_up(sheet: pa.Table, rows: int) -> pa.Table:
    """A sheet does not tell whether there are rows of empty cells below it; the manifest does."""
    lacking = rows - sheet.num_rows
    if lacking <= 0:
        return sheet
    return pa.table(
        {
            name: pa.concat_arrays([*sheet.column(name).chunks, pa.nulls(lacking, sheet.schema.field(name).type)])
            for name in sheet.column_names
        }
    )


def _numbers(data: pa.Table, columns: Sequence[Mapping[str, Any]]) -> pa.Table:
    """Numbers that are written with as many digits after the point as the manifest says."""
    for column in columns:
        name, digits = column["name"], column.get("digits")
        if digits is None or name not in data.column_names:
            continue
        texts = data.column(name)
        try:
            numbers = texts.cast(pa.float64())
            again = with_digits(numbers, digits)
        except pa.ArrowInvalid:
            again = None
        if again is None or not again.combine_chunks().equals(texts.combine_chunks()):
            raise DataError(
                f"Column `{name}` is not of numbers with {digits} digits after the point, as its manifest says."
            )
        data = data.set_column(data.column_names.index(name), name, _whole(numbers))
    return data


def _whole(numbers: pa.ChunkedArray) -> pa.ChunkedArray:
    try:
        return numbers.cast(pa.int64())
    except pa.ArrowInvalid:  # one has a fraction
        return numbers


def format_of(folder: Path) -> str:
    """The format of the tables in a public folder; CSV where there are none."""
    return next((kind for kind in FORMATS if any(folder.glob(f"*.{kind}"))), "csv")


def file_notes(release: Release, file_format: str) -> list[str]:
    """What whoever opens the files must know: columns that have another name in them, and values that are texts."""
    if file_format in ("csv", "parquet"):
        return []
    from undercover.io.office.held import held

    title = FORMATS[file_format].title
    renamed: dict[str, None] = {}
    texts: dict[str, None] = {}
    for table in release.tables:
        names = [column.name for column in table.columns]
        own = zip(names, variables(names, file_format), strict=True)
        renamed |= {f"`{other}` for `{name}`": None for name, other in own if other != name}
        for column in table.columns:
            values = table.data.column(column.name)
            kind = values.type.value_type if pa.types.is_dictionary(values.type) else values.type
            if column.form == "value" and not (pa.types.is_string(kind) or pa.types.is_boolean(kind)):
                texts |= {column.name: None} if pa.types.is_string(held(values, "value", file_format).type) else {}
    said = [f"The {title} file has names that {title} allows: {', '.join(renamed)}."] if renamed else []
    if texts:
        said.append(f"In the {title} file {listed(texts)} are texts, so that every value stays as it is published.")
    return said


def joined(parts: Sequence[pa.Table]) -> pa.Table:
    """Parts of a table one after the other; a column that was read differently is text until it is read whole."""
    if len(parts) == 1:
        return parts[0]
    names = [name for name in parts[0].column_names if all(name in part.column_names for part in parts)]
    columns = {}
    for name in names:
        held = [part.column(name) for part in parts]
        held = [one.cast(one.type.value_type) if pa.types.is_dictionary(one.type) else one for one in held]
        if len({one.type for one in held}) > 1:
            held = [one.cast(pa.string()) for one in held]
        columns[name] = pa.chunked_array([chunk for one in held for chunk in one.chunks], held[0].type)
    return pa.table(columns)


def as_published(column: Any, form: CellForm) -> Any:
    """A column of a file as a release holds it: numbers and days where nothing is lost by it, dictionaries of text."""
    coded = pa.types.is_dictionary(column.type)
    if form != "value" and coded and pa.types.is_string(column.type.value_type):
        return column.unify_dictionaries().combine_chunks()
    if coded:
        column = column.cast(column.type.value_type)
    if form == "value":
        return lossless(column) if pa.types.is_string(column.type) else column
    texts = column if pa.types.is_string(column.type) else column.cast(pa.string())
    return texts.combine_chunks().dictionary_encode()
