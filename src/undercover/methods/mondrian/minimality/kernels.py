"""Which arrangements of sensitive values within groups agree with the cuts that were refused.

The rows are those of one or several groups, one behind the other; an arrangement gives every group's values to its own
members. A refused cut says of each row in which part it is (or OUTSIDE), and brings along the values of rows whose part
is a matter of course (``base``). An arrangement agrees if of every refused cut some part fails the predicates.

Rows of a group that no refused cut tells apart form a *cell*: only how often each value occurs in each cell matters.
:func:`count_all` goes through all contingency tables of cells and values and weighs each by the share of arrangements
that have it (a product of hypergeometric terms); :func:`draw` shuffles the values and keeps what agrees.

Values are numbered among these rows; ``codes`` says which sensitive code each is. ``checks`` are on one column.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from undercover.compiled.jit import internal, kernel
from undercover.steps.cutting.arrays import Checks
from undercover.steps.cutting.nodes import all_hold

OUTSIDE = 65535  # part of a row that a cut is not about
JOINT = -1  # a cut that is not one group's own
ROWS_PER_DRAW = 25  # that are shuffled at most, on average over the most draws
HOPELESS = 25  # draws that agree in the end, below which it is not worth going on


class Refused(NamedTuple):
    """Refused cuts; the values of rows whose part is a matter of course are in ``base``."""

    parts: Any  # (cuts, rows) part of each row, or (cuts, cells) of each cell
    n_parts: Any  # (cuts,)
    base: Any  # (cuts, parts, codes) how often they occur in each part
    base_sizes: Any  # (cuts, parts)
    own: Any  # (cuts,) the group whose own cut it is, or JOINT


class Cells(NamedTuple):
    """Cells of rows that no cut tells apart."""

    sizes: Any  # (cells,)
    group: Any  # (cells,)
    order: Any  # (cells,) in which they are filled
    decided: Any  # (cuts,) after how many of them all parts of a cut but one are filled
    inside: Any  # (cuts, groups) whether a cut parts the group's rows
    totals: Any  # (groups, values) how often each value occurs


class _Scratch(NamedTuple):
    table: Any  # (parts, codes)
    sizes: Any  # (parts,)
    work: Any


@internal
def _scratch(refused: Refused, checks: Checks) -> _Scratch:
    shape = refused.base.shape[1:]
    return _Scratch(np.zeros(shape, np.int64), np.zeros(shape[0], np.int64), np.zeros(checks.column_starts[-1] + 1))


@internal
def _next_word(state: Any) -> Any:
    """Splitmix64 (Steele, Lea & Flood 2014): the next word of the stream that ``state`` (1,) stands for."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    word = state[0]
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@internal
def _below(n: int, state: Any) -> Any:
    """A uniform number in [0, n), n < 2**31, by Lemire's multiplication with rejection."""
    s = np.uint64(n)
    threshold = (np.uint64(1 << 32) - s) % s
    while True:
        product = (_next_word(state) >> np.uint64(32)) * s
        if product & np.uint64(0xFFFFFFFF) >= threshold:
            return np.int64(product >> np.uint64(32))


@internal
def _allowed(
    q: int, refused: Refused, values: Any, codes: Any, checks: Checks, begin: int, end: int, scratch: _Scratch
) -> bool:
    """Whether cut q would have been allowed, had the rows begin..end these values."""
    table, sizes, work = scratch
    parts, base = refused.parts[q], refused.base[q]
    n_parts = refused.n_parts[q]
    for part in range(n_parts):
        sizes[part] = refused.base_sizes[q, part]
        for code in range(base.shape[1]):
            table[part, code] = base[part, code]
    for p in range(begin, end):
        part = parts[p]
        if part != OUTSIDE:
            sizes[part] += 1
            table[part, codes[values[p]]] += 1
    for part in range(n_parts):
        if not all_hold(table[part], sizes[part], checks, work):
            return False
    return True


@kernel
def first_allowed(refused: Refused, values: Any, codes: Any, checks: Checks) -> int:
    """The first cut that these values would have allowed, -1 if all are refused."""
    scratch = _scratch(refused, checks)
    for q in range(len(refused.n_parts)):
        if _allowed(q, refused, values, codes, checks, 0, len(values), scratch):
            return q
    return -1


