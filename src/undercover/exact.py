"""Comparing ratios of whole numbers with a bound, exactly.

A class of three rows in which one value occurs once is 3-diverse; a comparison in floating point may say otherwise.
Where 64 bits hold the products, they are compared as whole numbers; beyond that, ratios clearly on one side of the
bound are decided in floating point and only those close to it one by one.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from undercover.errors import ParameterError

Number = int | float | Fraction | str

_CLOSE = 1e-11
_SIMPLE = 10**6  # largest denominator of a fraction that a float is taken to mean


def exact(value: Number) -> Fraction:
    """A number as it is meant: 0.3 is three tenths and 10 / 3 is ten thirds, not the nearest binary fraction.

    >>> exact(0.3), exact(10 / 3), exact("1/5")
    (Fraction(3, 10), Fraction(10, 3), Fraction(1, 5))
    """
    if not isinstance(value, float):
        return Fraction(value)
    simple = Fraction(value).limit_denominator(_SIMPLE)
    return simple if float(simple) == value else Fraction(repr(value))


def checked(owner: str, name: str, value: Any, expected: str) -> int | float | Fraction:
    """A finite number, or an error that says what was expected.

    >>> checked("TCloseness", "t", "1/5", "a number in [0, 1]")
    Fraction(1, 5)
    """
    if isinstance(value, str):
        try:
            value = Fraction(value)
        except (ValueError, ZeroDivisionError):
            raise ParameterError(_wrong(owner, name, value, expected)) from None
        return int(value) if value.denominator == 1 else value
    if isinstance(value, np.integer | np.floating):
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, int | float | Fraction) or not math.isfinite(value):
        raise ParameterError(_wrong(owner, name, value, expected))
    return value


def _wrong(owner: str, name: str, value: object, expected: str) -> str:
    return f"The '{name}' parameter of {owner} must be {expected}. Got {value!r} instead."


def plain(value: Number) -> int | float | str:
    """A parameter as it goes into a JSON file: fractions as text.

    >>> plain(Fraction(1, 5)), plain(Fraction(2)), plain(0.2)
    ('1/5', 2, 0.2)
    """
    if isinstance(value, Fraction):
        return value.numerator if value.denominator == 1 else str(value)
    return value


def compare(numerators: NDArray[Any], denominators: NDArray[Any], bound: Fraction) -> NDArray[np.int8]:
    """-1, 0 or 1 where a ratio is below, equal to or above the bound.

    >>> compare(np.array([1, 1, 2]), np.array([4, 3, 3]), Fraction(1, 3)).tolist()
    [-1, 0, 1]
    """
    if not len(numerators):
        return np.empty(0, dtype=np.int8)
    if _fits(numerators, bound.denominator) and _fits(denominators, bound.numerator):
        return _signs(numerators * bound.denominator - denominators * bound.numerator)
    limit = float(bound)
    ratios = numerators / denominators
    signs = _signs(ratios - limit)
    close = np.flatnonzero(np.abs(ratios - limit) <= _CLOSE * np.maximum(ratios, abs(limit)))
    if len(close):
        pairs, inverse = np.unique(np.stack([numerators[close], denominators[close]]), axis=1, return_inverse=True)
        decided = [
            _sign(Fraction(numerator) - bound * Fraction(denominator)) for numerator, denominator in pairs.T.tolist()
        ]
        signs[close] = np.array(decided, dtype=np.int8)[inverse.ravel()]
    return signs


def _signs(values: NDArray[Any]) -> NDArray[np.int8]:
    return np.asarray(np.sign(values), dtype=np.int8)


def _sign(value: Fraction) -> int:
    return (value > 0) - (value < 0)


def _fits(numbers: NDArray[Any], factor: int) -> bool:
    return numbers.dtype == np.int64 and int(np.abs(numbers).max()) * abs(factor) < 1 << 62
