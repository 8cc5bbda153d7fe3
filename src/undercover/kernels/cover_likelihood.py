"""How likely a person of a group is to have produced a released row, under the random output tables.

Li, Wang & He, "Privacy-Preserving Data Publishing via Mutual Cover", Algorithms 1 and 3: values are drawn independently
column by column; a row that came through unchanged is drawn again, or changed by Algorithm 3.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from undercover.kernels.assignments import assignment_marginals
from undercover.kernels.cover_sampling import OFF, RESAMPLE
from undercover.kernels.jit import internal, kernel


@kernel
def group_beliefs(
    groups: Any, offsets: Any, order: Any, codes: Any, released: Any, row_starts: Any, originals: Any,
    column_starts: Any, outputs: Any, cell_starts: Any, probabilities: Any, weights: Any, unchanged: int, perturb: int,
    secrets: Any, most_sets: int, identity: Any, best: Any, attribute: Any, hit: Any, exact: Any,
) -> None:  # fmt: skip
    """What somebody who knows groups and tables believes of every person of some groups.

    Parameters
    ----------
    groups, offsets, order
        The groups to work on, and the people of all groups.
    codes, released
        (n_rows, d) everybody's original and released values, in one numbering.
    row_starts to probabilities
        The tables as :class:`undercover.partition.output_tables.OutputTables` has them.
    weights
        (d * n_groups,) of Algorithm 3.
    secrets
        (n_rows,) sensitive codes.
    identity, best, attribute, hit, exact
        Filled by person: probability of the own row, whether it is the most probable one (shared among equals),
        probability of the true sensitive value, whether that is the most probable one, and whether this is exact.
    """
    n_groups = len(offsets) - 1
    for g in groups:
        people = order[offsets[g] : offsets[g + 1]]
        m = len(people)
        likelihood = _likelihoods(
            g, n_groups, people, codes, released, row_starts, originals, column_starts, outputs, cell_starts,
            probabilities, weights, unchanged, perturb,
        )  # fmt: skip
        beliefs, done = assignment_marginals(likelihood, most_sets)
        for i in range(m):
            person = people[i]
            identity[person] = beliefs[i, i]
            highest = beliefs[i].max()
            ties = 0
            for r in range(m):
                ties += beliefs[i, r] >= highest * (1.0 - 1e-9)
            best[person] = 1.0 / ties if beliefs[i, i] >= highest * (1.0 - 1e-9) else 0.0
            mine, most, equal = 0.0, 0.0, 0
            for r in range(m):
                value = secrets[people[r]]
                share, first = 0.0, True
                for s in range(m):
                    if secrets[people[s]] == value:
                        first = first and s >= r
                        share += beliefs[i, s]
                if not first:
                    continue
                if value == secrets[person]:
                    mine = share
                if share > most * (1.0 + 1e-9):
                    most, equal = share, 1
                elif share >= most * (1.0 - 1e-9):
                    equal += 1
            attribute[person] = min(mine, 1.0)
            hit[person] = 1.0 / equal if mine >= most * (1.0 - 1e-9) else 0.0
            exact[person] = done[i]


@internal
def _likelihoods(
    g: int, n_groups: int, people: Any, codes: Any, released: Any, row_starts: Any, originals: Any,
    column_starts: Any, outputs: Any, cell_starts: Any, probabilities: Any, weights: Any, unchanged: int, perturb: int,
) -> Any:  # fmt: skip
    """(m, m) probability that person i of the group releases the values of row r."""
    m, d = len(people), codes.shape[1]
    found = np.ones((m, m))
    stays = np.ones(m)
    shown = np.empty(m, np.int64)  # column of each row's value
    chance = np.zeros(d)
    others = np.zeros(d)
    for a in range(d):
        p = a * n_groups + g
        n = column_starts[p + 1] - column_starts[p]
        others[a] = n - 1
        chance[a] = weights[p] * (1.0 - 1.0 / n) if n > 1 else 0.0
        for r in range(m):
            shown[r] = _position(outputs, column_starts[p], column_starts[p + 1], released[people[r], a])
        for i in range(m):
            line = _position(originals, row_starts[p], row_starts[p + 1], codes[people[i], a])
            first = cell_starts[p] + line * n
            own = _position(outputs, column_starts[p], column_starts[p + 1], codes[people[i], a])
            stays[i] *= probabilities[first + own] if own >= 0 else 0.0
            for r in range(m):
                found[i, r] *= probabilities[first + shown[r]]
    if unchanged == OFF:
        return found
    changes = min(perturb, (chance > 0.0).sum())
    for i in range(m):
        again = unchanged == RESAMPLE and stays[i] < 1.0
        for r in range(m):
            differs = 0
            for a in range(d):
                differs += codes[people[i], a] != released[people[r], a]
            if again:
                found[i, r] = found[i, r] / (1.0 - stays[i]) if differs else 0.0
            elif differs == 0:
                found[i, r] = found[i, r] if changes == 0 else 0.0
            elif differs == changes:
                found[i, r] += stays[i] * _replaced(codes[people[i]], released[people[r]], chance, others)
    return found


@internal
def _replaced(mine: Any, theirs: Any, chance: Any, others: Any) -> float:
    """Algorithm 3 replaces exactly these values by these: in any order, each by one of its other values."""
    columns = np.flatnonzero(mine != theirs)
    whole = chance.sum()
    ways = np.zeros(1 << len(columns))
    ways[0] = 1.0
    for chosen in range(1, len(ways)):
        spent = 0.0
        for k in range(len(columns)):
            spent += chance[columns[k]] if chosen >> k & 1 else 0.0
        for k in range(len(columns)):
            if chosen >> k & 1 and chance[columns[k]] > 0.0:
                left = whole - spent + chance[columns[k]]
                ways[chosen] += ways[chosen ^ (1 << k)] * chance[columns[k]] / left / others[columns[k]]
    return ways[len(ways) - 1]


@internal
def _position(codes: Any, start: int, end: int, code: int) -> Any:
    """Where ``code`` stands in a sorted run, counted from its start, or -1."""
    low, high = start, end
    while low < high:
        middle = (low + high) // 2
        if codes[middle] < code:
            low = middle + 1
        else:
            high = middle
    return low - start if low < end and codes[low] == code else np.int64(-1)
