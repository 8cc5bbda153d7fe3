"""Full-domain recoding: every column on one level of its hierarchy, the same for all rows.

Samarati 2001 and LeFevre, DeWitt & Ramakrishnan 2005 for the model. The cells of a node are counted once from the rows
and rolled up from there: dense arrays where the product of the levels' sizes allows it, otherwise only the cells that
occur.

Deviations: a column without a hierarchy has its values, ranges of them where they have an order, and ``*``. A missing
value lies under no node but the root, and the root is then written ``*``, since it stands for more than the leaves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from undercover.arrays import look_up, numbered, rows_where
from undercover.hierarchies.automatic import MOST, automatic_levels
from undercover.model.cells import EVERYTHING, CellForm
from undercover.model.groups import Groups, number
from undercover.model.hierarchy import Hierarchy
from undercover.model.table import Codes, EncodedColumn, Table, write_values
from undercover.steps.lattice.counting import all_keys, count_cells, keys_of, narrow
from undercover.steps.lattice.lattice import Lattice, Levels
from undercover.steps.recoding import Cells

Payload = Literal["counts", "bits", "tally"]
"""What is kept of every cell: its rows, the bits of its sensitive values, or how often each of them occurs."""
_LARGEST_CUBE = 1 << 23  # numbers in a dense array
_ROOM_PER_ROW = 8  # cells per row up to which a dense array is worth it
_LARGEST_KEY = 1 << 62
_LARGEST_LATTICE = 1 << 14  # nodes, up to which columns without a hierarchy have all of their levels


@dataclass(frozen=True)
class Level:
    """One level: its nodes that occur in the column, numbered in the order of the codes below them."""

    node_of: NDArray[np.int64]  # (domain size,) node above each code
    labels: tuple[str, ...]  # (n_nodes,) how each node is written; no two alike
    loss: NDArray[np.float64]  # (n_nodes,) (leaves under the node - 1) / (all leaves - 1)
    form: CellForm

    @property
    def size(self) -> int:
        """Number of nodes."""
        return len(self.labels)


@dataclass(frozen=True)
class ColumnLevels:
    """Every level of one column, values first."""

    name: str
    levels: tuple[Level, ...]
    has_hierarchy: bool

    @property
    def height(self) -> int:
        """The top level."""
        return len(self.levels) - 1

    def parent(self, lower: int, upper: int) -> NDArray[np.int64]:
        """The node of level ``upper`` above each node of level ``lower``."""
        up = np.zeros(self.levels[lower].size, dtype=np.int64)
        up[self.levels[lower].node_of] = self.levels[upper].node_of
        return up


def column_levels(column: EncodedColumn, most: int = MOST) -> ColumnLevels:
    """The levels of a column; without a hierarchy at most so many between its values and everything."""
    hierarchy = column.settings.hierarchy
    if hierarchy is None:
        size = column.domain.size
        values = Level(np.arange(size), column.domain.labels, np.zeros(size), "value")
        found = automatic_levels(column)
        kept = found[-1 :: -max(1, -(-len(found) // most))][::-1] if most else []
        between = [_ranges(labels, column.domain.has_missing) for labels in kept]
        everything = Level(np.zeros(size, dtype=np.int64), (EVERYTHING,), np.array([float(size > 1)]), "set")
        return ColumnLevels(column.name, (values, *between, everything), has_hierarchy=bool(between))
    places = [hierarchy.leaf_index[label] for label in write_values(column.domain.values)]
    written = _node_labels(hierarchy)
    levels = []
    for height in range(hierarchy.n_levels):
        leaves = [hierarchy.rows[place][height] for place in places]
        top = height == hierarchy.n_levels - 1
        levels.append(_level(hierarchy, leaves, height, written[height], column.domain.has_missing, top))
    return ColumnLevels(column.name, tuple(levels), has_hierarchy=True)


def _ranges(labels: Sequence[str], has_missing: bool) -> Level:
    """A level of a column without a hierarchy, given by the range each value lies in; missing lies in none."""
    texts = [*labels, *[""] * has_missing]
    nodes: dict[str, int] = {}
    node_of = np.array([nodes.setdefault(text, len(nodes)) for text in texts], dtype=np.int64)
    loss = (np.bincount(node_of) - 1.0) / max(len(texts) - 1, 1)
    return Level(node_of, tuple(nodes), loss, "interval")


def _level(
    hierarchy: Hierarchy, names: list[str], height: int, written: dict[str, str], has_missing: bool, top: bool
) -> Level:
    under: dict[str, int] = {}
    for row in hierarchy.rows:
        under[row[height]] = under.get(row[height], 0) + 1
    total = len(hierarchy.rows) + has_missing
    if top:
        label = EVERYTHING if has_missing else written[names[0]]
        return Level(np.zeros(len(names) + has_missing, dtype=np.int64), (label,), np.array([float(total > 1)]), "node")
    nodes: dict[str, int] = {}
    node_of = [nodes.setdefault(name, len(nodes)) for name in names]
    covered = [under[name] for name in nodes]
    labels = [written[name] for name in nodes]
    if has_missing:
        node_of.append(len(nodes))
        covered.append(1)
        labels.append("")
    loss = (np.array(covered, dtype=np.float64) - 1) / max(total - 1, 1)
    return Level(np.array(node_of, dtype=np.int64), tuple(labels), loss, "node")


def _node_labels(hierarchy: Hierarchy) -> list[dict[str, str]]:
    """How each node of each level is written so that it is read back as itself.

    A label that also names a lower node (an ICD category and its first code) is read as that one. The tree's own label
    of the same leaves tells the two apart.
    """
    leaves: list[dict[str, frozenset[str]]] = []
    for height in range(hierarchy.n_levels):
        below: dict[str, set[str]] = {}
        for row in hierarchy.rows:
            below.setdefault(row[height], set()).add(row[0])
        leaves.append({label: frozenset(members) for label, members in below.items()})
    read_as: dict[str, frozenset[str]] = {}
    for on_level in reversed(leaves):
        read_as |= on_level
    tree = hierarchy.tree
    own: dict[frozenset[str], str] = {}
    for label, first, last in zip(tree.labels, tree.first, tree.last, strict=True):
        members = frozenset(hierarchy.rows[place][0] for place in tree.leaf_order[first : last + 1])
        own[members] = label
        read_as[label] = members
    return [
        {label: label if read_as[label] == members else own[members] for label, members in on_level.items()}
        for on_level in leaves
    ]


@dataclass(frozen=True, eq=False)
class FullDomain:
    """A table ready to be generalised: its quasi-identifiers on all levels."""

    table: Table
    names: tuple[str, ...]  # the quasi-identifiers that take part
    sensitive: tuple[str, ...] = ()  # the sensitive columns cells are to know
    counts: NDArray[np.int64] | None = None  # rows each row of the table stands for, where it is a cube of them
    threads: int = 1

    @property
    def n_rows(self) -> int:
        """Rows of the table the levels are for."""
        return self.table.n_rows if self.counts is None else int(self.counts.sum())

    @cached_property
    def columns(self) -> tuple[ColumnLevels, ...]:
        """The levels of every quasi-identifier; fewer of those nobody gave where the lattice would be too large."""
        for most in range(MOST, -1, -1):
            columns = tuple(column_levels(self.table[name], most) for name in self.names)
            if prod(len(column.levels) for column in columns) <= _LARGEST_LATTICE:
                break
        return columns

    @cached_property
    def lattice(self) -> Lattice:
        """All combinations of levels."""
        return Lattice(tuple(column.height for column in self.columns))

    @property
    def codes(self) -> list[Codes]:
        """(n_rows,) the codes of every quasi-identifier."""
        return self.table.codes(self.names)

    @cached_property
    def value_starts(self) -> NDArray[np.int64]:
        """(n_sensitive + 1,) where the values of each sensitive column begin in a tally."""
        return np.cumsum([0, *(self.table[name].domain.size for name in self.sensitive)]).astype(np.int64)

    @cached_property
    def word_starts(self) -> NDArray[np.int64]:
        """(n_sensitive + 1,) where the words of each sensitive column begin in the bits."""
        return np.cumsum([0, *(-(-self.table[name].domain.size // 64) for name in self.sensitive)]).astype(np.int64)

    def width(self, payload: Payload) -> int:
        """Numbers per cell."""
        starts = self.word_starts if payload == "bits" else self.value_starts
        return 1 if payload == "counts" else int(starts[-1])

    def sizes(self, levels: Levels) -> tuple[int, ...]:
        """Nodes of every column on the given levels."""
        return tuple(column.levels[level].size for column, level in zip(self.columns, levels, strict=True))

    def is_dense(self, sizes: Sequence[int], payloads: set[Payload]) -> bool:
        """Whether the cells are kept in full."""
        cells, room = prod(sizes), max(_ROOM_PER_ROW * self.n_rows, 1 << 12)
        return cells <= room and cells * max(self.width(payload) for payload in payloads) <= _LARGEST_CUBE

    def cube(self, levels: Levels, payloads: set[Payload]) -> CellCube:
        """The cells of a node, from the rows."""
        sizes = self.sizes(levels)
        if not self.is_dense(sizes, payloads):
            return self.class_cube(levels, payloads)
        tables = self._tables(levels, sizes, np.int32)
        return self._filled(levels, payloads, lambda rows: keys_of(self.codes, tables, rows), prod(sizes), None)

    def class_cube(self, levels: Levels, payloads: set[Payload]) -> CellCube:
        """The cells of a node that occur, in the order of :meth:`classes`."""
        keys, first = self.classes(levels)
        coordinates = np.stack(
            [
                narrow(column.levels[level].node_of)[codes[first]]
                for column, level, codes in zip(self.columns, levels, self.codes, strict=True)
            ]
        )
        return self._filled(levels, payloads, lambda rows: keys[rows], len(first), coordinates)

    def _filled(
        self,
        levels: Levels,
        payloads: set[Payload],
        keys: Callable[[slice], NDArray[Any]],
        n_cells: int,
        coordinates: NDArray[np.signedinteger[Any]] | None,
    ) -> CellCube:
        columns: dict[str, list[tuple[NDArray[Any], int]]] = {"counts": []}
        for payload, starts in (("bits", self.word_starts), ("tally", self.value_starts)):
            columns[payload] = [
                (self.table[name].codes, int(start)) for name, start in zip(self.sensitive, starts, strict=False)
            ]
        asked = {payload: (self.width(payload), columns[payload]) for payload in payloads}
        held = count_cells(asked, keys, n_cells, self.table.n_rows, self.counts, self.threads)
        return CellCube(self, levels, held, coordinates)

    def classes(self, levels: Levels) -> tuple[NDArray[Any], NDArray[np.integer]]:
        """The class of every row at a node, numbered in order of appearance, and the first row of each."""
        sizes = self.sizes(levels)
        if prod(sizes) <= _LARGEST_KEY:
            tables = self._tables(levels, sizes, np.int32 if prod(sizes) < 1 << 31 else np.int64)
            return numbered(all_keys(self.codes, tables, self.threads), spare=True)
        key, span = np.zeros(self.table.n_rows, dtype=np.int64), 1
        for column, level, size, codes in zip(self.columns, levels, sizes, self.codes, strict=True):
            if span > _LARGEST_KEY // size:
                key, span = number(key)
            key = key * size + column.levels[level].node_of[codes]
            span *= size
        return numbered(key, spare=True)

    def _tables(self, levels: Levels, sizes: tuple[int, ...], kind: type[Any]) -> list[NDArray[Any] | None]:
        """What each code of every column adds to the place of a row's cell, the last column running fastest."""
        return [
            (column.levels[level].node_of * prod(sizes[axis + 1 :])).astype(kind) if sizes[axis] > 1 else None
            for axis, (column, level) in enumerate(zip(self.columns, levels, strict=True))
        ]


