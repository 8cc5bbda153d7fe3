"""Which arrangements of sensitive values within groups agree with the cuts that were refused.

The rows are those of one or several groups, one behind the other; an arrangement gives every group's values to its own
members. A refused cut says of each row in which part it is (or OUTSIDE), and brings along the values of rows whose part
is a matter of course (``base``). An arrangement agrees if of every refused cut some part fails the predicates.

Rows of a group that no refused cut tells apart form a *cell*: only how often each value occurs in each cell matters.
:func:`count_all` goes through all contingency tables of cells and values and weighs each by the share of arrangements
that have it (a product of hypergeometric terms); :func:`draw` shuffles the values and keeps what agrees.

Values are numbered among these rows; ``codes`` says which sensitive code each is. ``checks`` are the arrays of
:func:`undercover.steps.cutting.predicates.all_hold` behind ``size``, on one sensitive column.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from undercover.compiled.jit import internal, kernel
from undercover.steps.cutting.predicates import all_hold

OUTSIDE = 65535  # part of a row that a cut is not about
JOINT = -1  # a cut that is not one group's own
ROWS_PER_DRAW = 25  # that are shuffled at most, on average over the most draws
HOPELESS = 25  # draws that agree in the end, below which it is not worth going on


@internal
def _holds(counts: Any, size: int, checks: Any, work: Any) -> bool:
    kinds, columns, limits, seconds, column_starts, reference, level_starts, level_codes = checks
    return all_hold(
        counts, size, kinds, columns, limits, seconds, column_starts, reference, level_starts, level_codes, work
    )


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
    parts: Any, n_parts: int, base: Any, base_sizes: Any, values: Any, codes: Any, checks: Any, begin: int, end: int,
    table: Any, sizes: Any, work: Any,
) -> bool:  # fmt: skip
    """Whether a cut would have been allowed, had the rows begin..end these values; the last three are scratch."""
    for part in range(n_parts):
        sizes[part] = base_sizes[part]
        for code in range(base.shape[1]):
            table[part, code] = base[part, code]
    for p in range(begin, end):
        part = parts[p]
        if part != OUTSIDE:
            sizes[part] += 1
            table[part, codes[values[p]]] += 1
    for part in range(n_parts):
        if not _holds(table[part], sizes[part], checks, work):
            return False
    return True


@kernel
def first_allowed(parts: Any, n_parts: Any, base: Any, base_sizes: Any, values: Any, codes: Any, checks: Any) -> int:
    """The first cut that these values would have allowed, -1 if all are refused.

    ``parts`` (cuts, rows) is the part of each row, ``n_parts`` (cuts,) their number, ``base`` (cuts, parts, codes) and
    ``base_sizes`` (cuts, parts) the values of other rows in each part.
    """
    work = np.zeros(checks[4][-1] + 1)
    table, sizes = np.zeros(base.shape[1:], np.int64), np.zeros(base.shape[1], np.int64)
    for q in range(len(n_parts)):
        if _allowed(
            parts[q], n_parts[q], base[q], base_sizes[q], values, codes, checks, 0, len(values), table, sizes, work
        ):
            return q
    return -1


@kernel
def draw(
    parts: Any, n_parts: Any, base: Any, base_sizes: Any, own: Any, offsets: Any, cells: Any, n_cells: int, values: Any,
    codes: Any, checks: Any, draws: int, wanted: int, most: int, seed: Any,
) -> Any:  # fmt: skip
    """Shuffle the values within groups ``draws`` times, and on until ``wanted`` agreed, at most ``most`` times.

    Parameters
    ----------
    own
        (cuts,) the group whose own cut it is: the group is shuffled again until its own cuts are refused, and only then
        the others are asked. JOINT for those others.
    offsets
        (groups + 1,) where the rows of each group begin.
    draws, wanted, most
        It also ends after ROWS_PER_DRAW * ``most`` rows were shuffled, and sooner where next to nothing agrees.
    cells
        (rows,) the cell of each row.
    seed
        A 64-bit word that the draws follow from.

    Returns
    -------
    sums (2, cells, values), accepted, drawn, shuffles
        How often each value lay in each cell, in the arrangements that did not agree (0) and that did (1); how many
        were drawn; and how many times each group was shuffled for that.
    """
    n_cuts, n_groups = len(n_parts), len(offsets) - 1
    state = np.array([seed], np.uint64)
    work = np.zeros(checks[4][-1] + 1)
    table, sizes = np.zeros(base.shape[1:], np.int64), np.zeros(base.shape[1], np.int64)
    order = np.arange(n_cuts)
    shuffled = values.copy()
    shuffles = np.zeros(n_groups, np.int64)
    sums = np.zeros((2, n_cells, len(codes)))
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
                    if own[q] == g and _allowed(
                        parts[q], n_parts[q], base[q], base_sizes[q], shuffled, codes, checks, begin, end,
                        table, sizes, work,
                    ):  # fmt: skip
                        agrees = False
                        break
        drawn += 1
        kept = 1
        for place in range(n_cuts):
            q = order[place]
            if own[q] == JOINT and _allowed(
                parts[q], n_parts[q], base[q], base_sizes[q], shuffled, codes, checks, 0, len(values),
                table, sizes, work,
            ):  # fmt: skip
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
    cell_parts: Any, n_parts: int, base: Any, base_sizes: Any, cell_sizes: Any, order: Any, until: int, table: Any,
    inside: Any, totals: Any, codes: Any, checks: Any, counts: Any, work: Any,
) -> bool:  # fmt: skip
    """Whether a cut would be allowed of which all parts but one lie in the first ``until`` cells of ``order``.

    ``inside`` (groups,) says whose rows the cut parts; the part that is still open has what the others leave of them.
    """
    open_part = -1
    for i in range(until, len(order)):
        if cell_parts[order[i]] != OUTSIDE:
            open_part = cell_parts[order[i]]
    for part in range(n_parts):
        size = base_sizes[part]
        for code in range(len(counts)):
            counts[code] = base[part, code]
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
                size -= cell_sizes[cell]
                for v in range(len(codes)):
                    counts[codes[v]] -= table[cell, v]
            elif part != open_part and cell_parts[cell] == part:
                size += cell_sizes[cell]
                for v in range(len(codes)):
                    counts[codes[v]] += table[cell, v]
        if not _holds(counts, size, checks, work):
            return False
    return True


@kernel
def count_all(
    cell_parts: Any, n_parts: Any, base: Any, base_sizes: Any, decided: Any, inside: Any, cell_sizes: Any,
    cell_group: Any, order: Any, totals: Any, codes: Any, checks: Any, most: int,
) -> Any:  # fmt: skip
    """Go through all contingency tables of cells and values that agree, giving up after ``most`` steps.

    A step places a value in a cell, or adds up a cell for a cut.

    Parameters
    ----------
    cell_parts
        (cuts, cells) part of each cell.
    decided
        (cuts,) after how many cells in the order of ``order`` all parts of a cut but one are filled.
    inside
        (cuts, groups) whether a cut parts the group's rows.
    totals
        (groups, values) how often each value occurs.

    Returns
    -------
    sums (cells, values), share, excluded, complete
        Expected number of each value in each cell, times the share of arrangements that agree; that share; how many
        times a branch was cut off; whether all were seen.
    """
    n_cells, n_values = len(cell_sizes), totals.shape[1]
    largest = 0
    for g in range(len(totals)):
        largest = max(largest, totals[g].sum())
    choose = np.zeros((largest + 1, largest + 1))
    for n in range(largest + 1):
        choose[n, 0] = 1.0
        for i in range(1, n + 1):
            choose[n, i] = choose[n - 1, i - 1] + (choose[n - 1, i] if i < n else 0.0)
    counts, work = np.zeros(checks[4][-1], np.int64), np.zeros(checks[4][-1] + 1)
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
        cell = order[i]
        g = cell_group[cell]
        if entering:
            if v == 0:
                need[at] = cell_sizes[cell]
                weight[at] /= choose[left[g].sum(), cell_sizes[cell]]
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
            for q in range(len(decided)):
                if decided[q] != i + 1:
                    continue
                steps += i + 1
                if _open_cut_allowed(
                    cell_parts[q], n_parts[q], base[q], base_sizes[q], cell_sizes, order, i + 1, table, inside[q],
                    totals, codes, checks, counts, work,
                ):  # fmt: skip
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
