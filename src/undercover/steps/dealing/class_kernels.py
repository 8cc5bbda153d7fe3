"""Groups of one row of each class, made near by assignment, class after class.

The assignment problem is solved exactly by shortest augmenting paths (Kuhn 1955; Jonker & Volgenant 1987) on whole
numbers. Which class comes when is the caller's secret; nothing else tells the classes apart.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from undercover.compiled.jit import internal, kernel
from undercover.steps.scales import Places, Scales

_FAR = np.iinfo(np.int64).max // 4


@internal
def _distances(rows: Any, places: Places) -> Any:
    """(m, m) how far apart any two of m rows are."""
    m, d = len(rows), places.at.shape[1]
    here = np.empty((d, m), np.int32)
    for i in range(m):
        for a in range(d):
            here[a, i] = places.at[rows[i], a]
    found = np.zeros((m, m), np.int32)
    for a in range(d):
        for i in range(m):
            x = here[a, i]
            if places.ordered[a]:
                for j in range(m):
                    found[i, j] += abs(here[a, j] - x)
            else:
                for j in range(m):
                    found[i, j] += places.apart[a] if here[a, j] != x else np.int32(0)
    return found


@internal
def _assign(costs: Any, group_of: Any) -> None:
    """Which of z rows goes to which of z groups at the least cost in all: ``group_of[row]``."""
    z = len(costs)
    of_row, of_group = np.zeros(z + 1, np.int64), np.zeros(z + 1, np.int64)  # prices
    row_at = np.zeros(z + 1, np.int64)  # row of each group, from 1; place 0 is the row that looks for a group
    back = np.zeros(z + 1, np.int64)
    least = np.empty(z + 1, np.int64)
    done = np.empty(z + 1, np.bool_)
    for row in range(1, z + 1):
        row_at[0] = row
        group = 0
        least[:] = _FAR
        done[:] = False
        while True:
            done[group] = True
            looking, step, nearest = row_at[group], _FAR, 0
            for u in range(1, z + 1):
                if not done[u]:
                    cost = costs[looking - 1, u - 1] - of_row[looking] - of_group[u]
                    if cost < least[u]:
                        least[u] = cost
                        back[u] = group
                    if least[u] < step:
                        step, nearest = least[u], u
            for u in range(z + 1):
                if done[u]:
                    of_row[row_at[u]] += step
                    of_group[u] -= step
                else:
                    least[u] -= step
            group = nearest
            if row_at[group] == 0:
                break
        while group:
            row_at[group] = row_at[back[group]]
            group = back[group]
    for u in range(1, z + 1):
        group_of[row_at[u] - 1] = u - 1


@internal
def _reassign(c: int, others: Any, apart: Any, at: Any, costs: Any, group_of: Any) -> Any:
    """Assign the rows of class c to the groups that ``others`` make; whether that brought them nearer."""
    z = at.shape[1]
    costs[:] = 0
    for e in others:
        if e != c:
            for r in range(z):
                for u in range(z):
                    costs[r, u] += apart[c * z + r, e * z + at[e, u]]
    _assign(costs, group_of)
    before, after = np.int64(0), np.int64(0)
    for u in range(z):
        before += costs[at[c, u], u]
        after += costs[u, group_of[u]]
    if after < before:
        for r in range(z):
            at[c, group_of[r]] = r
    return after < before


@kernel
def join_cells(rows: Any, starts: Any, turns: Any, anew: bool, places: Places) -> bool:
    """In every cell, bring rows of all classes together, those at one slot being a group; whether any row moved.

    ``rows`` (classes, slots) is put in order in place; cell i is the slots ``starts[i]`` to ``starts[i + 1]``. The
    classes take turns in the order ``turns``: each is assigned to what the others make, or, where groups are made
    ``anew``, to what those before it make. Ties are decided by the order of rows and groups, which the classes share.
    """
    classes, moved = rows.shape[0], False
    for i in range(len(starts) - 1):
        start, z = starts[i], starts[i + 1] - starts[i]
        if z < 2:
            continue
        flat = np.empty(classes * z, np.int64)
        at = np.empty((classes, z), np.int64)  # which row of each class is in which group
        for c in range(classes):
            for u in range(z):
                flat[c * z + u] = rows[c, start + u]
                at[c, u] = u
        apart = _distances(flat, places)
        costs, group_of = np.empty((z, z), np.int64), np.empty(z, np.int64)
        for turn in range(1 if anew else 0, classes):
            moved |= _reassign(turns[turn], turns[:turn] if anew else turns, apart, at, costs, group_of)
        for c in range(classes):
            for u in range(z):
                rows[c, start + u] = flat[c * z + at[c, u]]
    return moved


@kernel
def typical_rows(rows: Any, scales: Scales) -> Any:
    """(slots, d) bins of a row in the middle of each group: the lower median, or the most frequent of bins unordered.

    Of equally frequent ones it is the lowest, so that it does not matter which class a bin is from.
    """
    classes, slots = rows.shape
    d = scales.bins.shape[1]
    found = np.empty((slots, d), np.uint8)
    here = np.empty(classes, np.uint8)
    for u in range(slots):
        for a in range(d):
            for c in range(classes):  # insertion sort
                value, i = scales.bins[rows[c, u], a], c
                while i > 0 and here[i - 1] > value:
                    here[i] = here[i - 1]
                    i -= 1
                here[i] = value
            found[u, a] = here[(classes - 1) // 2]
            if not scales.ordered[a]:
                most, run = 0, 0
                for c in range(classes):
                    run = run + 1 if c and here[c] == here[c - 1] else 1
                    if run > most:
                        most = run
                        found[u, a] = here[c]
    return found
