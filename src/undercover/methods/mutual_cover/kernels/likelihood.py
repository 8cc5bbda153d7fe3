"""How likely a person of a group is to have produced a released row, under the random output tables.

Li, Wang & He, "Privacy-Preserving Data Publishing via Mutual Cover", Algorithms 1 and 3: values are drawn independently
column by column; a row that came through unchanged is drawn again, or changed by Algorithm 3.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from undercover.compiled.jit import internal, kernel
from undercover.compiled.words import place_of
from undercover.methods.mutual_cover.kernels import Tables
from undercover.methods.mutual_cover.kernels.assignments import assignment_marginals
from undercover.methods.mutual_cover.kernels.sampling import OFF, RESAMPLE

_MOST_PEOPLE = 5_000  # of a group whose assignments are weighed; in larger ones people are looked at one by one
_BLOCK = 64


class Seen(NamedTuple):
    """The people of all groups, what they have and what they released, in one numbering."""

    offsets: Any  # (n_groups + 1,)
    order: Any  # (n_rows,)
    codes: Any  # (n_rows, d)
    released: Any  # (n_rows, d)
    secrets: Any  # (n_rows,) sensitive codes


class Beliefs(NamedTuple):
    """By person."""

    identity: Any  # probability of the own row
    best: Any  # whether it is the most probable one, shared among equals
    attribute: Any  # probability of the true sensitive value
    hit: Any  # whether that is the most probable one
    exact: Any  # whether this is exact


@kernel
def group_beliefs(
    groups: Any, seen: Seen, tables: Tables, weights: Any, unchanged: int, perturb: int, most_sets: int, filled: Beliefs
) -> None:
    """What somebody who knows groups and tables believes of every person of some groups.

    Parameters
    ----------
    groups
        The groups to work on.
    weights
        (d * n_groups,) of Algorithm 3.
    """
    offsets = seen.offsets
    for g in groups:
        people = seen.order[offsets[g] : offsets[g + 1]]
        m = len(people)
        value_of, n_values = _numbered(seen.secrets[people])
        block = m if m <= _MOST_PEOPLE else _BLOCK
        for first in range(0, m, block):
            last = min(first + block, m)
            beliefs = _likelihoods(g, people, first, last, seen, tables, weights, unchanged, perturb)
            done = np.zeros(last - first, np.bool_)
            if block == m:
                beliefs, done = assignment_marginals(beliefs, most_sets)
            for i in range(first, last):
                belief = beliefs[i - first]
                if block < m:
                    belief = belief / belief.sum()
                person = people[i]
                filled.exact[person] = done[i - first]
                filled.identity[person] = belief[i]
                filled.best[person] = _hits(belief, i)
                share = np.zeros(n_values)
                for r in range(m):
                    share[value_of[r]] += belief[r]
                filled.attribute[person] = min(share[value_of[i]], 1.0)
                filled.hit[person] = _hits(share, value_of[i])


@internal
def _hits(beliefs: Any, truth: int) -> float:
    """Whether the truth is believed most; where several are, one of them is guessed by chance."""
    most = beliefs.max() * (1.0 - 1e-9)
    equal = 0
    for belief in beliefs:
        equal += belief >= most
    return 1.0 / equal if beliefs[truth] >= most else 0.0


@internal
def _numbered(values: Any) -> Any:
    """Number the distinct values: (number of each, how many there are)."""
    numbers = np.empty(len(values), np.int64)
    count = 0
    previous = values[0]
    for i in np.argsort(values):
        if count == 0 or values[i] != previous:
            count += 1
            previous = values[i]
        numbers[i] = count - 1
    return numbers, count


@internal
def _likelihoods(
    g: int, people: Any, begin: int, end: int, seen: Seen, tables: Tables, weights: Any, unchanged: int, perturb: int
) -> Any:
    """(end - begin, m) probability that some people of the group release the values of row r."""
    codes, released, n_groups = seen.codes, seen.released, len(seen.offsets) - 1
    row_starts, originals, _, column_starts, outputs, cell_starts, probabilities = tables
    m, d = len(people), codes.shape[1]
    found = np.ones((end - begin, m))
    stays = np.ones(end - begin)
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
        for i in range(end - begin):
            code = codes[people[begin + i], a]
            first = cell_starts[p] + _position(originals, row_starts[p], row_starts[p + 1], code) * n
            own = _position(outputs, column_starts[p], column_starts[p + 1], code)
            stays[i] *= probabilities[first + own] if own >= 0 else 0.0
            for r in range(m):
                found[i, r] *= probabilities[first + shown[r]]
    if unchanged == OFF:
        return found
    changes = min(perturb, (chance > 0.0).sum())
    for i in range(end - begin):
        mine = codes[people[begin + i]]
        again = unchanged == RESAMPLE and stays[i] < 1.0
        for r in range(m):
            differs = 0
            for a in range(d):
                differs += mine[a] != released[people[r], a]
            if again:
                found[i, r] = found[i, r] / (1.0 - stays[i]) if differs else 0.0
            elif differs == 0:
                found[i, r] = found[i, r] if changes == 0 else 0.0
            elif differs == changes:
                found[i, r] += stays[i] * _replaced(mine, released[people[r]], chance, others)
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
    at = place_of(codes, start, end, code)
    return at - start if at >= 0 else at
