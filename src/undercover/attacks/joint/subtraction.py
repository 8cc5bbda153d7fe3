"""Counting out: what rows of one release leave in another, where everybody's place in both is known.

Where classes of two releases cross, they can be subtracted: of {H, M, M} below 50 the class {H, M} below 40 leaves one
M, so everybody from 40 to 49 has M although both of his classes have two values. In general: people who are in the same
class of every release form a cell; of every value, the cells of a class add up to its rows, and the values of a cell to
its people. Bounds on every number follow from the bounds on the others in its sum, again and again until none moves
(the shuttle algorithm of Buzzigoli & Giusti 1999 for tables with given margins).

The bounds are true at every step, so a value with an upper bound of 0 is impossible. They are not always the tightest:
whether a number can be reached at all is a hard question once there are three sums.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from undercover.model.groups import number

_ROUNDS = 20
_LARGEST = 1 << 40  # more people than there are
MOST_NUMBERS = 200_000_000  # cells times values, beyond which nothing is subtracted
MOST_COUNTS = 40_000_000  # classes times values, beyond which a release is not

Whole = NDArray[np.int64]


class Accounts(NamedTuple):
    """Classes of a release that are known to have just these people."""

    class_of: Whole  # (n_targets,), -1 for whoever is in none of them
    counts: Whole  # (n_classes, n_values)


class ValueBounds(NamedTuple):
    """What is known of the values of people who are in the same class of every release: the cells."""

    cell_of: Whole  # (n_targets,)
    possible: NDArray[np.bool_]  # (n_cells, n_values) whether somebody in it can have a value
    sizes: Whole  # (n_cells,) people
    bounded: NDArray[np.bool_]  # (n_cells,) whether it lies in a class at all
    starts: Whole  # cell c has the entries starts[c]:starts[c + 1]; a value without one is impossible where bounded
    values: Whole
    least: Whole  # people of the cell who have the value, at least
    most: Whole  # and at most

    def shares(self, cells: Whole) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """(n, n_values) the least and the largest share of every value among the people of some cells."""
        n_values = self.possible.shape[1]
        least = np.zeros((len(cells), n_values))
        most = np.where(self.bounded[cells], 0.0, 1.0)[:, None].repeat(n_values, axis=1)
        times = self.starts[cells + 1] - self.starts[cells]
        entry, row = spans(self.starts[cells], times), np.repeat(np.arange(len(cells)), times)
        size = np.maximum(self.sizes[cells], 1)[row]
        least[row, self.values[entry]] = np.maximum(self.least[entry], 0) / size
        most[row, self.values[entry]] = np.minimum(self.most[entry] / size, 1.0)
        return least, most


def possible_values(releases: Sequence[Accounts], people: Whole) -> tuple[Whole, NDArray[np.bool_]] | None:
    """(n_targets,) the cell of each target, and (n_cells, n_values) whether somebody in it can have a value.

    ``people`` (n_targets,) is how many people each target stands for. ``None`` where there is nothing to subtract, or
    too much.

    >>> below_40, below_50 = Accounts(np.array([0, 1, 1]), np.array([[1, 1], [1, 2]])), np.array([0, 0, 1])
    >>> found = possible_values([below_40, Accounts(below_50, np.array([[1, 2], [1, 1]]))], np.array([2, 1, 2]))
    >>> found[1][found[0]].tolist()  # under 40, from 40 to 49, from 50
    [[True, True], [False, True], [True, True]]
    """
    found = value_bounds(releases, people) if len(releases) > 1 else None
    return None if found is None else (found.cell_of, found.possible)


def value_bounds(releases: Sequence[Accounts], people: Whole) -> ValueBounds | None:
    """How many people of every cell have each value, at least and at most; ``None`` where that is too much to hold.

    >>> found = value_bounds([Accounts(np.array([0, 0, 1]), np.array([[2, 1], [0, 1]]))], np.array([1, 2, 1]))
    >>> [bound.round(2).tolist() for bound in found.shares(np.array([0, 1]))]
    [[[0.67, 0.33], [0.0, 1.0]], [[0.67, 0.33], [0.0, 1.0]]]
    """
    if not releases:
        return None
    cell_of = np.zeros(len(people), dtype=np.int64)
    for release in releases:
        cell_of, count = number(cell_of * (len(release.counts) + 1) + release.class_of + 1)
    n_values = releases[0].counts.shape[1]
    if count * n_values > MOST_NUMBERS:
        return None
    first = np.empty(count, dtype=np.int64)
    first[cell_of] = np.arange(len(cell_of))
    classes = [release.class_of[first] for release in releases]
    sizes = np.bincount(cell_of, weights=people, minlength=count).astype(np.int64)
    cell, value = _entries(classes, [release.counts for release in releases])
    sums = [Sums(np.where(own[cell] >= 0, own[cell] * n_values + value, -1), release.counts.reshape(-1))
            for own, release in zip(classes, releases, strict=True)]  # fmt: skip
    least, most = bounds_of([Sums(cell, sizes), *sums], len(cell))
    bounded = ~np.logical_and.reduce([own < 0 for own in classes])
    possible = np.repeat(~bounded[:, None], n_values, axis=1)
    possible[cell[most > 0], value[most > 0]] = True
    order = np.argsort(cell, kind="stable")
    starts = np.searchsorted(cell[order], np.arange(count + 1))
    return ValueBounds(cell_of, possible, sizes, bounded, starts, value[order], least[order], most[order])


def _entries(classes: Sequence[Whole], counts: Sequence[Whole]) -> tuple[Whole, Whole]:
    """Cells and values that all of their classes have, pair by pair; of cells in no class none."""
    fewest = np.stack([np.where(own >= 0, (held > 0).sum(axis=1)[own], held.shape[1] + 1)
                       for own, held in zip(classes, counts, strict=True)])  # fmt: skip
    chosen = np.where(fewest.min(axis=0) > counts[0].shape[1], -1, fewest.argmin(axis=0))
    cells, values = [], []
    for place, (own, held) in enumerate(zip(classes, counts, strict=True)):
        starting = np.flatnonzero(chosen == place)
        row, value = np.nonzero(held)
        starts = np.searchsorted(row, np.arange(len(held) + 1))
        times = np.diff(starts)[own[starting]]
        cells.append(np.repeat(starting, times))
        values.append(value[spans(starts[own[starting]], times)])
    cell, value = np.concatenate(cells), np.concatenate(values)
    for own, held in zip(classes, counts, strict=True):
        kept = (own[cell] < 0) | (held[own[cell], value] > 0)
        cell, value = cell[kept], value[kept]
    return cell, value


class Sums(NamedTuple):
    """Numbers that add up: the sum each number is in, -1 for none, and what every sum is."""

    of: Whole  # (n_numbers,)
    totals: Whole  # (n_sums,)


def bounds_of(sums: Sequence[Sums], count: int) -> tuple[Whole, Whole]:
    """(count,) the fewest and the most that each of some whole numbers can be, none of them negative.

    >>> both, first = Sums(np.array([0, 0]), np.array([3])), Sums(np.array([0, -1]), np.array([2]))
    >>> [bound.tolist() for bound in bounds_of([both, first], 2)]
    [[2, 1], [2, 1]]
    """
    least, most = np.zeros(count, dtype=np.int64), np.full(count, _LARGEST)
    parts = [(np.flatnonzero(own >= 0), own[own >= 0], np.asarray(totals)) for own, totals in sums]
    for _ in range(_ROUNDS):
        before = int(most.sum() - least.sum())
        for inside, own, totals in parts:
            low, high = least[inside], most[inside]
            high = np.minimum(high, totals[own] - (_added(own, low, len(totals)) - low))
            least[inside] = np.maximum(low, totals[own] - (_added(own, high, len(totals)) - high))
            most[inside] = high
        if int(most.sum() - least.sum()) == before:
            break
    return least, most


def _added(own: Whole, numbers: Whole, count: int) -> Whole:
    """The sum that each number is in; exact, since sums of people are far below 2^53."""
    return np.asarray(np.bincount(own, weights=numbers, minlength=count).astype(np.int64)[own])


def spans(starts: Whole, times: Whole) -> Whole:
    """The numbers from each start on, so many of each, one after the other.

    >>> spans(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    ends = np.cumsum(times)
    return np.arange(int(times.sum())) - np.repeat(ends - times - starts, times)
