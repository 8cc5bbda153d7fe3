"""The tables of a release as files of every format, and back: what comes back is what was published, cell by cell.

Office and statistics programs hold less than a table may have. What they would alter is written as text, and what they
would alter even so is refused: every such file is read again before anybody gets it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from undercover.errors import DataError, MissingExtraError, listed
from undercover.io.cells import as_texts
from undercover.io.csv.kinds import lossless
from undercover.io.csv.text import read_csv, write_csv
from undercover.io.parquet import read_parquet, write_parquet
from undercover.io.release.formulas import ESCAPED, for_spreadsheets, renamed, unescaped, with_texts
from undercover.io.release.formulas import escaped as escape
from undercover.io.release.parts import write_parts
from undercover.io.release.ways import in_own_way, read_own_way, ways
from undercover.io.residue.csv import find_in_csv
from undercover.io.residue.found import Residue
from undercover.io.source import sha256, tidy
from undercover.memory import Store
from undercover.model.cells import CellForm
from undercover.model.formats import FORMATS, IN_PARTS, Files, check_size, variables
from undercover.model.formats.writing import Writing
from undercover.model.frames.types import one_piece
from undercover.model.release import PublishedTable, Release

_TEXTS = pa.dictionary(pa.int32(), pa.string())
_NEEDS = {
    "xlsx": {"xlsxwriter": "XlsxWriter", "python_calamine": "python-calamine"},
    "dta": {"pyreadstat": "pyreadstat", "polars": "polars"},
    "sav": {"pyreadstat": "pyreadstat", "polars": "polars"},
}
"""What writing a format needs, by the name that is imported."""
_APOSTROPHES = (
    "So that no spreadsheet takes a cell for a formula, an apostrophe stands before every =, +, -, @, tab and carriage "
    "return with which a cell or the name of a column begins, numbers aside, or goes on behind a separator, a line "
    "break or a quotation mark. Programs that calculate with such texts take it away."
)


def check_installed(file_format: str) -> None:
    """Refuse, before any work, a format that cannot be written here."""
    for module, package in _NEEDS.get(file_format, {}).items():
        if find_spec(module) is None:
            raise MissingExtraError(package, "office", f"Writing {FORMATS[file_format].title} files")


def write_table(
    table: PublishedTable, folder: Path, files: Files, words: Mapping[str, Any], writing: Mapping[str, Writing]
) -> dict[str, Any]:
    """Write a table into a folder, to one file or to parts; what the manifest says of it.

    ``words`` are what is said of columns (:attr:`Schema.said`), ``writing`` how they were written where they came from.
    """
    names, (own, said) = files.names(table.name, table.rows), ways(table.data, files, writing)
    columns = [{**one, **said.get(one["name"], {})} for one in _columns(table)]
    safe = {"escaped": ESCAPED} if files.escaped else {}
    if files in IN_PARTS:
        write = write_csv if files == "csv" else write_parquet

        def write_part(data: pa.Table, path: Path) -> None:
            data = in_own_way(data, own)
            write(with_texts(data, escape) if safe else data, path)

        written = write_parts(table.data, folder, names, write_part)
        if len(written) > 1:
            return {"name": table.name, "rows": table.rows, "parts": written, **safe, "columns": columns}
    else:
        path = folder / names[0]
        columns = _write_office(replace(table, data=in_own_way(table.data, own)), path, files, words, writing, columns)
        _check_same(table, path, columns, files.escaped)
        written = [{"file": path.name, "rows": table.rows, "sha256": sha256(path)}]
    return {"name": table.name, **written[0], **safe, "columns": columns}


def _columns(table: PublishedTable) -> list[dict[str, Any]]:
    return [
        {"name": one.name, "role": one.role, "form": one.form}
        | ({} if one.ends == "exact" else {"ends": one.ends})
        | ({} if one.spellings is None else {"spellings": one.spellings})
        for one in table.columns
    ]


def _write_office(
    table: PublishedTable,
    path: Path,
    file_format: Files,
    words: Mapping[str, Any],
    writing: Mapping[str, Writing],
    columns: Sequence[dict[str, Any]],
) -> list[dict[str, Any]]:
    """A file of an office or statistics program; its columns with the names that they have there."""
    names = [column.name for column in table.columns]
    check_size(table.rows, len(columns), file_format)
    safe = file_format.escaped
    if file_format == "xlsx":
        from undercover.io.office.write_excel import write_excel

        write_excel(*((for_spreadsheets(table), path, renamed(writing)) if safe else (table, path, writing)))
    else:
        from undercover.io.office.write_statistics import write_statistics

        write_statistics(table, path, file_format, {name: describe_column(one) for name, one in words.items()}, writing)
    called = variables(names, file_format)
    return [
        {**one, **({"variable": own} if own != one["name"] else {})} for one, own in zip(columns, called, strict=True)
    ]


def describe_column(said: Mapping[str, str]) -> str:
    """What the holder says of a column, with its unit."""
    unit = f" ({said['unit']})" if said.get("unit") else ""
    return f"{said.get('description', '')}{unit}".strip()


def _check_same(table: PublishedTable, path: Path, columns: Sequence[Mapping[str, Any]], safe: bool) -> None:
    """Raise where a file does not give the cells back that were written to it."""
    again = read_table(path, columns, table.rows, escaped=safe)
    changed = [
        name
        for name in table.data.column_names
        if name not in again.column_names or not as_texts(table.data.column(name)).equals(as_texts(again.column(name)))
    ]
    if changed:
        raise DataError(
            f"{FORMATS[path.suffix[1:]].title} does not give {listed(changed)} back as it is written. "
            "Choose the format csv or parquet."
        )


def read_table(
    path: Path,
    columns: Sequence[Mapping[str, Any]],
    rows: int,
    store: Store | None = None,
    *,
    escaped: bool = False,
    residue: Residue | None = None,
    words: Mapping[str, Any] | None = None,
) -> pa.Table:
    """A file of a release by its manifest; columns that are not as it says keep the names that they have.

    With a ``store`` a CSV or Parquet file is read batch by batch, and all columns are held as codes. Cells that are
    ``escaped`` come back as they were. What the file holds beside its cells is added to ``residue``, where one is
    given; ``words`` are what the holder says of columns, which some formats repeat.
    """
    kind, names = path.suffix[1:], [column["name"] for column in columns]
    if kind == "csv":
        generalized = [column["name"] for column in columns if column["form"] != "value"]
        generalized = [escape(name) for name in generalized] if escaped else generalized
        how: dict[str, Any] = {"separator": ",", "decimal": ".", "encoding": "utf-8", "text": None}
        found = read_csv(path, **how, dictionaries=generalized, store=store)[0]
        if residue is not None:
            residue.add(find_in_csv(path, found))
        return read_own_way(with_texts(found, unescaped) if escaped else found, columns)
    if kind == "parquet":
        data = read_parquet(path, store)
        if residue is not None:
            from undercover.io.residue.parquet import find_in_parquet

            residue.add(find_in_parquet(path))
        return read_own_way(data, columns)
    if kind not in FORMATS:
        raise DataError(f"`{path}` is of no format that tables are published in. There are: {listed(FORMATS)}.")
    if kind == "xlsx":
        from undercover.io.office.excel import read_excel

        found = read_excel(path, None)[0]
        if residue is not None:
            from undercover.io.residue.workbook import find_in_workbook

            residue.add(find_in_workbook(path, path.stem, len(columns), rows))
        found = _filled_up(with_texts(found, unescaped) if escaped else found, rows)
    else:
        from undercover.io.office.statistics import read_statistics

        found = read_statistics(path)[0]
        if residue is not None:
            from undercover.io.residue.statistics import find_in_statistics

            said = {name: describe_column(one) for name, one in (words or {}).items()}
            residue.add(find_in_statistics(path, columns, said))
    found = tidy(found, where=f"`{path.name}`")
    own = {column.get("variable") or column["name"]: column["name"] for column in columns}
    if len(own) < len(names):
        return found
    return read_own_way(found.rename_columns([own.get(name, name) for name in found.column_names]), columns)


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


def format_of(folder: Path) -> str:
    """The format of the tables in a public folder; CSV where there are none."""
    return next((kind for kind in FORMATS if any(folder.glob(f"*.{kind}"))), "csv")


def file_notes(release: Release, file_format: str) -> list[str]:
    """What whoever opens the files must know: columns that have another name in them, and values that are texts."""
    said = [_APOSTROPHES] if Files(file_format).escaped else []
    if file_format in ("csv", "parquet"):
        return said
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
    said += [f"The {title} file has names that {title} allows: {', '.join(renamed)}."] if renamed else []
    if texts:
        said.append(f"In the {title} file {listed(texts)} are texts, so that every value stays as it is published.")
    return said


def as_read_back(release: Release) -> Release:
    """The release as a reader of its files has it: texts of unchanged cells that are all numbers or days are those.

    What a datasheet says follows from the files, so that a verifier can make it anew.
    """
    tables = []
    for table in release.tables:
        data = table.data
        for place, column in enumerate(table.columns):
            held = data.column(column.name)
            texts = held.type.value_type if pa.types.is_dictionary(held.type) else held.type
            if column.form == "value" and pa.types.is_string(texts):
                read = as_published(_of_occurring(held), "value", large=True)
                data = data.set_column(
                    place, column.name, pa.chunked_array([read]) if isinstance(read, pa.Array) else read
                )
        tables.append(replace(table, data=data))
    return replace(release, tables=tuple(tables))


def _of_occurring(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column of texts, coded by the values that occur and no others; empty ones are missing, as in files."""
    whole = one_piece(column)
    whole = whole if pa.types.is_dictionary(whole.type) else whole.dictionary_encode()
    if not len(whole.dictionary):
        return column
    texts = pc.if_else(pc.equal(whole.dictionary, ""), pa.scalar(None, whole.dictionary.type), whole.dictionary)
    indices = np.asarray(whole.indices.fill_null(0))
    present = np.asarray(whole.indices.is_valid()) & np.asarray(texts.is_valid())[indices]
    used = np.unique(indices[present])
    own = pa.array(np.searchsorted(used, indices).astype(np.int32), mask=~present)
    return pa.chunked_array([pa.DictionaryArray.from_arrays(own, texts.take(pa.array(used)))])


def as_published(column: Any, form: CellForm, *, large: bool = False) -> Any:
    """A column of a file as a release holds it: numbers and days where nothing is lost by it, dictionaries of text.

    Of a ``large`` table it stays coded, whatever its cells are.
    """
    coded = pa.types.is_dictionary(column.type)
    if coded and large:
        whole = one_piece(column)
        values = as_published(pa.chunked_array([whole.dictionary]), form)
        values = values.dictionary_decode() if pa.types.is_dictionary(values.type) else one_piece(values)
        return pa.DictionaryArray.from_arrays(whole.indices, values, ordered=form == "value")  # see `as_values`
    if form != "value" and coded and pa.types.is_string(column.type.value_type):
        return column.cast(_TEXTS).unify_dictionaries().combine_chunks()
    if coded:
        column = column.cast(column.type.value_type)
    if form == "value":
        return lossless(column) if pa.types.is_string(column.type) else column
    texts = column if pa.types.is_string(column.type) else column.cast(pa.string())
    return texts.combine_chunks().dictionary_encode()
