"""The holder's view of boxes: the groups of a table as they will be published, and the table as it is.

Reads codes, not cells: what :func:`undercover.steps.recoding.box_cells` would write and
:func:`undercover.forms.spread.spread_of_release` would read back, without the text in between.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from undercover.forms.coverage import Coverage, Positions
from undercover.forms.meaning import Values, leaf_values
from undercover.forms.spread import Spread, read_cells
from undercover.model.cells import EVERYTHING
from undercover.model.groups import Groups
from undercover.model.table import EncodedColumn, Table, cell_kind


def spread_of_groups(table: Table, groups: Groups, names: Iterable[str], sensitive: str) -> Spread:
    """Every group as the tightest box around its rows.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from undercover.model.schema import Schema
    >>> people = pa.table({"age": [20, 30, 40, 50], "ill": ["flu", "cold", "flu", "gout"]})
    >>> table = Table.from_arrow(people, Schema(quasi_identifiers=["age"], sensitive="ill"))
    >>> spread = spread_of_groups(table, Groups(np.array([0, 0, 1, 1], np.int32), 2), ["age"], "ill")
    >>> spread.coverage["age"].low.tolist(), spread.coverage["age"].high.tolist()
    ([0, 2], [1, 3])
    """
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
