"""What the distinct cells of one column cover, as runs of positions.

Positions count the values of a column in order: its domain codes, or the leaves of its hierarchy. An interval is one
run, a set or a node as many as it has gaps and one. How many positions a cell covers is its size: 1 for a single
value, the number of members for a set, the number of leaves for a node.

Which points lie in at least one box: a join of original rows with generalised ones.

Comparing every row with every class is out of reach, so both are cut together: the points are halved along the column
in which they are spread most, and each half keeps only the boxes that reach into it, until few enough pairs are left
to compare them all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from undercover.forms.meaning import Meaning, Meanings
from undercover.model.table import EncodedColumn

Positions = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Coverage:
    """The runs of every cell, one behind the other; each cell has at least one."""

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
        """Cells given member by member, sorted by cell and then by position, no member twice."""
        first = np.append(True, (np.diff(members) != 1) | (np.diff(cells) != 0))
        last = np.append(first[1:], True)
        starts = np.searchsorted(cells[first], np.arange(n_cells + 1))
        return cls(starts, members[first].astype(np.int64), members[last].astype(np.int64), n_positions)

    @classmethod
    def of_values(cls, cells: pa.Array, domain: EncodedColumn) -> Coverage | None:
        """Texts that are values of the column, each its own cell; ``None`` where one is something else.

        They are looked up as they are: a column that is different for everybody has as many as it has rows.
        """
        values = domain.domain.values
        if not (pa.types.is_string(cells.type) and pa.types.is_string(values.type)) or cells.null_count:
            return None
        places = pc.index_in(cells, value_set=values)
        if places.null_count:
            return None
        found = places.to_numpy().astype(np.int64)
        return cls.of_ranges(found, found, domain.domain.size)

    @classmethod
    def of_meanings(cls, meanings: Sequence[Meaning], n_positions: int) -> Coverage:
        """Cells as they were read from a published table; one that covers nothing has an empty run."""
        if isinstance(meanings, Meanings) and (ranges := meanings.ranges) is not None:
            return cls.of_ranges(ranges[:, 0], ranges[:, 1], n_positions)
        if all(meaning.members is None for meaning in meanings):
            ends = np.array([(meaning.low, meaning.high) for meaning in meanings], dtype=np.int64).reshape(-1, 2)
            return cls.of_ranges(ends[:, 0], ends[:, 1], n_positions)
        low: list[int] = []
        high: list[int] = []
        starts = [0]
        for meaning in meanings:
            if meaning.members is None:
                low.append(meaning.low)
                high.append(meaning.high)
            else:
                for place in meaning.members:
                    if len(high) > starts[-1] and high[-1] == place - 1:
                        high[-1] = place
                    else:
                        low.append(place)
                        high.append(place)
            starts.append(len(low))
        return cls(np.array(starts), np.array(low, np.int64), np.array(high, np.int64), n_positions)

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

    def holds(self, cells: Positions, codes: Positions) -> NDArray[np.bool_]:
        """Whether each cell covers the position beside it."""
        run = np.searchsorted(self._keys, cells * (self.n_positions + 1) + codes, side="right") - 1
        found = run >= self.starts[cells]
        return found & (self.high[np.maximum(run, 0)] >= codes)

    def holds_all(self, cells: Positions, codes: Positions) -> NDArray[np.bool_]:
        """Whether each cell covers every one of some positions, which are sorted and differ."""
        low, high, times = self.runs_of(cells)
        inside = np.searchsorted(codes, high, side="right") - np.searchsorted(codes, low)
        before = np.cumsum(times) - times
        return np.asarray(np.add.reduceat(np.maximum(inside, 0), before) == len(codes)) if len(cells) else before > 0

    def runs_of(self, cells: Positions) -> tuple[Positions, Positions, Positions]:
        """The runs of some cells, one behind the other (low, high), and how many each cell has."""
        first, times = self.starts[cells], np.diff(self.starts)[cells]
        runs = np.arange(int(times.sum())) + np.repeat(first - np.cumsum(times) + times, times)
        return self.low[runs], self.high[runs], times

    @cached_property
    def _keys(self) -> Positions:
        """(n_runs,) ascending: the cell of each run and where the run begins."""
        return np.repeat(np.arange(self.n_cells), np.diff(self.starts)) * (self.n_positions + 1) + self.low

    def _sums(self, per_run: Positions) -> Positions:
        if not self.n_cells:
            return np.zeros(0, dtype=np.int64)
        return np.asarray(np.add.reduceat(per_run, self.starts[:-1]), dtype=np.int64)


_PAIRS = 1 << 15

Array = NDArray[np.integer]


@dataclass(frozen=True)
class Cover:
    """The distinct cells of one column as ranges of codes; scattered cells list their codes too."""

    low: Array  # (n_cells,)
    high: Array
    scattered: NDArray[np.bool_]
    keys: Array  # sorted: cell · size + code of every member of a scattered cell
    size: int

    @classmethod
    def of(cls, meanings: Sequence[Meaning], size: int) -> Cover:
        """Gather what the cells of a column mean."""
        keys = [cell * size + code for cell, meaning in enumerate(meanings) for code in meaning.members or ()]
        return cls(
            np.array([meaning.low for meaning in meanings], dtype=np.int64),
            np.array([meaning.high for meaning in meanings], dtype=np.int64),
            np.array([meaning.members is not None for meaning in meanings], dtype=bool),
            np.array(keys, dtype=np.int64),
            size,
        )

    @classmethod
    def exact(cls, size: int) -> Cover:
        """Cells that stand for one code each."""
        codes = np.arange(size, dtype=np.int64)
        return cls(codes, codes, np.zeros(size, dtype=bool), np.empty(0, dtype=np.int64), size)

    @property
    def is_exact(self) -> bool:
        """Whether every cell covers a single code."""
        return bool((self.low == self.high).all())

    def reaches(self, cells: Array, first: int, last: int) -> NDArray[np.bool_]:
        """Which of the cells cover a code from ``first`` to ``last``."""
        found = (self.low[cells] <= last) & (self.high[cells] >= first)
        loose = np.flatnonzero(found & self.scattered[cells])
        if len(loose):
            base = cells[loose] * self.size
            found[loose] = np.searchsorted(self.keys, base + first) < np.searchsorted(self.keys, base + last, "right")
        return found

    def holds(self, cells: Array, codes: Array) -> NDArray[np.bool_]:
        """Whether each cell covers the code beside it."""
        found = (self.low[cells] <= codes) & (codes <= self.high[cells])
        loose = np.flatnonzero(found & self.scattered[cells])
        if len(loose):
            wanted = cells[loose] * self.size + codes[loose]
            place = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
            found[loose] = self.keys[place] == wanted
        return found


def covered(points: Sequence[Array], boxes: Sequence[Array], covers: Sequence[Cover]) -> NDArray[np.bool_]:
    """Whether each point lies in a box; see :func:`meetings`."""
    found = np.zeros(len(points[0]), dtype=bool)
    for rows, _ in meetings(points, boxes, covers):
        found[rows] = True
    return found


def located(points: Sequence[Array], boxes: Sequence[Array], covers: Sequence[Cover]) -> tuple[Array, Array]:
    """The last box each point lies in (-1 for none), and in how many it lies."""
    found, times = np.full(len(points[0]), -1, dtype=np.int64), np.zeros(len(points[0]), dtype=np.int64)
    for rows, near in meetings(points, boxes, covers):
        found[rows] = near
        np.add.at(times, rows, 1)
    return found, times


def meetings(points: Sequence[Array], boxes: Sequence[Array], covers: Sequence[Cover]) -> Iterator[tuple[Array, Array]]:
    """The pairs of a point and a box it lies in, part by part.

    ``points`` are codes and ``boxes`` cells, one array per column; a cell is a number into that column's cover. Both
    are halved along the column in which the points are widest, until few pairs are left to compare.
    """
    pending = [(np.arange(len(points[0])), np.arange(len(boxes[0])))]
    while pending:
        rows, near = pending.pop()
        if not len(rows) or not len(near):
            continue
        column, first, last = _widest(points, covers, rows)
        if len(rows) * len(near) <= _PAIRS or first == last:
            yield _compare_all(points, boxes, covers, rows, near)
            continue
        codes = points[column][rows]
        middle = int(np.partition(codes, len(codes) // 2)[len(codes) // 2])
        middle -= middle == last
        cells = boxes[column][near]
        for part, start, end in ((codes <= middle, first, middle), (codes > middle, middle + 1, last)):
            pending.append((rows[part], near[covers[column].reaches(cells, start, end)]))


def _widest(points: Sequence[Array], covers: Sequence[Cover], rows: Array) -> tuple[int, int, int]:
    spans = [(int(codes[rows].min()), int(codes[rows].max())) for codes in points]
    widths = [(last - first) / max(cover.size - 1, 1) for (first, last), cover in zip(spans, covers, strict=True)]
    column = int(np.argmax(widths))
    return column, *spans[column]


def _compare_all(
    points: Sequence[Array], boxes: Sequence[Array], covers: Sequence[Cover], rows: Array, near: Array
) -> tuple[Array, Array]:
    # Two columns weed out most pairs as a whole; the rest are followed one by one.
    telling = sorted(range(len(covers)), key=lambda column: -covers[column].size)
    fits = np.ones((len(rows), len(near)), dtype=bool)
    for column in telling[:2]:
        own, cells = points[column][rows][:, None], boxes[column][near]
        fits &= (covers[column].low[cells] <= own) & (own <= covers[column].high[cells])
    row, box = np.divmod(np.flatnonzero(fits), len(near))
    for column in telling[2:] + telling[:2]:
        kept = covers[column].holds(boxes[column][near[box]], points[column][rows[row]])
        row, box = row[kept], box[kept]
    return rows[row], near[box]
