"""Draws from random output tables, what becomes of rows that came through unchanged, and who can be found.

Li, Wang & He, "Privacy-Preserving Data Publishing via Mutual Cover", Algorithm 1 (lines that output values) and
Algorithm 3; without rejection.

A person is picked among all rows that carry a value, when everybody carries it by chance: with N others who do, the
chance is E[1 / (1 + N)], N being Poisson-binomial. As 1 / (1 + N) is the integral of s^N over [0, 1], it is the
integral of prod(1 - p_i u) over u = 1 - s: one product over all carriers instead of a distribution. The integrand falls
like exp(-u sum p), so it is taken on [0, 40 / sum p] at most; what lies beyond is less than e^-40 of it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from undercover.compiled.jit import inlined, internal, kernel
from undercover.compiled.words import place_of, sort_few
from undercover.methods.mutual_cover.kernels import People, Tables

OFF, PAPER, RESAMPLE = range(3)
_UNIT = 1.0 / (1 << 53)


# Groups up to this size are counted exactly, which takes the square of their size; larger ones by quadrature.
LARGEST_COUNTED = 512
_NODES, _NODE_WEIGHTS = np.polynomial.legendre.leggauss(16)
REACH = 40.0


@internal
def _number(words: Any, at: int) -> float:
    """A uniform number in [0, 1) of 53 bits from two words."""
    high, low = np.uint64(words[at]), np.uint64(words[at + 1])
    return np.float64(((high << np.uint64(32)) | low) >> np.uint64(11)) * _UNIT


@internal
def _draw(probabilities: Any, first: int, n: int, number: float, without: int) -> int:
    """An output column with its probability, column ``without`` left out (-1: none); the last with mass at the edge."""
    total = 0.0
    for j in range(n):
        if j != without:
            total += probabilities[first + j]
    target = number * total
    chosen = -1
    below = 0.0
    for j in range(n):
        if j != without and probabilities[first + j] > 0.0:
            chosen = j
            below += probabilities[first + j]
            if target < below:
                break
    return chosen


@inlined
def _line(tables: Tables, p: int, code: Any) -> Any:
    """The line of an original value in table p."""
    start = tables.row_starts[p]
    return place_of(tables.originals, start, tables.row_starts[p + 1], code) - start


@inlined
def _kept_at(people: People, tables: Tables, p: int, a: int, code: Any) -> Any:
    """The column of table p, of attribute a, that keeps an original value; negative if there is none."""
    start, end = tables.column_starts[p], tables.column_starts[p + 1]
    at = place_of(tables.outputs, start, end, people.as_output[people.output_starts[a] + code])
    return at - start if at >= 0 else at


@kernel
def sample_rows(groups: Any, people: People, tables: Tables, words: Any, released: Any, same: Any) -> None:
    """Draw what every row of some groups releases (n_rows, d), by ``words`` (n_rows, 2 d), and whether all came
    through.
    """
    offsets, rows, codes, as_output, output_starts = people
    _, _, _, column_starts, outputs, cell_starts, probabilities = tables
    d = codes.shape[1]
    n_groups = len(offsets) - 1
    for g in groups:
        for position in range(offsets[g], offsets[g + 1]):
            row = rows[position]
            all_same = True
            for a in range(d):
                p = a * n_groups + g
                n = column_starts[p + 1] - column_starts[p]
                first = cell_starts[p] + _line(tables, p, codes[row, a]) * n
                j = _draw(probabilities, first, n, _number(words[row], 2 * a), -1)
                value = outputs[column_starts[p] + j]
                released[row, a] = value
                all_same = all_same and value == as_output[output_starts[a] + codes[row, a]]
            same[row] = all_same


@kernel
def change_rows(
    chosen_rows: Any, labels: Any, people: People, tables: Tables, weights: Any, resample: bool, perturb: int,
    words: Any, released: Any, changed: Any,
) -> None:  # fmt: skip
    """Change rows all of whose values came through: drawn again given a change, or by Algorithm 3.

    ``weights`` (d * n_groups,): Algorithm 3, line 1. With ``resample`` a row is drawn from its own tables given that
    something changes; Algorithm 3, which replaces ``perturb`` values, only where nothing can. Each row to change has 2
    d + 4 perturb ``words``, and ``changed`` says whether it could be done.
    """
    codes, n_groups = people.codes, len(people.offsets) - 1
    column_starts, outputs, probabilities = tables.column_starts, tables.outputs, tables.probabilities
    d = codes.shape[1]
    first_cell = np.empty(d, np.int64)  # of the row's line in each table
    n_columns = np.empty(d, np.int64)
    kept_at = np.empty(d, np.int64)  # column of the original value
    keep = np.empty(d)
    tail = np.empty(d + 1)  # probability that this attribute and all after it keep their values
    chance = np.empty(d)
    for i in range(len(chosen_rows)):
        row = chosen_rows[i]
        g = labels[row]
        for a in range(d):
            p = a * n_groups + g
            n_columns[a] = column_starts[p + 1] - column_starts[p]
            first_cell[a] = tables.cell_starts[p] + _line(tables, p, codes[row, a]) * n_columns[a]
            kept_at[a] = _kept_at(people, tables, p, a, codes[row, a])
            keep[a] = probabilities[first_cell[a] + kept_at[a]]
        tail[d] = 1.0
        for a in range(d - 1, -1, -1):
            tail[a] = tail[a + 1] * keep[a]
        if resample and tail[0] < 1.0:
            # One attribute after the other, given that not all of the rest keep their values.
            done = False
            for a in range(d):
                number = _number(words[i], 2 * a)
                if done:
                    j = _draw(probabilities, first_cell[a], n_columns[a], number, -1)
                else:
                    change = (1.0 - keep[a]) / (1.0 - tail[a])
                    if number < change:
                        done = True
                        j = _draw(probabilities, first_cell[a], n_columns[a], number / change, kept_at[a])
                    else:
                        j = kept_at[a]
                released[row, a] = outputs[column_starts[a * n_groups + g] + j]
            changed[i] = done
            continue
        # Algorithm 3: an attribute by weight, then another of its values, uniformly.
        total = 0.0
        for a in range(d):
            n = n_columns[a]
            chance[a] = weights[a * n_groups + g] * (1.0 - 1.0 / n) if n > 1 else 0.0
            total += chance[a]
        at = 2 * d
        replaced = 0
        while replaced < perturb and total > 0.0:
            target = _number(words[i], at) * total
            attribute, below = -1, 0.0
            for a in range(d):
                if chance[a] > 0.0:
                    attribute = a
                    below += chance[a]
                    if target < below:
                        break
            n = n_columns[attribute]
            j = min(np.int64(_number(words[i], at + 2) * (n - 1)), n - 2)
            if j >= kept_at[attribute]:
                j += 1
            released[row, attribute] = outputs[column_starts[attribute * n_groups + g] + j]
            at += 4
            replaced += 1
            chance[attribute] = 0.0
            total = chance.sum()
        changed[i] = replaced > 0


@kernel
def effective_shares(
    groups: Any, people: People, tables: Tables, weights: Any, unchanged: int, shares: Any, reidentified: Any
) -> None:
    """What a record's share of an output value is after unchanged rows were dealt with, and how surely he is found.

    ``shares`` (tables,): the largest share of one record in any column of the table, of the values as they are
    released. ``reidentified`` (n_rows, d): the probability that somebody who knows one value of the person and looks
    for it in the group picks the person's row, as in Example 1 of the paper: the person must have kept the value, and
    is one of all who carry it (the number of others is Poisson-binomial). Before unchanged rows are dealt with.
    """
    offsets, rows, codes, as_output, output_starts = people
    row_starts, originals, _, column_starts, outputs, cell_starts, probabilities = tables
    d = codes.shape[1]
    n_groups = len(offsets) - 1
    most = 0
    for g in groups:
        most = max(most, offsets[g + 1] - offsets[g])
    lines = np.empty((most, d), np.int64)  # line of each row in the tables of its group
    stays = np.empty(most)  # probability that the whole row keeps its values
    distribution = np.empty(most + 1)
    for g in groups:
        size = offsets[g + 1] - offsets[g]
        total = 0.0
        for a in range(d):
            n = column_starts[a * n_groups + g + 1] - column_starts[a * n_groups + g]
            total += weights[a * n_groups + g] * (1.0 - 1.0 / n) if n > 1 else 0.0
        for i in range(size):
            row = rows[offsets[g] + i]
            stays[i] = 1.0
            for a in range(d):
                p = a * n_groups + g
                n = column_starts[p + 1] - column_starts[p]
                lines[i, a] = _line(tables, p, codes[row, a])
                at = _kept_at(people, tables, p, a, codes[row, a])
                stays[i] *= probabilities[cell_starts[p] + lines[i, a] * n + at] if at >= 0 else 0.0
        for a in range(d):
            p = a * n_groups + g
            n = column_starts[p + 1] - column_starts[p]
            picked = weights[p] * (1.0 - 1.0 / n) / total if n > 1 and total > 0.0 else 0.0
            largest = 0.0
            for j in range(n):
                highest, mass = 0.0, 0.0
                for i in range(size):
                    line = lines[i, a]
                    chance = probabilities[cell_starts[p] + line * n + j]
                    code = originals[row_starts[p] + line]
                    own = as_output[output_starts[a] + code] == outputs[column_starts[p] + j]
                    if unchanged == RESAMPLE and stays[i] < 1.0:
                        chance = (chance - stays[i] if own else chance) / (1.0 - stays[i])
                    elif unchanged != OFF:
                        moved = stays[i] * picked
                        chance = chance - moved if own else chance + (moved / (n - 1) if n > 1 else 0.0)
                    highest = max(highest, chance)
                    mass += chance
                if mass > 0.0:
                    largest = max(largest, highest / mass)
            shares[p] = largest
            rows_of_line = np.zeros(row_starts[p + 1] - row_starts[p], np.int64)
            for i in range(size):
                rows_of_line[lines[i, a]] += 1
            for line in range(row_starts[p + 1] - row_starts[p]):
                at = _kept_at(people, tables, p, a, originals[row_starts[p] + line])
                found = 0.0
                if at >= 0:
                    table = probabilities[cell_starts[p] : cell_starts[p + 1]]
                    if size <= LARGEST_COUNTED:
                        found = _found(table, n, at, lines[:size, a], line, distribution)
                    else:
                        found = _found_among_many(table, n, at, rows_of_line, line)
                for i in range(size):
                    if lines[i, a] == line:
                        reidentified[rows[offsets[g] + i], a] = found


@internal
def _found(table: Any, n: int, j: int, lines: Any, line: int, distribution: Any) -> float:
    """A record of the given line carries column j, and is picked among all who carry it."""
    distribution[0] = 1.0
    others = 0
    skipped = False
    for other in lines:
        if other == line and not skipped:
            skipped = True
            continue
        chance = table[other * n + j]
        others += 1
        distribution[others] = 0.0
        for m in range(others, 0, -1):
            distribution[m] = distribution[m] * (1.0 - chance) + distribution[m - 1] * chance
        distribution[0] *= 1.0 - chance
    expected = 0.0
    for m in range(others + 1):
        expected += distribution[m] / (m + 1)
    return table[line * n + j] * expected


@internal
def _found_among_many(table: Any, n: int, j: int, rows_of_line: Any, line: int) -> float:
    """The same in a large group, by quadrature: the mean of 1 / (1 + S) is the integral of E[t^S] over t from 0 to 1.

    S counts the others who carry column j, independently, so E[t^S] is the product of 1 - p + p t over them; lines of
    equal records are raised to their number. With s = 1 - t it falls like exp(-s E[S]); the panels of the quadrature
    begin at that width and double.
    """
    mean = 0.0
    for other in range(len(rows_of_line)):
        mean += (rows_of_line[other] - (other == line)) * table[other * n + j]
    expected = 0.0
    begin, end = 0.0, min(1.0, 0.5 / (1.0 + mean))
    while begin < 1.0:
        for node in range(len(_NODES)):
            at = begin + (end - begin) * (1.0 + _NODES[node]) / 2.0
            logarithm = 0.0
            for other in range(len(rows_of_line)):
                others = rows_of_line[other] - (other == line)
                chance = table[other * n + j]
                if others > 0 and chance > 0.0:
                    rest = 1.0 - chance * at
                    logarithm += others * np.log(rest) if rest > 0.0 else -np.inf
            expected += _NODE_WEIGHTS[node] * (end - begin) / 2.0 * np.exp(logarithm)
        begin, end = end, min(1.0, 2.0 * end)
    return table[line * n + j] * expected


@kernel
def distinct_values(codes: Any, order: Any, offsets: Any, size: int) -> Any:
    """The distinct codes of every group, ascending, with their counts: (starts, values, counts).

    The rows of group g are ``order[offsets[g]:offsets[g + 1]]``, its values ``values[starts[g]:starts[g + 1]]``.
    """
    n_groups = len(offsets) - 1
    starts = np.zeros(n_groups + 1, np.int64)
    values = np.empty(len(order), np.int32)
    counts = np.empty(len(order), np.int32)
    tally = np.zeros(size, np.int32)
    end = 0
    for g in range(n_groups):
        start = end
        for p in range(offsets[g], offsets[g + 1]):
            code = codes[order[p]]
            if tally[code] == 0:
                values[end] = code
                end += 1
            tally[code] += 1
        if 8 * (end - start) > size:
            end = start
            for code in range(size):
                if tally[code] > 0:
                    values[end] = code
                    end += 1
        else:
            sort_few(values, start, end)
        for i in range(start, end):
            counts[i] = tally[values[i]]
            tally[values[i]] = 0
        starts[g + 1] = end
    return starts, values[:end].copy(), counts[:end].copy()


@kernel
def carrier_mass(numbers: Any, tables: Tables, mass: Any) -> None:
    """Add up, over all groups of one attribute, how many rows carry each output value on average."""
    row_starts, _, counts, column_starts, outputs, cell_starts, probabilities = tables
    for p in numbers:
        n = column_starts[p + 1] - column_starts[p]
        for line in range(row_starts[p + 1] - row_starts[p]):
            for j in range(n):
                chance = probabilities[cell_starts[p] + line * n + j]
                mass[outputs[column_starts[p] + j]] += counts[row_starts[p] + line] * chance


@kernel
def carrier_products(numbers: Any, tables: Tables, reach: Any, nodes: Any, products: Any) -> None:
    """Multiply, for each output value, 1 - p u over all who may carry it, at every node u = ``reach`` times a node."""
    row_starts, _, counts, column_starts, outputs, cell_starts, probabilities = tables
    for p in numbers:
        n = column_starts[p + 1] - column_starts[p]
        for line in range(row_starts[p + 1] - row_starts[p]):
            records = counts[row_starts[p] + line]
            for j in range(n):
                chance = probabilities[cell_starts[p] + line * n + j]
                if chance > 0.0:
                    value = outputs[column_starts[p] + j]
                    step = chance * reach[value]
                    for k in range(len(nodes)):
                        factor = 1.0 - step * nodes[k]
                        power = factor
                        for _i in range(records - 1):
                            power *= factor
                        products[value, k] *= power


@kernel
def picked(
    numbers: Any, tables: Tables, as_output: Any, reach: Any, nodes: Any, quadrature: Any, products: Any, chances: Any
) -> None:
    """Fill ``chances`` (lines of all tables): a record of the line keeps its value and is picked among all carriers."""
    row_starts, originals, _, column_starts, outputs, cell_starts, probabilities = tables
    for p in numbers:
        n = column_starts[p + 1] - column_starts[p]
        for line in range(row_starts[p + 1] - row_starts[p]):
            value = as_output[originals[row_starts[p] + line]]
            at = -1
            for j in range(n):
                if outputs[column_starts[p] + j] == value:
                    at = j
            keep = probabilities[cell_starts[p] + line * n + at] if at >= 0 else 0.0
            total = 0.0
            if keep > 0.0:
                for k in range(len(nodes)):
                    total += quadrature[k] * products[value, k] / (1.0 - keep * reach[value] * nodes[k])
                total *= reach[value]
            chances[row_starts[p] + line] = keep * total