@kernel
def draw(
    refused: Refused, offsets: Any, cells: Any, values: Any, codes: Any, checks: Checks, draws: int,
    wanted: int, most: int, seed: Any,
) -> Any:  # fmt: skip
    """Shuffle the values within groups ``draws`` times, and on until ``wanted`` agreed, at most ``most`` times.

    A group is shuffled again until its own cuts are refused, and only then the joint ones are asked. It also ends after
    ROWS_PER_DRAW * ``most`` rows were shuffled, and sooner where next to nothing agrees. The rows of group g begin at
    ``offsets[g]``; ``cells`` (rows,) is the cell of each row; the draws follow from the 64-bit ``seed``.

    Returns sums (2, cells, values), accepted, drawn, shuffles: how often each value lay in each cell, in the
    arrangements that did not agree (0) and that did (1); how many were drawn; and how many times each group was
    shuffled for that.
    """
    own, n_cuts, n_groups = refused.own, len(refused.n_parts), len(offsets) - 1
    state = np.array([seed], np.uint64)
    scratch = _scratch(refused, checks)
    order = np.arange(n_cuts)
    shuffled = values.copy()
    shuffles = np.zeros(n_groups, np.int64)
    sums = np.zeros((2, cells.max() + 1, len(codes)))
    accepted, drawn, spent, budget = 0, 0, 0, ROWS_PER_DRAW * most
    while drawn < draws or (accepted < wanted and drawn < most):
        for g in range(n_groups):
            begin, end = offsets[g], offsets[g + 1]
            agrees = False
            while not agrees:
                # Which draws are looked at depends on how many agreed before, never on what they say.
                if spent >= budget or (8 * spent >= budget and accepted * budget < HOPELESS * spent):
                    return sums, accepted, drawn, shuffles
                shuffles[g] += 1
                spent += end - begin
                for i in range(end - begin - 1, 0, -1):
                    j = _below(i + 1, state)
                    shuffled[begin + i], shuffled[begin + j] = shuffled[begin + j], shuffled[begin + i]
                agrees = True
                for place in range(n_cuts):
                    q = order[place]
                    if own[q] == g and _allowed(q, refused, shuffled, codes, checks, begin, end, scratch):
                        agrees = False
                        break
        drawn += 1
        kept = 1
        for place in range(n_cuts):
            q = order[place]
            if own[q] == JOINT and _allowed(q, refused, shuffled, codes, checks, 0, len(values), scratch):
                kept = 0
                # What excludes much is asked earlier the next time.
                order[place], order[place // 2] = order[place // 2], order[place]
                break
        accepted += kept
        for p in range(len(values)):
            sums[kept, cells[p], shuffled[p]] += 1.0
    return sums, accepted, drawn, shuffles


@internal
def _open_cut_allowed(
    q: int, refused: Refused, cells: Cells, until: int, table: Any, codes: Any, checks: Checks, counts: Any, work: Any
) -> bool:
    """Whether cut q would be allowed, all of whose parts but one lie in the first ``until`` cells of the order.

    The part that is still open has what the others leave of the groups whose rows the cut parts.
    """
    cell_parts, order, totals, inside = refused.parts[q], cells.order, cells.totals, cells.inside[q]
    open_part = -1
    for i in range(until, len(order)):
        if cell_parts[order[i]] != OUTSIDE:
            open_part = cell_parts[order[i]]
    for part in range(refused.n_parts[q]):
        size = refused.base_sizes[q, part]
        for code in range(len(counts)):
            counts[code] = refused.base[q, part, code]
        if part == open_part:
            for g in range(len(totals)):
                if inside[g]:
                    for v in range(len(codes)):
                        counts[codes[v]] += totals[g, v]
                        size += totals[g, v]
        for i in range(until):
            cell = order[i]
            if cell_parts[cell] == OUTSIDE:
                continue
            if part == open_part and cell_parts[cell] != part:
                size -= cells.sizes[cell]
                for v in range(len(codes)):
                    counts[codes[v]] -= table[cell, v]
            elif part != open_part and cell_parts[cell] == part:
                size += cells.sizes[cell]
                for v in range(len(codes)):
                    counts[codes[v]] += table[cell, v]
        if not all_hold(counts, size, checks, work):
            return False
    return True


@kernel
def count_all(refused: Refused, cells: Cells, codes: Any, checks: Checks, most: int) -> Any:
    """Go through all contingency tables of cells and values that agree, giving up after ``most`` steps.

    A step places a value in a cell, or adds up a cell for a cut. Cuts say of each cell in which part it is. Returns
    (cells, values) the expected number of each value in each cell, times the share of arrangements that agree; that
    share; how many times a branch was cut off; whether all were seen.
    """
    totals, n_cells, n_values = cells.totals, len(cells.sizes), cells.totals.shape[1]
    largest = 0
    for g in range(len(totals)):
        largest = max(largest, totals[g].sum())
    choose = np.zeros((largest + 1, largest + 1))
    for n in range(largest + 1):
        choose[n, 0] = 1.0
        for i in range(1, n + 1):
            choose[n, i] = choose[n - 1, i - 1] + (choose[n - 1, i] if i < n else 0.0)
    counts, work = np.zeros(checks.column_starts[-1], np.int64), np.zeros(checks.column_starts[-1] + 1)
    sums = np.zeros((n_cells, n_values))
    table = np.zeros((n_cells, n_values), np.int64)
    left = totals.copy()  # of each value, not yet placed
    depth = n_cells * n_values
    weight = np.ones(depth + 1)
    highest = np.zeros(depth, np.int64)
    need = np.zeros(depth + 1, np.int64)
    share, excluded, steps = 0.0, 0, 0
    at = 0
    entering = True
    while at >= 0:
        steps += 1
        if steps > most:
            return sums, share, excluded, False
        i, v = at // n_values, at % n_values
        cell = cells.order[i]
        g = cells.group[cell]
        if entering:
            if v == 0:
                need[at] = cells.sizes[cell]
                weight[at] /= choose[left[g].sum(), cells.sizes[cell]]
            after = 0
            for u in range(v + 1, n_values):
                after += left[g, u]
            taken = max(0, need[at] - after)
            highest[at] = min(need[at], left[g, v])
        else:
            left[g, v] += table[cell, v]
            taken = table[cell, v] + 1
        if taken > highest[at]:
            table[cell, v] = 0
            at -= 1
            entering = False
            continue
        table[cell, v] = taken
        weight[at + 1] = weight[at] * choose[left[g, v], taken]
        left[g, v] -= taken
        need[at + 1] = need[at] - taken
        entering = False
        if v == n_values - 1:
            agrees = True
            for q in range(len(cells.decided)):
                if cells.decided[q] != i + 1:
                    continue
                steps += i + 1
                if _open_cut_allowed(q, refused, cells, i + 1, table, codes, checks, counts, work):
                    agrees = False
                    break
            if not agrees:
                excluded += 1
                continue
            if i == n_cells - 1:
                share += weight[at + 1]
                for c in range(n_cells):
                    for u in range(n_values):
                        sums[c, u] += weight[at + 1] * table[c, u]
                continue
        at += 1
        entering = True
    return sums, share, excluded, True
