"""Groups: which row went where.

And what an adversary sees of it: who is with whom, and how often each sensitive value occurs among them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from undercover.arrays import numbered


@dataclass(frozen=True)
class Groups:
    """A partition of rows into numbered groups."""

    labels: NDArray[np.int32]  # (n_rows,) group of each row
    count: int

    @classmethod
    def from_order(cls, order: NDArray[np.integer], offsets: NDArray[np.int64], threads: int = 1) -> Groups:
        """Groups that are already laid out: ``order[offsets[g]:offsets[g + 1]]`` are the rows of group g."""
        from undercover.compiled.rows import label_rows
        from undercover.threads import parallel, segments

        labels = np.empty(len(order), dtype=np.int32)
        parallel(lambda run: label_rows(order, offsets, labels, *run), segments(offsets, threads), threads)
        groups = cls(labels, len(offsets) - 1)
        groups.__dict__["_layout"] = order, offsets
        return groups

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Rows in each group."""
        return np.diff(self.offsets)

    @property
    def offsets(self) -> NDArray[np.int64]:
        """(count + 1,) where each group starts in :attr:`order`."""
        return self._layout[1]

    @property
    def order(self) -> NDArray[np.integer]:
        """The rows, group by group; those of a group ascending, unless they were laid out before."""
        return self._layout[0]

    @cached_property
    def _layout(self) -> tuple[NDArray[np.integer], NDArray[np.int64]]:
        from undercover.compiled.shuffle import counting_order

        order, offsets = counting_order(self.labels, self.count)
        return order, offsets

    def rows_of(self, group: int) -> NDArray[np.integer]:
        """The rows of one group."""
        return self.order[self.offsets[group] : self.offsets[group + 1]]


def number(keys: NDArray[np.integer]) -> tuple[NDArray[np.int64], int]:
    """Number distinct keys in order of appearance, in numbers that may be multiplied."""
    labels, first = numbered(keys)
    return labels.astype(np.int64), len(first)


Seen = frozenset[tuple[frozenset[int], tuple[int, ...]]]
"""Groups as (rows, their sensitive codes in ascending order); numbers of groups and order of rows are not seen."""


def seen_groups(labels: Iterable[int], colours: NDArray[np.integer]) -> Seen:
    """What is seen of a partition by somebody who knows everybody's quasi-identifiers and so everybody's group."""
    members: dict[int, list[int]] = {}
    for row, label in enumerate(labels):
        members.setdefault(int(label), []).append(row)
    return frozenset((frozenset(rows), tuple(sorted(int(colours[row]) for row in rows))) for rows in members.values())


DrawnCells = frozenset[tuple[frozenset[int], str]]
"""Cells of which one value is published: (rows, the value as it is written)."""


def drawn_cells(members: Sequence[Sequence[int]], values: Sequence[str]) -> DrawnCells:
    """What is seen of cells that publish one value each."""
    return frozenset((frozenset(rows), value) for rows, value in zip(members, values, strict=True))
