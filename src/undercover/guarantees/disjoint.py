"""Disjoint cells: no combination of quasi-identifiers lies in two published cells.

Tao, Xiao, Li & Zhang, "On Anti-Corruption Privacy Preserving Publication", Section IV, property G3 (global recoding).
Only then does a person have one crucial row, and the bounds on what it tells apply.

Checking every pair of cells is out of reach, so they are taken apart first: where the cells of one column fall into
sets that share no value, no two boxes of different sets can overlap. This is done for all boxes together, column after
column, until nothing comes apart any more. Cells that were cut out of one another come apart completely in this way; of
the rest, few are compared pair by pair, and many are halved.

Which values a node of a hierarchy stands for, and the order of an ordinal column, are no part of a published table:
the claim says them (``trees``, ``orders``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from undercover.errors import DataError, HierarchyError, described
from undercover.forms.classes import Classes
from undercover.forms.meaning import NOTHING, Meaning, Values
from undercover.guarantees.checking import Promise
from undercover.model.cells import EVERYTHING, CellForm, named, read_set
from undercover.model.finding import Finding, Sense
from undercover.model.hierarchy import Hierarchy
from undercover.model.protocols import Short
from undercover.model.schema import Kind

Array = NDArray[np.integer]

_SMALL = 128  # boxes that are compared pair by pair
_PAIRS = 1 << 18  # that are compared at once
_ENOUGH = 1000  # overlapping boxes after which nobody needs more of them
_EXAMPLES = 10


@dataclass(frozen=True, kw_only=True)
class DisjointCells(Promise):
    """No two published rows have cells that could hold the same person.

    Parameters
    ----------
    trees
        The hierarchy of every column that is published as nodes: rows from the leaf to the root.
    orders
        The values of every ordinal column in their order.
    observed
        Ordinal columns whose order was read off the data: of these only the values that cells name are stated, since
        a list of all would tell who is in the table. Ranges overlap in the order of their ends as in the whole one.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from undercover.forms.classes import classes_of_table
    >>> data = pa.table({"age": ["[20, 30]", "[31, 40]", "[30, 35]"], "sex": ["M", "M", "{F, M}"]})
    >>> found = DisjointCells().check(classes_of_table(data, ["age", "sex"], suppressed_is_star=False))
    >>> found.holds, found.actual
    (False, 3)
    """

    name: ClassVar[str] = "disjoint-cells"
    sense: ClassVar[Sense] = "at most"
    short: ClassVar[Short] = {}
    shown_as: ClassVar[str | None] = ""

    trees: Mapping[str, Sequence[Sequence[str]]] = field(default_factory=dict)
    orders: Mapping[str, Sequence[str]] = field(default_factory=dict)
    observed: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "observed", tuple(self.observed))
        trees = {name: tuple(tuple(map(str, row)) for row in rows) for name, rows in self.trees.items()}
        object.__setattr__(self, "trees", trees)
        object.__setattr__(self, "orders", {name: tuple(map(str, values)) for name, values in self.orders.items()})

    def parameters(self, named: Mapping[str, Collection[str]] | None = None) -> Mapping[str, Any]:
        """The trees and orders, where there are any; of observed orders the values that are ``named`` by cells."""
        found: dict[str, Any] = {}
        if self.trees:
            found["trees"] = {name: [list(row) for row in rows] for name, rows in self.trees.items()}
        if self.orders:
            shown = {name: set((named or {}).get(name, ())) for name in self.observed}
            found["orders"] = {
                name: [value for value in values if name not in shown or value in shown[name]]
                for name, values in self.orders.items()
            }
        if self.observed:
            found["observed"] = list(self.observed)
        return found

    def title(self) -> str:
        """Its name and numbers."""
        return "Disjoint cells"

    def meaning(self) -> str:
        """What it means for the people in the table."""
        return "Nobody's quasi-identifiers fit two published rows."

    def is_vacuous(self, classes: Classes) -> bool:
        """It supports other promises and protects nobody by itself: so are the cells of a raw table."""
        return True

    def check(self, classes: Classes) -> Finding:
        """Count the rows whose cells overlap those of another row."""
        columns: list[_Column] = []
        boxes: list[Array] = []
        problems: list[str] = []
        named = {name: _shown(classes.column(name).labels) for name in self.observed if name in self.orders}
        stated = self.parameters(named)
        for name in classes.quasi_identifiers:
            column = classes.column(name)
            try:
                columns.append(_Column.of(self._meanings(name, column.labels)))
            except (DataError, HierarchyError) as error:
                problems += error.problems
            boxes.append(column.codes)
        if problems:
            return Finding(self.name, stated, 0, holds=False, note=" ".join(problems), sense=self.sense)
        same = np.bincount(classes.labels, minlength=classes.count)[classes.labels] > 1
        distinct = classes.representatives
        found = same.copy()
        found[distinct] |= overlapping([codes[distinct] for codes in boxes], columns)
        violators = np.flatnonzero(found)
        examples = [
            {"cells": classes.describe(int(classes.labels[row])), "size": int(classes.sizes[classes.labels[row]])}
            for row in violators[:_EXAMPLES]
        ]
        return Finding(
            self.name,
            stated,
            0,
            len(violators),
            not len(violators),
            sense=self.sense,
            violating_rows=len(violators),
            examples=tuple(examples),
            violators=violators,
        )

    def _meanings(self, name: str, cells: tuple[str, ...]) -> tuple[list[Meaning], int]:
        """What each distinct cell of a column covers, as positions among the values it speaks of."""
        values = self._values(name, cells)
        form: CellForm = "node" if values.hierarchy is not None else "interval"
        read = [values.read(cell, form) for cell in cells]
        wrong = [cell for cell, meaning in zip(cells, read, strict=True) if meaning == NOTHING and cell != EVERYTHING]
        if wrong:
            raise DataError(f"Cells of `{name}` cannot be read: {described(wrong)}.")
        if not values.size:  # no cell says anything, so each is the same as the others
            return [Meaning(0, 0)] * len(cells), 1
        return read, values.size

    def _values(self, name: str, cells: tuple[str, ...]) -> Values:
        missing = any(cell == "" or (cell[:1] == "{" and "" in read_set(cell)) for cell in cells)
        if name in self.trees:
            tree = Hierarchy(self.trees[name])
            leaves = tuple(tree.rows[place][0] for place in tree.tree.leaf_order)
            return Values(leaves + ("",) * missing, "categorical", missing, tree)
        if name in self.orders:
            return Values(tuple(self.orders[name]) + ("",) * missing, "ordinal", missing)
        ends = _shown(cells)
        for kind in ("numeric", "date"):
            numbers = Values(tuple(ends), _kind(kind), False).numbers
            if np.isfinite(numbers).all():
                ordered = [ends[place] for place in np.argsort(numbers, kind="stable")]
                return Values(tuple(ordered) + ("",) * missing, _kind(kind), missing)
        ranges = [cell for cell in cells if cell[:1] == "[" and cell[-1:] == "]"]
        if ranges:
            raise DataError(f"Column `{name}` is published as ranges in an order the claim does not state.")
        return Values(tuple(sorted(ends)) + ("",) * missing, "categorical", missing)


@dataclass(frozen=True)
class _Column:
    """The distinct cells of one column: first and last position, and every position where they are scattered."""

    low: Array  # (n_cells,)
    high: Array
    bits: NDArray[np.bool_] | None  # (n_cells, n_positions)

    @classmethod
    def of(cls, read: tuple[list[Meaning], int]) -> _Column:
        meanings, size = read
        low = np.array([meaning.low for meaning in meanings], dtype=np.int64)
        high = np.array([meaning.high for meaning in meanings], dtype=np.int64)
        if all(meaning.members is None for meaning in meanings):
            return cls(low, high, None)
        bits = np.zeros((len(meanings), size), dtype=bool)
        for cell, meaning in enumerate(meanings):
            bits[cell, list(meaning.members or range(meaning.low, meaning.high + 1))] = True
        return cls(low, high, bits)

    def parts(self, cells: Array, group: Array) -> tuple[Array, int]:
        """Number the sets into which the cells of each group fall that share no value; (n_boxes,) and how many."""
        if self.bits is not None:
            return self._sets(cells, group, self.bits)
        width = int(self.high.max()) + 1
        low = group * width + self.low[cells]
        order = np.argsort(low)
        reach = np.maximum.accumulate((group * width + self.high[cells])[order])
        low = low[order]
        numbers = np.empty(len(cells), dtype=np.int64)
        numbers[order] = np.cumsum(np.append(False, low[1:] > reach[:-1]))
        return numbers, int(numbers[order[-1]]) + 1

    def _sets(self, cells: Array, group: Array, bits: NDArray[np.bool_]) -> tuple[Array, int]:
        pairs, pair = np.unique(group * len(bits) + cells, return_inverse=True)
        sizes, places = bits.sum(axis=1), np.nonzero(bits)[1]
        of_group, of_cell = pairs // len(bits), pairs % len(bits)
        times = sizes[of_cell]
        starts = np.cumsum(times) - times
        inside = np.arange(int(times.sum())) - np.repeat(starts - (np.cumsum(sizes) - sizes)[of_cell], times)
        values, value = np.unique(np.repeat(of_group, times) * bits.shape[1] + places[inside], return_inverse=True)
        label = np.arange(len(values))
        while True:  # every cell takes the least number among its values, every value the least among its cells
            own = np.minimum.reduceat(label[value], starts)
            following = label.copy()
            np.minimum.at(following, value, np.repeat(own, times))
            if (following == label).all():
                break
            label = following
        distinct, numbers = np.unique(own, return_inverse=True)
        return numbers[pair], len(distinct)

    def meet(self, first: Array, second: Array) -> NDArray[np.bool_]:
        """Whether two cells share a value."""
        found: NDArray[np.bool_] = (self.low[first] <= self.high[second]) & (self.low[second] <= self.high[first])
        if self.bits is not None:
            close = np.flatnonzero(found)
            found[close] = (self.bits[first[close]] & self.bits[second[close]]).any(axis=1)
        return found


def overlapping(boxes: Sequence[Array], columns: Sequence[_Column]) -> NDArray[np.bool_]:
    """Whether each box overlaps another; once there are very many, no more are looked for."""
    found = np.zeros(len(boxes[0]), dtype=bool)
    rows, sizes = _all_apart(boxes, columns)
    few = sizes <= _SMALL
    _compared(rows[np.repeat(few, sizes)], sizes[few], boxes, columns, found)
    ends = np.cumsum(sizes)
    pending: list[Array] = [rows[ends[i] - sizes[i] : ends[i]] for i in np.flatnonzero(~few)]
    while pending and found.sum() < _ENOUGH:
        rows = pending.pop()
        if len(rows) <= _SMALL:
            found[rows] |= _pairwise(rows, boxes, columns)
            continue
        pending += (
            _taken_apart(rows, boxes, columns) or _halved(rows, boxes, columns) or _blocks(rows, boxes, columns, found)
        )
    return found


def _all_apart(boxes: Sequence[Array], columns: Sequence[_Column]) -> tuple[Array, Array]:
    """The boxes that no column tells apart, one group after the other, and how many are in each group."""
    rows: Array = np.arange(len(boxes[0]))
    group: Array = np.zeros(len(rows), dtype=np.int64)
    count = 1
    at = without = 0
    while len(rows) and without < len(columns):  # until no column in turn has told any apart
        numbers, found = columns[at].parts(boxes[at][rows], group)
        at, without = (at + 1) % len(columns), without + 1
        if found == count:
            continue
        several = np.bincount(numbers) > 1
        kept = several[numbers]
        rows, group = rows[kept], (np.cumsum(several) - 1)[numbers[kept]]
        count, without = int(several.sum()), 0
    return rows[np.argsort(group)], np.bincount(group)


def _compared(
    rows: Array, sizes: Array, boxes: Sequence[Array], columns: Sequence[_Column], found: NDArray[np.bool_]
) -> None:
    """Compare all pairs inside groups that follow one another, some rows after the others."""
    after = np.repeat(np.cumsum(sizes), sizes) - np.arange(len(rows)) - 1  # rows of the group that are still to come
    done = np.cumsum(after)  # pairs up to each row
    begin = 0
    while begin < len(rows) and found.sum() < _ENOUGH:
        end = max(begin + 1, int(np.searchsorted(done, done[begin] - after[begin] + _PAIRS, side="right")))
        times = after[begin:end]
        place = np.repeat(np.arange(begin, end), times)
        behind = 1 + np.arange(len(place)) - np.repeat(np.cumsum(times) - times, times)
        first, second = rows[place], rows[place + behind]
        for codes, column in zip(boxes, columns, strict=True):
            meet = column.meet(codes[first], codes[second])
            first, second = first[meet], second[meet]
        found[first] = found[second] = True
        begin = end


def _taken_apart(rows: Array, boxes: Sequence[Array], columns: Sequence[_Column]) -> list[Array]:
    """The boxes by sets of cells of one column that share no value; nothing where no column separates them."""
    best: tuple[int, Array] | None = None
    for codes, column in zip(boxes, columns, strict=True):
        numbers, count = column.parts(codes[rows], np.zeros(len(rows), dtype=np.int64))
        if count == 1:
            continue
        largest = int(np.bincount(numbers).max())
        if best is None or largest < best[0]:
            best = (largest, numbers)
        if 2 * largest <= len(rows):
            break
    if best is None:
        return []
    order = np.argsort(best[1], kind="stable")
    ends = np.flatnonzero(np.diff(best[1][order])) + 1
    return [part for part in np.split(rows[order], ends) if len(part) > 1]


def _halved(rows: Array, boxes: Sequence[Array], columns: Sequence[_Column]) -> list[Array]:
    """Both halves along the column in which fewest boxes reach into both."""
    best: tuple[int, Array, Array] | None = None
    for codes, column in zip(boxes, columns, strict=True):
        low, high = column.low[codes[rows]], column.high[codes[rows]]
        middle = int(np.median(low))
        left, right = rows[low <= middle], rows[high > middle]
        larger = max(len(left), len(right))
        if larger < 0.9 * len(rows) and (best is None or larger < best[0]):
            best = (larger, left, right)
    return [] if best is None else [best[1], best[2]]


def _blocks(rows: Array, boxes: Sequence[Array], columns: Sequence[_Column], found: NDArray[np.bool_]) -> list[Array]:
    """Compare all pairs, a block of boxes at a time."""
    for start in range(0, len(rows), _SMALL):
        block = rows[start : start + _SMALL]
        first, second = np.repeat(block, len(rows)), np.tile(rows, len(block))
        meet = first != second
        for codes, column in zip(boxes, columns, strict=True):
            first, second = first[meet], second[meet]
            meet = column.meet(codes[first], codes[second])
        found[first[meet]] = True
        if found.sum() >= _ENOUGH:
            break
    return []


def _pairwise(rows: Array, boxes: Sequence[Array], columns: Sequence[_Column]) -> NDArray[np.bool_]:
    first, second = np.triu_indices(len(rows), 1)
    for codes, column in zip(boxes, columns, strict=True):
        meet = column.meet(codes[rows[first]], codes[rows[second]])
        first, second = first[meet], second[meet]
        if not len(first):
            break
    found = np.zeros(len(rows), dtype=bool)
    found[first] = found[second] = True
    return found


def _shown(cells: Iterable[str]) -> list[str]:
    """The values that cells name, each once, without missing."""
    shown: dict[str, None] = {}
    for cell in cells:
        if cell not in (EVERYTHING, ""):
            shown |= dict.fromkeys(named(cell))
    shown.pop("", None)
    return list(shown)


def _kind(name: str) -> Kind:
    return "numeric" if name == "numeric" else "date"
