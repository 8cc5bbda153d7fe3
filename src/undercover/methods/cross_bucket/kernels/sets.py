"""Which sensitive values go together, and how often: a plan that never leaves rows that fit nowhere.

The assignment step of m-invariance (Xiao & Tao 2007) as cross-bucket generalization uses it. The rows left always
satisfy ``m * (largest count) <= rows``, so a set of m different values can be taken as long as rows are left.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from undercover.compiled.jit import internal, kernel


@kernel
def plan_sets(values: Any, counts: Any, k: int, m: int) -> Any:
    """Sets of at least ``m`` and fewer than ``2 m`` different values that use up every row.

    Parameters
    ----------
    values, counts
        The values and how many rows each has, largest count first, equal counts by value; all counts positive, and
        ``m * counts[0] <= counts.sum()``.
    k
        Sets whose size is a multiple of ``k`` are preferred.
    m
        Least size of a set.

    Returns
    -------
    (members, offsets, repeats): set i has the values ``members[offsets[i]:offsets[i + 1]]``, most frequent first, and
    is taken ``repeats[i]`` times.
    """
    ranked, left = values.copy(), counts.copy()
    n_values = len(ranked)
    head = np.int64(0)  # values before it are used up
    rows = left.sum()
    members = np.empty(4 * n_values + 2 * m, np.int64)
    offsets = np.zeros(n_values + 2, np.int64)
    repeats = np.empty(n_values + 1, np.int64)
    n_sets, n_members = 0, 0
    moved_values, moved_counts = np.empty(2 * m, np.int64), np.empty(2 * m, np.int64)
    while rows > 0:
        available = n_values - head
        size, times = np.int64(0), np.int64(0)
        most = min(np.int64(available), np.int64(2 * m - 1))
        for b in range(-(-m // k) * k, most + 1, k):
            times = _often(left, head, n_values, rows, b, m)
            if times >= 1:
                size = b
                break
        if size == 0:
            largest = rows // m
            equal = np.int64(0)
            while head + equal < n_values and left[head + equal] == largest:
                equal += 1
            size = max(m, equal)
            times = _often(left, head, n_values, rows, size, m)
        if n_members + size > len(members):
            members = _longer(members)
        if n_sets + 2 > len(offsets):
            offsets, repeats = _longer(offsets), _longer(repeats)
        for i in range(size):
            members[n_members + i] = ranked[head + i]
            moved_values[i], moved_counts[i] = ranked[head + i], left[head + i] - times
        n_members += size
        offsets[n_sets + 1], repeats[n_sets] = n_members, times
        n_sets += 1
        rows -= size * times
        # Those with rows left go back in order, last first, into the places just before what is still ranked.
        kept = 0
        for i in range(size):
            if moved_counts[i] > 0:
                moved_values[kept], moved_counts[kept] = moved_values[i], moved_counts[i]
                kept += 1
        head = _merge(ranked, left, head + size, n_values, moved_values, moved_counts, kept)
    return members[:n_members], offsets[: n_sets + 1], repeats[:n_sets]


@internal
def _often(left: Any, head: int, n_values: int, rows: int, b: int, m: int) -> int:
    """How often the first ``b`` values may be taken so that what is left still satisfies ``m * largest <= rows``."""
    times = left[head + b - 1]
    if b > m:
        times = min(times, (rows - m * left[head]) // (b - m))
    if head + b < n_values:
        times = min(times, (rows - m * left[head + b]) // b)
    return times


@internal
def _merge(ranked: Any, left: Any, start: int, n_values: int, values: Any, counts: Any, kept: int) -> int:
    """Merge ``kept`` values (in order of count and, among equals, not yet of value) before ``start``; the new head."""
    for i in range(1, kept):  # equal counts by value
        j = i
        while j > 0 and counts[j - 1] == counts[j] and values[j - 1] > values[j]:
            values[j - 1], values[j] = values[j], values[j - 1]
            j -= 1
    to = start - kept
    i, source = 0, start
    while i < kept:
        if source < n_values and (
            left[source] > counts[i] or (left[source] == counts[i] and ranked[source] < values[i])
        ):
            ranked[to], left[to] = ranked[source], left[source]
            source += 1
        else:
            ranked[to], left[to] = values[i], counts[i]
            i += 1
        to += 1
    return start - kept


@internal
def _longer(array: Any) -> Any:
    larger = np.zeros(2 * len(array), array.dtype)
    larger[: len(array)] = array
    return larger
