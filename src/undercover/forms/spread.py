"""A release as boxes with sensitive values: what every COUNT estimate under the uniform assumption is computed from.

In one table a box is the rows written alike; its values are those rows' own. In two tables (QIT and SAT) a box is the
rows of one bucket written alike, and a row has each value of its bucket with the probability of its share there, as in
Xiao & Tao 2006, Section 3.

The holder's view reads codes, not cells: the groups of a table as they will be published, and the table as it is,
without the text in between.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from undercover.errors import DataError, described
from undercover.forms.coverage import Coverage, Positions
from undercover.forms.distribution import BucketTable, distribution_of
from undercover.forms.meaning import NOTHING, Values, leaf_values
from undercover.forms.written import combine, first_rows
from undercover.model.cells import EVERYTHING, CellForm
from undercover.model.groups import Groups
from undercover.model.table import EncodedColumn, Table, cell_kind

if TYPE_CHECKING:
    from undercover.forms.reading import Reading


@dataclass(frozen=True, eq=False)
class Spread:
    """Boxes, what they cover, and the expected number of rows of each sensitive value in them.

    Pairs of a box and a value are sorted by value: those of value v are ``value_starts[v]:value_starts[v + 1]``.
    """

    coverage: Mapping[str, Coverage]
    cells: Mapping[str, Positions]  # name -> (n_boxes,) cell of each box
    value_starts: Positions  # (n_values + 1,)
    pair_box: Positions  # (n_pairs,)
    pair_weight: NDArray[np.float64]  # (n_pairs,)

    @classmethod
    def of_pairs(
        cls,
        coverage: Mapping[str, Coverage],
        cells: Mapping[str, Positions],
        pairs: tuple[NDArray[np.integer], NDArray[np.integer], NDArray[np.float64]],
        n_values: int,
    ) -> Spread:
        """Sort ``(boxes, values, weights)`` by value."""
        boxes, values, weights = pairs
        order = np.argsort(values, kind="stable")
        starts = np.concatenate([[0], np.cumsum(np.bincount(values, minlength=n_values))]).astype(np.int64)
        return cls(coverage, cells, starts, boxes[order].astype(np.int64), weights[order].astype(np.float64))

    @property
    def n_values(self) -> int:
        """Number of sensitive values, present or not."""
        return len(self.value_starts) - 1


def read_cells(name: str, labels: Sequence[str], form: CellForm, values: Values) -> Coverage:
    """What the distinct cells of a published column cover.

    >>> read_cells("sex", ["F", "{F, M}", "*"], "set", Values(("F", "M"), "categorical", False)).sizes.tolist()
    [1, 2, 2]
    >>> read_cells("sex", ["X"], "set", Values(("F", "M"), "categorical", False))
    Traceback (most recent call last):
    undercover.errors.DataError: Cells of `sex` that stand for no value of its domain: 1 value (a text of 1 character).
    """
    meanings = values.read_all(tuple(labels), form)
    wrong = [label for label, meaning in zip(labels, meanings, strict=True) if meaning == NOTHING]
    if wrong:
        raise DataError(f"Cells of `{name}` that stand for no value of its domain: {described(wrong)}.")
    return Coverage.of_meanings(meanings, values.size)


def spread_of(reading: Reading, values: Mapping[str, Values], sensitive: str, labels: Sequence[str]) -> Spread:
    """Read the columns of ``values`` and one sensitive column of a release.

    Its sensitive values are true, by row or by bucket; ``values`` is the domain of each column to read, and the place
    of a sensitive value among ``labels`` its code in the result.
    """
    columns = {name: reading.column(name) for name in values}
    coverage = {name: reading.coverage(name, values[name]) for name in values}
    buckets = reading.buckets
    alike, count = combine([*columns.values(), *([] if buckets is None else [buckets.rows])])
    first = first_rows(alike, count)
    cells = {name: column.codes[first].astype(np.int64) for name, column in columns.items()}
    if buckets is not None:
        rows = np.bincount(alike, minlength=count)
        pairs = _shared(buckets, sensitive, labels, buckets.rows.codes[first].astype(np.int64), rows)
    else:
        own = distribution_of(sensitive, reading.column(sensitive), alike, count)
        codes = _value_codes(sensitive, own.labels, labels)
        pairs = own.class_index, codes[own.value_index], own.counts.astype(np.float64)
    return Spread.of_pairs(coverage, cells, pairs, len(labels))


def _shared(
    buckets: BucketTable, sensitive: str, labels: Sequence[str], bucket_of: Positions, rows: Positions
) -> tuple[Positions, Positions, NDArray[np.float64]]:
    """Every box with every value of its bucket, weighted by rows and the value's share."""
    listed_values = buckets.distribution(sensitive)
    codes = _value_codes(sensitive, listed_values.labels, labels)
    entry, times = listed_values.entries_of(bucket_of)
    boxes = np.repeat(np.arange(len(bucket_of)), times)
    share = listed_values.counts / listed_values.sizes[listed_values.class_index]
    return boxes, codes[listed_values.value_index[entry]], rows[boxes] * share[entry]


