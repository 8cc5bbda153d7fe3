"""Published tables as Excel workbooks, by XlsxWriter.

Texts are cells of text, whatever they look like: nothing is made a number, a link or a formula of them. The same table
makes the same bytes, and nothing in the file says who wrote it, where or when.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa

from undercover.io.office.held import check_cells, held, refuse
from undercover.model.formats import FORMATS
from undercover.model.formats.writing import Writing
from undercover.model.release import PublishedTable

NEVER = datetime(1980, 1, 1)
"""When every file was written, for all that it says."""

_SHEET_NAME = 31


def write_excel(table: PublishedTable, path: Path, writing: Mapping[str, Writing]) -> None:
    """Write a table into the only sheet of a workbook; the first row has the names of the columns."""
    columns = [held(table.data.column(one.name), one.form, "xlsx") for one in table.columns]
    pairs = list(zip(table.columns, columns, strict=True))
    names = pa.array([one.name for one in table.columns], pa.string())
    problems = check_cells("the names of columns", names, "xlsx")
    problems += [
        said for one, cells in pairs if pa.types.is_string(cells.type) for said in check_cells(one.name, cells, "xlsx")
    ]
    refuse(problems, "xlsx")
    book, sheet = start_book(str(path), table.name, temporary=path.parent)
    with book:
        shown = [_format(book, writing.get(one.name)) for one in table.columns]
        write = [_writer(sheet, cells.type) for cells in columns]
        for place, column in enumerate(table.columns):
            sheet.write_string(0, place, column.name)
        for row, cells in enumerate(zip(*(column.to_pylist() for column in columns), strict=True), 1):
            for place, cell in enumerate(cells):
                if cell is not None:
                    write[place](row, place, cell, shown[place])


def start_book(target: Any, name: str, temporary: Path | None = None) -> tuple[Any, Any]:
    """A workbook without anything that says who made it or when, and its only sheet."""
    import xlsxwriter

    options = {"constant_memory": True, **({} if temporary is None else {"tmpdir": str(temporary)})}
    book = xlsxwriter.Workbook(target, options)
    book.set_properties({"created": NEVER})
    sheet = book.add_worksheet(name[:_SHEET_NAME])
    sheet.freeze_panes(1, 0)
    sheet.ignore_errors({"number_stored_as_text": f"A1:XFD{FORMATS['xlsx'].rows}"})
    return book, sheet


def _format(book: Any, writing: Writing | None) -> Any:
    """How numbers are shown: with the digits that they were written with."""
    digits = None if writing is None else writing.digits
    return None if digits is None else book.add_format({"num_format": f"0.{'0' * digits}"})


def _writer(sheet: Any, kind: pa.DataType) -> Any:
    return sheet.write_string if pa.types.is_string(kind) else sheet.write_number
