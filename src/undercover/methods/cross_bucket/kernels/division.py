"""Dividing a few rows into groups of given sizes, kd-style: order by one column, cut between two groups, go on."""

from __future__ import annotations

from typing import Any

import numpy as np

from undercover.compiled.jit import internal, kernel
from undercover.steps.cutting.splits import RANGE, SET, TIE, lowest_common_node

FEW = 64  # rows up to which every column is tried


@kernel
def divide_rows(codes: Any, rows: Any, offsets: Any, k: int, columns: Any, tree: Any) -> Any:
    """Order every segment of ``rows``, in place, so that its groups are contiguous and narrow.

    A segment of g rows has ``g // k`` groups of at least ``k`` rows, as even as can be, larger ones first. It is ordered
    by the column that leaves least loss on both sides, cut in the middle between two groups, and so are its parts until
    each is one group. Of parts of more than ``FEW`` rows the widest column is taken without trying the others.

    Parameters
    ----------
    codes
        (n, at least d) cutting codes of every row.
    rows, offsets
        Segment i is ``rows[offsets[i]:offsets[i + 1]]``.
    columns, tree
        As :func:`undercover.steps.cutting.splits.refine` takes them.

    Returns
    -------
    where each group begins in ``rows``, and the end
    """
    column_starts, kinds, weights, positions, per_leaf, leaf_starts, node_starts = columns
    first_leaf, last_leaf, parent, leaf_node = tree[0], tree[1], tree[2], tree[5]
    units = weights * per_leaf
    n_groups = 0
    longest = np.int64(1)
    for i in range(len(offsets) - 1):
        n_groups += max(1, (offsets[i + 1] - offsets[i]) // k)
        longest = max(longest, offsets[i + 1] - offsets[i])
    starts = np.empty(n_groups + 1, np.int64)
    starts[0] = offsets[0]
    d = len(kinds)
    block, scale = np.empty((d, longest), np.int64), np.empty((d, longest))  # codes and places on the scale
    own, order = np.empty(longest, np.int64), np.empty(longest, np.int64)
    spare, best = np.empty(longest, np.int64), np.empty(longest, np.int64)
    stack = np.empty((2 * longest + 2, 2), np.int64)
    first = 0
    for i in range(len(offsets) - 1):
        offset, size = offsets[i], offsets[i + 1] - offsets[i]
        for place in range(size):
            own[place], order[place] = rows[offset + place], place
            for j in range(d):
                block[j, place] = codes[own[place], j]
                scale[j, place] = positions[column_starts[j] + block[j, place]] * weights[j]
        groups = max(1, size // k)
        for group in range(1, groups + 1):
            starts[first + group] = offset + group * (size // groups) + min(group, size % groups)
        stack[0, 0], stack[0, 1] = first, first + groups
        depth = 1
        while depth > 0:
            depth -= 1
            low, high = stack[depth, 0], stack[depth, 1]
            if high - low < 2:
                continue
            middle = (low + high) // 2
            begin, cut, end = starts[low] - offset, starts[middle] - offset, starts[high] - offset
            chosen, least, tie = -1, 0.0, TIE * (end - begin)
            for j in range(d):
                if not _varies(block, j, order, begin, end):
                    continue
                if end - begin <= FEW:
                    _sort_few(block, j, order, begin, end)
                    loss = 0.0
                    for c in range(d):
                        kind, unit, weight = kinds[c], units[c], weights[c]
                        loss += (cut - begin) * _loss(
                            block,
                            scale,
                            c,
                            order,
                            begin,
                            cut,
                            kind,
                            unit,
                            weight,
                            spare,
                            first_leaf,
                            last_leaf,
                            parent,
                            leaf_node,
                            leaf_starts,
                            node_starts,
                        )
                        loss += (end - cut) * _loss(
                            block,
                            scale,
                            c,
                            order,
                            cut,
                            end,
                            kind,
                            unit,
                            weight,
                            spare,
                            first_leaf,
                            last_leaf,
                            parent,
                            leaf_node,
                            leaf_starts,
                            node_starts,
                        )
                        if chosen >= 0 and loss >= least - tie:
                            break
                else:
                    loss = -_loss(
                        block,
                        scale,
                        j,
                        order,
                        begin,
                        end,
                        kinds[j],
                        units[j],
                        weights[j],
                        spare,
                        first_leaf,
                        last_leaf,
                        parent,
                        leaf_node,
                        leaf_starts,
                        node_starts,
                    )
                if chosen < 0 or loss < least - tie:
                    chosen, least = j, loss
                    for place in range(begin, end):
                        best[place] = order[place]
            if chosen < 0:
                continue  # all rows are equal
            for place in range(begin, end):
                order[place] = best[place]
            if end - begin > FEW:
                _sort_many(block, chosen, order, begin, end)
            stack[depth, 0], stack[depth, 1] = low, middle
            stack[depth + 1, 0], stack[depth + 1, 1] = middle, high
            depth += 2
        for place in range(size):
            rows[offset + place] = own[order[place]]
        first += groups
    return starts


@internal
def _loss(
    block: Any, scale: Any, j: int, order: Any, begin: int, end: int, kind: int, unit: float, weight: float, spare: Any,
    first: Any, last: Any, parent: Any, leaf_node: Any, leaf_starts: Any, node_starts: Any,
) -> float:  # fmt: skip
    """What the tightest cell of one column around some rows loses, weighted."""
    if kind == RANGE:
        least = most = scale[j, order[begin]]
        for i in range(begin + 1, end):
            place = scale[j, order[i]]
            least, most = min(least, place), max(most, place)
        return min(weight, most - least)
    low = high = spare[0] = block[j, order[begin]]
    distinct = 1
    for i in range(begin + 1, end):
        code = block[j, order[i]]
        low, high = min(low, code), max(high, code)
        known = 0
        while known < distinct and spare[known] != code:
            known += 1
        if known == distinct:
            spare[distinct] = code
            distinct += 1
    if kind == SET:
        return (distinct - 1) * unit
    if low == high:
        return 0.0
    start = node_starts[j]
    node = start + lowest_common_node(first, last, parent, leaf_node, leaf_starts[j], start, low, high)
    return min(weight, (last[node] - first[node]) * unit)


@internal
def _varies(block: Any, j: int, order: Any, begin: int, end: int) -> bool:
    for i in range(begin + 1, end):
        if block[j, order[i]] != block[j, order[begin]]:
            return True
    return False


@internal
def _sort_few(block: Any, j: int, order: Any, begin: int, end: int) -> None:
    """By the codes of one column; equal codes keep their order."""
    for i in range(begin + 1, end):
        row, at = order[i], i
        code = block[j, row]
        while at > begin and block[j, order[at - 1]] > code:
            order[at] = order[at - 1]
            at -= 1
        order[at] = row


@internal
def _sort_many(block: Any, j: int, order: Any, begin: int, end: int) -> None:
    keys, before = np.empty(end - begin, np.int64), order[begin:end].copy()
    for i in range(end - begin):
        keys[i] = block[j, before[i]]
    places = np.argsort(keys, kind="mergesort")
    for i in range(end - begin):
        order[begin + i] = before[places[i]]
