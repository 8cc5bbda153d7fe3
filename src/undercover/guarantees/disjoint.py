"""Disjoint cells: no combination of quasi-identifiers lies in two published cells.

Tao, Xiao, Li & Zhang, "On Anti-Corruption Privacy Preserving Publication", Section IV, property G3 (global recoding).
Only then does a person have one crucial row, and the bounds on what it tells apply.

Checking every pair of cells is out of reach, so they are taken apart first: where the cells of one column fall into
sets that share no value, no two boxes of different sets can overlap. Cells that were cut out of one another come
apart completely in this way; whatever does not is halved, and the rest compared pair by pair.

Which values a node of a hierarchy stands for, and the order of an ordinal column, are no part of a published table:
the claim says them (``trees``, ``orders``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from undercover.errors import DataError, HierarchyError
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

    trees: Mapping[str, Sequence[Sequence[str]]] = field(default_factory=dict)
    orders: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        trees = {name: tuple(tuple(map(str, row)) for row in rows) for name, rows in self.trees.items()}
        object.__setattr__(self, "trees", trees)
        object.__setattr__(self, "orders", {name: tuple(map(str, values)) for name, values in self.orders.items()})

    def parameters(self) -> Mapping[str, Any]:
        """The trees and orders, where there are any."""
        found: dict[str, Any] = {}
        if self.trees:
            found["trees"] = {name: [list(row) for row in rows] for name, rows in self.trees.items()}
        if self.orders:
            found["orders"] = {name: list(values) for name, values in self.orders.items()}
        return found

    def title(self) -> str:
        """Its name and numbers."""
        return "Disjoint cells"

    def meaning(self) -> str:
        """What it means for the people in the table."""
        return "Nobody's quasi-identifiers fit two published rows."

    def check(self, classes: Classes) -> Finding:
        """Count the rows whose cells overlap those of another row."""
        columns: list[_Column] = []
        boxes: list[Array] = []
        problems: list[str] = []
        for name in classes.quasi_identifiers:
            column = classes.column(name)
            try:
                columns.append(_Column.of(self._meanings(name, column.labels)))
            except (DataError, HierarchyError) as error:
                problems += error.problems
            boxes.append(column.codes)
        if problems:
            return Finding(self.name, self.parameters(), 0, holds=False, note=" ".join(problems), sense=self.sense)
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
            self.parameters(),
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
            raise DataError(f"Cells of `{name}` cannot be read: {', '.join(map(repr, wrong[:5]))}.")
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

    def parts(self, cells: Array) -> tuple[Array, int]:
        """Number the sets into which cells fall that share no value; (n_boxes,) and how many there are."""
        if self.bits is None:
            order = np.argsort(self.low[cells], kind="stable")
            reach = np.maximum.accumulate(self.high[cells][order])
            starts = np.append(False, self.low[cells][order][1:] > reach[:-1])
            numbers = np.empty(len(cells), dtype=np.int64)
            numbers[order] = np.cumsum(starts)
            return numbers, int(numbers[order[-1]]) + 1
        used, place = np.unique(cells, return_inverse=True)
        bits = self.bits[used]
        position = np.arange(bits.shape[1])
        while True:  # every cell takes the least number among its values, every value the least among its cells
            own = np.where(bits, position, bits.shape[1]).min(axis=1)
            spread = np.where(bits, own[:, None], bits.shape[1]).min(axis=0)
            following = np.minimum(position, spread)
            if (following == position).all():
                break
            position = following
        distinct, numbers = np.unique(own, return_inverse=True)
        return numbers[place], len(distinct)

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
    pending: list[Array] = [np.arange(len(boxes[0]))]
    while pending and found.sum() < _ENOUGH:
        rows = pending.pop()
        if len(rows) <= _SMALL:
            found[rows] |= _pairwise(rows, boxes, columns)
            continue
        pending += (
            _taken_apart(rows, boxes, columns) or _halved(rows, boxes, columns) or _blocks(rows, boxes, columns, found)
        )
    return found


def _taken_apart(rows: Array, boxes: Sequence[Array], columns: Sequence[_Column]) -> list[Array]:
    """The boxes by sets of cells of one column that share no value; nothing where no column separates them."""
    best: tuple[int, Array] | None = None
    for codes, column in zip(boxes, columns, strict=True):
        numbers, count = column.parts(codes[rows])
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
