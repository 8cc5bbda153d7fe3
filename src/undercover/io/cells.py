"""Columns of cells that each have a type: workbooks, JSON and statistics programs type cells, a table types columns.

Nothing is guessed from texts: ``"007"``, ``"NA"`` and ``"a "`` stay what they are. Numbers that are all whole make
int64, as everywhere. Cells of different types make a column of text, each cell as it is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

EXACT = 2**53
"""Below this every whole number is a double of its own."""


def column(cells: Sequence[Any]) -> pa.Array:
    """The cells as one column; ``None`` is missing.

    >>> column([1.0, None, 3.0]).to_pylist(), column(["007", 7.0, 1.5]).to_pylist()
    ([1, None, 3], ['007', '7', '1.5'])
    """
    kinds = set(map(type, cells)) - {type(None)}
    if kinds and kinds <= {int, float}:
        return _numbers(cells, kinds)
    if kinds == {date, datetime}:
        return pa.array([_as_time(cell) for cell in cells], pa.timestamp("us"))
    if len(kinds) == 1 and not kinds & {time, timedelta}:
        return pa.array(cells)
    return _texts(cells)


def _numbers(cells: Sequence[Any], kinds: set[type]) -> pa.Array:
    try:
        if float not in kinds:
            return pa.array(cells, pa.int64())
        numbers = pa.array(cells, pa.float64(), from_pandas=True)
    except (OverflowError, pa.ArrowInvalid):  # more digits than a number holds
        return _texts(cells)
    return numbers.cast(pa.int64()) if whole(numbers) and not beyond(numbers) else numbers


def whole(numbers: pa.Array) -> bool:
    """Whether no number has a fraction."""
    return bool(pc.all(pc.equal(numbers, pc.trunc(numbers))).as_py())


def beyond(numbers: pa.Array) -> bool:
    """Whether a number is so large that doubles leave whole numbers out."""
    return bool(pc.any(pc.greater_equal(pc.abs(numbers), float(EXACT))).as_py())


def _as_time(cell: date | None) -> datetime | None:
    if cell is None or isinstance(cell, datetime):
        return cell
    return datetime(cell.year, cell.month, cell.day)


def _texts(cells: Sequence[Any]) -> pa.Array:
    return pa.array([None if cell is None else written(cell) for cell in cells], pa.string())


def written(cell: Any) -> str:
    """A cell as it is written in a table of text."""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < EXACT:
        return str(int(cell))
    return str(cell)
