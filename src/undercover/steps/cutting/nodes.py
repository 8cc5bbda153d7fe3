"""What the cutting kernels share: losses of cells, nodes as rows of an array, predicates on sensitive values.

A predicate is asked whether a group may stand, given how often each sensitive value occurs in it. Several predicates
(one per sensitive column, or several on one column) are :class:`undercover.steps.cutting.arrays.Checks`.

Sources: Machanavajjhala et al. 2006 (distinct, entropy, recursive), Xiao & Tao 2006 (frequency 1/l),
Li, Li & Venkatasubramanian 2007 (t-closeness; equal, ordered and hierarchical distance).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from undercover.compiled.jit import borrowing, inlined, internal, kernel
from undercover.steps.cutting.arrays import RANGE, SET, Checks, Columns

TIE = 1e-12  # loss per row below which two cuts are equally good
DISTINCT, FREQUENCY, ENTROPY, RECURSIVE, EQUAL, ORDERED, HIERARCHICAL = range(7)
# A cut is refused only when it is worse by more than rounding can explain.
TOLERANCE = 1e-12


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


@borrowing
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


@borrowing
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


@borrowing
def put(target: Any, at: int, begin: int, end: int, bounds: Any) -> None:
    """Write one node: where it begins and ends, and its bounds."""
    target[at, 0], target[at, 1] = begin, end
    for i in range(len(bounds)):
        target[at, 2 + i] = bounds[i]


@kernel
def all_hold(counts: Any, size: int, checks: Checks, work: Any) -> bool:
    """Whether every predicate holds on a group of ``size`` rows.

    ``counts`` are the sensitive columns' histograms one behind the other, ``work`` is scratch of one entry more.
    """
    limits, reference = checks.limits, checks.reference
    for q in range(len(checks.kinds)):
        column = checks.columns[q]
        start, stop = checks.column_starts[column], checks.column_starts[column + 1]
        kind = checks.kinds[q]
        n = stop - start
        if kind == DISTINCT:
            found = 0
            for i in range(start, stop):
                found += counts[i] > 0
            if found < limits[q]:
                return False
        elif kind == FREQUENCY:
            highest = 0
            for i in range(start, stop):
                highest = max(highest, counts[i])
            if highest * limits[q] > size:
                return False
        elif kind == ENTROPY:
            total = 0.0
            for i in range(start, stop):
                if counts[i] > 0:
                    total += counts[i] * np.log(counts[i])
            if np.log(size) - total / size < np.log(limits[q]) * (1.0 - TOLERANCE):
                return False
        elif kind == RECURSIVE:
            # r_1 <= c (r_l + ... + r_m): the tail is all rows but the l - 1 most frequent values.
            for i in range(n):
                work[i] = counts[start + i]
            tail, most = float(size), 0.0
            for rank in range(int(limits[q]) - 1 if limits[q] > 1 else 1):
                top = 0
                for i in range(1, n):
                    if work[i] > work[top]:
                        top = i
                if rank == 0:
                    most = work[top]
                if limits[q] > 1:
                    tail -= work[top]
                work[top] = 0.0
            # Equality holds: a product that rounding pushed below a whole number must not hide it.
            if most > checks.seconds[q] * tail * (1.0 + TOLERANCE):
                return False
        elif kind == EQUAL:
            distance = 0.0
            for i in range(n):
                distance += abs(counts[start + i] / size - reference[start + i])
            if distance / 2.0 > limits[q] + TOLERANCE:
                return False
        elif kind == ORDERED:
            distance, running = 0.0, 0.0
            for i in range(n):
                running += counts[start + i] / size - reference[start + i]
                distance += abs(running)
            if n > 1 and distance / (n - 1) > limits[q] + TOLERANCE:
                return False
        else:
            for i in range(n):
                work[i] = counts[start + i] / size - reference[start + i]
            levels = checks.level_codes[checks.level_starts[q] : checks.level_starts[q + 1]]
            if _hierarchical_distance(work, n, levels) > limits[q] + TOLERANCE:
                return False
    return True


@internal
def _hierarchical_distance(extra: Any, n_nodes: int, parents: Any) -> float:
    """Li et al. 2007, Section 5.2: at each node what its children have too much pays for what they lack."""
    height = len(parents)
    total = 0.0
    for level in range(height):
        n_parents = 0
        for i in range(n_nodes):
            n_parents = max(n_parents, parents[level, i] + 1)
        surplus, shortage = np.zeros(n_parents), np.zeros(n_parents)
        for i in range(n_nodes):
            if extra[i] > 0:
                surplus[parents[level, i]] += extra[i]
            else:
                shortage[parents[level, i]] -= extra[i]
        for i in range(n_parents):
            total += (level + 1) / height * min(surplus[i], shortage[i])
            extra[i] = surplus[i] - shortage[i]
        n_nodes = n_parents
    return total
