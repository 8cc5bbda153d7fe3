"""Sheets of Excel workbooks, by python-calamine.

The first row that holds anything names the columns. Excel types cells, not columns: a postcode that is stored as text
keeps its zeros, a text that looks like a number stays a text, and a number that is shown with leading zeros is read as
it is shown. What a sheet cannot tell exactly is refused: merged cells, and whole numbers of more digits than Excel
keeps. A cell that shows an error (#N/A) is missing.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree.ElementTree import ParseError

import pyarrow as pa

from undercover.errors import DataError, MissingExtraError, damaged, listed, unknown, unreadable
from undercover.io.cells import beyond, column, whole, written
from undercover.io.limits import check_workbook
from undercover.io.office.zeros import leading_zeros, letters_of
from undercover.parsing import BROKEN_ARCHIVE, MALFORMED


def read_excel(path: Path, sheet: str | None = None) -> tuple[pa.Table, str]:
    """Read a sheet, the first that is visible where none is named; the table, and how it was read."""
    try:
        import python_calamine as calamine
    except ImportError as error:
        raise MissingExtraError("python-calamine", "office", "Reading an Excel file") from error
    try:
        check_workbook(path)
        with calamine.load_workbook(str(path)) as book:
            known = {item.name: item for item in book.sheets_metadata if item.typ == calamine.SheetTypeEnum.WorkSheet}
            shown = [name for name, item in known.items() if item.visible == calamine.SheetVisibleEnum.Visible]
            name = sheet or (shown[0] if shown else "")
            if not name:
                raise DataError(f"`{path}` has no visible sheet. Name one of {listed(known)}: {path.name}#SHEET.")
            if name not in known:
                raise DataError(f"`{path}`: " + unknown("Sheet", name, known))
            found = book.get_sheet_by_name(name)
            rows, merged = found.to_python(skip_empty_area=True), found.merged_cell_ranges
            start = found.start or (0, 0)
        for (row, place), digits in leading_zeros(path, name).items():
            if isinstance(cell := rows[row - start[0]][place - start[1]], float) and cell >= 0 and cell.is_integer():
                rows[row - start[0]][place - start[1]] = f"{int(cell):0{digits}d}"
    except (calamine.CalamineError, ParseError, *BROKEN_ARCHIVE, *MALFORMED) as error:
        raise DataError(damaged(f"`{path}`", "it is not an Excel file that can be read")) from error
    except OSError as error:
        raise DataError(unreadable(f"`{path}`", error)) from error
    where = f"`{path}`, sheet `{name}`"
    if merged:
        row, place = merged[0][0]
        raise DataError(f"{where} has merged cells, first {letters_of(place)}{row + 1}. Unmerge them; fill every cell.")
    while rows and not any(cell != "" for cell in rows[-1]):
        rows.pop()
    if len(rows) < 2:
        raise DataError(f"{where} has no rows below the names of its columns.")
    more = f", the first of {len(known)} (another: {path.name}#SHEET)" if sheet is None and len(known) > 1 else ""
    return _table(rows, where, start[1]), f"an Excel file, sheet `{name}`{more}"


def sheets(path: Path) -> tuple[str, ...]:
    """The sheets of a workbook that are visible, in order; none where it cannot be read."""
    import python_calamine as calamine

    try:
        with calamine.load_workbook(str(path)) as book:
            return tuple(
                item.name
                for item in book.sheets_metadata
                if item.typ == calamine.SheetTypeEnum.WorkSheet and item.visible == calamine.SheetVisibleEnum.Visible
            )
    except (calamine.CalamineError, OSError, *BROKEN_ARCHIVE, *MALFORMED):
        return ()


def _table(rows: list[list[Any]], where: str, first: int) -> pa.Table:
    names, columns, problems = [], [], []
    for place, (head, *cells) in enumerate(zip(*rows, strict=True), first):
        values = column([None if cell == "" else cell for cell in cells])
        if head == "":
            if values.null_count < len(values):
                problems.append(f"Column {letters_of(place)} has cells and no name. Write one into its first row.")
            continue
        if pa.types.is_floating(values.type) and whole(values) and beyond(values):
            problems.append(
                f"Column `{written(head)}` holds whole numbers of more than 15 digits, of which Excel keeps only 15. "
                "Store them as text, or give the table as CSV."
            )
        names.append(written(head))
        columns.append(values)
    if problems:
        raise DataError([f"{where}: {problem}" for problem in problems])
    return pa.table(columns, names=names)
