"""Moving rows between groups where that saves loss: the compiled core of a local search.

Rows with equal quasi-identifiers form a *tuple*, which is moved as a whole. A tuple leaves its group for the one where
it costs least, if both groups together lose less afterwards; a small group is dissolved if its tuples cost less
elsewhere. Both only where every group keeps k rows and the predicates. Rounds of this go on until nothing changes.

Each group is a chain of tuples. Of its cell it keeps, per column, the lowest and highest code (RANGE), the number of
values and a bit for each (SET) or the lowest common node (TREE); losses are those of :mod:`undercover.steps.cutting.splits`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from undercover.compiled.jit import borrowing, inlined, internal, kernel
from undercover.steps.cutting.arrays import SET, TREE, Checks
from undercover.steps.cutting.nodes import all_hold, shell_sort

SAVING = 1.0 - 1e-9  # a change must cost less than this share of what it saves or of the next best: no tie by rounding
LARGE = 3  # a group of that many times k rows is not dissolved
MANY = 1024  # a group of more tuples gives none away: to tighten its cell without one it must look at all the others
NONE = -1


class Layout(NamedTuple):
    """Columns and trees as in :class:`undercover.steps.cutting.arrays.Columns`, but the nodes are numbered through."""

    starts: Any
    kinds: Any
    weights: Any
    positions: Any
    units: Any
    leaf_starts: Any
    first: Any
    last: Any
    parent: Any
    leaf_node: Any
    node_loss: Any  # (nodes,)
    word_starts: Any  # (d + 1,) where the words of each SET column begin
    order: Any  # (d,) in which the columns are looked at: those that exclude most groups should come first


class Tuples(NamedTuple):
    """What is moved."""

    codes: Any  # (m, d) cutting codes
    row_starts: Any  # (m + 1,) rows of each among the sensitive ones; their number counts, also without checks
    group: Any  # (m,) in [0, n_groups); a group that is dissolved is left without tuples


class _Groups(NamedTuple):
    """Groups as chains of tuples, and their cells; the last group is a spare one, to try things."""

    head: Any  # first tuple
    after: Any  # (m,) next tuple
    before: Any  # (m,) previous tuple
    size: Any  # rows
    loss: Any  # of one row
    losses: Any  # (groups, d) by column
    cell: Any  # (groups, d, 2) lowest and highest code, number of values, or node
    bits: Any  # (groups, words) values present
    changed: Any  # when a group changed last
    tried: Any  # when a group could not be dissolved
    looked: Any  # (m,) when a tuple found no better group
    clock: Any  # (1,)
    members: Any  # (MANY,) scratch


class _Checking(NamedTuple):
    checks: Checks
    counts: Any  # scratch
    work: Any  # scratch


@inlined
def _cover(codes: Any, t: int, alone: bool, groups: _Groups, g: int, layout: Layout) -> None:
    """Make the cell of ``g`` cover tuple ``t``, or nothing else."""
    loss, losses, cell, bits = groups.loss, groups.losses, groups.cell, groups.bits
    starts, kinds, weights, positions = layout.starts, layout.kinds, layout.weights, layout.positions
    if alone:
        for w in range(bits.shape[1]):
            bits[g, w] = 0
    loss[g] = 0.0
    for j in range(codes.shape[1]):
        code = codes[t, j]
        low, high = cell[g, j, 0], cell[g, j, 1]
        if kinds[j] == TREE:
            if alone:
                low = layout.leaf_node[layout.leaf_starts[j] + code]
            while layout.last[low] < code or layout.first[low] > code:
                low = layout.parent[low]
            losses[g, j] = layout.node_loss[low]
        elif kinds[j] == SET:
            word, bit = layout.word_starts[j] + (code >> 6), np.uint64(1) << np.uint64(code & 63)
            low = (0 if alone else low) + np.int64(bits[g, word] & bit == 0)
            bits[g, word] |= bit
            losses[g, j] = weights[j] * (low - 1) * layout.units[j]
        else:
            low, high = (code, code) if alone else (min(low, code), max(high, code))
            losses[g, j] = weights[j] * min(1.0, positions[starts[j] + high] - positions[starts[j] + low])
        cell[g, j, 0], cell[g, j, 1] = low, high
        loss[g] += losses[g, j]


@borrowing
def _tighten(codes: Any, source: int, skip: int, groups: _Groups, g: int, layout: Layout) -> None:
    """Make the cell of ``g`` the tightest around the tuples of ``source`` without ``skip``."""
    t, alone = groups.head[source], True
    while t != NONE:
        if t != skip:
            _cover(codes, t, alone, groups, g, layout)
            alone = False
            if g != source and groups.loss[g] == groups.loss[source]:
                return  # it will not grow beyond the cell of all
        t = groups.after[t]


@inlined
def _link(t: int, g: int, rows: int, groups: _Groups) -> None:
    head, after, before, size = groups.head, groups.after, groups.before, groups.size
    after[t], before[t] = head[g], NONE
    if head[g] != NONE:
        before[head[g]] = t
    head[g] = t
    size[g] += rows


@inlined
def _unlink(t: int, g: int, rows: int, groups: _Groups) -> None:
    head, after, before, size = groups.head, groups.after, groups.before, groups.size
    if before[t] == NONE:
        head[g] = after[t]
    else:
        after[before[t]] = after[t]
    if after[t] != NONE:
        before[after[t]] = before[t]
    size[g] -= rows


@borrowing
def _count(t: int, row_starts: Any, checks: Checks, counts: Any) -> int:
    """Add the sensitive values of tuple ``t`` to ``counts``; return how many rows it has."""
    for p in range(row_starts[t], row_starts[t + 1]):
        for c in range(checks.sensitive.shape[1]):
            counts[checks.column_starts[c] + checks.sensitive[p, c]] += 1
    return row_starts[t + 1] - row_starts[t]


@borrowing
def _holds(g: int, more: int, less: int, groups: _Groups, row_starts: Any, checking: _Checking) -> bool:
    """Whether group ``g`` with tuple ``more`` and without ``less`` keeps the predicates."""
    checks, counts, work = checking
    if len(checks.kinds) == 0:
        return True
    counts[:] = 0
    size = _count(more, row_starts, checks, counts) if more != NONE else 0
    t = groups.head[g]
    while t != NONE:
        if t != less:
            size += _count(t, row_starts, checks, counts)
        t = groups.after[t]
    return all_hold(counts, size, checks, work)


@borrowing
def _cheapest(
    t: int, own: int, allowed: float, since: int, tuples: Tuples, groups: _Groups, layout: Layout, checking: _Checking
) -> Any:
    """The group but ``own`` where tuple ``t`` adds least loss, and how much; NONE if nowhere below ``allowed``.

    Only groups that changed at ``since`` or later are looked at.
    """
    codes, row_starts, changed, order = tuples.codes, tuples.row_starts, groups.changed, layout.order
    size, loss, losses, cell, bits = groups.size, groups.loss, groups.losses, groups.cell, groups.bits
    starts, kinds, weights, positions = layout.starts, layout.kinds, layout.weights, layout.positions
    first, last, parent, node_loss = layout.first, layout.last, layout.parent, layout.node_loss
    units, word_starts = layout.units, layout.word_starts
    best, cost = NONE, 0.0
    rows = row_starts[t + 1] - row_starts[t]
    unchecked = len(checking.checks.kinds) == 0
    for g in range(len(changed)):
        if rows * loss[g] >= allowed or changed[g] < since or size[g] == 0 or g == own:
            continue
        new, most = loss[g], (allowed + size[g] * loss[g]) / (size[g] + rows)
        # The loop over all groups: what _cover does, without its calls.
        for i in range(len(order)):
            j = np.uint64(order[i])
            code, low, high = codes[t, j], cell[g, j, 0], cell[g, j, 1]
            if kinds[j] == TREE:
                node = np.uint64(low)
                if first[node] <= code <= last[node]:
                    continue
                while last[node] < code or first[node] > code:
                    node = np.uint64(parent[node])
                new += node_loss[node] - losses[g, j]
            elif kinds[j] == SET:
                word = bits[g, word_starts[j] + (code >> 6)]
                if (word >> np.uint64(code & 63)) & np.uint64(1) == 0:
                    new += weights[j] * units[j]
            elif not low <= code <= high:
                low, high = starts[j] + min(low, code), starts[j] + max(high, code)
                new += weights[j] * min(1.0, positions[high] - positions[low]) - losses[g, j]
            if new >= most:
                break
        if new < most and (unchecked or _holds(g, t, NONE, groups, row_starts, checking)):
            best, cost = g, (size[g] + rows) * new - size[g] * loss[g]
            allowed = cost * SAVING
    return best, cost


@inlined
def _members(g: int, groups: _Groups) -> int:
    """List the tuples of ``g``; return how many, or NONE where there are more than MANY."""
    n, t = 0, groups.head[g]
    while t != NONE:
        if n == len(groups.members):
            return NONE
        groups.members[n] = t
        n, t = n + 1, groups.after[t]
    return n


@borrowing
def _move_tuples(k: int, tuples: Tuples, groups: _Groups, layout: Layout, checking: _Checking) -> int:
    """Move every tuple to where it costs least; return how many moved."""
    codes, row_starts, group = tuples
    size, loss, changed, looked, clock = groups.size, groups.loss, groups.changed, groups.looked, groups.clock
    spare, moves = len(changed), 0
    for t in range(len(codes)):
        a, rows = group[t], row_starts[t + 1] - row_starts[t]
        if size[a] - rows < k or loss[a] == 0.0 or _members(a, groups) == NONE:
            continue
        _tighten(codes, a, t, groups, spare, layout)
        saved = size[a] * loss[a] - (size[a] - rows) * loss[spare]
        if not _holds(a, NONE, t, groups, row_starts, checking):
            continue
        # Groups that are what they were when it looked last have nothing to offer now.
        since = looked[t] if changed[a] < looked[t] else 0
        b, _ = _cheapest(t, a, saved * SAVING, since, tuples, groups, layout, checking)
        clock[0] += 1
        if b == NONE:
            looked[t] = clock[0]
            continue
        _unlink(t, a, rows, groups)
        _tighten(codes, a, NONE, groups, a, layout)
        _link(t, b, rows, groups)
        _cover(codes, t, False, groups, b, layout)
        group[t] = b
        changed[a] = changed[b] = clock[0]
        moves += 1
    return moves


@internal
def _dissolve_groups(k: int, tuples: Tuples, groups: _Groups, layout: Layout, checking: _Checking) -> int:
    """Dissolve small groups whose tuples cost less elsewhere, those that lose most first; return how many."""
    codes, row_starts, group = tuples
    size, loss, changed, tried, clock = groups.size, groups.loss, groups.changed, groups.tried, groups.clock
    members, target = groups.members, np.empty(MANY, np.int64)
    dissolved, order = 0, np.arange(len(changed))
    shell_sort(order, 0, len(order), loss, True)
    for a in order:
        if not 0 < size[a] < LARGE * k or loss[a] == 0.0 or changed[a] < tried[a]:
            continue
        n_members = _members(a, groups)
        if n_members == NONE:
            continue
        clock[0] += 1
        left = size[a] * loss[a] * SAVING
        placed = 0
        while placed < n_members:
            t = members[placed]
            b, cost = _cheapest(t, a, left, 0, tuples, groups, layout, checking)
            if b == NONE:
                break
            left -= cost
            rows = row_starts[t + 1] - row_starts[t]
            _unlink(t, a, rows, groups)
            _link(t, b, rows, groups)
            _cover(codes, t, False, groups, b, layout)
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
            _tighten(codes, target[i], NONE, groups, target[i], layout)
            _link(t, a, rows, groups)
        tried[a] = clock[0]
    return dissolved


@kernel
def regroup(tuples: Tuples, n_groups: int, k: int, layout: Layout, checks: Checks, rounds: int) -> int:
    """Move tuples between groups, in place in ``tuples.group``; return in how many rounds something changed.

    The sensitive codes of ``checks`` are in the order of the tuples.
    """
    m, d = tuples.codes.shape
    groups = _Groups(
        np.full(n_groups + 1, NONE, np.int64), np.full(m, NONE, np.int64), np.full(m, NONE, np.int64),
        np.zeros(n_groups + 1, np.int64), np.zeros(n_groups + 1), np.zeros((n_groups + 1, d)),
        np.zeros((n_groups + 1, d, 2), np.int64), np.zeros((n_groups + 1, layout.word_starts[d]), np.uint64),
        np.zeros(n_groups, np.int64), np.zeros(n_groups, np.int64), np.zeros(m, np.int64), np.ones(1, np.int64),
        np.empty(MANY, np.int64),
    )  # fmt: skip
    n_values = checks.column_starts[-1]
    checking = _Checking(checks, np.zeros(n_values, np.int64), np.zeros(n_values + 1))
    for t in range(m - 1, -1, -1):
        _link(t, tuples.group[t], tuples.row_starts[t + 1] - tuples.row_starts[t], groups)
    for g in range(n_groups):
        _tighten(tuples.codes, g, NONE, groups, g, layout)
    for done in range(rounds):
        changes = _move_tuples(k, tuples, groups, layout, checking)
        changes += _dissolve_groups(k, tuples, groups, layout, checking)
        if changes == 0:
            return done
    return rounds
