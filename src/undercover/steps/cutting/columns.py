"""Columns as the cutting kernel sees them: codes in cutting order, a loss per cell, trees as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from undercover.arrays import count
from undercover.model.table import CellKind, Table, cell_kind, code_type
from undercover.steps.cutting.arrays import RANGE, SET, TREE, Columns

Recoding = Literal["boxes", "regions"]

_KIND_CODE = {"range": RANGE, "set": SET, "tree": TREE}


@dataclass(frozen=True)
class CutColumn:
    """One quasi-identifier, ready to be cut.

    ``recode[code]`` is the cutting code of a domain code: the same for ranges, the depth-first leaf for trees, and for
    the sets of disjoint regions the rank by falling frequency (in boxes the kernel ranks them anew in every node).
    """

    name: str
    kind: CellKind
    recode: NDArray[np.int64]  # (domain size,)
    size: int  # cutting codes lie in [0, size)
    leaves: int  # what the loss of a cell is counted against

    @property
    def inverse(self) -> NDArray[np.int64]:
        """(size,) domain code of each cutting code; -1 where the data has no such value."""
        back = np.full(self.size, -1, dtype=np.int64)
        back[self.recode] = np.arange(len(self.recode))
        return back


def cut_columns(table: Table, recoding: Recoding) -> list[CutColumn]:
    """Every quasi-identifier of ``table`` as a :class:`CutColumn`."""
    columns = []
    for name in table.schema.quasi_identifiers:
        column = table[name]
        kind = cell_kind(column)
        size = column.domain.size
        recode = np.arange(size)
        leaves = size
        if kind == "tree":
            hierarchy = column.settings.hierarchy
            assert hierarchy is not None
            recode, leaves = column.leaf_codes, len(hierarchy.rows)
            size = leaves + column.domain.has_missing
        elif kind == "set" and recoding == "regions":
            frequency = count(column.codes, size)
            if table.part is not None:  # values of other parts come last
                frequency[~table.part.holds(name)] = -1
            recode[np.argsort(-frequency, kind="stable")] = np.arange(size)
        columns.append(CutColumn(name, kind, recode, size, leaves))
    return columns


def kernel_columns(table: Table, columns: Sequence[CutColumn]) -> Columns:
    """Columns and their trees as the kernels take them."""
    starts = np.concatenate([[0], np.cumsum([column.size for column in columns])]).astype(np.int64)
    positions = np.zeros(starts[-1])
    leaf_starts, node_starts = np.zeros(len(columns), np.int64), np.zeros(len(columns), np.int64)
    parts: dict[str, list[NDArray[np.int64]]] = {
        name: [np.zeros(0, np.int64)] for name in ("first", "last", "parent", "starts", "children", "leaf_node")
    }
    leaves = nodes = n_children = 0
    for j, column in enumerate(columns):
        if column.kind == "range":
            positions[starts[j] : starts[j + 1]] = table[column.name].domain.positions
        leaf_starts[j], node_starts[j] = leaves, nodes
        if column.kind == "tree":
            tree = tree_of(table, column)
            for name, array in tree.items():
                parts[name].append(array + n_children if name == "starts" else array)
            leaves, nodes = leaves + column.size, nodes + len(tree["first"])
            n_children += len(tree["children"])
        else:
            parts["starts"].append(np.array([n_children]))
    return Columns(
        starts,
        np.array([_KIND_CODE[column.kind] for column in columns], dtype=np.int64),
        np.array([table[column.name].settings.weight for column in columns], dtype=np.float64),
        positions,
        np.array([1.0 / max(1, column.leaves - 1) for column in columns]),
        leaf_starts,
        node_starts,
        *(np.concatenate(arrays).astype(np.int64) for arrays in parts.values()),
    )


def packed_codes(table: Table, columns: Sequence[CutColumn]) -> tuple[NDArray[Any], NDArray[np.uint64]]:
    """Cutting codes row by row, as codes and as 64-bit words over the same memory."""
    kind = code_type(max(column.size for column in columns))
    per_word = 8 // np.dtype(kind).itemsize
    width = -(-len(columns) // per_word) * per_word
    codes = np.zeros((table.n_rows, width), dtype=kind)
    for j, column in enumerate(columns):
        np.take(column.recode.astype(kind), table[column.name].codes, out=codes[:, j])
    return codes, codes.view(np.uint64)


def tree_of(table: Table, column: CutColumn) -> dict[str, NDArray[np.int64]]:
    """The column's tree as plain arrays; missing, where it is a category, is one more leaf under the root."""
    hierarchy = table[column.name].settings.hierarchy
    assert hierarchy is not None
    tree = hierarchy.tree
    first, last, parent, leaf_node = tree.first, tree.last, tree.parent, tree.leaf_node
    if column.size > tree.n_leaves:
        if len(first) == 1:
            # The only leaf was its own root: now it needs one.
            first, last, parent, leaf_node = np.array([0, 0]), np.array([0, 0]), np.array([-1, 0]), np.array([1])
        last = np.append(last, tree.n_leaves)
        last[0] = tree.n_leaves
        first = np.append(first, tree.n_leaves)
        parent = np.append(parent, 0)
        leaf_node = np.append(leaf_node, len(first) - 1)
    children = np.argsort(parent, kind="stable")[1:]
    counts = np.bincount(parent[1:], minlength=len(parent)) if len(parent) > 1 else np.zeros(1, np.int64)
    # Children of one node by the leaves they cover.
    children = children[np.lexsort((first[children], parent[children]))]
    starts = np.concatenate([[0], np.cumsum(counts)])
    return {
        "first": first,
        "last": last,
        "parent": parent,
        "starts": starts,
        "children": children,
        "leaf_node": leaf_node,
    }
