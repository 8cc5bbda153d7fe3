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

from undercover.errors import DataError
from undercover.model.table import write_values

EXACT = 2**53
"""Below this every whole number is a double of its own."""


def column(cells: Sequence[Any], kinds: set[type] | None = None) -> pa.Array:
    """The cells as one column; ``None`` is missing. ``kinds`` are their types, where somebody knows.

    >>> column([1.0, None, 3.0]).to_pylist(), column(["007", 7.0, 1.5]).to_pylist()
    ([1, None, 3], ['007', '7', '1.5'])
    """
    kinds = set(map(type, cells)) - {type(None)} if kinds is None else kinds
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
    except (OverflowError, pa.ArrowInvalid, pa.ArrowTypeError):  # more digits than a number holds, or no number
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


def texts(values: pa.Array) -> pa.Array:
    """Values as they are written in a release: whole numbers without a fraction, dates in ISO form."""
    if pa.types.is_floating(values.type):
        finite = pc.if_else(pc.is_nan(values), pa.scalar(None, values.type), values)
        if pc.any(pc.is_inf(finite)).as_py():
            raise DataError("A table with infinite numbers cannot be written. Leave these cells empty.")
        present = finite.drop_null()
        texts = pa.array(write_values(present), pa.string())
        return pc.replace_with_mask(pa.nulls(len(values), pa.string()), pc.is_valid(finite), texts)
    if pa.types.is_string(values.type) or values.null_count:
        return values.cast(pa.string())
    return pa.array(write_values(values), pa.string())


def as_texts(column: pa.ChunkedArray) -> pa.Array:
    """A published column as the texts of its cells; what is empty is missing.

    >>> as_texts(pa.chunked_array([[1.0, None, 2.5]])).to_pylist(), as_texts(pa.chunked_array([["", "a"]])).to_pylist()
    (['1', None, '2.5'], [None, 'a'])
    """
    coded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    whole = coded.unify_dictionaries().combine_chunks()
    whole = whole.chunk(0) if isinstance(whole, pa.ChunkedArray) else whole
    written = texts(whole.dictionary).take(whole.indices)
    return pc.if_else(pc.equal(written, ""), pa.scalar(None, pa.string()), written)
