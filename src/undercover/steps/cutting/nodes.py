"""What the cutting kernels share: losses of cells, the values of a node in order, nodes as rows of an array."""

from __future__ import annotations

from typing import Any

import numpy as np

from undercover.compiled.jit import inlined, internal
from undercover.steps.cutting.arrays import RANGE, SET, Columns

TIE = 1e-12  # loss per row below which two cuts are equally good


@inlined
def lowest_common_node(columns: Columns, j: int, low: int, high: int) -> int:
    """The lowest node of column j above both depth-first leaves, as an index into the nodes of all columns."""
    start = columns.node_starts[j]
    node = start + columns.leaf_node[columns.leaf_starts[j] + low]
    while columns.last[node] < high or columns.first[node] > low:
        node = start + columns.parent[node]
    return node


@inlined
def tree_loss(columns: Columns, j: int, low: int, high: int) -> float:
    """Share of the tree's leaves that the lowest node above ``low`` and ``high`` stands for beyond one."""
    node = lowest_common_node(columns, j, low, high)
    return min(1.0, (columns.last[node] - columns.first[node]) * columns.units[j])


@inlined
def cell_loss(columns: Columns, j: int, low: int, high: int, distinct: float) -> float:
    """Weighted loss of a cell of column j that spans codes low..high and holds ``distinct`` values."""
    if columns.kinds[j] == RANGE:
        start = columns.starts[j]
        return columns.weights[j] * min(1.0, columns.positions[start + high] - columns.positions[start + low])
    if columns.kinds[j] == SET:
        return columns.weights[j] * max(0.0, distinct - 1.0) * columns.units[j]
    return columns.weights[j] * tree_loss(columns, j, low, high)


@internal
def shell_sort(values: Any, start: int, n: int, rank: Any, by_rank: bool) -> None:
    """Sort ``values[start:start + n]``: ascending, or by falling ``rank[start + value]`` and then ascending."""
    gap = n // 2
    while gap > 0:
        for i in range(gap, n):
            value = values[start + i]
            place = i
            while place >= gap:
                other = values[start + place - gap]
                if by_rank and rank[start + other] != rank[start + value]:
                    if rank[start + other] > rank[start + value]:
                        break
                elif other <= value:
                    break
                values[start + place] = other
                place -= gap
            values[start + place] = value
        gap = 1 if gap == 2 else gap * 5 // 11


@internal
def present(histogram: Any, values: Any, start: int, low: int, high: int, codes: Any, j: int, s: int, e: int) -> int:
    """List the codes present in rows s..e in ascending order; return how many."""
    found = 0
    if high - low + 1 <= 8 * (e - s):
        for code in range(low, high + 1):
            if histogram[start + code] > 0:
                values[start + found] = code
                found += 1
        return found
    # A wide column in a small node: look at the rows, not at the domain.
    for p in range(s, e):
        values[start + p - s] = codes[p, j]
    shell_sort(values, start, e - s, histogram, False)
    for i in range(e - s):
        code = values[start + i]
        if found == 0 or values[start + found - 1] != code:
            values[start + found] = code
            found += 1
    return found


@internal
def grown(array: Any) -> Any:
    """The same rows in an array twice as long."""
    larger = np.empty((2 * array.shape[0], array.shape[1]), array.dtype)
    for i in range(array.shape[0]):
        for j in range(array.shape[1]):
            larger[i, j] = array[i, j]
    return larger


@internal
def put(target: Any, at: int, begin: int, end: int, bounds: Any) -> None:
    """Write one node: where it begins and ends, and its bounds."""
    target[at, 0], target[at, 1] = begin, end
    for i in range(len(bounds)):
        target[at, 2 + i] = bounds[i]
