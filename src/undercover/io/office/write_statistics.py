"""Published tables as files of Stata and SPSS, by pyreadstat.

Columns have labels: what is said of them, and the name they have where a program does not allow it. Codes and value
labels come back in a column that came with them and is published unchanged. The same table makes the same bytes: the
time of writing, which the library puts into the first lines, is taken out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from undercover.errors import DataError
from undercover.io.cells import as_texts
from undercover.io.office.held import check_cells, held, refuse
from undercover.model.formats import FORMATS, variables
from undercover.model.formats.writing import Writing
from undercover.model.release import PublishedTable

_WRITTEN = {"sav": (b"$FL2", 92, b"01 Jan 8000:00:00"), "dta": (b"<timestamp>\x11", 12, b"01 Jan 1980 00:00")}
"""What stands before the time of writing, how far from its beginning, and what is written there."""

_LABEL = {"dta": 80, "sav": 255}  # characters of Stata, bytes of SPSS
_VALUE_LABEL = 120  # bytes
_MOST_CODE = 2**31 - 30
_STATA_14 = 14  # the first to know Unicode; the same files are written to this day
_TRUTH = {0: "false", 1: "true"}


def write_statistics(
    table: PublishedTable, path: Path, file_format: str, words: Mapping[str, str], writing: Mapping[str, Writing]
) -> None:
    """Write a table; ``words`` are said of its columns, by their names."""
    import polars

    names = variables([one.name for one in table.columns], file_format)
    columns: dict[str, pa.Array] = {}
    values: dict[str, dict[float, str]] = {}
    shown, problems = {}, []
    for variable, one in zip(names, table.columns, strict=True):
        wrote = writing.get(one.name, Writing())
        cells, labels = _coded(table.data.column(one.name), one.form, file_format, wrote.labels)
        if pa.types.is_string(cells.type):
            problems += check_cells(one.name, cells, file_format)
            cells = cells.fill_null("")
        elif pa.types.is_integer(cells.type) or pa.types.is_floating(cells.type):
            shown[variable] = _shown(cells, file_format, wrote.digits)
        columns[variable] = cells
        values |= {variable: labels} if labels else {}
    refuse(problems, file_format)
    said = {
        variable: label_column(variable, one.name, words.get(one.name, ""), file_format)
        for variable, one in zip(names, table.columns, strict=True)
    }
    options: dict[str, Any] = {"column_labels": said, "variable_value_labels": values, "variable_format": shown}
    if file_format == "sav":
        known = {own: writing.get(one.name) for own, one in zip(names, table.columns, strict=True) if own in values}
        options["variable_measure"] = {own: "ordinal" for own, one in known.items() if one is not None and one.ordered}
    write_frame(polars.from_arrow(pa.table(columns)), path, file_format, options)


def write_frame(frame: Any, path: Path, file_format: str, options: Mapping[str, Any]) -> None:
    """Write a frame of polars with its labels; nothing in the file says when."""
    import pyreadstat

    write = pyreadstat.write_dta if file_format == "dta" else pyreadstat.write_sav
    version = {"version": _STATA_14} if file_format == "dta" else {}
    try:
        write(frame, str(path), **options, **version)
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError) as error:
        raise DataError(
            f"The table cannot be written as a file of {FORMATS[file_format].title}. Choose the format csv or parquet."
        ) from error
    _without_time(path, file_format)


def _coded(
    column: pa.ChunkedArray, form: str, file_format: str, labels: Mapping[float, str]
) -> tuple[pa.Array, dict[float, str]]:
    """A column as codes with labels where it had them, or is true and false; without labels otherwise."""
    cells = held(column, form, file_format)
    if pa.types.is_boolean(cells.type):
        return cells.cast(pa.int8()).cast(pa.float64()), {
            code: _TRUTH[code] for code in sorted({int(one) for one in cells.unique().drop_null().to_pylist()})
        }
    if not labels or form != "value" or not _can_label(labels, file_format):
        return cells, {}
    if not pa.types.is_string(cells.type):
        occurring = set(cells.unique().drop_null().to_pylist())
        # Where every number has a label, whoever reads the file takes the labels for the values.
        return cells, dict(labels) if occurring - set(labels) or len(set(labels.values())) < len(labels) else {}
    code_of = {label: code for code, label in labels.items()}
    texts = as_texts(column)
    if len(code_of) < len(labels) or not set(texts.unique().drop_null().to_pylist()) <= set(code_of):
        return cells, {}
    places = pc.index_in(texts, value_set=pa.array(code_of, pa.string()))
    return pa.array([float(code) for code in code_of.values()]).take(places), {
        code: label for label, code in code_of.items()
    }


def _can_label(labels: Mapping[float, str], file_format: str) -> bool:
    whole = all(float(code).is_integer() and abs(code) < _MOST_CODE for code in labels)
    return (whole or file_format == "sav") and all(
        label == label.rstrip() and 0 < len(label.encode()) <= _VALUE_LABEL and "\0" not in label
        for label in labels.values()
    )


def _shown(numbers: pa.Array, file_format: str, digits: int | None) -> str:
    """How numbers are shown: with the digits that they were written with, or as many as they have."""
    texts = as_texts(pa.chunked_array([numbers])).unique().drop_null().to_pylist()
    if digits is None:
        digits = 0 if pa.types.is_integer(numbers.type) else max((_digits(text) for text in texts), default=0)
    width = min(max((len(text.partition(".")[0]) for text in texts), default=1) + digits + 1, 20)
    return f"%{width}.{min(digits, width - 2)}f" if file_format == "dta" else f"F{width}.{min(digits, width - 2)}"


def _digits(text: str) -> int:
    return len(text.partition(".")[2].partition("e")[0])


def label_column(variable: str, name: str, words: str, file_format: str) -> str:
    """What is said of a column, with its own name before where the file calls it another."""
    parts: Sequence[str] = [part for part in (name if variable != name else "", words) if part]
    label = ": ".join(parts)
    while len(label) > _LABEL[file_format] or len(label.encode()) > _LABEL["sav"]:
        label = label.removesuffix("…")[:-1] + "…"
    return label.rstrip()  # blanks at its end do not come back


def _without_time(path: Path, file_format: str) -> None:
    """Write a day that says nothing over the time at which the file was written."""
    before, offset, never = _WRITTEN[file_format]
    with open(path, "r+b") as file:
        place = file.read(1024).index(before)
        file.seek(place + offset)
        file.write(never)
