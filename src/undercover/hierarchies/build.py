"""Nested intervals over numbers: 23 lies in [20, 24], that in [20, 29], and so on to everything.

Deviations: bounds are computed with exact fractions of the numbers as they are written, so 0.3 with a width of 0.1
lies in [0.3, 0.4) and not, by a rounding error, in [0.2, 0.3).

Hierarchies over codes whose first characters say most, such as postcodes: 10115 lies in 101**, that in 1****.

Hierarchies over dates: 2024-03-17 lies in 2024-03, that in 2024-Q1, in 2024 and in the 2020s.

The leaves of a hierarchy that is built from a column: its distinct values, spelled as the table spells them.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from undercover.errors import DataError, HierarchyError, unknown
from undercover.model.encoding.coded import distinct_values
from undercover.model.hierarchy import ROOT, Hierarchy
from undercover.model.kinds.dates import as_dates
from undercover.model.table import write_values


def from_intervals(values: Any, widths: Sequence[float] = (5, 10, 20), *, origin: float = 0) -> Hierarchy:
    """A hierarchy of nested intervals.

    Whole numbers get closed intervals, all others half-open ones. An interval of one whole number is that number.

    Parameters
    ----------
    values
        The numbers to cover: a column, a list, or ``range(17, 91)`` for everything from 17 to 90.
    widths
        Width of the intervals of each level, ascending; each a multiple of the one before.
    origin
        A number at which an interval of every level begins.

    Examples
    --------
    >>> from_intervals([23, 28, 31], widths=[5, 10]).rows
    (('23', '[20, 24]', '[20, 29]', '*'), ('28', '[25, 29]', '[20, 29]', '*'), ('31', '[30, 34]', '[30, 39]', '*'))
    >>> from_intervals([0.3, 1.25], widths=[0.1]).rows
    (('0.3', '[0.3, 0.4)', '*'), ('1.25', '[1.2, 1.3)', '*'))
    """
    numbers = distinct(values)
    if not (pa.types.is_integer(numbers.type) or pa.types.is_floating(numbers.type)):
        raise HierarchyError(f"Intervals need numbers. Got values of type {numbers.type} instead.")
    steps, start = _checked(widths, origin)
    labels = write_values(numbers)
    exact = [Fraction(label) for label in labels]
    whole = all(number.denominator == 1 for number in [*exact, *steps, start])
    levels = [[_interval(number, step, start, whole) for number in exact] for step in steps]
    return Hierarchy(zip(labels, *levels, [ROOT] * len(labels), strict=True), observed=True)


def from_cuts(values: Any, cuts: Sequence[Sequence[float]]) -> Hierarchy:
    """A hierarchy of intervals of any width: every level is cut where it is said.

    Parameters
    ----------
    values
        The numbers to cover.
    cuts
        For each level, from fine to coarse, the numbers at which an interval begins; a coarser level is cut only where
        the finer one is. The lowest interval begins at the smallest value, the highest ends at the largest.

    Examples
    --------
    >>> from_cuts([17, 23, 28, 70], [[18, 25, 65], [18]]).rows[1:3]
    (('23', '[18, 24]', '[18, 70]', '*'), ('28', '[25, 64]', '[18, 70]', '*'))
    >>> from_cuts([0.5, 2.25], [[1]]).rows
    (('0.5', '[0.5, 1)', '*'), ('2.25', '[1, 2.25]', '*'))
    """
    numbers = distinct(values)
    if not (pa.types.is_integer(numbers.type) or pa.types.is_floating(numbers.type)):
        raise HierarchyError(f"Intervals need numbers. Got values of type {numbers.type} instead.")
    given = [cut for level in cuts for cut in level]
    problems = [f"A cut must be a finite number. Got {cut!r} instead." for cut in given if not _is_number(cut)]
    if not cuts or not all(len(level) for level in cuts):
        problems.append("Each level of intervals needs at least one cut.")
    if problems:
        raise HierarchyError(problems)
    exact = [Fraction(label) for label in write_values(numbers)]
    levels = [sorted({Fraction(str(cut)) for cut in level}) for level in cuts]
    problems = [
        f"Level {number} is cut at {_text(cut)}, and the finer level {number - 1} is not: intervals must be nested."
        for number, (finer, coarser) in enumerate(pairwise(levels), 2)
        for cut in coarser
        if cut not in finer
    ]
    if problems:
        raise HierarchyError(problems)
    whole = all(number.denominator == 1 for number in [*exact, *(cut for level in levels for cut in level)])
    rows = [[_between(number, level, exact[0], exact[-1], whole) for number in exact] for level in levels]
    return Hierarchy(zip(write_values(numbers), *rows, [ROOT] * len(exact), strict=True), observed=True)


def _between(number: Fraction, cuts: Sequence[Fraction], first: Fraction, last: Fraction, whole: bool) -> str:
    """The interval between two cuts that holds a number."""
    place = bisect_right(cuts, number)
    low = cuts[place - 1] if place else first
    if place == len(cuts):
        return _text(low) if low == last else f"[{_text(low)}, {_text(last)}]"
    if not whole:
        return f"[{_text(low)}, {_text(cuts[place])})"
    high = cuts[place] - 1
    return _text(low) if low == high else f"[{_text(low)}, {_text(high)}]"


def _checked(widths: Sequence[float], origin: float) -> tuple[list[Fraction], Fraction]:
    problems = [
        f"The width of an interval must be a number in (0, inf). Got {width!r} instead."
        for width in widths
        if not _is_number(width) or width <= 0
    ]
    if not _is_number(origin):
        problems.append(f"The origin of the intervals must be a finite number. Got {origin!r} instead.")
    if not widths:
        problems.append("Intervals need at least one width.")
    if problems:
        raise HierarchyError(problems)
    steps = [Fraction(str(width)) for width in widths]
    problems = [
        f"Each width must be a multiple of the one before, or the intervals are not nested: {upper} is none of {lower}."
        for (lower, upper), (step, next_step) in zip(pairwise(widths), pairwise(steps), strict=True)
        if (next_step / step).denominator != 1 or next_step == step
    ]
    if problems:
        raise HierarchyError(problems)
    return steps, Fraction(str(origin))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _interval(number: Fraction, step: Fraction, start: Fraction, whole: bool) -> str:
    low = start + (number - start) // step * step
    if not whole:
        return f"[{_text(low)}, {_text(low + step)})"
    return _text(low) if step == 1 else f"[{_text(low)}, {_text(low + step - 1)}]"


def _text(number: Fraction) -> str:
    if number.denominator == 1:
        return str(number.numerator)
    return format((Decimal(number.numerator) / Decimal(number.denominator)).normalize(), "f")


def from_prefixes(values: Any, lengths: Sequence[int] = (3, 1)) -> Hierarchy:
    """A hierarchy of ever shorter prefixes.

    Stars fill a prefix up to the longest code, so codes of different length meet under the same prefix. A code no
    longer than the prefix stays as it is on that level.

    Parameters
    ----------
    values
        The codes to cover.
    lengths
        Characters kept on each level, descending.

    Examples
    --------
    >>> from_prefixes(["10115", "10245", "12043"]).rows
    (('10115', '101**', '1****', '*'), ('10245', '102**', '1****', '*'), ('12043', '120**', '1****', '*'))
    """
    codes = write_values(distinct(values))
    problems = [
        f"The length of a prefix must be an int in [1, inf). Got {length!r} instead."
        for length in lengths
        if isinstance(length, bool) or not isinstance(length, int) or length < 1
    ]
    if not lengths:
        problems.append("Prefixes need at least one length.")
    elif not problems and list(lengths) != sorted(set(lengths), reverse=True):
        problems.append(f"The lengths of prefixes must descend from level to level. Got {list(lengths)} instead.")
    if problems:
        raise HierarchyError(problems)
    longest = max(len(code) for code in codes)
    levels = [
        [code if len(code) <= length else code[:length] + "*" * (longest - length) for code in codes]
        for length in lengths
    ]
    return Hierarchy(zip(codes, *levels, [ROOT] * len(codes), strict=True), observed=True)


LEVELS: dict[str, Callable[[date], str]] = {
    "day": lambda moment: f"{moment.year:04d}-{moment.month:02d}-{moment.day:02d}",
    "month": lambda moment: f"{moment.year:04d}-{moment.month:02d}",
    "quarter": lambda moment: f"{moment.year:04d}-Q{(moment.month + 2) // 3}",
    "year": lambda moment: f"{moment.year:04d}",
    "decade": lambda moment: f"{moment.year // 10 * 10:04d}s",
}
"""The levels there are, from the finest to the coarsest."""


def from_dates(values: Any, levels: Sequence[str] = ("month", "quarter", "year", "decade")) -> Hierarchy:
    """A hierarchy of calendar periods.

    Parameters
    ----------
    values
        Dates or times, or texts that are dates in one format; leaves are in ISO form.
    levels
        Some of ``day``, ``month``, ``quarter``, ``year`` and ``decade``, from fine to coarse.

    Examples
    --------
    >>> from_dates(["2024-03-17", "2019-12-01"], levels=["month", "year"]).rows
    (('2019-12-01', '2019-12', '2019', '*'), ('2024-03-17', '2024-03', '2024', '*'))
    """
    problems = [unknown("Level", str(level), LEVELS) for level in levels if level not in LEVELS]
    if not levels:
        problems.append("A hierarchy of dates needs at least one level.")
    elif not problems:
        rank = [list(LEVELS).index(level) for level in levels]
        if rank != sorted(set(rank)):
            problems.append(f"Levels of dates must go from fine to coarse, each once. Got {list(levels)} instead.")
    if problems:
        raise HierarchyError(problems)
    moments = _as_dates(distinct(values))
    labels = write_values(moments)
    periods = [[LEVELS[level](moment) for moment in moments.to_pylist()] for level in levels]
    return Hierarchy(zip(labels, *periods, [ROOT] * len(labels), strict=True), observed=True)


def _as_dates(values: pa.Array) -> pa.Array:
    if pa.types.is_date(values.type):
        return values.cast(pa.date32())
    if pa.types.is_timestamp(values.type):
        return values.cast(pa.timestamp("us"))
    try:
        return distinct(as_dates(values, None))
    except (DataError, pa.ArrowNotImplementedError) as error:
        raise HierarchyError(f"A hierarchy of dates needs dates such as 2024-03-17. The column {error}") from error


def distinct(values: Any) -> pa.Array:
    """The distinct values in ascending order, missing ones left out.

    >>> distinct([3, 1, None, 3]).to_pylist()
    [1, 3]
    """
    column = values if isinstance(values, pa.Array | pa.ChunkedArray) else _as_array(values)
    if pa.types.is_dictionary(column.type):
        column = distinct_values(column)
    if pa.types.is_decimal(column.type) or pa.types.is_float16(column.type) or pa.types.is_float32(column.type):
        column = column.cast(pa.float64())
    if pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)
    single = pc.unique(column).drop_null()
    if not len(single):
        raise HierarchyError("A hierarchy cannot be built from a column without values.")
    if pa.types.is_floating(single.type) and pc.any(pc.is_inf(single)).as_py():
        raise HierarchyError("A hierarchy cannot be built from non-finite numbers. Leave these cells empty.")
    return single.take(pc.sort_indices(single))


def _as_array(values: Iterable[Any]) -> pa.Array:
    try:
        return pa.array(list(values))
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise HierarchyError(
            "The values of a hierarchy must be of one type. Make them all numbers, or all texts."
        ) from error
