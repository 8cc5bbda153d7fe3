"""Nested intervals over numbers: 23 lies in [20, 24], that in [20, 29], and so on to everything.

Deviations: bounds are computed with exact fractions of the numbers as they are written, so 0.3 with a width of 0.1
lies in [0.3, 0.4) and not, by a rounding error, in [0.2, 0.3).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pyarrow as pa

from undercover.errors import HierarchyError
from undercover.hierarchies.leaves import distinct
from undercover.model.hierarchy import ROOT, Hierarchy
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
    return Hierarchy(zip(labels, *levels, [ROOT] * len(labels), strict=True))


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
