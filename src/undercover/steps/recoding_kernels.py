"""Loops of recoding: what the rows of a group span, groups in the order of their cells, a group's cell for each row.

Everything takes the groups from ``first`` to ``last`` only, so that several threads work side by side.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from undercover.compiled.jit import kernel
from undercover.compiled.words import sort_few

_FEW = 16  # different codes of a bucket, as most have


@kernel
def find_spans(order: Any, offsets: Any, codes: Any, place: Any, spans: Any, first: int, last: int) -> None:
    """The lowest and highest ``place[code]`` among the rows of each group, to ``spans`` (2, n_groups)."""
    for g in range(first, last):
        low = high = place[codes[order[offsets[g]]]]
        for p in range(offsets[g] + 1, offsets[g + 1]):
            here = place[codes[order[p]]]
            low, high = min(low, here), max(high, here)
        spans[0, g], spans[1, g] = low, high


@kernel
def find_values(order: Any, offsets: Any, codes: Any, bits: Any, first: int, last: int) -> None:
    """A bit for every code that occurs in a group, to ``bits`` (n_groups, n_words), which are all zero."""
    for g in range(first, last):
        for p in range(offsets[g], offsets[g + 1]):
            code = np.uint64(codes[order[p]])
            bits[g, np.int64(code >> np.uint64(6))] |= np.uint64(1) << (code & np.uint64(63))


@kernel
def sort_by(codes: Any, size: int, before: Any, order: Any) -> None:
    """Groups in the order ``before``, those of lower ``codes`` first, to ``order``: one step of a radix sort."""
    heads = np.zeros(size + 1, np.int64)
    for code in codes:
        heads[code + 1] += 1
    for code in range(size):
        heads[code + 1] += heads[code]
    for group in before:
        code = codes[group]
        order[heads[code]] = group
        heads[code] += 1


@kernel
def mark_changes(codes: Any, order: Any, new: Any) -> None:
    """Set ``new[i]`` where the i-th group in ``order`` has another code than the one before it."""
    for i in range(1, len(order)):
        new[i] |= codes[order[i]] != codes[order[i - 1]]


@kernel
def lay_rows(order: Any, offsets: Any, groups: Any, starts: Any, rows: Any, first: int, last: int) -> None:
    """The rows ``order[offsets[g]:offsets[g + 1]]`` of the i-th of the ``groups``, from ``rows[starts[i]]`` on."""
    for i in range(first, last):
        start = offsets[groups[i]]
        for p in range(starts[i + 1] - starts[i]):
            rows[starts[i] + p] = order[start + p]


@kernel
def repeat_cells(codes: Any, groups: Any, starts: Any, cells: Any, first: int, last: int) -> None:
    """The code of the i-th of the ``groups`` for each of its rows, from ``cells[starts[i]]`` on."""
    for i in range(first, last):
        code = codes[groups[i]]
        for p in range(starts[i], starts[i + 1]):
            cells[p] = code


@kernel
def count_pairs(order: Any, offsets: Any, codes: Any, pairs: Any, size: int, first: int, last: int) -> None:
    """How many different codes each bucket has, to ``pairs[b + 1]``."""
    seen = np.full(size, -1, np.int64)
    for b in range(first, last):
        for p in range(offsets[b], offsets[b + 1]):
            code = codes[order[p]]
            if seen[code] != b:
                seen[code] = b
                pairs[b + 1] += 1


@kernel
def list_pairs(order: Any, offsets: Any, codes: Any, size: int, starts: Any, found: Any, first: int, last: int) -> None:
    """The codes of each bucket, ascending, and how often each occurs: bucket b from ``starts[b]`` on.

    ``found`` are the arrays for bucket, code and count.
    """
    buckets, values, times = found
    counts = np.zeros(size, np.int64)
    for b in range(first, last):
        end = starts[b]
        for p in range(offsets[b], offsets[b + 1]):
            code = codes[order[p]]
            if not counts[code]:
                values[end] = code
                end += 1
            counts[code] += 1
        if end - starts[b] > _FEW:
            values[starts[b] : end].sort()
        else:
            sort_few(values, starts[b], end)
        for i in range(starts[b], end):
            buckets[i], times[i] = b, counts[values[i]]
            counts[values[i]] = 0
