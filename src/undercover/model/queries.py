"""What a recipient asks: predicates on columns, and the queries made of them.

A query is the same for every form of release; how it is answered, and how surely, depends on the form.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, Literal, get_args

import pyarrow as pa

from undercover.errors import ParameterError, unknown
from undercover.model.table import write_values

Closed = Literal["both", "left", "right", "neither"]
Scalar = str | int | float | bool | date | datetime | None


@dataclass(frozen=True)
class Between:
    """A value from ``low`` to ``high``; an end that is ``None`` is open. Missing values are not between anything.

    Parameters
    ----------
    low, high
        Numbers, dates (or ISO text), or values of an ordinal column.
    closed
        Which ends belong to the range.

    Examples
    --------
    >>> Between(30, 40)
    Between(low=30, high=40, closed='both')
    >>> Between(30, closed="neither")  # above 30
    Between(low=30, high=None, closed='neither')
    >>> Between()
    Traceback (most recent call last):
    undercover.errors.ParameterError: Between needs an end: Between(30, 40), Between(low=30), Between(high=40).
    """

    low: Scalar = None
    high: Scalar = None
    closed: Closed = "both"

    def __post_init__(self) -> None:
        if self.low is None and self.high is None:
            raise ParameterError("Between needs an end: Between(30, 40), Between(low=30), Between(high=40).")
        if self.closed not in get_args(Closed):
            raise ParameterError(unknown("The 'closed' of Between", str(self.closed), get_args(Closed)))

    @property
    def low_included(self) -> bool:
        """Whether the lower end belongs to the range."""
        return self.closed in ("both", "left")

    @property
    def high_included(self) -> bool:
        """Whether the upper end belongs to the range."""
        return self.closed in ("both", "right")


@dataclass(frozen=True)
class OneOf:
    """One of the values given; ``None`` stands for a missing value.

    >>> OneOf(["flu", None])
    OneOf(values=('flu', None))
    >>> OneOf("flu")
    OneOf(values=('flu',))
    """

    values: tuple[Scalar, ...]

    def __init__(self, values: Iterable[Scalar] | Scalar) -> None:
        object.__setattr__(self, "values", _several(values))


@dataclass(frozen=True)
class NoneOf:
    """None of the values given; a missing value counts unless ``None`` is among them.

    >>> NoneOf(["flu"])
    NoneOf(values=('flu',))
    """

    values: tuple[Scalar, ...]

    def __init__(self, values: Iterable[Scalar] | Scalar) -> None:
        object.__setattr__(self, "values", _several(values))


Predicate = Between | OneOf | NoneOf


@dataclass(frozen=True, kw_only=True)
class CountQuery:
    """How many rows satisfy every predicate.

    Parameters
    ----------
    where
        A predicate for each column asked about; a plain value means that value. Without any, all rows count.

    Examples
    --------
    >>> CountQuery(where={"age": Between(30, 40), "sex": "F"})
    CountQuery(where={'age': Between(low=30, high=40, closed='both'), 'sex': OneOf(values=('F',))})
    """

    where: Mapping[str, Predicate] = field(default_factory=dict)

    def __init__(self, *, where: Mapping[str, Predicate | Scalar] | None = None) -> None:
        object.__setattr__(self, "where", _predicates(where))


@dataclass(frozen=True)
class SumQuery:
    """The sum of a column over the rows that satisfy every predicate.

    Parameters
    ----------
    column
        What to add up: a sensitive or insensitive column of numbers.
    where
        A predicate for each column asked about; a plain value means that value.

    Examples
    --------
    >>> SumQuery("salary", where={"age": Between(30, 40)})
    SumQuery(column='salary', where={'age': Between(low=30, high=40, closed='both')})
    """

    column: str
    where: Mapping[str, Predicate] = field(default_factory=dict)

    def __init__(self, column: str, *, where: Mapping[str, Predicate | Scalar] | None = None) -> None:
        object.__setattr__(self, "column", column)
        object.__setattr__(self, "where", _predicates(where))


def _predicates(where: Mapping[str, Predicate | Scalar] | None) -> dict[str, Predicate]:
    asked = (where or {}).items()
    return {name: one if isinstance(one, Between | OneOf | NoneOf) else OneOf(one) for name, one in asked}


def label_of(value: Any) -> str:
    """A value as a published cell would spell it; missing is empty.

    >>> label_of(3.0), label_of(10**30), label_of(True)
    ('3', '1000000000000000000000000000000', 'true')
    """
    if isinstance(value, float) and not math.isfinite(value):
        raise ParameterError(f"A query asks for finite numbers; an end that is left out is open. Got {value} instead.")
    if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)):
        return str(value)  # which Arrow may not hold
    return "" if value is None else write_values(pa.array([value]))[0]


def _several(values: Any) -> tuple[Scalar, ...]:
    found = tuple(values) if isinstance(values, Iterable) and not isinstance(values, str) else (values,)
    if not found:
        raise ParameterError("OneOf and NoneOf need at least one value.")
    return found
