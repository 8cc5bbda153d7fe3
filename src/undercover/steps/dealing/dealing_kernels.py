"""Groups of different colours (sensitive values), whatever the quasi-identifiers: `wrap`, `rda` and `ria`.

Liu & Wang, "Privacy Streamliner", Tables 5 and 6; `wrap` is our own. `wrap` and `rda` only decide how many rows of
which colour meet in which group. They hand back *slots*: the groups that the rows of a colour go to, colour after
colour. Shuffled within each colour (:mod:`undercover.compiled.shuffle`), slot i of a colour belongs to its i-th row.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from undercover.compiled.jit import internal, kernel
from undercover.compiled.shuffle import below


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
def rda_slots(offsets: Any, l: int) -> Any:  # noqa: E741
    """Liu & Wang, Table 6, with remaining rows appended to the smallest compatible group (end of Section 3.2).

    Returns
    -------
    slots, number of groups; a slot is -1 where no group without the colour was left, which does not happen on an
    l-eligible table.
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
def draw_partners(colour: int, offsets: Any, rows: Any, pool: Any, l: int, words: Any, spare: Any, parent: Any) -> int:  # noqa: E741
    """Liu & Wang, Table 5, lines 3-6 for one colour: l - 1 partners for each of its rows, merged at once.

    Parameters
    ----------
    rows
        Rows colour after colour, in an order nobody knows: those who draw first have the larger choice.
    pool
        The same rows, reordered within colours as they are drawn.
    words, spare
        2 (l - 1) words for each row of the colour, and spare ones.
    parent
        The forest of merged rows, changed in place only if all rows found partners.

    Returns
    -------
    1 if every row found partners, 0 at a dead end (fewer than l - 1 colours with unused rows), -1 if words ran out
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
