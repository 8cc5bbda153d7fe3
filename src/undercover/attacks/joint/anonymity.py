"""How many people fit the same rows in all of several releases: k of the releases together.

Whoever knows that a row of one release and a row of another are of the same person, by a rare value they share or by
anything else, looks for people who fit both. Classes of two releases cross: of five people in one and five in the
other, one may be in both. k of each release promises nothing about that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

MOST_COMBINATIONS = 5_000_000  # of a person and the cells that fit in every release

Whole = NDArray[np.int64]


class Fitting(Protocol):
    """Which cells of one release fit whom."""

    def pairs(self, first: int, last: int) -> tuple[Whole, Whole]:
        """Targets, counted from ``first``, and the cells that fit them, pair by pair, in the order of the targets."""


def people_alike(fitting: Sequence[Fitting], people: Whole) -> Whole | None:
    """(n_targets,) the fewest people who fit the same cells, one of each release, of those that fit a target.

    ``people`` (n_targets,) are those each target stands for. Whoever fits no cell of a release is not in it, and is
    told apart by that. ``None`` where the combinations of cells are too many to go through.

    >>> class Fits:
    ...     def __init__(self, *cells): self.cells = cells
    ...     def pairs(self, first, last): return np.arange(last - first), np.array(self.cells)[first:last]
    >>> people_alike([Fits(0, 0, 0, 1), Fits(0, 1, 1, 1)], np.array([1, 1, 1, 5])).tolist()
    [1, 2, 2, 5]
    """
    target, key = np.arange(len(people)), np.zeros(len(people), dtype=np.int64)
    for each in fitting:
        whom, cell = each.pairs(0, len(people))
        missing = np.setdiff1d(target, whom)  # fits nothing: one more cell
        whom, cell = np.concatenate([whom, missing]), np.concatenate([cell + 1, np.zeros(len(missing), dtype=np.int64)])
        order = np.argsort(whom, kind="stable")
        whom, cell = whom[order], cell[order]
        starts, ends = np.searchsorted(whom, target), np.searchsorted(whom, target, side="right")
        times = ends - starts
        if times.sum() > MOST_COMBINATIONS:
            return None
        picked = cell[np.arange(times.sum()) - np.repeat(np.cumsum(times) - times - starts, times)]
        target, key = np.repeat(target, times), np.repeat(key, times) * (int(cell.max()) + 1) + picked
        key = np.unique(key, return_inverse=True)[1].reshape(-1)  # numbered anew before they outgrow the integers
    together = np.bincount(key, weights=people[target]).astype(np.int64)[key]
    fewest = np.full(len(people), np.iinfo(np.int64).max)
    np.minimum.at(fewest, target, together)
    return fewest
