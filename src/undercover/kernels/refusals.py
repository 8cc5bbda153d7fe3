"""Which arrangements of a group's sensitive values agree with the cuts of it that were refused.

Rows that no refused cut tells apart form a *cell*: only how often each value occurs in each cell matters. An
arrangement agrees if of every refused cut some part fails the predicates. :func:`count_all` goes through all
contingency tables of cells and values and weighs each by the share of arrangements that have it (a product of
hypergeometric terms); :func:`draw` shuffles the values and keeps the arrangements that agree.

Values are numbered within the group; ``codes`` says which sensitive code each is. ``checks`` are the arrays of
:func:`undercover.kernels.predicates.all_hold` behind ``size``, on one sensitive column.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from undercover.kernels.jit import internal, kernel
from undercover.kernels.predicates import all_hold


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
    parts: Any, n_parts: int, values: Any, codes: Any, checks: Any, table: Any, sizes: Any, counts: Any, work: Any
) -> bool:
    """Whether a cut into ``parts`` would have been allowed, had the rows these values; the last four are scratch."""
    for part in range(n_parts):
        sizes[part] = 0
        for v in range(len(codes)):
            table[part, v] = 0
    for p in range(len(values)):
        sizes[parts[p]] += 1
        table[parts[p], values[p]] += 1
    for part in range(n_parts):
        for v in range(len(codes)):
            counts[codes[v]] = table[part, v]
        if not _holds(counts, sizes[part], checks, work):
            return False
    return True


@kernel
def first_allowed(parts: Any, n_parts: Any, values: Any, codes: Any, checks: Any) -> int:
    """The first cut that these values would have allowed, -1 if all are refused.

    ``parts`` (cuts, rows) is the part of each row, ``n_parts`` (cuts,) their number.
    """
    counts, work = np.zeros(checks[4][-1], np.int64), np.zeros(checks[4][-1] + 1)
    table, sizes = np.zeros((n_parts.max(), len(codes)), np.int64), np.zeros(n_parts.max(), np.int64)
    for q in range(len(n_parts)):
        if _allowed(parts[q], n_parts[q], values, codes, checks, table, sizes, counts, work):
            return q
    return -1


@kernel
def draw(
    parts: Any, n_parts: Any, cells: Any, n_cells: int, values: Any, codes: Any, checks: Any, draws: int, wanted: int,
    most: int, seed: Any,
) -> Any:  # fmt: skip
    """Shuffle ``values`` over the rows ``draws`` times, and on until ``wanted`` agreed, at most ``most`` times.

    ``cells`` (rows,) is the cell of each row, ``seed`` a 64-bit word that the draws follow from.

    Returns
    -------
    sums (2, cells, values), accepted, drawn
        How often each value lay in each cell, in the arrangements that did not agree (0) and that did (1).
    """
    m, n_cuts = len(values), len(n_parts)
    state = np.array([seed], np.uint64)
    counts, work = np.zeros(checks[4][-1], np.int64), np.zeros(checks[4][-1] + 1)
    table, sizes = np.zeros((n_parts.max(), len(codes)), np.int64), np.zeros(n_parts.max(), np.int64)
    order = np.arange(n_cuts)
    shuffled = values.copy()
    sums = np.zeros((2, n_cells, len(codes)))
    accepted, drawn = 0, 0
    while drawn < draws or (accepted < wanted and drawn < most):
        drawn += 1
        for i in range(m - 1, 0, -1):
            j = _below(i + 1, state)
            shuffled[i], shuffled[j] = shuffled[j], shuffled[i]
        agrees = 1
        for place in range(n_cuts):
            q = order[place]
            if _allowed(parts[q], n_parts[q], shuffled, codes, checks, table, sizes, counts, work):
                agrees = 0
                # What excludes much is asked earlier the next time.
                order[place], order[place // 2] = order[place // 2], order[place]
                break
        accepted += agrees
        for p in range(m):
            sums[agrees, cells[p], shuffled[p]] += 1.0
    return sums, accepted, drawn


@internal
def _open_cut_allowed(
    cell_parts: Any, n_parts: int, cell_sizes: Any, order: Any, until: int, table: Any, totals: Any, rows: int,
    codes: Any, checks: Any, counts: Any, work: Any,
) -> bool:  # fmt: skip
    """Whether a cut would be allowed of which all parts but one lie in the first ``until`` cells of ``order``."""
    open_part = -1
    for i in range(until, len(order)):
        open_part = cell_parts[order[i]]
    for part in range(n_parts):
        size = 0
        for v in range(len(codes)):
            counts[codes[v]] = 0
        if part == open_part:
            # What is not in the other parts.
            size = rows
            for v in range(len(codes)):
                counts[codes[v]] = totals[v]
        for i in range(until):
            cell = order[i]
            inside = cell_parts[cell] == part
            if part == open_part and not inside:
                size -= cell_sizes[cell]
                for v in range(len(codes)):
                    counts[codes[v]] -= table[cell, v]
            elif part != open_part and inside:
                size += cell_sizes[cell]
                for v in range(len(codes)):
                    counts[codes[v]] += table[cell, v]
        if not _holds(counts, size, checks, work):
            return False
    return True


@kernel
def count_all(
    cell_parts: Any, n_parts: Any, decided: Any, cell_sizes: Any, order: Any, totals: Any, codes: Any, checks: Any,
    most: int,
) -> Any:  # fmt: skip
    """Go through all contingency tables of cells and values that agree, giving up after ``most`` steps.

    Parameters
    ----------
    cell_parts
        (cuts, cells) part of each cell.
    decided
        (cuts,) after how many cells in the order of ``order`` all parts of a cut but one are filled.
    totals
        (values,) how often each value occurs.

    Returns
    -------
    sums (cells, values), share, excluded, complete
        Expected number of each value in each cell, times the share of arrangements that agree; that share; how many
        times a branch was cut off; whether all were seen.
    """
    n_cells, n_values = len(cell_sizes), len(totals)
    rows = 0
    for v in range(n_values):
        rows += totals[v]
    choose = np.zeros((rows + 1, rows + 1))
    for n in range(rows + 1):
        choose[n, 0] = 1.0
        for i in range(1, n + 1):
            choose[n, i] = choose[n - 1, i - 1] + (choose[n - 1, i] if i < n else 0.0)
    counts, work = np.zeros(checks[4][-1], np.int64), np.zeros(checks[4][-1] + 1)
    sums = np.zeros((n_cells, n_values))
    table = np.zeros((n_cells, n_values), np.int64)
    left = totals.copy()  # of each value, not yet placed
    left_rows = rows
    depth = n_cells * n_values
    weight = np.ones(depth + 1)
    highest = np.zeros(depth, np.int64)
    need = np.zeros(depth + 1, np.int64)
    share, excluded, steps = 0.0, 0, 0
    at = 0
    entering = True
    need[0] = cell_sizes[order[0]]
    while at >= 0:
        steps += 1
        if steps > most:
            return sums, share, excluded, False
        i, v = at // n_values, at % n_values
        cell = order[i]
        if entering:
            if v == 0:
                need[at] = cell_sizes[cell]
                left_rows = 0
                for u in range(n_values):
                    left_rows += left[u]
                weight[at] /= choose[left_rows, cell_sizes[cell]]
            after = 0
            for u in range(v + 1, n_values):
                after += left[u]
            taken = max(0, need[at] - after)
            highest[at] = min(need[at], left[v])
        else:
            left[v] += table[cell, v]
            taken = table[cell, v] + 1
        if taken > highest[at]:
            table[cell, v] = 0
            at -= 1
            entering = False
            continue
        table[cell, v] = taken
        weight[at + 1] = weight[at] * choose[left[v], taken]
        left[v] -= taken
        need[at + 1] = need[at] - taken
        entering = False
        if v == n_values - 1:
            agrees = True
            for q in range(len(decided)):
                if decided[q] == i + 1 and _open_cut_allowed(
                    cell_parts[q], n_parts[q], cell_sizes, order, i + 1, table, totals, rows,
                    codes, checks, counts, work,
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