def _value_codes(name: str, published: Sequence[str], labels: Sequence[str]) -> Positions:
    place = {label: code for code, label in enumerate(labels)}
    strange = [label for label in published if label not in place]
    if strange:
        raise DataError(f"Values of `{name}` that are not in its domain: {described(strange)}.")
    return np.array([place[label] for label in published], dtype=np.int64)


def spread_of_groups(table: Table, groups: Groups, names: Iterable[str], sensitive: str) -> Spread:
    """Every group as the tightest box around its rows."""
    coverage, cells = {}, {}
    for name in names:
        coverage[name], cells[name] = _group_cells(table[name], groups)
    keys, counts = _counted(table[sensitive].codes.astype(np.int64) * groups.count + groups.labels)
    pairs = keys % groups.count, keys // groups.count, counts.astype(np.float64)
    return Spread.of_pairs(coverage, cells, pairs, table[sensitive].domain.size)


def spread_of_rows(table: Table, names: Iterable[str], sensitive: str) -> Spread:
    """Every row as a box of its own that covers exactly its values: estimates from it are the exact answers."""
    coverage, cells = {}, {}
    for name in names:
        column = table[name]
        places = positions_of_codes(column, leaf_values(column))
        coverage[name] = Coverage.of_ranges(places, places, leaf_values(column).size)
        cells[name] = column.codes.astype(np.int64)
    pairs = np.arange(table.n_rows), table[sensitive].codes, np.ones(table.n_rows)
    return Spread.of_pairs(coverage, cells, pairs, table[sensitive].domain.size)


def positions_of_codes(column: EncodedColumn, values: Values) -> Positions:
    """(domain size,) where each code of a column stands among ``values``."""
    return np.array([values.position[label] for label in column.domain.labels], dtype=np.int64)


def _group_cells(column: EncodedColumn, groups: Groups) -> tuple[Coverage, Positions]:
    """What the cell of each group covers, as positions in :func:`leaf_values`."""
    own = np.arange(groups.count)
    kind = cell_kind(column)
    size = column.domain.size
    if kind == "set":
        keys, _ = _counted(groups.labels.astype(np.int64) * size + column.codes)
        return Coverage.of_members(keys // size, keys % size, groups.count, size), own
    codes = (column.leaf_codes[column.codes] if kind == "tree" else column.codes)[groups.order]
    low = np.minimum.reduceat(codes, groups.offsets[:-1]).astype(np.int64)
    high = np.maximum.reduceat(codes, groups.offsets[:-1]).astype(np.int64)
    if kind == "tree":
        return _node_cells(column, low, high)
    if column.domain.has_missing:
        low[high == size - 1] = np.where(low == high, low, 0)[high == size - 1]  # with others: everything
    return Coverage.of_ranges(low, high, size), own


def _node_cells(column: EncodedColumn, low: NDArray[np.int64], high: NDArray[np.int64]) -> tuple[Coverage, Positions]:
    """The lowest node above the leaves from ``low`` to ``high`` in depth-first order."""
    assert column.settings.hierarchy is not None
    tree = column.settings.hierarchy.tree
    width = tree.n_leaves + 1
    spans, cells = np.unique(low * width + high, return_inverse=True)
    labels = []
    for first, last in zip((spans // width).tolist(), (spans % width).tolist(), strict=True):
        if last == tree.n_leaves:
            labels.append("" if first == last else EVERYTHING)
            continue
        node = int(tree.leaf_node[first])
        while tree.last[node] < last:
            node = int(tree.parent[node])
        labels.append(tree.labels[node])
    return read_cells(column.name, labels, "node", leaf_values(column)), cells.reshape(-1).astype(np.int64)


def _counted(keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The distinct keys in order and how often each occurs; sorting whole numbers is faster than ``np.unique``."""
    ordered = np.sort(keys)
    first = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    return ordered[first], np.diff(first, append=len(ordered))
