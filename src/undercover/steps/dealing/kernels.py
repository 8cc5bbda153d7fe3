"""Groups of different colours (sensitive values): `wrap`, `rda` and `ria`; `guided` and `gda` keep near rows together.

Liu & Wang, "Privacy Streamliner", Tables 5 to 7; `wrap` and `guided` are our own. `wrap` and `rda` only decide how many
rows of which colour meet in which group. They hand back *slots*: the groups that the rows of a colour go to, colour
after colour. Shuffled within each colour (:mod:`undercover.compiled.shuffle`), slot i of a colour belongs to its i-th
row.

Nearness is that of weighted ranks (Section 3.3): one integer a row, a weighted sum of the ranks of its
quasi-identifiers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from undercover.compiled.jit import internal, kernel
from undercover.compiled.shuffle import below

_DIGIT = 11


@kernel
def take_slots(codes: Any, offsets: Any, slots: Any) -> Any:
    """The group of every row: the i-th row of colour c takes ``slots[offsets[c] + i]``."""
    heads = offsets.copy()
    labels = np.empty(len(codes), np.int32)
    for row in range(len(codes)):
        code = codes[row]
        labels[row] = slots[heads[code]]
        heads[code] += 1
    return labels


@kernel
def wrap_slots(offsets: Any, colours: Any, count: int) -> Any:
    """Deal the rows, colour after colour in the order of ``colours``, round and round over ``count`` groups."""
    slots = np.empty(offsets[-1], np.int32)
    group = np.int32(0)
    for colour in colours:
        for position in range(offsets[colour], offsets[colour + 1]):
            slots[position] = group
            group += 1
            if group == count:
                group = np.int32(0)
    return slots


@internal
def ranked_colours(offsets: Any) -> Any:
    """Colours by what is left of them, most first: ``(ranked, place, left, last)``.

    ``place[c]`` is where colour c stands in ``ranked``; ``last[m]`` is the last place of a colour with m rows left.
    """
    n_colours = len(offsets) - 1
    left = np.empty(n_colours, np.int64)
    most = 0
    for c in range(n_colours):
        left[c] = offsets[c + 1] - offsets[c]
        most = max(most, left[c])
    ranked = np.argsort(-left, kind="mergesort")
    place = np.empty(n_colours, np.int64)
    last = np.full(most + 1, -1, np.int64)
    for rank in range(n_colours):
        place[ranked[rank]] = rank
        last[left[ranked[rank]]] = rank
    return ranked, place, left, last


@internal
def take_one(colour: int, ranked: Any, place: Any, left: Any, last: Any) -> None:
    """One row fewer of ``colour``; ``ranked`` stays sorted by one swap with the last colour that has as many."""
    had = left[colour]
    rank, end = place[colour], last[had]
    other = ranked[end]
    ranked[rank], ranked[end] = other, colour
    place[other], place[colour] = rank, end
    last[had] = end - 1
    left[colour] = had - 1
    after = last[had - 1]
    if after <= end or left[ranked[after]] != had - 1:
        last[had - 1] = end


@kernel
def rda_slots(offsets: Any, l: int) -> Any:
    """Liu & Wang, Table 6, with remaining rows appended to the smallest compatible group (end of Section 3.2).

    Returns slots and the number of groups; a slot is -1 where no group without the colour was left, which does not
    happen on an l-eligible table.
    """
    n = offsets[-1]
    n_colours = len(offsets) - 1
    ranked, place, left, last = ranked_colours(offsets)
    heads = offsets[:-1].copy()
    slots = np.full(n, -1, np.int32)
    chosen = np.empty(l, np.int64)
    incomplete = 0
    for c in range(n_colours):
        incomplete += left[c] > 0
    group = np.int32(0)
    while incomplete >= l:
        leader = ranked[0]  # line 5
        while left[leader] > 0 and incomplete >= l:  # lines 6-13
            chosen[0] = leader
            taken, rank = 1, 0
            while taken < l:
                if ranked[rank] != leader:
                    chosen[taken] = ranked[rank]
                    taken += 1
                rank += 1
            for colour in chosen:
                slots[heads[colour]] = group
                heads[colour] += 1
                take_one(colour, ranked, place, left, last)
                incomplete -= left[colour] == 0
            group += 1
    _append_rest(slots, heads, offsets, group, (ranked, place, left, last), incomplete)
    return slots, group


@internal
def _append_rest(slots: Any, heads: Any, offsets: Any, count: int, ranking: Any, incomplete: int) -> None:
    """Table 6, lines 14-18: what is left joins the smallest group without its colour, the oldest first.

    Groups of one size stand in a queue in the order in which they came to that size. A colour that passed a group in
    a queue never comes back to it: the group holds the colour, or has grown and left the queue.
    """
    ranked, place, left, last = ranking
    rest = 0
    for c in range(len(left)):
        rest += left[c]
    if rest == 0 or count == 0:
        return
    column = np.full(len(left), -1, np.int64)
    for i in range(incomplete):
        column[ranked[i]] = i
    holds = np.zeros((count, incomplete), np.bool_)
    for c in range(len(left)):
        if column[c] >= 0:
            for position in range(offsets[c], heads[c]):
                holds[slots[position], column[c]] = True
    levels = incomplete + 1
    queues = np.full((levels, count), -1, np.int32)
    length = np.zeros(levels, np.int64)
    size = np.zeros(count, np.int64)  # rows appended so far
    for b in range(count):
        queues[0, b] = b
    length[0] = count
    cursor = np.zeros((incomplete, levels), np.int64)
    for _ in range(rest):
        colour = ranked[0]
        mine = column[colour]
        found = -1
        for level in range(levels):
            at = cursor[mine, level]
            while at < length[level] and (size[queues[level, at]] != level or holds[queues[level, at], mine]):
                at += 1
            cursor[mine, level] = at
            if at < length[level]:
                found = queues[level, at]
                break
        if found < 0:
            return
        slots[heads[colour]] = found
        heads[colour] += 1
        take_one(colour, ranked, place, left, last)
        holds[found, mine] = True
        size[found] += 1
        grown = size[found]
        if grown < levels:
            queues[grown, length[grown]] = found
            length[grown] += 1


@kernel
def draw_partners(colour: int, offsets: Any, rows: Any, pool: Any, l: int, words: Any, spare: Any, parent: Any) -> int:
    """Liu & Wang, Table 5, lines 3-6 for one colour: l - 1 partners for each of its rows, merged at once.

    ``rows`` stand colour after colour, in an order nobody knows: those who draw first have the larger choice. ``pool``
    has the same rows, reordered within colours as they are drawn; ``parent`` is the forest of merged rows, changed only
    if all rows found partners. There are 2 (l - 1) ``words`` for each row of the colour. Returns 1 if every row found
    partners, 0 at a dead end (fewer than l - 1 colours with unused rows), -1 if words ran out.
    """
    n_colours = len(offsets) - 1
    heads = offsets[:-1].copy()
    others = np.empty(n_colours, np.int64)  # colours that still have unused rows
    n_others = 0
    for c in range(n_colours):
        if c != colour and offsets[c] < offsets[c + 1]:
            others[n_others] = c
            n_others += 1
    first = offsets[colour]
    size = offsets[colour + 1] - first
    partners = np.empty((size, l - 1), np.int64)
    used = np.int64(0)
    drawn = 0
    for a in range(size):
        if n_others < l - 1:
            return 0
        for w in range(l - 1):  # line 4: colours, uniformly without replacement
            pick, used = below(n_others - w, words[drawn], spare, used)
            if used < 0:
                return -1
            drawn += 1
            others[w], others[w + pick] = others[w + pick], others[w]
        for w in range(l - 1):  # line 5: an unused row of each
            other = others[w]
            pick, used = below(offsets[other + 1] - heads[other], words[drawn], spare, used)
            if used < 0:
                return -1
            drawn += 1
            at = heads[other] + pick
            pool[heads[other]], pool[at] = pool[at], pool[heads[other]]
            partners[a, w] = pool[heads[other]]
            heads[other] += 1
        kept = 0
        for w in range(n_others):
            if heads[others[w]] < offsets[others[w] + 1]:
                others[kept] = others[w]
                kept += 1
        n_others = kept
    for a in range(size):
        root = _root(parent, rows[first + a])
        for w in range(l - 1):
            other_root = _root(parent, partners[a, w])
            # The smaller row number stays the root, so that the forest does not depend on the order of merging.
            root, other_root = min(root, other_root), max(root, other_root)
            parent[other_root] = root
    return 1


@internal
def _root(parent: Any, row: int) -> int:
    while parent[row] != row:
        parent[row] = parent[parent[row]]
        row = parent[row]
    return row


@kernel
def number_trees(parent: Any) -> Any:
    """Groups from a forest of merged rows: ``(labels, count)``."""
    labels = np.empty(len(parent), np.int32)
    count = np.int32(0)
    for row in range(len(parent)):
        root = _root(parent, row)
        if root == row:
            labels[row] = count
            count += 1
        else:
            labels[row] = labels[root]
    return labels, count


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
def bucket_slots(counts: Any, ranked: Any, l: int) -> Any:
    """`guided`: buckets of groups with the same colours, and how many rows of each colour go to which bucket.

    ``counts`` (strata, colours) has the rows of each colour in each stratum, every stratum l-eligible; ``ranked`` the
    colours of each stratum, most rows first. Returns:

    - slots: a bucket for every row of a stratum and colour, cell after cell, to be shuffled within the cell. A bucket is
      named by its counter: the place in ``next_group`` from which this colour draws groups of this bucket;
    - offsets (cells + 1,): where the slots of each cell start;
    - next_group: the first group of every (cell, bucket), and the number of groups.
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
def gda_groups(order: Any, codes: Any, offsets: Any, weighted: Any, l: int) -> Any:
    """Liu & Wang, Table 7, repaired so that what is left always finds a group: (labels, number of groups).

    ``order`` has the rows by ascending ``weighted`` rank, ``offsets`` (colours + 1,) the cumulative counts of the
    colours.

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
    for colour in range(n_colours):
        heads[colour] = offsets[colour]
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
                if not is_chosen[c] and (best < 0 or abs(values[at[c]] - here) < abs(values[at[best]] - here)):
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
