"""Numbers and moments that a float or a clock does not tell apart: held so that two of them never become one.

A decimal is a float inside where the float says it exactly, and so are whole numbers that fit 64 bits. Longer ones are
held as they are written, in the order of their values, so that they have ranges like other numbers. Moments in a zone
are held as its clock shows them; where the clock goes through an hour twice, in UTC.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from numbers import Integral, Real
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from undercover.model.encoding.coded import distinct_values, value_type
from undercover.model.frames.types import comes_back

LONG = "they have more digits than a number tells apart, and no two of them become one"
"""Why numbers are texts."""
_LONGEST = 18  # digits that fit 64 bits
_HALF = 1 << 63
_TOLD_APART = 15  # characters up to which every number is a double of its own, unless it is too small for one
_SMALLEST = 2.3e-308  # nearer to zero doubles have fewer digits
_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896  # 0001-01-01 and 9999-12-31, in days since 1970
_A_DAY = {"s": 86_400, "ms": 86_400 * 10**3, "us": 86_400 * 10**6, "ns": 86_400 * 10**9}


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


def become_one(column: Any, numbers: Any) -> bool:
    """Whether two different numbers of a column of texts are one double.

    >>> texts = pa.chunked_array([["9007199254740993", "9007199254740992", "1.5", "1.50"]])
    >>> become_one(texts, texts.cast(pa.float64())), become_one(texts[1:], texts[1:].cast(pa.float64()))
    (True, False)
    """
    tiny = pc.and_(pc.less(pc.abs(numbers), _SMALLEST), pc.match_substring_regex(column, "^[^eE]*[1-9]"))
    doubtful = numbers.filter(pc.or_(pc.greater(pc.binary_length(column), _TOLD_APART), tiny))
    if not len(doubtful):
        return False
    there = pc.is_in(numbers, value_set=doubtful)
    pairs = pa.table([column.filter(there), numbers.filter(there)], names=["text", "number"])
    pairs = pairs.group_by(["text", "number"]).aggregate([])
    if len(pairs) == pc.count_distinct(pairs["number"]).as_py():
        return False
    meant: dict[float, Decimal] = {}
    texts = pc.utf8_trim_whitespace(pairs["text"]).to_pylist()
    return any(
        meant.setdefault(number, Decimal(text)) != Decimal(text)
        for text, number in zip(texts, pairs["number"].to_pylist(), strict=True)
    )


def one_each(column: Any, decimal: str = ".") -> Any:
    """Texts of numbers with one text for each number, the shortest: 0.50 is 0.5, whatever its digits are."""
    texts = pc.unique(column).drop_null()
    numbers = [Decimal(text.strip().replace(decimal, ".")) for text in texts.to_pylist()]
    if len(set(numbers)) == len(numbers):
        return column
    pairs = sorted(zip(texts.to_pylist(), numbers, strict=True), key=lambda pair: (len(pair[0]), pair[0]), reverse=True)
    shortest = {number: text for text, number in pairs}
    places = pc.index_in(column, value_set=texts)
    return pa.array([shortest[number] for number in numbers], pa.string()).take(places)


def beyond_calendar(values: Any) -> bool:
    """Whether a day or a moment lies outside the years 1 to 9999.

    >>> beyond_calendar(pa.array([-719_163], pa.date32())), beyond_calendar(pa.array([0], pa.timestamp("us")))
    (True, False)
    """
    days = pa.types.is_date32(values.type)
    ends = pc.min_max(values.cast(pa.int32() if days else pa.int64())).as_py()
    a_day = 1 if days else 1000 * 86_400 if pa.types.is_date64(values.type) else _A_DAY[values.type.unit]
    return ends["min"] is not None and not _FIRST_DAY * a_day <= ends["min"] <= ends["max"] < (_LAST_DAY + 1) * a_day


def exact_cells(cells: Sequence[Any]) -> pa.Array:
    """Numbers of several kinds, or of more digits than 64 bits hold, as decimals.

    >>> exact_cells([2**64, None, Decimal("0.5"), 0.25]).to_pylist()
    [Decimal('18446744073709551616.00'), None, Decimal('0.50'), Decimal('0.25')]
    """
    return pa.array([None if cell is None or cell != cell else _exact(cell) for cell in cells])


def _exact(cell: Any) -> Decimal:
    if isinstance(cell, bool) or not isinstance(cell, Decimal | Real):
        raise pa.ArrowTypeError(f"a number is expected, and there is {type(cell).__name__}")
    if isinstance(cell, Decimal):
        return cell
    return Decimal(int(cell)) if isinstance(cell, Integral) else Decimal(repr(float(cell)))


def long_numbers(given: pa.Table, held: pa.Table) -> dict[str, str]:
    """What the holder should know of columns whose numbers are held as they are written."""
    types = {field.name: value_type(field.type) for field in given.schema}
    texts = {name for name, type_ in types.items() if not pa.types.is_string(type_) and _is_text(held, name)}
    exact = [n for n in types if n in texts and (pa.types.is_decimal(types[n]) or pa.types.is_integer(types[n]))]
    return {name: f"`{name}` is held as text, in the order of its numbers: {LONG}." for name in exact}


def _is_text(held: pa.Table, name: str) -> bool:
    return bool(pa.types.is_string(value_type(held.schema.field(name).type)))


def _values(column: pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    return distinct_values(column) if pa.types.is_dictionary(column.type) else column


def _ordered(column: pa.ChunkedArray) -> pa.ChunkedArray:
    values = pc.unique(column).drop_null()
    labels = values.take(pc.sort_indices(values))
    places = pc.index_in(column.combine_chunks(), value_set=labels).cast(pa.int32())
    return pa.chunked_array([pa.DictionaryArray.from_arrays(places, labels.cast(pa.string()), ordered=True)])
