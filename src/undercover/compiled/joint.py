"""Every combination of classes of several published tables: values left, the surest value, values that stay possible.

Cheong, Wu & Wong 2012, "Non-centralized distinct l-diversity", Equation 5 as corrected in docs/theory: the weight of
value k is n_k times the product over tables of (rows of k in the class) / n_k.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from undercover.compiled.jit import internal, kernel


@internal
def _meet(shared: Any, overlap: Any, at: Any, t: int) -> bool:
    """Whether the class of table t has a value in common with those before it in every column they share."""
    for column in range(len(shared)):
        cell = shared[column, at[t]]
        if cell >= 0:
            for earlier in range(t):
                other = shared[column, at[earlier]]
                if other >= 0 and not overlap[column, cell, other]:
                    return False
    return True


@kernel
def survey_combinations(
    counts: Any, starts: Any, totals: Any, shared: Any, overlap: Any, most: int, spread: Any, worst: Any, figures: Any
) -> int:
    """Go through all combinations and keep the ``most`` worst; returns how many were kept.

    - ``counts`` (n_classes, n_values): rows of each value; table t has the classes ``starts[t]:starts[t + 1]``
    - ``totals`` (n_values,): people of each value
    - ``shared`` (n_shared, n_classes): cell of a column that several tables have, -1 where a table does not have it
    - ``overlap`` (n_shared, n_cells, n_cells): whether two cells of such a column have a value in common
    - ``spread`` (n_values + 1,): counts combinations by how many values they leave; changed
    - ``worst`` (most, n_tables) and ``figures`` (most, 2): classes, and values left and highest probability, of the
      combinations that leave fewest values, the surest first among equals; changed. One row more: the surest combination
    """
    n_tables, n_values = len(starts) - 1, counts.shape[1]
    weights = np.zeros((n_tables + 1, n_values))
    shares = counts / totals  # (n_classes, n_values) of the people of a value
    for value in range(n_values):
        weights[0, value] = totals[value]
    at = np.zeros(n_tables, np.int64)
    kept, highest = 0, -1.0
    t = 0
    at[0] = starts[0] - 1
    while t >= 0:
        at[t] += 1
        if at[t] == starts[t + 1]:
            t -= 1
            continue
        if not _meet(shared, overlap, at, t):
            continue
        total, top, left = 0.0, 0.0, 0
        for value in range(n_values):
            weight = weights[t, value] * shares[at[t], value]
            weights[t + 1, value] = weight
            if weight > 0:
                left += 1
                total += weight
                top = max(top, weight)
        if t < n_tables - 1:
            t += 1
            at[t] = starts[t] - 1
            continue
        spread[left] += 1
        surest = top / total if left else 0.0
        if surest > highest:
            highest = surest
            figures[most, 0], figures[most, 1] = left, surest
            for table in range(n_tables):
                worst[most, table] = at[table]
        place = kept
        while place > 0 and (
            figures[place - 1, 0] > left or (figures[place - 1, 0] == left and figures[place - 1, 1] < surest)
        ):
            place -= 1
        if place < most:
            kept = min(kept + 1, most)
            for move in range(kept - 1, place, -1):
                figures[move, 0], figures[move, 1] = figures[move - 1, 0], figures[move - 1, 1]
                for table in range(n_tables):
                    worst[move, table] = worst[move - 1, table]
            figures[place, 0], figures[place, 1] = left, surest
            for table in range(n_tables):
                worst[place, table] = at[table]
    return kept


@kernel
def least_possible(counts: Any, starts: Any, totals: Any, shared: Any, overlap: Any, worst: Any) -> int:
    """The fewest values that stay possible in a combination, whatever its size: the stricter test.

    Of value k at least L_k = max(0, sum of its rows in the classes - (tables - 1) n_k) people must be in all of the
    classes and at most the least of these rows can be. The smallest cell the tables allow has sum L people; if that is
    not zero, only values with L_k > 0 are possible in it. Combinations nobody can be in are left out. ``worst``
    (n_tables,) becomes the combination; -1 is returned where there is none.
    """
    n_tables, n_values = len(starts) - 1, counts.shape[1]
    at = np.zeros(n_tables, np.int64)
    least = -1
    sums = np.zeros((n_tables + 1, n_values), np.int64)
    mins = np.zeros((n_tables + 1, n_values), np.int64)
    for value in range(n_values):
        mins[0, value] = totals[value]
    t = 0
    at[0] = starts[0] - 1
    while t >= 0:
        at[t] += 1
        if at[t] == starts[t + 1]:
            t -= 1
            continue
        if not _meet(shared, overlap, at, t):
            continue
        for value in range(n_values):
            sums[t + 1, value] = sums[t, value] + counts[at[t], value]
            mins[t + 1, value] = min(mins[t, value], counts[at[t], value])
        if t < n_tables - 1:
            t += 1
            at[t] = starts[t] - 1
            continue
        certain, possible = 0, 0
        for value in range(n_values):
            certain += sums[n_tables, value] > (n_tables - 1) * totals[value]
            possible += mins[n_tables, value] > 0
        found = certain if certain else possible
        if found and (least < 0 or found < least):
            least = found
            for table in range(n_tables):
                worst[table] = at[table]
    return int(least)
