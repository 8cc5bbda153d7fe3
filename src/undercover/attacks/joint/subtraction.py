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
MOST_NUMBERS = 40_000_000  # cells times values, beyond which nothing is subtracted

Whole = NDArray[np.int64]


class Accounts(NamedTuple):
    """Classes of a release that are known to have just these people."""

    class_of: Whole  # (n_targets,), -1 for whoever is in none of them
    counts: Whole  # (n_classes, n_values)


def possible_values(releases: Sequence[Accounts], people: Whole) -> tuple[Whole, NDArray[np.bool_]] | None:
    """(n_targets,) the cell of each target, and (n_cells, n_values) whether somebody in it can have a value.

    ``people`` (n_targets,) is how many people each target stands for. ``None`` where there is nothing to subtract, or
    too much.

    >>> below_40, below_50 = Accounts(np.array([0, 1, 1]), np.array([[1, 1], [1, 2]])), np.array([0, 0, 1])
    >>> found = possible_values([below_40, Accounts(below_50, np.array([[1, 2], [1, 1]]))], np.array([2, 1, 2]))
    >>> found[1][found[0]].tolist()  # under 40, from 40 to 49, from 50
    [[True, True], [False, True], [True, True]]
    """
    if len(releases) < 2:
        return None
    cell_of = np.zeros(len(people), dtype=np.int64)
    for release in releases:
        cell_of, count = number(cell_of * (len(release.counts) + 1) + release.class_of + 1)
    if count * releases[0].counts.shape[1] > MOST_NUMBERS:
        return None
    first = np.empty(count, dtype=np.int64)
    first[cell_of] = np.arange(len(cell_of))
    classes = [release.class_of[first] for release in releases]
    sizes = np.bincount(cell_of, weights=people, minlength=count).astype(np.int64)
    held = [release.counts for release in releases]
    return cell_of, bounds_of(classes, held, sizes)[1] > 0


def bounds_of(classes: Sequence[Whole], counts: Sequence[Whole], sizes: Whole) -> tuple[Whole, Whole]:
    """(n_cells, n_values) the fewest and the most people of each value in each cell.

    ``classes`` are per release (n_cells,) the class a cell lies in, -1 for none, ``counts`` the rows of every class,
    ``sizes`` the people of every cell.
    """
    most = np.repeat(sizes[:, None], counts[0].shape[1], axis=1)
    least = np.zeros_like(most)
    sums = [_Sums(own, held) for own, held in zip(classes, counts, strict=True)]
    for _ in range(_ROUNDS):
        before = int(most.sum() - least.sum())
        for release in sums:
            release.tighten(least, most)
        np.minimum(most, sizes[:, None] - (least.sum(axis=1, keepdims=True) - least), out=most)
        np.maximum(least, sizes[:, None] - (most.sum(axis=1, keepdims=True) - most), out=least)
        if int(most.sum() - least.sum()) == before:
            break
    return least, most


class _Sums:
    """The cells of every class, which add up to its rows."""

    def __init__(self, own: Whole, counts: Whole) -> None:
        self.cells = np.flatnonzero(own >= 0)[np.argsort(own[own >= 0], kind="stable")]  # class by class
        ordered = own[self.cells]
        self.starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))[: len(ordered)]
        self.sizes = np.diff(np.append(self.starts, len(ordered)))
        self.rows = counts[ordered]

    def tighten(self, least: Whole, most: Whole) -> None:
        """What the others of its class leave to each cell; both bounds are changed."""
        if len(self.cells):
            low, high = least[self.cells], most[self.cells]
            np.minimum(high, self.rows - (self._of_class(low) - low), out=high)
            np.maximum(low, self.rows - (self._of_class(high) - high), out=low)
            least[self.cells], most[self.cells] = low, high

    def _of_class(self, numbers: Whole) -> Whole:
        return np.asarray(np.repeat(np.add.reduceat(numbers, self.starts, axis=0), self.sizes, axis=0))
