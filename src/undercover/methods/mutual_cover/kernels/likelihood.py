"""How likely a person of a group is to have produced a released row, under the random output tables.

Li, Wang & He, "Privacy-Preserving Data Publishing via Mutual Cover", Algorithms 1 and 3: values are drawn independently
column by column; a row that came through unchanged is drawn again, or changed by Algorithm 3.

Every row belongs to exactly one person. With likelihoods L[i, r] of person i producing row r, an assignment of rows to
people is as probable as the product of its entries. The marginals are quotients of permanents. They are computed
exactly by going through the people one after the other with the set of rows that are taken, where that set stays small:
people and rows that have nothing to do with each other are separated first, rows that are alike count as one, and rows
that nobody still to come can own must be taken. Beyond a given number of sets the marginals are those of belief
propagation (the Bethe approximation: Vontobel 2013, "The Bethe permanent of a nonnegative matrix").
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from undercover.compiled.jit import internal, kernel
from undercover.compiled.words import place_of
from undercover.methods.mutual_cover.kernels import Tables
from undercover.methods.mutual_cover.kernels.sampling import OFF, RESAMPLE

_MOST_PEOPLE = 5_000  # of a group whose assignments are weighed; in larger ones people are looked at one by one
_BLOCK = 64
_MOST_ROWS = 63  # bits of a set
_SWEEPS, _LEAST_SWEEPS, _UPDATES = 500, 20, 20_000_000  # fewer sweeps where there are many pairs to update
_BETWEEN_LOOKS = 10
_SETTLED = 1e-4  # largest change of a marginal between two looks
_LARGEST = 1e100


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
    """What somebody who knows groups and tables believes of every person of some groups; ``weights`` as in Algorithm 3."""
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


@kernel
def assignment_marginals(likelihood: Any, most_sets: int) -> Any:
    """(m, m) probability that person i owns row r, and (m,) whether it is exact.

    ``likelihood`` (m, m) is not negative; some assignment must be possible. The exact computation is given up for more
    than ``most_sets`` sets of taken rows at a time.
    """
    m = len(likelihood)
    marginals = np.zeros((m, m))
    exact = np.ones(m, np.bool_)
    part_of_person, part_of_row = _parts(likelihood)
    for part in range(m):
        people, rows = np.flatnonzero(part_of_person == part), np.flatnonzero(part_of_row == part)
        if len(people) == 0:
            continue
        block = np.empty((len(people), len(rows)))
        for i in range(len(people)):
            largest = likelihood[people[i]].max()
            for r in range(len(rows)):
                block[i, r] = likelihood[people[i], rows[r]] / largest
        found, done = _exactly(block, most_sets)
        if not done:
            found = _by_propagation(block)
        for i in range(len(people)):
            exact[people[i]] = done
            for r in range(len(rows)):
                marginals[people[i], rows[r]] = found[i, r]
    return marginals, exact


@internal
def _parts(likelihood: Any) -> Any:
    """Connected components of people and rows; a component is numbered by one of its people."""
    m = len(likelihood)
    person, row = np.full(m, -1), np.full(m, -1)
    waiting = np.empty(m, np.int64)
    for first in range(m):
        if person[first] >= 0:
            continue
        person[first] = first
        waiting[0], n_waiting = first, 1
        while n_waiting > 0:
            n_waiting -= 1
            i = waiting[n_waiting]
            for r in range(m):
                if likelihood[i, r] > 0.0 and row[r] < 0:
                    row[r] = first
                    for k in range(m):
                        if likelihood[k, r] > 0.0 and person[k] < 0:
                            person[k] = first
                            waiting[n_waiting] = k
                            n_waiting += 1
    return person, row


@internal
def _exactly(block: Any, most_sets: int) -> Any:
    """Marginals of one component, and whether they could be had with so many sets."""
    p = len(block)
    marginals = np.zeros((p, p))
    if p != block.shape[1] or p > _MOST_ROWS:
        return marginals, False
    kind, n_kinds = _kinds(block)
    members = np.zeros(n_kinds, np.uint64)  # rows of each kind
    sample = np.zeros(n_kinds, np.int64)
    for r in range(p):
        members[kind[r]] |= np.uint64(1) << np.uint64(r)
        sample[kind[r]] = r
    order = _order(block)
    due = _due(block, order)
    starts = np.zeros(p + 2, np.int64)
    starts[1] = 1
    sets, weights = np.zeros(64, np.uint64), np.zeros(64)
    weights[0] = 1.0
    for step in range(p):
        i = order[step]
        begin, end = starts[step], starts[step + 1]
        grown, grown_weight = np.empty((end - begin) * n_kinds, np.uint64), np.empty((end - begin) * n_kinds)
        n_grown, largest = 0, 0.0
        for s in range(begin, end):
            for k in range(n_kinds):
                chance = block[i, sample[k]]
                free = members[k] & ~sets[s]
                if chance > 0.0 and free != 0:
                    after = sets[s] | (free & (~free + np.uint64(1)))
                    if after & due[step] == due[step]:
                        grown[n_grown] = after
                        grown_weight[n_grown] = weights[s] * chance * _ones(free)
                        largest = max(largest, grown_weight[n_grown])
                        n_grown += 1
        if n_grown == 0 or n_grown > 8 * most_sets:
            return marginals, False
        by_set = np.argsort(grown[:n_grown])
        needed = end + n_grown
        if needed > len(sets):
            longer, heavier = np.zeros(2 * needed, np.uint64), np.zeros(2 * needed)
            for i in range(end):
                longer[i], heavier[i] = sets[i], weights[i]
            sets, weights = longer, heavier
        at = end - 1
        for g in by_set:
            if at < end or sets[at] != grown[g]:
                at += 1
                sets[at], weights[at] = grown[g], 0.0
            weights[at] += grown_weight[g] / largest
        starts[step + 2] = at + 1
        if at + 1 - end > most_sets:
            return marginals, False
    # Backwards: the weight of all ways to go on from a set.
    following = np.ones(1)
    for step in range(p - 1, -1, -1):
        i = order[step]
        begin, end, last = starts[step], starts[step + 1], starts[step + 2]
        here = np.zeros(end - begin)
        total = 0.0
        for s in range(begin, end):
            for k in range(n_kinds):
                chance = block[i, sample[k]]
                free = members[k] & ~sets[s]
                if chance > 0.0 and free != 0:
                    at = place_of(sets, end, last, sets[s] | (free & (~free + np.uint64(1))))
                    if at >= 0:
                        ways = chance * _ones(free) * following[at - end]
                        here[s - begin] += ways
                        marginals[i, sample[k]] += weights[s] * ways
                        total += weights[s] * ways
        if total <= 0.0:
            return marginals, False
        for k in range(n_kinds):
            each = marginals[i, sample[k]] / total / _ones(members[k])
            for r in range(p):
                if kind[r] == k:
                    marginals[i, r] = each
        following = here / here.max()
    return marginals, True


@internal
def _kinds(block: Any) -> Any:
    """Number rows that everybody produces alike."""
    p = len(block)
    kind = np.full(p, -1)
    n_kinds = 0
    for r in range(p):
        for other in range(r):
            if (block[:, r] == block[:, other]).all():
                kind[r] = kind[other]
                break
        if kind[r] < 0:
            kind[r] = n_kinds
            n_kinds += 1
    return kind, n_kinds


@internal
def _order(block: Any) -> Any:
    """People in an order in which few new rows come into play with each."""
    p = len(block)
    order, seen, left = np.empty(p, np.int64), np.zeros(p, np.bool_), np.ones(p, np.bool_)
    for step in range(p):
        best, fewest = -1, p + 1
        for i in range(p):
            if left[i]:
                new = ((block[i] > 0.0) & ~seen).sum()
                if new < fewest:
                    best, fewest = i, new
        order[step] = best
        left[best] = False
        seen |= block[best] > 0.0
    return order


@internal
def _due(block: Any, order: Any) -> Any:
    """(p,) the rows that nobody after a step can own."""
    p = len(block)
    due = np.zeros(p, np.uint64)
    for r in range(p):
        last = 0
        for step in range(p):
            if block[order[step], r] > 0.0:
                last = step
        for step in range(last, p):
            due[step] |= np.uint64(1) << np.uint64(r)
    return due


@internal
def _ones(word: Any) -> int:
    count = 0
    while word != 0:
        word &= word - np.uint64(1)
        count += 1
    return count


@internal
def _by_propagation(block: Any) -> Any:
    """Bethe marginals: odds u that row constraints, v that column constraints give to each possible pair."""
    p, n = block.shape
    row_starts, column_starts = np.zeros(p + 1, np.int64), np.zeros(n + 1, np.int64)
    for i in range(p):
        for r in range(n):
            if block[i, r] > 0.0:
                row_starts[i + 1] += 1
                column_starts[r + 1] += 1
    row_starts, column_starts = np.cumsum(row_starts), np.cumsum(column_starts)
    n_pairs = row_starts[p]
    by_row, by_column = np.arange(n_pairs), np.empty(n_pairs, np.int64)
    weight = np.empty(n_pairs)
    filled = column_starts.copy()
    at = 0
    for i in range(p):
        for r in range(n):
            if block[i, r] > 0.0:
                weight[at] = block[i, r]
                by_column[filled[r]] = at
                filled[r] += 1
                at += 1
    u, v = np.ones(n_pairs), np.ones(n_pairs)
    chances, earlier = np.zeros(n_pairs), np.zeros(n_pairs)
    for sweep in range(max(_LEAST_SWEEPS, min(_SWEEPS, _UPDATES // n_pairs)) + 1):
        _move(row_starts, by_row, weight, v, u)
        _move(column_starts, by_column, weight, u, v)
        if sweep % _BETWEEN_LOOKS:
            continue
        for i in range(p):
            total = 0.0
            for e in range(row_starts[i], row_starts[i + 1]):
                odds = weight[e] * u[e] * v[e]
                chances[e] = odds / (1.0 + odds)
                total += chances[e]
            chances[row_starts[i] : row_starts[i + 1]] /= total
        if np.abs(chances - earlier).max() < _SETTLED:
            break
        for e in range(len(chances)):
            earlier[e] = chances[e]
    marginals = np.zeros((p, n))
    at = 0
    for i in range(p):
        for r in range(n):
            if block[i, r] > 0.0:
                marginals[i, r] = chances[at]
                at += 1
    return marginals


@internal
def _move(starts: Any, pairs: Any, weight: Any, given: Any, odds: Any) -> None:
    """Move ``odds`` of every pair half-way (in logarithms) to one over the sum of all other pairs of its run."""
    for run in range(len(starts) - 1):
        begin, end = starts[run], starts[run + 1]
        behind = np.zeros(end - begin + 1)
        for k in range(end - begin - 1, -1, -1):
            behind[k] = behind[k + 1] + weight[pairs[begin + k]] * given[pairs[begin + k]]
        before = 0.0
        for k in range(end - begin):
            e = pairs[begin + k]
            rest = before + behind[k + 1]
            wanted = 1.0 / rest if rest > 1.0 / _LARGEST else _LARGEST
            odds[e] = np.sqrt(wanted) * np.sqrt(odds[e])
            before += weight[e] * given[e]
