"""Dividing a few rows into groups of given sizes, kd-style: order by one column, cut between two groups, go on."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from undercover.compiled.jit import inlined, internal, kernel
from undercover.steps.cutting.arrays import RANGE, SET, Columns
from undercover.steps.cutting.nodes import TIE, lowest_common_node

FEW = 64  # rows up to which every column is tried


class _Segment(NamedTuple):
    """The rows of one segment by place, and their order."""

    codes: Any  # (d, longest)
    scale: Any  # (d, longest) weighted places on the scale
    order: Any
    best: Any  # scratch
    spare: Any  # scratch


@kernel
def divide_rows(codes: Any, rows: Any, offsets: Any, k: int, columns: Columns) -> Any:
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

    Returns
    -------
    where each group begins in ``rows``, and the end
    """
    units = columns.weights * columns.units
    n_groups = 0
    longest = np.int64(1)
    for i in range(len(offsets) - 1):
        n_groups += max(1, (offsets[i + 1] - offsets[i]) // k)
        longest = max(longest, offsets[i + 1] - offsets[i])
    starts = np.empty(n_groups + 1, np.int64)
    starts[0] = offsets[0]
    d = len(units)
    block, scale = np.empty((d, longest), np.int64), np.empty((d, longest))
    own, order = np.empty(longest, np.int64), np.empty(longest, np.int64)
    segment = _Segment(block, scale, order, np.empty(longest, np.int64), np.empty(longest, np.int64))
    stack = np.empty((2 * longest + 2, 2), np.int64)
    first = 0
    for i in range(len(offsets) - 1):
        offset, size = offsets[i], offsets[i + 1] - offsets[i]
        for place in range(size):
            own[place], order[place] = rows[offset + place], place
            for j in range(d):
                block[j, place] = codes[own[place], j]
                scale[j, place] = columns.positions[columns.starts[j] + block[j, place]] * columns.weights[j]
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
            if _order(segment, starts[low] - offset, starts[middle] - offset, starts[high] - offset, columns, units):
                stack[depth, 0], stack[depth, 1] = low, middle
                stack[depth + 1, 0], stack[depth + 1, 1] = middle, high
                depth += 2
        for place in range(size):
            rows[offset + place] = own[order[place]]
        first += groups
    return starts


@inlined
def _order(segment: _Segment, begin: int, cut: int, end: int, columns: Columns, units: Any) -> bool:
    """Order the places begin..end, which are cut in two, by the best column; False where all rows are equal."""
    order, best, d = segment.order, segment.best, len(units)
    chosen, least, tie = -1, 0.0, TIE * (end - begin)
    for j in range(d):
        if not _varies(segment.codes, j, order, begin, end):
            continue
        if end - begin <= FEW:
            _sort_few(segment.codes, j, order, begin, end)
            loss = 0.0
            for c in range(d):
                loss += (cut - begin) * _loss(segment, c, begin, cut, columns, units)
                loss += (end - cut) * _loss(segment, c, cut, end, columns, units)
                if chosen >= 0 and loss >= least - tie:
                    break
        else:
            loss = -_loss(segment, j, begin, end, columns, units)
        if chosen < 0 or loss < least - tie:
            chosen, least = j, loss
            for place in range(begin, end):
                best[place] = order[place]
    if chosen < 0:
        return False
    for place in range(begin, end):
        order[place] = best[place]
    if end - begin > FEW:
        _sort_many(segment.codes, chosen, order, begin, end)
    return True


@inlined
def _loss(segment: _Segment, j: int, begin: int, end: int, columns: Columns, units: Any) -> float:
    """What the tightest cell of one column around some rows loses, weighted."""
    block, scale, order, spare, kind = segment.codes, segment.scale, segment.order, segment.spare, columns.kinds[j]
    if kind == RANGE:
        least = most = scale[j, order[begin]]
        for i in range(begin + 1, end):
            place = scale[j, order[i]]
            least, most = min(least, place), max(most, place)
        return min(columns.weights[j], most - least)
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
        return (distinct - 1) * units[j]
    if low == high:
        return 0.0
    node = lowest_common_node(columns, j, low, high)
    return min(columns.weights[j], (columns.last[node] - columns.first[node]) * units[j])


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
