"""The coarse cut of a table into parts, from quasi-identifiers alone.

A part is a box. Cut after cut goes through the largest part at the median of the column whose halves lie closest
together, until there are as many parts as asked for. Values without an order are cut in the order of their frequency; a
column with a hierarchy is cut along its tree, into all children of a node at once, so that a part is a node there. No
part has fewer than ``least`` rows; where nothing can be cut any more there are fewer parts. The rule is data, and
whoever has it knows from a row's quasi-identifiers which part it is in: neither sensitive values nor the order of rows
have a say.

LeFevre, DeWitt & Ramakrishnan 2006 cut boxes at medians, too, of the widest column; ours loses less (decision 62).
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from undercover.arrays import count, rows_where
from undercover.engines.cube import Cube, rows_of
from undercover.model.table import EncodedColumn, Table, cell_kind

_ROWS_AT_ONCE = 1 << 20
_SMALLEST_SHARE = 4  # no part is smaller than one in so many of the rows it would have if all were alike


@dataclass(frozen=True, eq=False)
class Part:
    """What a part of a table knows of the whole: its number, the box it was cut to, and what the whole table counts."""

    number: int
    bounds: Mapping[str, tuple[NDArray[np.int64], int, int]]  # column -> (place of each code, first, last place)
    counts: Mapping[str, NDArray[np.int64]]  # sensitive column -> rows of each code in the whole table

    def holds(self, column: str) -> NDArray[np.bool_]:
        """(domain size,) the values of a column that the part was cut to."""
        place, first, last = self.bounds[column]
        return (place >= first) & (place <= last)


@dataclass(frozen=True, eq=False)
class CutRule:
    """A binary tree of cuts. A node sends places up to its ``threshold`` to ``left`` and the others to ``right``.

    ``column`` of a node is the number of the column it cuts, and -1 where it is a part, whose number is ``left``.
    """

    columns: tuple[str, ...]
    places: tuple[NDArray[np.int64], ...]  # (domain size,) where each code lies in the order its column is cut in
    column: NDArray[np.int32]  # (n_nodes,)
    threshold: NDArray[np.int64]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    bounds: NDArray[np.int64]  # (n_parts, n_columns, 2) first and last place of every part

    @property
    def n_parts(self) -> int:
        """Number of parts."""
        return len(self.bounds)

    def of(self, codes: Mapping[str, NDArray[Any]]) -> NDArray[np.int32]:
        """(n_rows,) the part of every row."""
        given = [codes[name] for name in self.columns]
        found = np.empty(len(given[0]), dtype=np.int32)
        for start in range(0, len(found), _ROWS_AT_ONCE):
            some = [one[start : start + _ROWS_AT_ONCE] for one in given]
            self._sort(some, found[start : start + _ROWS_AT_ONCE])
        return found

    def _sort(self, codes: list[NDArray[Any]], found: NDArray[np.int32]) -> None:
        waiting = [(0, np.arange(len(found), dtype=np.int32))]
        while waiting:
            node, rows = waiting.pop()
            j = int(self.column[node])
            if j < 0:
                found[rows] = self.left[node]
                continue
            low = (self.places[j] <= self.threshold[node])[codes[j][rows]]
            waiting += [(int(self.left[node]), rows[low]), (int(self.right[node]), rows[~low])]

    def part(self, number: int, counts: Mapping[str, NDArray[np.int64]]) -> Part:
        """What one part knows of the whole, whose sensitive values ``counts`` has."""
        bounds = {
            name: (self.places[j], int(self.bounds[number, j, 0]), int(self.bounds[number, j, 1]))
            for j, name in enumerate(self.columns)
        }
        return Part(number, bounds, counts)


@dataclass(frozen=True, eq=False)
class Division:
    """A table that is held here, divided; a part is made when it is asked for, by its number."""

    table: Table
    rule: CutRule | None  # None: the table is the only part
    numbers: NDArray[np.int32]  # (n_rows,) the part of every row
    counts: Mapping[str, NDArray[np.int64]]

    @property
    def n_parts(self) -> int:
        """Number of parts."""
        return 1 if self.rule is None else self.rule.n_parts

    def __getitem__(self, number: int) -> tuple[NDArray[np.integer[Any]], Table]:
        """The rows of a part, and the part as a table that knows of the whole."""
        if self.rule is None:
            return np.arange(self.table.n_rows), self.table
        rows: NDArray[Any] = rows_where(self.numbers == number)
        return rows, replace(self.table.take(rows), part=self.rule.part(number, self.counts))


def divide(
    table: Table, n_parts: int, *, least: int = 0, together: Mapping[str, NDArray[np.int64]] | None = None
) -> Division:
    """Divide a table that is held here by its quasi-identifiers, or by the columns that ``together`` names."""
    columns = table.schema.quasi_identifiers if together is None else tuple(together)
    if n_parts > 1 and columns:
        least = least_rows(table.n_rows, n_parts, least)
        rule = cut_rule(rows_of(table, columns), table, n_parts, least=least, together=together)
        if rule.n_parts > 1:
            numbers = rule.of({name: table[name].codes for name in columns})
            sensitive = ((name, table[name]) for name in table.schema.sensitive)
            counts = {name: count(own.codes, own.domain.size) for name, own in sensitive}
            return Division(table, rule, numbers, counts)
    return Division(table, None, np.zeros(0, np.int32), {})


def least_rows(n_rows: int, n_parts: int, least: int = 0) -> int:
    """The rows that no part may fall below: those asked for, and not too few beside other parts.

    >>> least_rows(1600, 4), least_rows(1600, 4, 300)
    (100, 300)
    """
    return max(1, least, n_rows // (n_parts * _SMALLEST_SHARE))


def cut_rule(
    cube: Cube,
    like: Table,
    n_parts: int,
    *,
    least: int = 0,
    together: Mapping[str, NDArray[np.int64]] | None = None,
) -> CutRule:
    """Cut what is counted in ``cube`` into at most ``n_parts`` parts of at least ``least`` rows.

    Parameters
    ----------
    cube
        Quasi-identifiers and their rows.
    like
        A table with the same domains; of its rows nothing is asked.
    together
        Column -> the node of each code: codes of one node stay in one part, and nodes are cut in their own order.
    """
    columns = [
        _scale(like[name], codes, cube.counts, None if together is None else together.get(name))
        for name, codes in zip(cube.columns, cube.codes, strict=True)
    ]
    whole = _Box(None, cube.n_rows, [(0, column.last) for column in columns])
    cutting = _Cutting(cube, columns, max(1, least), [whole])
    cutting.cut(n_parts)
    return cutting.rule()


@dataclass(frozen=True)
class _Scale:
    """A column as it is cut: the place of each code, how far places lie apart, and nodes of its tree."""

    place: NDArray[np.int64]
    position: NDArray[np.float64]  # (n_places,) from 0 to 1 times the column's weight
    ordered: bool = True  # otherwise any two values are as far apart as the scale is wide
    first: NDArray[np.int64] | None = None  # (n_nodes,) of a tree: its places
    final: NDArray[np.int64] | None = None
    parent: NDArray[np.int64] | None = None

    @property
    def last(self) -> int:
        """The last place."""
        return len(self.position) - 1

    def spread(self, counts: NDArray[np.int64], low: int, high: int) -> float:
        """The mean distance of two rows at these places, times their rows."""
        own = counts[low : high + 1].astype(np.float64)
        rows = own.sum()
        if not rows:
            return 0.0
        if not self.ordered:
            return float(self.position[-1] * np.dot(own, rows - own) / rows)
        below = np.cumsum(own)[:-1]
        return float(2 * np.dot(np.diff(self.position[low : high + 1]), below * (rows - below)) / rows)

    def children(self, low: int, high: int) -> list[tuple[int, int]]:
        """The children of the node that has these places, first to last."""
        assert self.first is not None
        assert self.final is not None
        (node,) = np.flatnonzero((self.first == low) & (self.final == high))[:1]
        below = np.flatnonzero(self.parent == node)
        return sorted(zip(self.first[below].tolist(), self.final[below].tolist(), strict=True))


@dataclass
class _Box:
    """A part while it is cut: its cells, its rows, its places, and what became of it."""

    cells: NDArray[np.int64] | None  # None: all of them
    rows: int
    bounds: list[tuple[int, int]]
    column: int = -1
    threshold: int = 0
    below: tuple[int, int] = (0, 0)


@dataclass
class _Cutting:
    """The cutting of a cube: boxes as nodes of a tree."""

    cube: Cube
    columns: list[_Scale]
    least: int
    boxes: list[_Box] = field(default_factory=list)

    def cut(self, n_parts: int) -> None:
        """Cut the largest box as long as there are too few."""
        waiting, n_boxes = [(-self.boxes[0].rows, 0)], 1
        while waiting and n_boxes < n_parts:
            number = heapq.heappop(waiting)[1]
            found = self._best(self.boxes[number], n_parts - n_boxes + 1)
            if found is None:
                continue
            made = self._split(number, *found)
            n_boxes += len(made) - 1
            for one in made:
                heapq.heappush(waiting, (-self.boxes[one].rows, one))

    def _best(self, box: _Box, most: int) -> tuple[int, list[tuple[int, int]]] | None:
        """The column whose cut saves most, and the places of what it is cut into; at most so many."""
        best, found = 0.0, None
        for j, column in enumerate(self.columns if box.rows >= 2 * self.least else ()):
            counts = self._counts(box, j)
            pieces = self._pieces(j, box.bounds[j], counts)
            if 2 <= len(pieces) <= most:
                inside = sum(column.spread(counts, low, high) for low, high in pieces)
                saved = column.spread(counts, 0, column.last) - inside
                if saved > best:
                    best, found = saved, (j, pieces)
        return found

    def _pieces(self, j: int, bounds: tuple[int, int], counts: NDArray[np.int64]) -> list[tuple[int, int]]:
        """Children that have rows, or two halves; nothing where one of them would be too small."""
        low, high = bounds
        up_to = np.concatenate([[0], np.cumsum(counts)])
        if self.columns[j].first is not None:
            rows = {(a, b): int(up_to[b + 1] - up_to[a]) for a, b in self.columns[j].children(low, high)}
            pieces = [piece for piece, many in rows.items() if many]
            return pieces if all(rows[piece] >= self.least for piece in pieces) else []
        below = up_to[low + 1 : high + 1]  # rows up to each place but the last
        allowed = np.flatnonzero((below >= self.least) & (up_to[-1] - below >= self.least))
        if not len(allowed):
            return []
        at = low + int(allowed[np.argmin(np.abs(2 * below[allowed] - up_to[-1]))])
        return [(low, at), (at + 1, high)]

    def _counts(self, box: _Box, j: int) -> NDArray[np.int64]:
        """Rows of a box at every place of a column."""
        place = self.columns[j].place
        return _histogram(place, self.cube.codes[j], self.cube.counts, box.cells, len(self.columns[j].position))

    def _split(self, number: int, j: int, pieces: list[tuple[int, int]]) -> list[int]:
        """Make boxes of the pieces, one cut after the other; their numbers."""
        made = []
        for nth, (low, high) in enumerate(pieces):
            box = self.boxes[number]
            if nth == len(pieces) - 1:
                box.bounds[j] = (low, high)
                made.append(number)
                break
            until = pieces[nth + 1][0] - 1
            cells = np.arange(self.cube.n_cells, dtype=np.uint32) if box.cells is None else box.cells
            inside = (self.columns[j].place <= until)[self.cube.codes[j][cells]]
            halves = [cells[inside], cells[~inside]]
            box.column, box.threshold, box.below, box.cells = j, until, (len(self.boxes), len(self.boxes) + 1), None
            for half, bounds in zip(halves, ((low, high), (until + 1, box.bounds[j][1])), strict=True):
                rows = len(half) if self.cube.counts is None else int(self.cube.counts[half].sum())
                self.boxes.append(_Box(half, rows, [*box.bounds[:j], bounds, *box.bounds[j + 1 :]]))
            made.append(box.below[0])
            number = box.below[1]
        return made

    def rule(self) -> CutRule:
        """The boxes as arrays; parts are numbered as they lie in the tree."""
        parts: dict[int, int] = {}
        waiting = [0]
        while waiting:
            number = waiting.pop()
            box = self.boxes[number]
            if box.column < 0:
                parts[number] = len(parts)
            else:
                waiting += [box.below[1], box.below[0]]
        left = [parts[n] if box.column < 0 else box.below[0] for n, box in enumerate(self.boxes)]
        return CutRule(
            columns=self.cube.columns,
            places=tuple(column.place for column in self.columns),
            column=np.array([box.column for box in self.boxes], dtype=np.int32),
            threshold=np.array([box.threshold for box in self.boxes], dtype=np.int64),
            left=np.array(left, dtype=np.int32),
            right=np.array([box.below[1] for box in self.boxes], dtype=np.int32),
            bounds=np.array([self.boxes[n].bounds for n in parts], dtype=np.int64).reshape(len(parts), -1, 2),
        )


def _histogram(
    place: NDArray[np.int64],
    codes: NDArray[Any],
    counts: NDArray[np.int64] | None,
    cells: NDArray[np.int64] | None,
    size: int,
) -> NDArray[np.int64]:
    """(size,) rows at every place, some cells at a time."""
    found = np.zeros(size, dtype=np.int64)
    for start in range(0, len(codes) if cells is None else len(cells), _ROWS_AT_ONCE):
        some: Any = slice(start, start + _ROWS_AT_ONCE)
        some = some if cells is None else cells[some]
        if counts is None:
            found += np.bincount(place[codes[some]], minlength=size)
        else:
            found += np.bincount(place[codes[some]], counts[some], size).astype(np.int64)
    return found


def _scale(
    column: EncodedColumn, codes: NDArray[Any], counts: NDArray[np.int64] | None, nodes: NDArray[np.int64] | None
) -> _Scale:
    """How a column is cut; ``nodes`` that must stay together are cut in their own order."""
    weight, size, domain = column.settings.weight, column.domain.size, column.domain
    if nodes is not None:
        return _Scale(nodes, np.linspace(0, weight, int(nodes.max()) + 1))
    kind = cell_kind(column)
    if kind == "tree":
        return _tree_scale(column)
    if kind == "set":
        own = _histogram(np.arange(size), codes, counts, None, size)
        place = np.empty(size, dtype=np.int64)
        place[np.argsort(-own, kind="stable")] = np.arange(size)
        return _Scale(place, np.linspace(0, weight, size), ordered=False)
    return _Scale(np.arange(size), domain.positions * weight)


def _tree_scale(column: EncodedColumn) -> _Scale:
    """A column with a hierarchy; missing, where it is a category, is one more leaf under the root."""
    assert column.settings.hierarchy is not None
    tree = column.settings.hierarchy.tree
    first, final, parent, n_leaves = tree.first, tree.last, tree.parent, tree.n_leaves
    if column.domain.has_missing:
        if len(first) == 1:  # the only leaf was its own root
            first, final, parent = np.array([0, 0]), np.array([0, 0]), np.array([-1, 0])
        first, final, parent = np.append(first, n_leaves), np.append(final, n_leaves), np.append(parent, 0)
        final[0] = n_leaves
    places = n_leaves + column.domain.has_missing
    return _Scale(column.leaf_codes, np.linspace(0, column.settings.weight, places), True, first, final, parent)
