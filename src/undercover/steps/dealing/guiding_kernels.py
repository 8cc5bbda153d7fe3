"""Groups of different colours that keep near rows together: `guided` (our own) and the paper's `gda`.

Liu & Wang, "Privacy Streamliner", Section 3.3 and Table 7, for `gda`. Nearness is that of weighted ranks: one integer
a row, a weighted sum of the ranks of its quasi-identifiers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from undercover.compiled.jit import internal, kernel
from undercover.steps.dealing.dealing_kernels import ranked_colours, take_one

_DIGIT = 11


@kernel
def rank_order(keys: Any, n_bits: int) -> Any:
    """Rows by ascending key, ties by row number; keys are below ``2**n_bits``, n_bits at most 32."""
    n = len(keys)
    source = np.empty(n, np.uint64)
    for row in range(n):
        source[row] = (np.uint64(keys[row]) << np.uint64(32)) | np.uint64(row)
    target = np.empty(n, np.uint64)
    mask = np.uint64((1 << _DIGIT) - 1)
    for low in range(0, n_bits, _DIGIT):
        shift = np.uint64(32 + low)
        heads = np.zeros((1 << _DIGIT) + 1, np.int64)
        for i in range(n):
            heads[np.int64((source[i] >> shift) & mask) + 1] += 1
        for digit in range(1 << _DIGIT):
            heads[digit + 1] += heads[digit]
        for i in range(n):
            digit = np.int64((source[i] >> shift) & mask)
            target[heads[digit]] = source[i]
            heads[digit] += 1
        source, target = target, source
    order = np.empty(n, np.uint32)
    for i in range(n):
        order[i] = np.uint32(source[i] & np.uint64(0xFFFFFFFF))
    return order


@kernel
def bucket_slots(counts: Any, ranked: Any, l: int) -> Any:  # noqa: E741
    """`guided`: buckets of groups with the same colours, and how many rows of each colour go to which bucket.

    Parameters
    ----------
    counts
        (strata, colours) rows of each colour in each stratum; every stratum is l-eligible.
    ranked
        (strata, colours) the colours of each stratum, most rows first.

    Returns
    -------
    slots
        A bucket for every row of a stratum and colour, cell after cell, to be shuffled within the cell. A bucket is
        named by its counter: the place in ``next_group`` from which this colour draws groups of this bucket.
    offsets
        (cells + 1,) where the slots of each cell start.
    next_group
        The first group of every (cell, bucket).
    count
        Number of groups.
    """
    n_strata, n_colours = counts.shape
    offsets = np.zeros(n_strata * n_colours + 1, np.int64)
    n_counters = 0
    for s in range(n_strata):
        present = 0
        for c in range(n_colours):
            offsets[s * n_colours + c + 1] = offsets[s * n_colours + c] + counts[s, c]
            present += counts[s, c] > 0
        n_counters += present * (present + 2)
    slots = np.empty(offsets[-1], np.uint32)
    next_group = np.empty(n_counters, np.int32)
    cuts = np.empty(n_colours + 3, np.int64)
    counter, first_group = 0, 0
    for s in range(n_strata):
        rows = offsets[(s + 1) * n_colours] - offsets[s * n_colours]
        groups = rows // l
        # Cuts of the round of groups: where a colour starts, and where the last round ends.
        n_cuts = _add_cut(cuts, 0, 0)
        n_cuts = _add_cut(cuts, n_cuts, rows % groups)
        start = 0
        for c in ranked[s]:
            if counts[s, c] > 0:
                n_cuts = _add_cut(cuts, n_cuts, start % groups)
                start += counts[s, c]
        start = 0
        for c in ranked[s]:
            size = counts[s, c]
            if size == 0:
                continue
            position = offsets[s * n_colours + c]
            at = start % groups
            b = 0
            while cuts[b] < at:
                b += 1
            stop = position + size
            while position < stop:
                # A colour starts and ends at a cut, so it fills whole buckets.
                end = cuts[b + 1] if b + 1 < n_cuts else groups
                next_group[counter] = first_group + at
                for _ in range(end - at):
                    slots[position] = counter
                    position += 1
                counter += 1
                at, b = (end, b + 1) if end < groups else (0, 0)
            start += size
        first_group += groups
    return slots, offsets, next_group[:counter], first_group


@internal
def _add_cut(cuts: Any, n: int, value: int) -> Any:
    """Keep ``cuts[:n]`` sorted with ``value`` among them once; returns how many there are now."""
    i = n
    while i > 0 and cuts[i - 1] > value:
        i -= 1
    if i > 0 and cuts[i - 1] == value:
        return n
    for k in range(n, i, -1):
        cuts[k] = cuts[k - 1]
    cuts[i] = value
    return n + 1


@kernel
def zip_in_order(order: Any, cells: Any, offsets: Any, slots: Any, next_group: Any) -> Any:
    """`guided`: rows in the given order, each to the next group of the bucket its slot names."""
    heads = offsets.copy()
    free = next_group.copy()
    labels = np.empty(len(order), np.int32)
    for row in order:
        cell = cells[row]
        bucket = slots[heads[cell]]
        heads[cell] += 1
        labels[row] = free[bucket]
        free[bucket] += 1
    return labels


@kernel
def gda_groups(order: Any, codes: Any, offsets: Any, weighted: Any, l: int) -> Any:  # noqa: E741
    """Liu & Wang, Table 7, repaired so that what is left always finds a group.

    Parameters
    ----------
    order
        Rows by ascending weighted rank.
    offsets
        (colours + 1,) cumulative counts of the colours.
    weighted
        The weighted rank of every row.

    Returns
    -------
    labels, number of groups

    Notes
    -----
    ``slack`` is how many rows may still stay without a group of their own. A colour with at least as many rows as
    groups still to be made is critical: passing over it costs one of the slack, so when that is spent it must be taken.
    """
    n = offsets[-1]
    n_colours = len(offsets) - 1
    rows = np.empty(n, np.uint32)  # colour by colour, ascending weighted rank
    heads = offsets[:-1].copy()
    for row in order:
        rows[heads[codes[row]]] = row
        heads[codes[row]] += 1
    heads[:] = offsets[:-1]
    ranked, place, left, last = ranked_colours(offsets)
    values = np.empty(n_colours, np.int64)  # weighted rank of the first row of each colour, ascending
    firsts = np.empty(n_colours, np.int64)  # the colour it belongs to
    at = np.full(n_colours, -1, np.int64)  # where a colour stands among the firsts
    alive = 0
    for c in range(n_colours):
        if left[c] > 0:
            alive += 1
            _insert(values, firsts, at, alive, c, weighted[rows[heads[c]]])
    labels = np.full(n, -1, np.int32)
    chosen = np.empty(l, np.int64)
    is_chosen = np.zeros(n_colours, np.bool_)
    count = n // l
    slack = n - l * count
    leader = -1
    for group in range(count):
        if leader < 0 or left[leader] == 0:  # line 7: most rows left, then lowest code
            leader = ranked[: last[left[ranked[0]]] + 1].min()
        to_make = count - group
        critical = 0
        while critical < n_colours and left[ranked[critical]] >= to_make:
            critical += 1
        here = weighted[rows[heads[leader]]]
        chosen[0] = leader
        is_chosen[leader] = True
        taken = 1
        must = critical - slack - (left[leader] >= to_make)
        while must > 0 and taken < l:  # nearest critical colours first
            best = -1
            for i in range(critical):
                c = ranked[i]
                if not is_chosen[c] and (best < 0 or _nearer(values[at[c]], values[at[best]], here)):
                    best = c
            chosen[taken] = best
            is_chosen[best] = True
            taken += 1
            must -= 1
        high = np.searchsorted(values[:alive], here)
        low = high - 1
        while taken < l:  # line 9: nearest first rows of other colours
            while low >= 0 and is_chosen[firsts[low]]:
                low -= 1
            while high < alive and is_chosen[firsts[high]]:
                high += 1
            if high >= alive or (low >= 0 and here - values[low] <= values[high] - here):
                pick = low
            else:
                pick = high
            chosen[taken] = firsts[pick]
            is_chosen[firsts[pick]] = True
            taken += 1
        for i in range(critical):
            slack -= not is_chosen[ranked[i]]
        for c in chosen:
            is_chosen[c] = False
            labels[rows[heads[c]]] = group
            heads[c] += 1
            take_one(c, ranked, place, left, last)
            if left[c] > 0:
                _advance(values, firsts, at, alive, c, weighted[rows[heads[c]]])
            else:
                alive -= 1
                for i in range(at[c], alive):
                    values[i], firsts[i] = values[i + 1], firsts[i + 1]
                    at[firsts[i]] = i
    _append_nearest(labels, rows, codes, offsets, heads, weighted, count)
    return labels, count


@internal
def _nearer(first: int, second: int, here: int) -> bool:
    return abs(first - here) < abs(second - here)


@internal
def _insert(values: Any, firsts: Any, at: Any, alive: int, colour: int, value: int) -> None:
    i = alive - 1
    while i > 0 and values[i - 1] > value:
        values[i], firsts[i] = values[i - 1], firsts[i - 1]
        at[firsts[i]] = i
        i -= 1
    values[i], firsts[i], at[colour] = value, colour, i


@internal
def _advance(values: Any, firsts: Any, at: Any, alive: int, colour: int, value: int) -> None:
    i = at[colour]
    while i + 1 < alive and values[i + 1] < value:
        values[i], firsts[i] = values[i + 1], firsts[i + 1]
        at[firsts[i]] = i
        i += 1
    values[i], firsts[i], at[colour] = value, colour, i


@internal
def _append_nearest(labels: Any, rows: Any, codes: Any, offsets: Any, heads: Any, weighted: Any, count: int) -> None:
    """Table 7, lines 10-11: a row left over joins the compatible group of least average distance, the oldest first."""
    n_colours = len(offsets) - 1
    if not (heads < offsets[1:]).any():
        return
    total = np.empty(count, np.int64)
    size = np.empty(count, np.int64)
    closed = np.empty(count, np.bool_)
    for colour in range(n_colours):
        for position in range(heads[colour], offsets[colour + 1]):
            row = rows[position]
            total[:] = 0
            size[:] = 0
            closed[:] = False
            for other in range(len(labels)):
                group = labels[other]
                if group >= 0:
                    total[group] += abs(weighted[other] - weighted[row])
                    size[group] += 1
                    if codes[other] == colour:
                        closed[group] = True
            best = -1
            for group in range(count):
                if not closed[group] and (best < 0 or total[group] * size[best] < total[best] * size[group]):
                    best = group
            labels[row] = best