@dataclass(frozen=True, eq=False)
class CellCube:
    """The cells of one node with what is kept of them; cells without rows are all zeros."""

    domain: FullDomain
    levels: Levels
    held: dict[Payload, NDArray[Any]]  # (n_cells, width) each
    coordinates: NDArray[np.signedinteger[Any]] | None = None  # (n_columns, n_cells) where cells that occur are kept

    @property
    def counts(self) -> NDArray[np.int64]:
        """(n_cells,) rows of every cell."""
        return self.held["counts"][:, 0]

    def of_rows(self) -> NDArray[np.int64]:
        """(n_rows,) the cell of every row."""
        sizes = self.domain.sizes(self.levels)
        places = [
            column.levels[level].node_of[codes]
            for column, level, codes in zip(self.domain.columns, self.levels, self.domain.codes, strict=True)
        ]
        if self.coordinates is None:
            return np.asarray(np.ravel_multi_index(tuple(places), sizes), dtype=np.int64)
        n_cells = self.coordinates.shape[1]
        key = np.zeros(n_cells + len(places[0]), dtype=np.int64)
        for size, own, rows in zip(sizes, self.coordinates, places, strict=True):
            key = number(key)[0] * size + np.concatenate([own, rows])
        return number(key)[0][n_cells:]  # numbered in order of appearance: the cells come first

    def rolled_up(self, axis: int, level: int) -> CellCube:
        """The cells with one column on a higher level."""
        from undercover.steps.lattice import kernels

        domain = self.domain
        levels = (*self.levels[:axis], level, *self.levels[axis + 1 :])
        parent = domain.columns[axis].parent(self.levels[axis], level)
        sizes = domain.sizes(self.levels)
        size = domain.columns[axis].levels[level].size
        if self.coordinates is not None:
            return self._merged(axis, levels, parent)
        outer, inner = prod(sizes[:axis]), prod(sizes[axis + 1 :])
        held: dict[Payload, NDArray[Any]] = {}
        for payload, cells in self.held.items():
            width = cells.shape[1]
            coarser = np.zeros((outer, size, inner, width), dtype=cells.dtype)
            roll_up = kernels.roll_up_bits if payload == "bits" else kernels.roll_up_sums
            roll_up(cells.reshape(outer, sizes[axis], inner, width), parent, coarser)
            held[payload] = coarser.reshape(-1, width)
        return replace(self, levels=levels, held=held)

    def _merged(self, axis: int, levels: Levels, parent: NDArray[np.int64]) -> CellCube:
        from undercover.steps.lattice import kernels

        assert self.coordinates is not None
        sizes = self.domain.sizes(levels)
        coordinates = self.coordinates.copy()
        coordinates[axis] = parent[coordinates[axis]]
        dense = self.domain.is_dense(sizes, set(self.held))
        key, span = np.zeros(coordinates.shape[1], dtype=np.int64), 1
        for size, places in zip(sizes, coordinates, strict=True):
            if span > _LARGEST_KEY // size:
                key, span = number(key)
            key = key * size + places
            span *= size
        if dense:
            labels, n_cells = key, prod(sizes)
        else:
            labels, n_cells = number(key)
        held: dict[Payload, NDArray[Any]] = {}
        for payload, cells in self.held.items():
            held[payload] = np.zeros((n_cells, cells.shape[1]), dtype=cells.dtype)
            roll_up = kernels.roll_up_bits if payload == "bits" else kernels.roll_up_sums
            roll_up(cells[None, :, None], labels, held[payload][None, :, None])
        if dense:
            return CellCube(self.domain, levels, held)
        first = np.empty(n_cells, dtype=np.int64)
        first[labels] = np.arange(len(labels))
        return CellCube(self.domain, levels, held, coordinates[:, first])

    def mean_losses(self, published: NDArray[np.int64]) -> NDArray[np.float64]:
        """(n_columns,) loss of every column summed over the rows of ``published`` (n_cells,)."""
        sizes = self.domain.sizes(self.levels)
        cells = np.flatnonzero(published)
        places = np.unravel_index(cells, sizes) if self.coordinates is None else self.coordinates[:, cells]
        return np.array(
            [
                float(np.dot(column.levels[level].loss[place], published[cells]))
                for column, level, place in zip(self.domain.columns, self.levels, places, strict=True)
            ]
        )


@dataclass(frozen=True)
class Recoded:
    """Rows on the levels of one node: who is published, in which class, and how cells are written."""

    rows: NDArray[np.integer] | None  # rows of the table that are published; None: all of them
    groups: Groups  # of these rows
    cells: list[Cells]


def recode(domain: FullDomain, levels: Levels, failing: NDArray[np.bool_] | None = None) -> Recoded:
    """The classes of a node as published cells, without rows of the classes (n_classes,) that are ``failing``."""
    labels, first = domain.classes(levels)
    rows = None
    if failing is not None and failing.any():
        rows = rows_where(look_up(~failing, labels))
        labels = look_up((np.cumsum(~failing) - 1).astype(np.int32), look_up(labels, rows))
        first = first[~failing]
    cells = []
    for column, level, codes in zip(domain.columns, levels, domain.codes, strict=True):
        on = column.levels[level]
        cells.append(Cells(column.name, on.form, look_up(narrow(on.node_of), codes[first]), on.labels))
    return Recoded(rows, Groups(labels, len(first)), cells)
