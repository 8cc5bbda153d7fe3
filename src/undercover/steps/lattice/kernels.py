"""Cells of a full-domain generalisation: filled from rows, and rolled up one level along one column.

LeFevre, DeWitt & Ramakrishnan 2005, "Incognito: Efficient Full-Domain K-Anonymity", Section 3: the frequency set of a
generalisation, and the roll-up that makes a coarser one from a finer one without reading the table again. Here a cell
holds a count, the bits of the sensitive values that occur in it, or how often each occurs.

Which cells of a full-domain generalisation may not be published, and how many rows lie in them.

Sweeney 2002 for k; Machanavajjhala et al. 2006 for distinct values; Cheong, Wu & Wong 2012, "Non-centralized distinct
l-diversity", Section 5.2, for the intersections with what others have published. Every function leaves off as soon as
more than ``limit`` rows fail, since the answer is then known. Cells without rows are no cells.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from undercover.compiled.jit import internal, kernel
from undercover.compiled.words import count_bits
from undercover.steps.cutting.arrays import Checks
from undercover.steps.cutting.nodes import all_hold


@kernel
def cell_keys(codes: Any, table: Any, keys: Any) -> None:
    """Add to the key of every row what its code in one column adds: its generalised value times the stride of its axis."""
    for row in range(len(codes)):
        keys[row] += table[codes[row]]


@kernel
def count_rows(keys: Any, counts: Any) -> None:
    """Add every row to its cell."""
    for row in range(len(keys)):
        counts[keys[row]] += 1


@kernel
def mark_values(keys: Any, values: Any, first_word: int, masks: Any) -> None:
    """Set the bit of every row's sensitive value in its cell; ``masks`` is (n_cells, n_words)."""
    for row in range(len(keys)):
        value = np.uint64(values[row])
        word = first_word + np.int64(value >> np.uint64(6))
        masks[keys[row], word] |= np.uint64(1) << (value & np.uint64(63))


@kernel
def count_values(keys: Any, values: Any, first: int, tally: Any) -> None:
    """Count every row's sensitive value in its cell; ``tally`` is (n_cells, n_values)."""
    for row in range(len(keys)):
        tally[keys[row], first + values[row]] += 1


@kernel
def roll_up_sums(cells: Any, parent: Any, coarser: Any) -> None:
    """Add cells to their parents: (outer, finer, inner, width) into (outer, coarser, inner, width) along axis 1."""
    outer, finer, inner, width = cells.shape
    for a in range(outer):
        for b in range(finer):
            up = parent[b]
            for c in range(inner):
                for w in range(width):
                    coarser[a, up, c, w] += cells[a, b, c, w]


@kernel
def roll_up_bits(cells: Any, parent: Any, coarser: Any) -> None:
    """Join cells with their parents, bit by bit; shapes as in :func:`roll_up_sums`."""
    outer, finer, inner, width = cells.shape
    for a in range(outer):
        for b in range(finer):
            up = parent[b]
            for c in range(inner):
                for w in range(width):
                    coarser[a, up, c, w] |= cells[a, b, c, w]


@kernel
def rows_in_small_cells(counts: Any, k: int, limit: int) -> int:
    """Rows in cells of fewer than ``k`` rows."""
    rows = 0
    for cell in range(len(counts)):
        if 0 < counts[cell] < k:
            rows += counts[cell]
            if rows > limit:
                return rows
    return rows


@kernel
def rows_of_few_values(
    counts: Any, counted: bool, masks: Any, k: int, word_starts: Any, least: Any, limit: int, failing: Any
) -> int:
    """Rows in cells that are small or have too few different values of some sensitive column.

    Column c has the words ``word_starts[c]:word_starts[c + 1]`` and must have ``least[c]`` values. Where rows are not
    counted, a failing cell counts as one and ``k`` is not looked at. ``failing`` (n_cells,) is set where it has room.
    """
    rows = 0
    for cell in range(len(masks)):
        empty = True
        for word in range(masks.shape[1]):
            if masks[cell, word] != 0:
                empty = False
                break
        if empty:
            continue
        fails = counted and counts[cell] < k
        for column in range(len(least)):
            found = 0
            for word in range(word_starts[column], word_starts[column + 1]):
                found += count_bits(masks[cell, word])
            if found < least[column]:
                fails = True
        if fails:
            if len(failing):
                failing[cell] = True
            rows += counts[cell] if counted else 1
            if rows > limit:
                return rows
    return rows


@kernel
def rows_that_fail(counts: Any, tally: Any, k: int, checks: Checks, limit: int, failing: Any) -> int:
    """Rows in cells that are small or break a predicate of :func:`undercover.steps.cutting.nodes.all_hold`."""
    rows = 0
    work = np.zeros(tally.shape[1])
    for cell in range(len(counts)):
        if counts[cell] == 0:
            continue
        if counts[cell] >= k and all_hold(tally[cell], counts[cell], checks, work):
            continue
        if len(failing):
            failing[cell] = True
        rows += counts[cell]
        if rows > limit:
            return rows
    return rows


@kernel
def joint_values_hold(masks: Any, least: int, others: Any, starts: Any, missing: Any) -> bool:
    """Whether every cell keeps ``least`` values whatever class of every other table a person is in.

    ``masks`` (n_cells, n_words) are the values of every cell; a cell without values is none. Table t of the others has
    the sets ``others[starts[t]:starts[t + 1]]``, those that lack most values first; ``missing`` is how many each lacks.
    """
    n_tables = len(starts) - 1
    n_words = masks.shape[1]
    # The most that tables from t on can take away.
    beyond = np.zeros(n_tables + 1, np.int64)
    for t in range(n_tables - 1, -1, -1):
        beyond[t] = beyond[t + 1] + missing[starts[t]]
    for cell in range(len(masks)):
        found = 0
        for word in range(n_words):
            found += count_bits(masks[cell, word])
        if 0 < found < least:
            return False
    stack = np.zeros((n_tables + 1, n_words), np.uint64)
    cursor = np.zeros(n_tables + 1, np.int64)
    for cell in range(len(masks)):
        found = 0
        for word in range(n_words):
            stack[0, word] = masks[cell, word]
            found += count_bits(masks[cell, word])
        if found == 0 or found - beyond[0] >= least:
            continue
        if not _intersections_hold(stack, cursor, least, others, starts, missing, beyond):
            return False
    return True


@internal
def _intersections_hold(
    stack: Any, cursor: Any, least: int, others: Any, starts: Any, missing: Any, beyond: Any
) -> bool:
    """Depth first through the sets of one table after the other, leaving out what cannot fall below ``least``."""
    n_tables = len(starts) - 1
    n_words = stack.shape[1]
    t = 0
    cursor[0] = starts[0]
    while t >= 0:
        found = 0
        for word in range(n_words):
            found += count_bits(stack[t, word])
        if found < least:
            return False
        at = cursor[t] if t < n_tables else 0
        # Sets lack fewer and fewer values: the first that cannot do harm ends the table.
        if t == n_tables or at == starts[t + 1] or found - missing[at] - beyond[t + 1] >= least:
            t -= 1
            continue
        cursor[t] += 1
        for word in range(n_words):
            stack[t + 1, word] = stack[t, word] & others[at, word]
        t += 1
        if t < n_tables:
            cursor[t] = starts[t]
    return True
