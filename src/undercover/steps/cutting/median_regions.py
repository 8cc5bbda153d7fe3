"""Median cuts into disjoint regions, looking at one column at a time.

LeFevre, DeWitt & Ramakrishnan 2006, "Mondrian Multidimensional K-Anonymity", Section 4: the widest column is cut at its
median. The width of a region is known before any row is looked at, so the columns are tried in that order and rows are
counted in the first that can be cut, where :func:`undercover.steps.cutting.splits.refine` counts them in all. The result is
the same, row for row.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from undercover.compiled.jit import internal, kernel
from undercover.steps.cutting.splits import (
    MAX_SLOTS,
    TIE,
    TREE,
    _cell_loss,
    _grown,
    _present,
    _put,
    lowest_common_node,
)


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


@internal
def _children_allow(
    histogram: Any,
    values: Any,
    start: int,
    found: int,
    children: Any,
    begin: int,
    end: int,
    last: Any,
    nodes: int,
    k: int,
) -> bool:
    """Whether every child of a tree node that has rows at all has k of them."""
    i = 0
    for c in range(begin, end):
        high = last[nodes + children[c]]
        rows = 0
        while i < found and values[start + i] <= high:
            rows += histogram[start + values[start + i]]
            i += 1
        if 0 < rows < k:
            return False
    return True


@internal
def _move_range(
    codes: Any, packed: Any, ids: Any, packed_spare: Any, ids_spare: Any, j: int, s: int, e: int, low: int, high: int
) -> int:
    """Bring the rows of s..e with a code from low to high to the front, keeping the order; return where they end."""
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


@kernel
def refine_regions(
    codes: Any, packed: Any, ids: Any, packed_spare: Any, ids_spare: Any, begin: int, end: int, begin_bounds: Any,
    columns: Any, tree: Any, k: int, big: int,
) -> Any:  # fmt: skip
    """Cut rows begin..end; a node larger than ``big`` is cut once and its parts handed back.

    Parameters and result are those of :func:`undercover.steps.cutting.splits.refine`, for median cuts into regions without
    further conditions.
    """
    starts, kinds, weights, positions, units, leaf_starts, node_starts = columns
    first, last, parent, child_starts, children, leaf_node = tree
    d = len(kinds)
    histogram = np.zeros(starts[d], np.int64)
    values = np.empty(starts[d], np.int64)
    widths = np.empty(d)
    tried = np.empty(d, np.int64)  # 0: not yet, 1: can be cut, -1: cannot
    cut_at = np.empty(d, np.int64)  # the highest code that goes left, or the node that is cut into its children
    stack = np.empty((64, 2 + 2 * d), np.int64)
    _put(stack, 0, begin, end, begin_bounds)
    depth = 1
    leaves = np.empty((64, 2 + 2 * d), np.int64)
    n_leaves = 0
    bounds = np.empty(2 * d, np.int64)

    while depth > 0:
        depth -= 1
        s, e = stack[depth, 0], stack[depth, 1]
        for i in range(2 * d):
            bounds[i] = stack[depth, 2 + i]
        m = e - s
        chosen = -1
        if m >= 2 * k:
            for j in range(d):
                low, high = bounds[2 * j], bounds[2 * j + 1]
                tried[j] = 0 if high > low else -1
                widths[j] = _cell_loss(
                    kinds, weights, units, starts, positions, first, last, parent, leaf_node, leaf_starts, node_starts,
                    j, low, high, high - low + 1.0,
                )  # fmt: skip
            widest = 0.0
            while True:
                # The widest column not tried yet; once one can be cut, earlier columns that are as wide come before it.
                following = -1
                for j in range(d):
                    if tried[j] != 0:
                        continue
                    if chosen < 0:
                        if following < 0 or widths[j] > widths[following]:
                            following = j
                    elif j < chosen and widths[j] >= widest - TIE * m:
                        following = j
                        break
                if following < 0:
                    break
                j = following
                start = starts[j]
                for p in range(s, e):
                    histogram[start + codes[p, j]] += 1
                found = _present(histogram, values, start, bounds[2 * j], bounds[2 * j + 1], codes, j, s, e)
                tried[j] = -1
                if found > 1:
                    if kinds[j] == TREE:
                        node = lowest_common_node(
                            first,
                            last,
                            parent,
                            leaf_node,
                            leaf_starts[j],
                            node_starts[j],
                            bounds[2 * j],
                            bounds[2 * j + 1],
                        )
                        at = node_starts[j] + node + j
                        if _children_allow(
                            histogram, values, start, found, children, child_starts[at], child_starts[at + 1], last,
                            node_starts[j], k,
                        ):  # fmt: skip
                            tried[j], cut_at[j] = 1, node
                    else:
                        cut_at[j] = _median(histogram, values, start, found, m, k)
                        tried[j] = 1 if cut_at[j] >= 0 else -1
                for i in range(found):
                    histogram[start + values[start + i]] = 0
                if tried[j] == 1:
                    if chosen < 0:
                        widest = widths[j]
                    chosen = j

        if chosen < 0:
            if n_leaves == len(leaves):
                leaves = _grown(leaves)
            _put(leaves, n_leaves, s, e, bounds)
            n_leaves += 1
            continue

        j = chosen
        from_child, n_parts = 0, 2
        if kinds[j] == TREE:
            from_child = child_starts[node_starts[j] + cut_at[j] + j]
            n_parts = child_starts[node_starts[j] + cut_at[j] + j + 1] - from_child
        here = s
        for part in range(n_parts):
            if kinds[j] == TREE:
                child = node_starts[j] + children[from_child + part]
                low, high = first[child], last[child]
            else:
                low = bounds[2 * j] if part == 0 else cut_at[j] + 1
                high = cut_at[j] if part == 0 else bounds[2 * j + 1]
            stop = e
            if kinds[j] == TREE or part == 0:
                stop = _move_range(codes, packed, ids, packed_spare, ids_spare, j, here, e, low, high)
            if stop == here:
                continue
            if depth == len(stack):
                stack = _grown(stack)
            _put(stack, depth, here, stop, bounds)
            stack[depth, 2 + 2 * j], stack[depth, 3 + 2 * j] = low, high
            depth += 1
            here = stop
        if m > big:
            break

    return leaves[:n_leaves], stack[:depth]
