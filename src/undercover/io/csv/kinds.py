"""From text to numbers and dates: a column is what all of its values are.

All whole numbers make int64, all numbers float64, all ISO dates date32, all ISO times a timestamp; everything else
stays text. Text it stays as well where a number would lose something: a leading zero (postcode 01234), more digits than
an int64 holds, or decimals that no double tells apart. A spelled-out NaN or infinity among numbers is an error, not a
number. A comma is taken for a decimal mark only where it does not separate fields and where no thousands are meant.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from undercover.errors import DataError, listed
from undercover.model.frames.exact import LONG, become_one, beyond_calendar, one_each
from undercover.model.table import write_values
from undercover.wording import in_data

WHOLE, NUMBER, DATE, TIME, TEXT = "whole numbers", "numbers", "dates", "times", "text"
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_NUMBER = re.compile(r"\s*[-+]?([\d.,]|nan|inf)", re.IGNORECASE)
_LEADING_ZERO = r"^\s*[-+]?0[0-9xX]"
_ONLY_DIGITS = ((r"[eE].*$", ""), (r"0+\s*$", ""), (r"[^0-9]", ""), (r"^0+", ""))
_TOLD_DIGITS = 17
"""More significant digits no double tells apart."""
_LONG_DIGITS = r"^\s*[-+]?[0-9]{19,}\s*$"
_THOUSANDS = r"^\s*[-+]?[1-9][0-9]{0,2}(,[0-9]{3})+\s*$"


@dataclass(frozen=True, kw_only=True)
class Marks:
    """What separates fields, decimals and thousands; a decimal mark that is ``None`` is found."""

    separator: str | None = None
    decimal: str | None = None
    thousands: str | None = None


class Inferred(NamedTuple):
    """Columns with the types they were found to have, what each is, the decimal mark, and why one is text."""

    columns: dict[str, Any]
    kinds: dict[str, str]
    decimal: str
    notes: dict[str, str]


def infer(
    columns: Mapping[str, Any],
    *,
    marks: Marks,
    text: Collection[str] = (),
    rows: Mapping[str, Callable[[int], int]] | None = None,
) -> Inferred:
    """Give every text column its type.

    Without a decimal mark the comma is taken where columns of numbers have one, none has a point and no field ends with
    one; what is named in ``text`` stays text whatever it holds. Columns may be distinct texts in the order of their
    rows; ``rows`` then says in which row the text of a place comes first.
    """
    row_of = {name: (rows or {}).get(name, int) for name in columns}
    decimal = marks.decimal or ("," if marks.thousands == "." else None)
    if decimal is None and "," in (marks.thousands, marks.separator):
        decimal = "."
    typed: dict[str, Any] = {}
    problems: list[str] = []
    with_point: list[str] = []
    with_comma: dict[str, Any] = {}
    like_numbers: dict[str, Any] = {}
    for name, column in columns.items():
        first = pc.first(column).as_py()
        if name in text or first is None:
            continue
        if _DATE.match(first):
            typed[name] = dates(column)
        elif _NUMBER.match(first):
            like_numbers[name] = column = _without_thousands(column, marks.thousands, decimal)
            typed[name] = _whole_numbers(column)
            if typed[name] is None and decimal != ",":
                typed[name] = _numbers(name, column, problems, row_of[name])
                with_point += [name] if typed[name] is not None else []
            if typed[name] is None and decimal != ".":
                told = problems if decimal == "," else []
                with_comma[name] = _numbers_with_comma(name, column, told, row_of[name])
    if problems:
        raise DataError(problems)
    with_comma = {name: found for name, found in with_comma.items() if found is not None}
    if decimal is None:
        clear = [name for name in with_comma if not _only_thousands(columns[name])]
        decimal = "," if clear and not with_point else "."
    if decimal == ",":
        typed.update(with_comma)
    left = [name for name in like_numbers if typed.get(name) is None]
    notes = {name: _why_text(name, like_numbers[name], decimal) for name in left}
    long = {name: one_each(columns[name], decimal) for name, note in notes.items() if LONG in note}
    result = {name: long.get(name, columns[name]) if typed.get(name) is None else typed[name] for name in columns}
    kinds = {name: _kind(column.type) for name, column in result.items()}
    return Inferred(result, kinds, decimal, {name: note for name, note in notes.items() if note})


def lossless(column: Any) -> Any:
    """A published text column as numbers or dates, where writing these gives the same texts again."""
    encoded = column.combine_chunks().dictionary_encode()
    texts = encoded.dictionary
    for type_ in (pa.int64(), pa.float64(), pa.date32(), pa.timestamp("us")):
        try:
            values = texts.cast(type_)
        except pa.ArrowInvalid:
            continue
        if pa.types.is_floating(type_) and not pc.all(pc.is_finite(values)).as_py():
            continue
        if pa.types.is_temporal(type_) and beyond_calendar(values):
            continue
        if len(texts) and write_values(values) == texts.to_pylist():
            return pa.chunked_array([values.take(encoded.indices)])
    return column


def dates(column: Any) -> Any | None:
    """The column as dates or times, or ``None`` where a value is not in ISO form or no year of the calendar."""
    found = _cast(column, pa.date32())
    found = _cast(column, pa.timestamp("us")) if found is None else found
    return None if found is None or beyond_calendar(found) else found


def _whole_numbers(column: Any) -> Any | None:
    numbers = _cast(column, pa.int64())
    return None if numbers is None or _loses_zeros(column) else numbers


def _numbers(name: str, column: Any, problems: list[str], row_of: Callable[[int], int]) -> Any | None:
    numbers = _cast(column, pa.float64())
    if numbers is None or _loses_zeros(column) or _loses_digits(column) or become_one(column, numbers):
        return None
    finite = pc.is_finite(numbers)
    if pc.all(finite).as_py():
        return numbers
    if not pc.any(finite).as_py():
        return None
    strange = pc.and_(pc.invert(finite), pc.is_valid(column))
    texts = pc.unique(column.filter(strange)).to_pylist()
    row = row_of(pc.index(strange, True).as_py()) + 1
    problems.append(
        f"Column `{name}` holds numbers and {listed(texts)}, first in data row {row:,}; only finite numbers can be "
        f"used. Leave such cells empty, or say that they mean missing: {in_data(nulls=texts)}."
    )
    return None


def _numbers_with_comma(name: str, column: Any, problems: list[str], row_of: Callable[[int], int]) -> Any | None:
    if pc.any(pc.match_substring(column, ".")).as_py() or not pc.any(pc.match_substring(column, ",")).as_py():
        return None
    return _numbers(name, pc.replace_substring(column, ",", "."), problems, row_of)


def _cast(column: Any, type_: pa.DataType) -> Any | None:
    try:
        return column.cast(type_)
    except pa.ArrowInvalid:
        pass
    if pa.types.is_temporal(type_) or not pc.any(pc.match_substring_regex(column, "^[ +]| $")).as_py():
        return None
    try:
        return pc.replace_substring_regex(pc.utf8_trim_whitespace(column), r"^\+(\d)", r"\1").cast(type_)
    except pa.ArrowInvalid:
        return None


def _loses_zeros(column: Any) -> bool:
    """Whether a value has a leading zero before a digit. Few values begin so: the slow expression sees only them."""
    begins = pc.starts_with(column, "0")
    for sign in "-+ ":
        begins = pc.or_(begins, pc.starts_with(column, sign))
    return bool(pc.any(pc.match_substring_regex(column.filter(begins), _LEADING_ZERO)).as_py())


def _loses_digits(column: Any) -> bool:
    long = column.filter(pc.greater_equal(pc.binary_length(column), 19))
    if not len(long):
        return False
    fractions = long.filter(pc.match_substring(long, "."))
    for pattern, instead in _ONLY_DIGITS:
        fractions = pc.replace_substring_regex(fractions, pattern, instead)
    more = pc.any(pc.greater(pc.binary_length(fractions), _TOLD_DIGITS)).as_py()
    return bool(more) or bool(pc.any(pc.match_substring_regex(long, _LONG_DIGITS)).as_py())


def _without_thousands(column: Any, mark: str | None, decimal: str | None) -> Any:
    """Numbers without the mark between their thousands, where it stands nowhere else."""
    if mark is None:
        return column
    grouped = rf"^\s*[-+]?[0-9]{{1,3}}({re.escape(mark)}[0-9]{{3}})+({re.escape(decimal or '.')}[0-9]+)?\s*$"
    inside = pc.match_substring(pc.utf8_trim_whitespace(column), mark)
    fits = pc.all(pc.match_substring_regex(column.filter(inside), grouped)).as_py()
    return pc.if_else(inside, pc.replace_substring(column, mark, ""), column) if fits else column


def _only_thousands(column: Any) -> bool:
    """Whether every comma of a column stands before three digits, so that it may part thousands."""
    commas = pc.match_substring(column, ",")
    found = pc.match_substring_regex(column.filter(commas), _THOUSANDS)
    return bool(len(found)) and pc.all(found).as_py() is not False


def _why_text(name: str, column: Any, decimal: str) -> str:
    """Why a column that looks like numbers stays text; nothing where it is clear that it is none."""
    point = pc.replace_substring(column, ",", ".") if decimal == "," else column
    if _only_thousands(column) and _cast(pc.replace_substring(column, ",", ""), pa.float64()) is not None:
        return (
            f"`{name}` stays text: 1,000 may be a thousand or one. To have numbers, say {in_data(thousands=',')} or "
            f"{in_data(decimal=',')}."
        )
    if _cast(point, pa.float64()) is None or _loses_zeros(column):
        return ""
    return f"`{name}` stays text, for its numbers: {LONG}."


def _kind(type_: pa.DataType) -> str:
    if pa.types.is_integer(type_):
        return WHOLE
    if pa.types.is_floating(type_):
        return NUMBER
    if pa.types.is_date(type_):
        return DATE
    return TIME if pa.types.is_timestamp(type_) else TEXT
