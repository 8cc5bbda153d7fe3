"""The holder's own distances between the values of a column.

Li, Wang & He, "Privacy-Preserving Data Publishing via Mutual Cover", Section 3.2: how far categories are apart is for
the holder to say ("assign a specific distance value for each pair"). Numbers and dates may be given distances as well.

Deviations: Definition 6 asks for numbers from 0 on and no more. Here a value is at distance 0 from itself, and as far
from another as the other from it. Neither is the triangle inequality asked for, nor that different values differ.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from undercover.errors import SchemaError, listed

MOST_VALUES = 1_000
_SHOWN = 5


@dataclass(frozen=True)
class Distances:
    """A symmetric matrix of distances, a row and a column for every value.

    Parameters
    ----------
    values
        What the rows and columns stand for, as it is written in the table.
    rows
        Numbers from 0 on, one row after the other.

    Examples
    --------
    >>> own = Distances(["none", "some", "much"], [[0, 1, 4], [1, 0, 2], [4, 2, 0]])
    >>> own
    <Distances between 3 values, from 1 to 4; .values and .rows list them>
    >>> own.among(["much", "none"]).tolist()
    [[0.0, 4.0], [4.0, 0.0]]
    >>> Distances(["a", "b"], [[0, 1], [2, 0]])
    Traceback (most recent call last):
    undercover.errors.SchemaError: Distances must be the same both ways: 1 from `a` to `b`, 2 from `b` to `a`.
    """

    values: tuple[str, ...]
    rows: tuple[tuple[float, ...], ...] = field(repr=False)

    def __init__(self, values: Iterable[Any], rows: Iterable[Iterable[Any]]) -> None:
        labels = tuple(str(value) for value in values)
        matrix = _numbers(labels, [list(row) for row in rows])
        problems = _problems(labels, matrix)
        if problems:
            raise SchemaError(problems)
        object.__setattr__(self, "values", labels)
        object.__setattr__(self, "rows", tuple(tuple(row) for row in matrix.tolist()))

    def __repr__(self) -> str:
        apart = self.matrix[~np.eye(len(self.values), dtype=bool)]
        span = f", from {apart.min():g} to {apart.max():g}" if len(apart) else ""
        return f"<Distances between {len(self.values)} values{span}; .values and .rows list them>"

    @cached_property
    def matrix(self) -> NDArray[np.float64]:
        """The distances as an array, in the order of ``values``."""
        return np.array(self.rows, dtype=np.float64)

    @cached_property
    def position(self) -> dict[str, int]:
        """Where each value stands."""
        return {label: place for place, label in enumerate(self.values)}

    @property
    def largest(self) -> float:
        """The largest of all distances."""
        return float(self.matrix.max())

    def uncovered(self, values: Iterable[str]) -> list[str]:
        """Those of ``values`` that no distance is given for."""
        return [value for value in values if value not in self.position]

    def among(self, values: Iterable[str]) -> NDArray[np.float64]:
        """The distances between some of the values, in the order given."""
        places = [self.position[value] for value in values]
        return self.matrix[np.ix_(places, places)]


def _numbers(labels: tuple[str, ...], rows: list[list[Any]]) -> NDArray[np.float64]:
    """The rows as a square matrix of numbers; what keeps them from being one."""
    size = len(labels)
    if not size:
        raise SchemaError("Distances need values: name them in the header, as they are written in the table.")
    if size > MOST_VALUES:
        raise SchemaError(
            f"Distances are for at most {MOST_VALUES:,} values. Got {size:,}. Give the column a hierarchy instead."
        )
    problems = []
    if len(rows) != size:
        problems.append(f"Distances between {size} values need {size} rows. Got {len(rows)}.")
    problems += [
        f"Row {label_of(labels, place)} needs {size} numbers, one for each value. Got {len(row)}."
        for place, row in enumerate(rows)
        if len(row) != size
    ]
    problems += [
        f"The distance from {label_of(labels, place)} to {label_of(labels, other)} must be a number. Got {entry!r}."
        for place, row in enumerate(rows)
        for other, entry in enumerate(row)
        if isinstance(entry, bool | np.bool_ | str) or not isinstance(entry, int | float | np.number)
    ]
    if problems:
        raise SchemaError(_shortened(problems))
    return np.array(rows, dtype=np.float64) + 0.0  # minus zero is zero


def label_of(labels: tuple[str, ...], place: int) -> str:
    """The name of a row or column, or its number where it has none."""
    return f"`{labels[place]}`" if place < len(labels) else f"{place + 1}"


def _problems(labels: tuple[str, ...], matrix: NDArray[np.float64]) -> list[str]:
    """What keeps a square matrix from being one of distances."""
    problems = []
    repeated = [label for label, count in Counter(labels).items() if count > 1]
    if repeated:
        problems.append(f"Distances name {listed(repeated)} more than once. Name every value once.")
    if "" in labels:
        problems.append("Distances name an empty value. Missing values need no row: they are as far as any are apart.")

    def pairs(wrong: NDArray[np.bool_]) -> list[tuple[int, int]]:
        return [(int(one), int(other)) for one, other in np.argwhere(wrong)]

    finite = np.isfinite(matrix)
    for one, other in pairs(~finite | (matrix < 0)):
        found = f"Got {matrix[one, other]:g} from `{labels[one]}` to `{labels[other]}`."
        problems.append(f"Distances must be finite numbers from 0 on. {found}")
    for place in np.flatnonzero(finite.diagonal() & (matrix.diagonal() > 0)):
        found = f"Got {matrix[place, place]:g} for `{labels[place]}`."
        problems.append(f"The distance from a value to itself must be 0. {found}")
    for one, other in pairs(np.triu(finite & finite.T & (matrix != matrix.T), 1)):
        problems.append(
            f"Distances must be the same both ways: {matrix[one, other]:g} from `{labels[one]}` to `{labels[other]}`, "
            f"{matrix[other, one]:g} from `{labels[other]}` to `{labels[one]}`."
        )
    return _shortened(problems)


def _shortened(problems: list[str]) -> list[str]:
    """Enough of them to act on."""
    more = len(problems) - _SHOWN
    return problems if more <= 1 else [*problems[:_SHOWN], f"And {more} more problems of this kind."]
