"""Cells that a spreadsheet would take for formulas, and the apostrophe that keeps it from it.

A spreadsheet calculates what begins with =, +, -, @, a tab or a carriage return, in a cell of a CSV file and, where it
takes another mark for the separator, behind a separator, a line break or a quotation mark inside one. A release that is
``safe for spreadsheets`` has an apostrophe before each of these, in cells and names of columns; so has whatever had
apostrophes there already, so that taking one away gives every text back. A number (-5, +1.5e3) is left as it is.

Its manifest says ``escaped`` of such a table. Whoever reads it with undercover has the cells as they were: what is
verified, attacked and published again is the table itself, and escaping that again makes the same file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from undercover.errors import listed
from undercover.model.encoding.coded import Coded, value_type
from undercover.model.figures import counted
from undercover.model.formats import Files
from undercover.model.release import PublishedTable, Release
from undercover.wording import option

ESCAPED = "apostrophe"
"""What a manifest says of a table whose cells are escaped in this way."""

_BEGINS, _BEHIND = r"[=+\-@\t\r＝＋－＠]", r"[;,|\t\r\n\"]"
_LIKE_FORMULA = rf"(^|{_BEHIND})'*{_BEGINS}"
_BEFORE = re.compile(rf"(?:^|(?<={_BEHIND}))(?='*{_BEGINS})")
_MARK = re.compile(rf"(?:^|(?<={_BEHIND}))'(?='*{_BEGINS})")
_NUMBER = r"[+-]?([0-9]+([.,][0-9]+)?|[.,][0-9]+)([eE][+-]?[0-9]+)?"


def escaped(text: str) -> str:
    """A text that no spreadsheet calculates.

    >>> [escaped(text) for text in ("=1+1", "-5", "a;=b", "'=x", "[-5, 3]")]
    ["'=1+1", '-5', "a;'=b", "''=x", '[-5, 3]']
    """
    return text if re.fullmatch(_NUMBER, text) else _BEFORE.sub("'", text)


def unescaped(text: str) -> str:
    """The text that was escaped.

    >>> unescaped("'=1+1"), unescaped("-5"), unescaped("it's")
    ('=1+1', '-5', "it's")
    """
    return _MARK.sub("", text)


def with_texts(data: pa.Table, change: Callable[[str], str]) -> pa.Table:
    """A table with other texts in its cells and names; columns without anything like a formula stay as they are."""
    columns = [_changed(column, change) for column in data.columns]
    return pa.table(columns, names=[change(name) for name in data.column_names])


def for_spreadsheets(table: PublishedTable) -> PublishedTable:
    """A published table with escaped cells and names."""
    columns = tuple(replace(column, name=escaped(column.name)) for column in table.columns)
    return PublishedTable(table.name, columns, with_texts(table.data, escaped))


def _changed(column: pa.ChunkedArray, change: Callable[[str], str]) -> pa.ChunkedArray:
    if not pa.types.is_string(value_type(column.type)):
        return column
    coded = Coded.of(column)
    like = pc.match_substring_regex(coded.values, _LIKE_FORMULA)
    if not pc.any(like).as_py():
        return column
    pairs = zip(coded.values.to_pylist(), like.to_pylist(), strict=True)
    changed = coded.changed(pa.array([change(text) if formula else text for text, formula in pairs], pa.string()))
    return changed.column() if pa.types.is_dictionary(column.type) else changed.column().cast(pa.string())


def formula_note(release: Release, files: str) -> list[str]:
    """How many cells a spreadsheet would calculate, where nothing keeps it from it; for the holder."""
    if files != "csv" or Files(files).escaped:
        return []
    cells: dict[str, int] = {}
    for table in release.tables:
        for name in table.data.column_names:
            found = _like_formulas(table.data.column(name))
            cells |= {name: cells.get(name, 0) + found} if found else {}
    names = {column.name for table in release.tables for column in table.columns if column.name != escaped(column.name)}
    if not cells and not names:
        return []
    what = [counted(sum(cells.values()), "cell")] if cells else []
    what += [counted(len(names), "name of a column", "names of columns")] if names else []
    where, cure = listed(dict.fromkeys([*cells, *sorted(names)])), option(safe_for_spreadsheets=True)
    return [
        f"A spreadsheet would calculate {' and '.join(what)} ({where}), which begin or go on like formulas. Where the "
        f"file may be opened in one: {cure}."
    ]


def _like_formulas(column: Any) -> int:
    """How many cells of a column are like formulas, and no numbers."""
    if not pa.types.is_string(value_type(column.type)):
        return 0
    coded = Coded.of(column)
    number = pc.match_substring_regex(coded.values, f"^{_NUMBER}$")
    like = pc.and_not(pc.match_substring_regex(coded.values, _LIKE_FORMULA), number)
    return int(coded.counts()[:-1][like.to_numpy(zero_copy_only=False)].sum()) if pc.any(like).as_py() else 0


def renamed(said: Mapping[str, Any]) -> dict[str, Any]:
    """What is known of columns, by the names that they have in the file."""
    return {escaped(name): one for name, one in said.items()}
