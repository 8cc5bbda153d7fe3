"""Numbers and moments that a float or a clock does not tell apart: held so that two of them never become one.

A decimal is a float inside where the float says it exactly, and so are whole numbers that fit 64 bits. Longer ones are
held as they are written, in the order of their values, so that they have ranges like other numbers. Moments in a zone
are held as its clock shows them; where the clock goes through an hour twice, in UTC.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from undercover.model.encoding.coded import distinct_values, value_type
from undercover.model.frames.types import comes_back

_LONGEST = 18  # digits that fit 64 bits
_HALF = 1 << 63


def exact_numbers(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Decimals and unsigned numbers as 64-bit numbers where these say the same, otherwise as ordered texts.

    >>> from decimal import Decimal
    >>> exact_numbers(pa.chunked_array([[Decimal("1.2"), Decimal("3.40")]])).to_pylist()
    [1.2, 3.4]
    >>> long = exact_numbers(pa.chunked_array([pa.array([12345678901234567891, 12345678901234567890], pa.uint64())]))
    >>> long.chunk(0).dictionary.to_pylist(), long.type.ordered
    (['12345678901234567890', '12345678901234567891'], True)
    """
    type_ = column.type
    if pa.types.is_integer(type_):
        return _ordered(column) if (pc.max(column).as_py() or 0) >= _HALF else column.cast(pa.int64())
    if type_.scale <= 0 and type_.precision <= _LONGEST:
        return column.cast(pa.int64())
    numbers = column.cast(pa.string()).cast(
        pa.float64()
    )  # by its text: arrow's own way makes 1.2000000000000002 of 1.2
    return numbers if comes_back(column, numbers) else _ordered(column)


def exact_moments(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Moments in a zone as its clock shows them, or in UTC where the clock shows two of them alike.

    >>> berlin = pa.timestamp("s", "Europe/Berlin")
    >>> exact_moments(pa.chunked_array([pa.array([1729987200, 1729990800], berlin)])).cast(pa.string()).to_pylist()
    ['2024-10-27 00:00:00', '2024-10-27 01:00:00']
    >>> exact_moments(pa.chunked_array([pa.array([1729987200], berlin)])).cast(pa.string()).to_pylist()
    ['2024-10-27 02:00:00']
    """
    clock = pc.local_timestamp(column)
    return clock if comes_back(column, clock) else column.cast(pa.timestamp(column.type.unit))


def in_utc(given: pa.Table, held: pa.Table) -> tuple[str, ...]:
    """The columns whose moments are held in UTC, and not as their clock shows them."""
    types = {field.name: value_type(field.type) for field in given.schema}
    zoned = [name for name, type_ in types.items() if pa.types.is_timestamp(type_) and type_.tz is not None]
    pairs = {name: (_values(given.column(name)), _values(held.column(name))) for name in zoned}
    return tuple(name for name, (moments, here) in pairs.items() if not here.equals(pc.local_timestamp(moments)))


def _values(column: pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    return distinct_values(column) if pa.types.is_dictionary(column.type) else column


def _ordered(column: pa.ChunkedArray) -> pa.ChunkedArray:
    values = pc.unique(column).drop_null()
    labels = values.take(pc.sort_indices(values))
    places = pc.index_in(column.combine_chunks(), value_set=labels).cast(pa.int32())
    return pa.chunked_array([pa.DictionaryArray.from_arrays(places, labels.cast(pa.string()), ordered=True)])
