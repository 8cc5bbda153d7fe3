"""Every combination of classes of several published tables: values left, the surest value, values that stay possible.

Cheong, Wu & Wong 2012, "Non-centralized distinct l-diversity", Equation 5 as corrected in docs/theory: the weight of
value k is n_k times the product over tables of (rows of k in the class) / n_k. What stays possible for somebody who
knows everybody's quasi-identifiers is ours.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from undercover.compiled.jit import internal, kernel

MOST_WHOLE = 20_000  # classes times people of a value, up to which covers are looked for by whole classes
MOST_WORK = 2_000_000_000  # steps, beyond which nothing is promised to whoever knows everybody


def possible_values(counts: Any, starts: Any, totals: Any, shared: Any, overlap: Any) -> tuple[int, bool]:
    """:func:`least_possible` with the limits that are the same for everybody who asks."""
    whole = len(counts) * int(totals.max()) <= MOST_WHOLE
    found, through = least_possible(counts, starts, totals, shared, overlap, whole, MOST_WORK)
    return int(found), bool(through)


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


@internal
def _orders(counts: Any, starts: Any, totals: Any, k: int, kind: Any, talks: Any, orders: Any) -> None:
    """How value k is told from every value j: ``kind[j]`` is 0 by nothing, 1 perhaps by anything, 2 by covers only.

    ``talks[j, t]`` says whether table t tells anything: whether not all people of k and j are in one class of it. Up to
    two such tables are gone through by covers, for which ``orders[j]`` has the classes with the fewest k for their j
    first. With more of them, j counts as possible only if every class of every table has as many of j as of k.
    """
    n_classes, n_values = counts.shape
    ratio = np.empty(n_classes)
    for j in range(n_values):
        alike, talking = True, 0
        for t in range(len(starts) - 1):
            talks[j, t] = True
            for c in range(starts[t], starts[t + 1]):
                alike = alike and counts[c, k] == counts[c, j]
                if counts[c, k] == totals[k] and counts[c, j] == totals[j]:
                    talks[j, t] = False
            talking += talks[j, t]
            for c in range(starts[t], starts[t + 1]):
                told = talks[j, t] and counts[c, j] > 0
                ratio[c] = counts[c, k] / counts[c, j] if told else np.inf
        kind[j] = 0 if alike or talking == 0 else 2 if talking <= 2 else 1
        orders[j] = np.argsort(ratio)


@internal
def _covers(counts: Any, order: Any, table_of: Any, talks: Any, own: Any, totals: Any, k: int, j: int) -> bool:
    """Whether classes other than a person's ``own`` may hold everybody with j and not everybody with k, in parts.

    Parts of a class count by their share, so classes may be found that are not there, and none is overlooked.
    """
    need, spent = totals[j], 0
    for place in range(len(order)):
        c = order[place]
        there = counts[c, j]
        if own[c] or there == 0 or not talks[table_of[c]]:
            continue
        if there >= need:
            return bool(spent * there + counts[c, k] * need <= (totals[k] - 1) * there)
        need -= there
        spent += counts[c, k]
    return False


@internal
def _covers_whole(counts: Any, order: Any, table_of: Any, talks: Any, own: Any, totals: Any, k: int, j: int) -> bool:
    """The same for whole classes: the fewest people with k in classes that have so many with j."""
    least = np.full(totals[j] + 1, totals[k])
    least[0] = 0
    for place in range(len(order)):
        c = order[place]
        there = counts[c, j]
        if own[c] or there == 0 or not talks[table_of[c]]:
            continue
        for people in range(totals[j], 0, -1):
            least[people] = min(least[people], least[max(0, people - there)] + counts[c, k])
    return bool(least[totals[j]] < totals[k])


@kernel
def least_possible(
    counts: Any, starts: Any, totals: Any, shared: Any, overlap: Any, whole: bool, most_work: int
) -> tuple[int, bool]:
    """Values that stay possible for somebody who knows everybody's quasi-identifiers: at least so many; all gone through.

    A person with value k is in one class of every table. That he has j instead is possible in every world the tables
    allow unless some classes, none of them his, have at least as many rows of j as there are people with j, and fewer
    rows of k than there are people with k (docs/theory/noncentralized.md, "Whoever knows everybody"). With ``whole``
    these are looked for exactly, otherwise in parts. Depth first over the tables: the more of his classes are fixed,
    the more values are possible, so a combination that has enough is left. Beyond ``most_work`` nothing is promised.
    """
    n_tables, (n_classes, n_values) = len(starts) - 1, counts.shape
    table_of = np.zeros(n_classes, np.int64)
    for t in range(n_tables):
        table_of[starts[t] : starts[t + 1]] = t
    kind = np.zeros(n_values, np.int64)
    talks = np.zeros((n_values, n_tables), np.bool_)
    orders = np.zeros((n_values, n_classes), np.int64)
    possible = np.zeros((n_tables + 1, n_values), np.bool_)
    at, best, work = np.zeros(n_tables, np.int64), n_values + 1, 0
    for k in range(n_values):
        work += 10 * n_values * n_classes
        if work > most_work:
            return 1, False
        _orders(counts, starts, totals, k, kind, talks, orders)
        own = np.zeros(n_classes, np.bool_)
        t = -1  # nothing of him is known
        while True:
            enough = 0
            for j in range(n_values):
                can = kind[j] == 0 if t < 0 else possible[t, j]
                if not can and kind[j] == 2 and (t < 0 or talks[j, t]):
                    work += n_classes
                    can = not _covers(counts, orders[j], table_of, talks[j], own, totals, k, j)
                    if whole and not can:
                        work += n_classes * totals[j]
                        can = not _covers_whole(counts, orders[j], table_of, talks[j], own, totals, k, j)
                possible[t + 1, j] = can
                enough += can
            if work > most_work:
                return 1, False
            if t == n_tables - 1:
                best = min(best, enough)
            elif enough < best:
                t += 1
                at[t] = starts[t] - 1
            if best == 1:
                return 1, True
            while t >= 0:  # the next class of this table, or of one before it
                if at[t] >= starts[t]:
                    own[at[t]] = False
                at[t] += 1
                while at[t] < starts[t + 1] and (counts[at[t], k] == 0 or not _meet(shared, overlap, at, t)):
                    at[t] += 1
                if at[t] < starts[t + 1]:
                    own[at[t]] = True
                    break
                t -= 1
            if t < 0:
                break
    return (best if best <= n_values else 0), True
