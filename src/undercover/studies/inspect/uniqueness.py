"""How many people a table singles out as it stands, and what an attacker makes of it.

Rows that agree on all quasi-identifiers form a class; a missing value agrees with another missing value and with
nothing else. Whoever knows the quasi-identifiers of a person finds the person's class and guesses one row of it.

*Prosecutor*: knows that the person is in the table; the risk of a row is 1 / (size of its class).

*Journalist*: does not know it, so the person hides among all who agree with the row in the population the table was
drawn from. Where the table is its own population the risk is the prosecutor's. Where it is a sample that holds each
person with probability ``population_fraction`` = π, a class of size f stands for F ≥ f people. A priori large F are
taken to be rarer in proportion to 1/F; then F given f is negative binomial (Benedetti & Franconi 1998, the individual
risk), and with q = 1 − π ::

    E[1/F | f] = ∫₀¹ π y^(f−1) / (π + q y) dy,      E[1/F | 1] = (π/q) ln(1/π),
    q E[1/F | f+1] + π E[1/F | f] = π / f

*Marketer*: wants as many rows as possible and does not care whose: the expected share of rows hit, which is the mean
of the risk over the rows; without a population it is classes / rows (El Emam 2013).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from undercover.waiting import Progress, no_progress, through

THRESHOLD = 0.2  # rows above this risk are counted: classes of fewer than five
BINS = ((1, 1), (2, 2), (3, 4), (5, 9), (10, 19), (20, 49), (50, 99), (100, None))

# Above this class size the first two terms of the expansion are exact to about 1e-6.
_LARGE = 1000


@dataclass(frozen=True)
class CodedColumn:
    """A column as numbers from 0 to ``size - 1``; missing, where it occurs, is one of them."""

    codes: NDArray[Any]  # as narrow as can be
    size: int


@dataclass(frozen=True)
class Combination:
    """Some columns and what they do together."""

    columns: tuple[str, ...]
    classes: int
    unique_rows: int
    rows: int

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "columns": list(self.columns),
            "classes": self.classes,
            "unique_rows": self.unique_rows,
            "share": self.unique_rows / self.rows,
        }


@dataclass(frozen=True)
class Risk:
    """The risk of one attacker, over all rows."""

    highest: float
    mean: float
    share_above_threshold: float

    def to_dict(self) -> dict[str, float]:
        """As plain data."""
        return {
            "highest": self.highest,
            "mean": self.mean,
            "threshold": THRESHOLD,
            "share_above_threshold": self.share_above_threshold,
        }


def class_sizes(columns: Sequence[CodedColumn]) -> NDArray[np.int64]:
    """The sizes of the classes that ``columns`` make together, in no particular order."""
    key, radix = columns[0].codes.astype(np.int64), columns[0].size
    for column in columns[1:]:
        if radix * column.size > 1 << 62:
            key = np.unique(key, return_inverse=True)[1]
            radix = int(key.max()) + 1
        key, radix = key * column.size + column.codes, radix * column.size
    if radix <= 8 * len(key) + (1 << 16):
        counts = np.bincount(key)
        return counts[counts > 0]
    ordered = np.sort(key)
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    return np.diff(starts, append=len(key))


def singling_out(
    columns: Mapping[str, CodedColumn],
    *,
    most: int = 3,
    all_up_to: int = 8,
    beam: int = 10,
    progress: Progress = no_progress,
) -> list[Combination]:
    """What sets of one to ``most`` columns single out, most unique rows first.

    With at most ``all_up_to`` columns every set is tried. With more, sets grow from the ``beam`` best of the size
    below; a set that grows from none of them is not tried.
    """
    names = list(columns)
    found: list[Combination] = []
    best: list[tuple[int, ...]] = [()]
    for size in range(1, min(most, len(names)) + 1):
        if len(names) <= all_up_to:
            candidates = list(combinations(range(len(names)), size))
        else:
            grown = {tuple(sorted({*chosen, new})) for chosen in best for new in range(len(names)) if new not in chosen}
            candidates = sorted(grown)
        told = through(progress, f"counting combinations of {size}", candidates, lambda chosen: names[chosen[0]])
        level = [(_judge(columns, [names[i] for i in chosen]), chosen) for chosen in told]
        level.sort(key=lambda pair: (-pair[0].unique_rows, -pair[0].classes, pair[1]))
        found += [combination for combination, _ in level]
        best = [chosen for _, chosen in level[:beam]]
    return sorted(found, key=lambda combination: (-combination.unique_rows, len(combination.columns)))


def size_histogram(sizes: NDArray[np.int64]) -> list[dict[str, int | None]]:
    """Classes and rows by size of the class."""
    histogram: list[dict[str, int | None]] = []
    for low, high in BINS:
        inside = sizes[(sizes >= low) & (sizes <= (high if high is not None else np.inf))]
        histogram.append({"from": low, "to": high, "classes": len(inside), "rows": int(inside.sum())})
    return histogram


def risk(sizes: NDArray[np.int64], population_fraction: float = 1.0) -> Risk:
    """The risk over classes of these sizes: the prosecutor's, or the journalist's for a sample."""
    distinct, classes = np.unique(sizes, return_counts=True)
    risks = expected_inverse(distinct, population_fraction)
    rows = distinct * classes
    total = int(rows.sum())
    return Risk(
        highest=float(risks.max()),
        mean=math.fsum(risks * rows) / total,
        share_above_threshold=int(rows[risks > THRESHOLD].sum()) / total,
    )


def expected_inverse(sizes: NDArray[np.int64], population_fraction: float) -> NDArray[np.float64]:
    """E[1/F | f] for each class size f, where each person is in the table with probability ``population_fraction``."""
    present, absent = population_fraction, 1 - population_fraction
    if absent == 0:
        return 1 / sizes
    smallest = min(int(sizes.max()), _LARGE)
    table = np.empty(smallest + 1)
    if present <= 0.5:
        # Forward: an error shrinks by present / absent at each step.
        table[1] = -present / absent * math.log(present)
        for size in range(1, smallest):
            table[size + 1] = present / absent * (1 / size - table[size])
    else:
        # Backward, where forward would blow errors up; what the start gets wrong has died out 100 steps later,
        # or is as small as the expansion's own error where the ratio is near 1.
        value = float(_expansion(np.array([_LARGE + 100.0]), present)[0])
        for size in range(_LARGE + 99, 0, -1):
            value = 1 / size - absent / present * value
            if size <= smallest:
                table[size] = value
    return np.where(sizes <= _LARGE, table[np.minimum(sizes, smallest)], _expansion(sizes.astype(np.float64), present))


def _expansion(sizes: NDArray[np.float64], present: float) -> NDArray[np.float64]:
    return present * (sizes + 1) / (sizes * (sizes + present))


def _judge(columns: Mapping[str, CodedColumn], names: Sequence[str]) -> Combination:
    sizes = class_sizes([columns[name] for name in names])
    return Combination(tuple(names), len(sizes), int((sizes == 1).sum()), int(sizes.sum()))
