"""What the distinct cells of one column cover, as runs of positions.

Positions count the values of a column in order: its domain codes, or the leaves of its hierarchy. An interval is one
run, a set or a node as many as it has gaps and one. How many positions a cell covers is its size: 1 for a single
value, the number of members for a set, the number of leaves for a node.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from undercover.guarantees.meaning import Meaning

Positions = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Coverage:
    """The runs of every cell, one behind the other; each cell has at least one.

    Examples
    --------
    >>> cells = Coverage.of_meanings([Meaning(2, 5), Meaning(0, 9, (0, 1, 9))], n_positions=10)
    >>> cells.low.tolist(), cells.high.tolist(), cells.sizes.tolist()
    ([2, 0, 9], [5, 1, 9], [4, 3])
    >>> asked = np.array([0, 1, 1, 1, 0, 0, 0, 0, 0, 0], dtype=bool)  # positions 1 to 3
    >>> cells.covered(asked).tolist()
    [2, 1]
    """

    starts: Positions  # (n_cells + 1,) into low and high
    low: Positions  # (n_runs,)
    high: Positions  # (n_runs,) included
    n_positions: int

    @classmethod
    def of_ranges(cls, low: Positions, high: Positions, n_positions: int) -> Coverage:
        """Cells that are one run each."""
        return cls(np.arange(len(low) + 1), low.astype(np.int64), high.astype(np.int64), n_positions)

    @classmethod
    def of_members(cls, cells: Positions, members: Positions, n_cells: int, n_positions: int) -> Coverage:
        """Cells given member by member, sorted by cell and then by position, no member twice.

        >>> Coverage.of_members(np.array([0, 0, 0, 1]), np.array([3, 4, 7, 8]), 2, 10).low.tolist()
        [3, 7, 8]
        """
        first = np.append(True, (np.diff(members) != 1) | (np.diff(cells) != 0))
        last = np.append(first[1:], True)
        starts = np.searchsorted(cells[first], np.arange(n_cells + 1))
        return cls(starts, members[first].astype(np.int64), members[last].astype(np.int64), n_positions)

    @classmethod
    def of_meanings(cls, meanings: Sequence[Meaning], n_positions: int) -> Coverage:
        """Cells as they were read from a published table."""
        if all(meaning.members is None for meaning in meanings):
            ends = np.array([(meaning.low, meaning.high) for meaning in meanings], dtype=np.int64).reshape(-1, 2)
            return cls.of_ranges(ends[:, 0], ends[:, 1], n_positions)
        members = [meaning.members or range(meaning.low, meaning.high + 1) for meaning in meanings]
        cells = np.repeat(np.arange(len(meanings)), [len(places) for places in members])
        return cls.of_members(cells, np.concatenate([np.array(p) for p in members]), len(meanings), n_positions)

    @property
    def n_cells(self) -> int:
        """Number of distinct cells."""
        return len(self.starts) - 1

    @cached_property
    def sizes(self) -> Positions:
        """(n_cells,) how many positions each cell covers."""
        return self._sums(self.high - self.low + 1)

    def covered(self, asked: NDArray[np.bool_]) -> Positions:
        """(n_cells,) how many of the positions asked for each cell covers."""
        before = np.concatenate([[0], np.cumsum(asked)])
        return self._sums(before[self.high + 1] - before[self.low])

    def _sums(self, per_run: Positions) -> Positions:
        if not self.n_cells:
            return np.zeros(0, dtype=np.int64)
        return np.asarray(np.add.reduceat(per_run, self.starts[:-1]), dtype=np.int64)
