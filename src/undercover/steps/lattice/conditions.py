"""What the cells of a full-domain generalisation must satisfy, as conditions of the lattice search.

k (Sweeney 2002), l-diversity in its forms (Machanavajjhala et al. 2006, Xiao & Tao 2006) and t-closeness (Li et al.
2007) on single cells; distinct l-diversity next to what others have published (Cheong, Wu & Wong 2012, Section 5.2).

Rows in cells that fail may be suppressed up to a limit. Of k and of distinct values fewer and fewer rows fail the more
general a node is; of the other forms this is not so, since a cell that holds may be joined with one that does not.
Where people have several rows, a cell also fails of which somebody has more than one in k rows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from undercover.model.table import Table
from undercover.steps.cutting.arrays import Checks
from undercover.steps.cutting.checks import Check, kernel_checks
from undercover.steps.lattice.cubes import CellCube, Payload
from undercover.units import most_of_one

_NOWHERE = np.zeros(0, dtype=bool)
_NO_COUNTS = np.zeros(0, dtype=np.int64)
_CLOSENESS = ("equal", "ordered", "hierarchical")


class Condition(Protocol):
    """What every cell must satisfy, but for those that are suppressed."""

    @property
    def payloads(self) -> set[Payload]:
        """What it must know of cells."""
        ...

    @property
    def monotone(self) -> bool:
        """Whether everything more general than a node that passes passes."""
        ...

    def passes(self, cube: CellCube) -> bool:
        """Whether a node may be published."""
        ...

    def failing(self, cube: CellCube) -> NDArray[np.bool_]:
        """(n_cells,) the cells whose rows would be suppressed."""
        ...


@dataclass(frozen=True, eq=False)
class CellCondition:
    """``k`` rows in every cell, nobody with more than one in ``k`` of them, and every check kept.

    At most ``limit`` rows are suppressed.
    """

    table: Table
    k: int
    checks: tuple[Check, ...] = ()
    limit: int = 0
    per_unit: bool = True  # whether nobody may have more than one in k of the rows of a cell
    counts: Mapping[str, NDArray[np.int64]] | None = None  # of every value that is checked, where rows are elsewhere

    @property
    def sensitive(self) -> tuple[str, ...]:
        """The sensitive columns that are checked."""
        return tuple(dict.fromkeys(check.column for check in self.checks))

    @cached_property
    def payloads(self) -> set[Payload]:
        """Bits are enough where only different values count."""
        if not self.checks or (self._distinct and self._units is not None):
            return {"counts", "bits"} if self.checks else {"counts"}
        if not self._distinct:
            return {"counts", "tally"}
        return {"bits", "counts"} if self.k > 1 or self.limit else {"bits"}

    @property
    def monotone(self) -> bool:
        """Without suppression all of them are, with it k and distinct values."""
        return (self._distinct and self._units is None) or not self.limit

    @property
    def necessary(self) -> CellCondition:
        """A monotone condition that every passing node satisfies.

        Rows of small cells are suppressed whatever else is asked. So are those of cells with fewer than l values: no
        value above 1/l of the rows, an entropy of log l, and something left beyond the l - 1 most frequent values all
        take l of them.
        """
        least: dict[str, int] = {}
        for check in self.checks:
            if check.kind not in _CLOSENESS:
                values = math.floor(check.limit) if check.kind == "recursive" else math.ceil(check.limit)
                least[check.column] = max(values, least.get(check.column, 1))
        distinct = tuple(Check(column=column, kind="distinct", limit=float(number)) for column, number in least.items())
        return CellCondition(self.table, self.k, distinct, self.limit, per_unit=False, counts=self.counts)

    def passes(self, cube: CellCube) -> bool:
        """Whether at most ``limit`` rows must be suppressed."""
        if not self._refers_to_published and self._rows(cube, self.limit, _NOWHERE) > self.limit:
            return False
        if self._units is not None and not self.limit:
            return not self._crowded(cube).any()
        if self._units is not None or self._refers_to_published:
            return int(cube.counts[self.failing(cube)].sum()) <= self.limit
        return True

    def failing(self, cube: CellCube) -> NDArray[np.bool_]:
        """The cells that fail; with t-closeness, until those left are close to the table they form."""
        n_cells = len(next(iter(cube.held.values())))
        failing = np.zeros(n_cells, dtype=bool)
        self._rows(cube, self.table.n_rows, failing)
        if self._units is not None:
            failing |= self._crowded(cube)
        if not self._refers_to_published:
            return failing
        while True:
            counts, tally = cube.counts.copy(), cube.held["tally"]
            counts[failing] = 0
            if not counts.any():
                return failing
            kept = tally[~failing].sum(axis=0)
            again = np.zeros(n_cells, dtype=bool)
            self._rows(cube, self.table.n_rows, again, counts, kept / counts.sum())
            if not again.any():
                return failing
            failing |= again

    @property
    def _units(self) -> NDArray[np.int64] | None:
        return self.table.units if self.per_unit else None

    def _crowded(self, cube: CellCube) -> NDArray[np.bool_]:
        """(n_cells,) the cells of which somebody has more than one in k rows."""
        assert self._units is not None
        cells, n_cells = cube.of_rows(), len(next(iter(cube.held.values())))
        most, _ = most_of_one(cells, self._units, n_cells)
        return most * self.k > np.bincount(cells, minlength=n_cells)

    @property
    def _distinct(self) -> bool:
        return all(check.kind == "distinct" for check in self.checks)

    @property
    def _refers_to_published(self) -> bool:
        """Whether what a cell must be close to changes with what is suppressed."""
        return bool(self.limit) and any(check.kind in _CLOSENESS for check in self.checks)

    @cached_property
    def _arrays(self) -> Checks:
        return kernel_checks(self.table, self.checks, self.counts)

    def _rows(
        self,
        cube: CellCube,
        limit: int,
        failing: NDArray[np.bool_],
        counts: NDArray[np.int64] | None = None,
        reference: NDArray[np.float64] | None = None,
    ) -> int:
        """Rows in failing cells; more than ``limit`` is as good as any other number."""
        from undercover.steps.lattice import kernels

        if counts is None:
            counts = cube.counts if "counts" in cube.held else _NO_COUNTS
        if not self.checks:
            if len(failing):
                failing |= (counts > 0) & (counts < self.k)
                return int(counts[failing].sum())
            return int(kernels.rows_in_small_cells(counts, self.k, limit))
        if self._distinct:
            least = np.array([check.limit for check in self.checks], dtype=np.int64)
            starts = cube.domain.word_starts
            counted = len(counts) > 0
            return int(
                kernels.rows_of_few_values(counts, counted, cube.held["bits"], self.k, starts, least, limit, failing)
            )
        checks = self._arrays if reference is None else self._arrays._replace(reference=reference)
        return int(kernels.rows_that_fail(counts, cube.held["tally"], self.k, checks, limit, failing))


@dataclass(frozen=True, eq=False)
class JointCondition:
    """Whatever cell and whatever class of every other table a person is in: at least ``l`` distinct values are left."""

    l: int
    others: tuple[NDArray[np.uint64], ...]  # per table (n_sets, n_words) values of its classes; the smallest matter
    n_values: int

    @property
    def payloads(self) -> set[Payload]:
        """Which values occur."""
        return {"bits"}

    @property
    def monotone(self) -> bool:
        """Joining cells joins their values (Theorems 3 and 4)."""
        return True

    @cached_property
    def _arrays(self) -> tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.int64]]:
        return other_sets(self.others, self.n_values)

    def passes(self, cube: CellCube) -> bool:
        """Whether the intersection with every combination of the others' sets is large enough."""
        from undercover.steps.lattice.kernels import joint_values_hold

        return bool(joint_values_hold(cube.held["bits"], self.l, *self._arrays))

    def failing(self, cube: CellCube) -> NDArray[np.bool_]:
        """Nothing is ever suppressed."""
        return np.zeros(len(cube.held["bits"]), dtype=bool)


