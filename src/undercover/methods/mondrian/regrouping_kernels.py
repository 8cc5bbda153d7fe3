"""Moving rows between groups where that saves loss: the compiled core of a local search.

Rows with equal quasi-identifiers form a *tuple*, which is moved as a whole. A tuple leaves its group for the one where
it costs least, if both groups together lose less afterwards; a small group is dissolved if its tuples cost less
elsewhere. Both only where every group keeps k rows and the predicates. Rounds of this go on until nothing changes.

Each group is a chain of tuples. Of its cell it keeps, per column, the lowest and highest code (RANGE), the number of
values and a bit for each (SET) or the lowest common node (TREE); losses are those of :mod:`undercover.steps.cutting.splits`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from undercover.compiled.jit import internal, kernel
from undercover.steps.cutting.predicates import all_hold
from undercover.steps.cutting.splits import SET, TREE

SAVING = 1.0 - 1e-9  # a change must cost less than this share of what it saves or of the next best: no tie by rounding
LARGE = 3  # a group of that many times k rows is not dissolved
MANY = 1024  # a group of more tuples gives none away: to tighten its cell without one it must look at all the others
NONE = -1


@internal
def _cover(codes: Any, t: int, alone: bool, groups: Any, g: int, columns: Any, tree: Any) -> None:
    """Make the cell of ``g`` cover tuple ``t``, or nothing else."""
    loss, losses, cell, bits = groups[4:]
    starts, kinds, weights, positions, units, leaf_starts, word_starts = columns
    first, last, parent, leaf_node, node_loss = tree
    if alone:
        for w in range(bits.shape[1]):
            bits[g, w] = 0
    loss[g] = 0.0
    for j in range(codes.shape[1]):
        code = codes[t, j]
        low, high = cell[g, j, 0], cell[g, j, 1]
        if kinds[j] == TREE:
            if alone:
                low = leaf_node[leaf_starts[j] + code]
            while last[low] < code or first[low] > code:
                low = parent[low]
            losses[g, j] = node_loss[low]
        elif kinds[j] == SET:
            word, bit = word_starts[j] + (code >> 6), np.uint64(1) << np.uint64(code & 63)
            low = (0 if alone else low) + np.int64(bits[g, word] & bit == 0)
            bits[g, word] |= bit
            losses[g, j] = weights[j] * (low - 1) * units[j]
        else:
            low, high = (code, code) if alone else (min(low, code), max(high, code))
            losses[g, j] = weights[j] * min(1.0, positions[starts[j] + high] - positions[starts[j] + low])
        cell[g, j, 0], cell[g, j, 1] = low, high
        loss[g] += losses[g, j]


@internal
def _tighten(codes: Any, source: int, skip: int, groups: Any, g: int, columns: Any, tree: Any) -> None:
    """Make the cell of ``g`` the tightest around the tuples of ``source`` without ``skip``."""
    head, after, loss = groups[0], groups[1], groups[4]
    t, alone = head[source], True
    while t != NONE:
        if t != skip:
            _cover(codes, t, alone, groups, g, columns, tree)
            alone = False
            if g != source and loss[g] == loss[source]:
                return  # it will not grow beyond the cell of all
        t = after[t]


@internal
def _link(t: int, g: int, rows: int, groups: Any) -> None:
    head, after, before, size = groups[:4]
    after[t], before[t] = head[g], NONE
    if head[g] != NONE:
        before[head[g]] = t
    head[g] = t
    size[g] += rows


@internal
def _unlink(t: int, g: int, rows: int, groups: Any) -> None:
    head, after, before, size = groups[:4]
    if before[t] == NONE:
        head[g] = after[t]
    else:
        after[before[t]] = after[t]
    if after[t] != NONE:
        before[after[t]] = before[t]
    size[g] -= rows


@internal
def _count(t: int, row_starts: Any, sensitive: Any, column_starts: Any, counts: Any) -> int:
    """Add the sensitive values of tuple ``t`` to ``counts``; return how many rows it has."""
    for p in range(row_starts[t], row_starts[t + 1]):
        for c in range(sensitive.shape[1]):
            counts[column_starts[c] + sensitive[p, c]] += 1
    return row_starts[t + 1] - row_starts[t]


@internal
def _holds(g: int, more: int, less: int, groups: Any, row_starts: Any, checking: Any) -> bool:
    """Whether group ``g`` with tuple ``more`` and without ``less`` keeps the predicates."""
    head, after = groups[0], groups[1]
    sensitive, checks, counts, work = checking
    kinds, places, limits, seconds, column_starts, reference, level_starts, level_codes = checks
    if len(kinds) == 0:
        return True
    counts[:] = 0
    size = _count(more, row_starts, sensitive, column_starts, counts) if more != NONE else 0
    t = head[g]
    while t != NONE:
        if t != less:
            size += _count(t, row_starts, sensitive, column_starts, counts)
        t = after[t]
    return all_hold(
        counts, size, kinds, places, limits, seconds, column_starts, reference, level_starts, level_codes, work
    )


@internal
def _cheapest(
    t: int, own: int, allowed: float, since: int, changed: Any, codes: Any, row_starts: Any, groups: Any, order: Any,
    columns: Any, tree: Any, checking: Any,
) -> Any:  # fmt: skip
    """The group but ``own`` where tuple ``t`` adds least loss, and how much; NONE if nowhere below ``allowed``.

    Only groups that ``changed`` at ``since`` or later are looked at.
    """
    size, loss, losses, cell, bits = groups[3:]
    starts, kinds, weights, positions, units, _, word_starts = columns
    first, last, parent, _, node_loss = tree
    best, cost = NONE, 0.0
    rows = row_starts[t + 1] - row_starts[t]
    for g in range(len(changed)):
        if rows * loss[g] >= allowed or changed[g] < since or size[g] == 0 or g == own:
            continue
        new, most = loss[g], (allowed + size[g] * loss[g]) / (size[g] + rows)
        # The loop over all groups: what _cover does, without its calls.
        for i in range(len(order)):
            j = order[i]
            code, low, high = codes[t, j], cell[g, j, 0], cell[g, j, 1]
            if kinds[j] == TREE:
                if first[low] <= code <= last[low]:
                    continue
                while last[low] < code or first[low] > code:
                    low = parent[low]
                new += node_loss[low] - losses[g, j]
            elif kinds[j] == SET:
                word = bits[g, word_starts[j] + (code >> 6)]
                if (word >> np.uint64(code & 63)) & np.uint64(1) == 0:
                    new += weights[j] * units[j]
            elif not low <= code <= high:
                low, high = starts[j] + min(low, code), starts[j] + max(high, code)
                new += weights[j] * min(1.0, positions[high] - positions[low]) - losses[g, j]
            if new >= most:
                break
        if new < most and _holds(g, t, NONE, groups, row_starts, checking):
            best, cost = g, (size[g] + rows) * new - size[g] * loss[g]
            allowed = cost * SAVING
    return best, cost


@internal
def _members(g: int, groups: Any, members: Any) -> int:
    """List the tuples of ``g``; return how many, or NONE where there are more than MANY."""
    head, after = groups[0], groups[1]
    n, t = 0, head[g]
    while t != NONE:
        if n == len(members):
            return NONE
        members[n] = t
        n, t = n + 1, after[t]
    return n


@internal
def _move_tuples(
    k: int, group: Any, clock: Any, changed: Any, looked: Any, members: Any, codes: Any, row_starts: Any, groups: Any,
    order: Any, columns: Any, tree: Any, checking: Any,
) -> int:  # fmt: skip
    """Move every tuple to where it costs least; return how many moved."""
    size, loss = groups[3], groups[4]
    spare, moves = len(changed), 0
    for t in range(len(codes)):
        a, rows = group[t], row_starts[t + 1] - row_starts[t]
        if size[a] - rows < k or loss[a] == 0.0 or _members(a, groups, members) == NONE:
            continue
        _tighten(codes, a, t, groups, spare, columns, tree)
        saved = size[a] * loss[a] - (size[a] - rows) * loss[spare]
        if not _holds(a, NONE, t, groups, row_starts, checking):
            continue
        # Groups that are what they were when it looked last have nothing to offer now.
        since = looked[t] if changed[a] < looked[t] else 0
        b, _ = _cheapest(
            t, a, saved * SAVING, since, changed, codes, row_starts, groups, order, columns, tree, checking
        )  # fmt: skip
        clock[0] += 1
        if b == NONE:
            looked[t] = clock[0]
            continue
        _unlink(t, a, rows, groups)
        _tighten(codes, a, NONE, groups, a, columns, tree)
        _link(t, b, rows, groups)
        _cover(codes, t, False, groups, b, columns, tree)
        group[t] = b
        changed[a] = changed[b] = clock[0]
        moves += 1
    return moves


@internal
def _dissolve_groups(
    k: int, group: Any, clock: Any, changed: Any, tried: Any, members: Any, codes: Any, row_starts: Any, groups: Any,
    order: Any, columns: Any, tree: Any, checking: Any,
) -> int:  # fmt: skip
    """Dissolve small groups whose tuples cost less elsewhere, those that lose most first; return how many."""
    size, loss = groups[3], groups[4]
    target = np.empty(len(members), np.int64)
    dissolved = 0
    for a in np.argsort(-loss[: len(changed)], kind="mergesort"):
        if not 0 < size[a] < LARGE * k or loss[a] == 0.0 or changed[a] < tried[a]:
            continue
        n_members = _members(a, groups, members)
        if n_members == NONE:
            continue
        clock[0] += 1
        left = size[a] * loss[a] * SAVING
        placed = 0
        while placed < n_members:
            t = members[placed]
            b, cost = _cheapest(t, a, left, 0, changed, codes, row_starts, groups, order, columns, tree, checking)
            if b == NONE:
                break
            left -= cost
            rows = row_starts[t + 1] - row_starts[t]
            _unlink(t, a, rows, groups)
            _link(t, b, rows, groups)
            _cover(codes, t, False, groups, b, columns, tree)
            target[placed] = b
            placed += 1
        if placed == n_members:
            for i in range(n_members):
                group[members[i]] = target[i]
                changed[target[i]] = clock[0]
            dissolved += 1
            continue
        for i in range(placed - 1, -1, -1):
            t = members[i]
            rows = row_starts[t + 1] - row_starts[t]
            _unlink(t, target[i], rows, groups)
            _tighten(codes, target[i], NONE, groups, target[i], columns, tree)
            _link(t, a, rows, groups)
        tried[a] = clock[0]
    return dissolved


@kernel
def regroup(
    codes: Any, row_starts: Any, group: Any, n_groups: int, k: int, columns: Any, tree: Any, order: Any,
    sensitive: Any, checks: Any, rounds: int,
) -> int:  # fmt: skip
    """Move tuples between groups, in place in ``group``; return in how many rounds something changed.

    Parameters
    ----------
    codes
        (m, d) cutting codes of the tuples.
    row_starts
        (m + 1,) the rows of each tuple in ``sensitive``; their number counts, also where there is nothing to check.
    group
        (m,) group of each tuple, in [0, n_groups); a group that is dissolved is left without tuples.
    columns
        starts (d+1,), kinds, weights, positions, units and leaf starts as :func:`undercover.steps.cutting.splits.refine`
        takes them, and (d + 1,) where the words of each SET column begin.
    tree
        first, last, parent, leaf nodes and losses of the nodes of all TREE columns; nodes are numbered through.
    order
        (d,) in which the columns are looked at: those that exclude most groups should come first.
    sensitive, checks
        (rows, columns) codes in the order of the tuples; the arrays of the predicates.
    """
    m, d = codes.shape
    groups = (
        np.full(n_groups + 1, NONE, np.int64),  # first tuple; the last entry is a spare cell, to try things
        np.full(m, NONE, np.int64),  # next tuple
        np.full(m, NONE, np.int64),  # previous tuple
        np.zeros(n_groups + 1, np.int64),  # rows
        np.zeros(n_groups + 1),  # loss of one row
        np.zeros((n_groups + 1, d)),  # loss by column
        np.zeros((n_groups + 1, d, 2), np.int64),  # cell: lowest and highest code, number of values, or node
        np.zeros((n_groups + 1, columns[6][d]), np.uint64),  # values present
    )
    checking = (sensitive, checks, np.zeros(checks[4][-1], np.int64), np.zeros(checks[4][-1] + 1))
    clock = np.ones(1, np.int64)
    changed = np.zeros(n_groups, np.int64)  # when a group changed last
    looked = np.zeros(m, np.int64)  # when a tuple found no better group
    tried = np.zeros(n_groups, np.int64)  # when a group could not be dissolved
    members = np.empty(MANY, np.int64)
    for t in range(m - 1, -1, -1):
        _link(t, group[t], row_starts[t + 1] - row_starts[t], groups)
    for g in range(n_groups):
        _tighten(codes, g, NONE, groups, g, columns, tree)
    for done in range(rounds):
        changes = _move_tuples(
            k, group, clock, changed, looked, members, codes, row_starts, groups, order, columns, tree, checking
        )
        changes += _dissolve_groups(
            k, group, clock, changed, tried, members, codes, row_starts, groups, order, columns, tree, checking
        )
        if changes == 0:
            return done
    return rounds
