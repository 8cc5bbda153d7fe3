"""Median cuts into disjoint regions, looking at one column at a time.

LeFevre, DeWitt & Ramakrishnan 2006, "Mondrian Multidimensional K-Anonymity", Section 4: the widest column is cut at its
median. The width of a region is known before any row is looked at, so the columns are tried in that order and rows are
counted in the first that can be cut, where :func:`undercover.steps.cutting.splits.refine` counts them in all. The result is
the same, row for row.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from undercover.compiled.jit import inlined, internal, kernel
from undercover.steps.cutting.arrays import TREE, Columns, Rows, Task
from undercover.steps.cutting.nodes import TIE, cell_loss, grown, lowest_common_node, present, put
from undercover.steps.cutting.splits import MAX_SLOTS, NONE

NOT_TRIED = -2


@internal
def _median(histogram: Any, values: Any, start: int, found: int, m: int, k: int) -> int:
    """The highest code that goes left at the cut nearest to the median; -1 where no cut leaves k rows on both sides."""
    n = min(found, MAX_SLOTS)
    left, best, at = 0, m, -1
    rank = 0
    for slot in range(n - 1):
        # A slot holds the values whose rank falls into it; with few values each has its own.
        while rank < found and (rank if n == found else rank * n // found) == slot:
            left += histogram[start + values[start + rank]]
            rank += 1
        if left >= k and m - left >= k and abs(2 * left - m) < best:
            best, at = abs(2 * left - m), values[start + rank - 1]
    return at


@inlined
def _children_allow(columns: Columns, j: int, node: int, histogram: Any, values: Any, found: int, k: int) -> bool:
    """Whether every child of a tree node that has rows at all has k of them."""
    start, i = columns.starts[j], 0
    for c in range(columns.child_starts[node + j], columns.child_starts[node + j + 1]):
        high = columns.last[columns.node_starts[j] + columns.children[c]]
        rows = 0
        while i < found and values[start + i] <= high:
            rows += histogram[start + values[start + i]]
            i += 1
        if 0 < rows < k:
            return False
    return True


@internal
def _move_range(rows: Rows, j: int, s: int, e: int, low: int, high: int) -> int:
    """Bring the rows of s..e with a code from low to high to the front, keeping the order; return where they end."""
    codes, packed, ids, packed_spare, ids_spare = rows
    left, right = s, s
    width = packed.shape[1]
    for p in range(s, e):
        # Every row is written to both sides and only one of them advances: no branch to mispredict.
        code = np.int64(codes[p, j])
        taken = np.int64(low <= code) & np.int64(code <= high)
        row = ids[p]
        for w in range(width):
            word = packed[p, w]
            packed[left, w] = word
            packed_spare[right, w] = word
        ids[left] = row
        ids_spare[right] = row
        left += taken
        right += 1 - taken
    for p in range(right - s):
        for w in range(width):
            packed[left + p, w] = packed_spare[s + p, w]
        ids[left + p] = ids_spare[s + p]
    return left


@inlined
def _following(widths: Any, cut_at: Any, chosen: int, at_least: float) -> int:
    """The widest column not tried yet; once one can be cut, earlier columns that are as wide come before it."""
    following = NONE
    for j in range(len(widths)):
        if cut_at[j] != NOT_TRIED:
            continue
        if chosen == NONE:
            if following == NONE or widths[j] > widths[following]:
                following = j
        elif j < chosen and widths[j] >= at_least:
            return j
    return following


@inlined
def _choose(
    codes: Any, s: int, e: int, bounds: Any, task: Task, histogram: Any, values: Any, widths: Any, cut_at: Any
) -> int:
    """The column that the rows s..e are cut by, or NONE."""
    columns = task.columns
    for j in range(len(widths)):
        low, high = bounds[2 * j], bounds[2 * j + 1]
        cut_at[j] = NOT_TRIED if high > low else NONE
        widths[j] = cell_loss(columns, j, low, high, high - low + 1.0)
    chosen, widest = NONE, 0.0
    while True:
        j = _following(widths, cut_at, chosen, widest - TIE * (e - s))
        if j == NONE:
            return chosen
        start, low, high = columns.starts[j], bounds[2 * j], bounds[2 * j + 1]
        for p in range(s, e):
            histogram[start + codes[p, j]] += 1
        found = present(histogram, values, start, low, high, codes, j, s, e)
        cut_at[j] = NONE
        if found > 1:
            if columns.kinds[j] == TREE:
                node = lowest_common_node(columns, j, low, high)
                if _children_allow(columns, j, node, histogram, values, found, task.k):
                    cut_at[j] = node
            else:
                cut_at[j] = _median(histogram, values, start, found, e - s, task.k)
        for i in range(found):
            histogram[start + values[start + i]] = 0
        if cut_at[j] != NONE:
            if chosen == NONE:
                widest = widths[j]
            chosen = j


@kernel
def refine_regions(rows: Rows, begin: int, end: int, begin_bounds: Any, task: Task, big: int, tried: Any) -> Any:
    """Cut rows begin..end; a node larger than ``big`` is cut once and its parts handed back.

    Parameters and result are those of :func:`undercover.steps.cutting.splits.refine`, for median cuts into regions without
    further conditions; nobody follows these, so nothing is written into ``tried``.
    """
    columns = task.columns
    d = len(columns.kinds)
    histogram, values = np.zeros(columns.starts[d], np.int64), np.empty(columns.starts[d], np.int64)
    widths = np.empty(d)
    cut_at = np.empty(d, np.int64)  # the highest code that goes left, or the node that is cut into its children
    stack, leaves = np.empty((64, 2 + 2 * d), np.int64), np.empty((64, 2 + 2 * d), np.int64)
    put(stack, 0, begin, end, begin_bounds)
    depth, n_leaves = 1, 0
    bounds = np.empty(2 * d, np.int64)

    while depth > 0:
        depth -= 1
        s, e = stack[depth, 0], stack[depth, 1]
        for i in range(2 * d):
            bounds[i] = stack[depth, 2 + i]
        j = NONE
        if e - s >= 2 * task.k:
            j = _choose(rows.codes, s, e, bounds, task, histogram, values, widths, cut_at)
        if j == NONE:
            if n_leaves == len(leaves):
                leaves = grown(leaves)
            put(leaves, n_leaves, s, e, bounds)
            n_leaves += 1
            continue

        is_tree = columns.kinds[j] == TREE
        from_child, n_parts = 0, 2
        if is_tree:
            from_child = columns.child_starts[cut_at[j] + j]
            n_parts = columns.child_starts[cut_at[j] + j + 1] - from_child
        here = s
        for part in range(n_parts):
            if is_tree:
                child = columns.node_starts[j] + columns.children[from_child + part]
                low, high = columns.first[child], columns.last[child]
            else:
                low = bounds[2 * j] if part == 0 else cut_at[j] + 1
                high = cut_at[j] if part == 0 else bounds[2 * j + 1]
            stop = e
            if is_tree or part == 0:
                stop = _move_range(rows, j, here, e, low, high)
            if stop == here:
                continue
            if depth == len(stack):
                stack = grown(stack)
            put(stack, depth, here, stop, bounds)
            stack[depth, 2 + 2 * j], stack[depth, 3 + 2 * j] = low, high
            depth += 1
            here = stop
        if e - s > big:
            break

    return leaves[:n_leaves], stack[:depth], 0