def other_sets(
    others: Sequence[NDArray[np.uint64]], n_values: int
) -> tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.int64]]:
    """(sets, where each table's begin, values each lacks) as :func:`joint_values_hold` takes them."""
    kept, lacking = [], []
    for table in others:
        smallest = smallest_sets(table)
        lacks = n_values - np.bitwise_count(smallest).sum(axis=1).astype(np.int64)
        order = np.argsort(-lacks, kind="stable")
        kept.append(smallest[order])
        lacking.append(lacks[order])
    n_words = -(-n_values // 64)
    sets = np.concatenate(kept) if kept else np.zeros((0, n_words), dtype=np.uint64)
    starts = np.cumsum([0, *(len(table) for table in kept)]).astype(np.int64)
    return sets, starts, np.concatenate([*lacking, np.zeros(0, dtype=np.int64)])


def smallest_sets(sets: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Those of the sets, given as bits, that contain no other."""
    distinct = np.unique(sets, axis=0)
    order = np.argsort(np.bitwise_count(distinct).sum(axis=1), kind="stable")
    kept = np.empty_like(distinct)
    n_kept = 0
    for row in distinct[order]:
        if not (kept[:n_kept] & ~row == 0).all(axis=1).any():
            kept[n_kept] = row
            n_kept += 1
    return kept[:n_kept].copy()
