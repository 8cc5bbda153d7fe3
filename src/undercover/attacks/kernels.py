"""What people of one class have in common, class by class, in time and memory that grow as the table does.

Rows are laid out by class without sorting them: classes are counted, and every row goes to the next free place of its
own. Going through the rows again in the same order finds the same places, so that none of them is written down.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from undercover.compiled.jit import kernel


@kernel
def laid_out(labels: Any, starts: Any, given: Any) -> Any:
    """``given`` (n_rows,), one class behind the other; class c begins at ``starts[c]``."""
    free = starts[:-1].copy()
    found = np.empty_like(given)
    for row in range(len(labels)):
        found[free[labels[row]]] = given[row]
        free[labels[row]] += 1
    return found


@kernel
def taken_back(labels: Any, starts: Any, given: Any) -> Any:
    """What :func:`laid_out` was handed, of what it returned."""
    free = starts[:-1].copy()
    found = np.empty_like(given)
    for row in range(len(labels)):
        found[row] = given[free[labels[row]]]
        free[labels[row]] += 1
    return found


@kernel
def times_of_own(starts: Any, values: Any, n_values: Any) -> Any:
    """(n_rows,) how many of its class have the value of each row, both as they are :func:`laid_out`."""
    found = np.empty(len(values), np.int32)
    times = np.zeros(n_values, np.int64)
    for group in range(len(starts) - 1):
        begin, end = starts[group], starts[group + 1]
        for place in range(begin, end):
            times[values[place]] += 1
        for place in range(begin, end):
            found[place] = times[values[place]]
        for place in range(begin, end):
            times[values[place]] = 0
    return found


@kernel
def struck_out(starts: Any, values: Any, corrupted: Any, n_values: Any, n_levels: Any) -> Any:
    """How sure of everybody's value somebody is who has struck others' out: mean, largest, and how many are certain.

    ``values`` and ``corrupted`` (n_rows,) are as they are :func:`laid_out`; the latter is the first level from which on
    somebody is corrupted, ``n_levels`` for never. Returns (n_levels, 3). The victim himself is never corrupted.
    """
    found = np.zeros((n_levels, 3))
    left = np.zeros((n_values, n_levels), np.int64)  # rows with a value who are not corrupted
    there = np.zeros(n_levels, np.int64)  # rows who are not
    for group in range(len(starts) - 1):
        begin, end = starts[group], starts[group + 1]
        there[:] = 0
        for place in range(begin, end):
            for level in range(min(np.int64(corrupted[place]), n_levels)):
                left[values[place], level] += 1
                there[level] += 1
        for place in range(begin, end):
            for level in range(n_levels):
                mine = 1 if corrupted[place] <= level else 0
                sure = (left[values[place], level] + mine) / (there[level] + mine)
                found[level, 0] += sure
                found[level, 1] = max(found[level, 1], sure)
                found[level, 2] += 1.0 if sure > 1.0 - 1e-12 else 0.0
        for place in range(begin, end):
            left[values[place], :] = 0
    found[:, 0] /= max(len(values), 1)
    return found


@kernel
def nearest_rows(
    cells: Any, tables: Any, marks: Any, own: Any, values: Any, truths: Any, spreads: Any, near: Any, best: Any,
    found: Any,
) -> None:  # fmt: skip
    """Look for the rows nearest to some people, and nearest of those that differ, among some rows after others.

    ``cells`` (n_rows, d) are lines of ``tables`` (n_people, n_cells), how far each is from a person's value. ``best``
    (n_people, 2) are the distances so far, and ``found`` (n_people, 2, 2 + 2 s) what the rows at them come to: how
    many, how many have the person's mark, and of each sensitive column how many show the ``truths`` (n_people, s), and
    the sum of what is ``spreads`` (n_rows, s).
    """
    n, d = cells.shape
    for person in range(len(tables)):
        table = tables[person]
        for row in range(n):
            most, apart = best[person, 1] + near, 0.0
            for j in range(d):
                apart += table[cells[row, j]]
                if apart > most:
                    break
            if apart > most:
                continue
            for way in range(2):
                if (way == 1 and apart <= near) or apart > best[person, way] + near:
                    continue
                into = found[person, way]
                if apart < best[person, way] - near:
                    best[person, way] = apart
                    into[:] = 0.0
                into[0] += 1.0
                into[1] += 1.0 if marks[row] == own[person] else 0.0
                for s in range(values.shape[1]):
                    into[2 + 2 * s] += 1.0 if values[row, s] == truths[person, s] else 0.0
                    into[3 + 2 * s] += spreads[row, s]
