"""Which of some people every published row fits: rows are gone through once for all of them.

Where cells cover several values, 256 people are looked for at once: every cell of every column has a bit for each of
them, and a row fits those whose bits are set in all its cells. Where every cell is one value, a row fits at most one
combination of values, which is looked up by its hash.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from undercover.compiled.jit import internal, kernel
from undercover.compiled.words import lowest_bit

WORDS = 4
"""Words of 64 people that are looked for at once."""

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


@kernel
def people_of_cells(starts: Any, low: Any, high: Any, values: Any) -> Any:
    """(n_cells, WORDS) a bit for each of at most 256 people whose value, (n_people,), a cell covers.

    The runs of cell c are ``starts[c]:starts[c + 1]``, from ``low`` to ``high``.
    """
    found = np.zeros((len(starts) - 1, WORDS), np.uint64)
    for cell in range(len(starts) - 1):
        for run in range(starts[cell], starts[cell + 1]):
            for person in range(len(values)):
                if low[run] <= values[person] <= high[run]:
                    found[cell, person >> 6] |= np.uint64(1) << np.uint64(person & 63)
    return found


@kernel
def fitting(cells: Any, people: Any, first: Any, pairs: Any) -> Any:
    """Write down which of at most 256 people every row from ``first`` on fits, until ``pairs`` are full.

    ``cells`` (n_rows, d) are numbered through all columns, as are the lines of ``people``, which is
    :func:`people_of_cells` of all columns. A pair is a row and a person. Returns how many there are, and the first row
    that was not looked at.
    """
    n, d = cells.shape
    found, most = 0, len(pairs) - 64 * WORDS
    row = first
    while row < n and found <= most:
        cell = cells[row, 0]
        a, b, c, e = people[cell, 0], people[cell, 1], people[cell, 2], people[cell, 3]
        for j in range(1, d):
            if a | b | c | e == 0:
                break
            cell = cells[row, j]
            a &= people[cell, 0]
            b &= people[cell, 1]
            c &= people[cell, 2]
            e &= people[cell, 3]
        if a | b | c | e != 0:
            for at in range(WORDS):
                word = a if at == 0 else b if at == 1 else c if at == 2 else e
                while word != 0:
                    pairs[found, 0], pairs[found, 1] = row, 64 * at + lowest_bit(word)
                    found += 1
                    word &= word - np.uint64(1)
        row += 1
    return found, row


@internal
def _hashed(codes: Any, row: Any) -> Any:
    key = np.uint64(0)
    for j in range(codes.shape[1]):
        key = (key ^ np.uint64(codes[row, j])) * _MULTIPLIER
        key ^= key >> np.uint64(29)
    return key


@kernel
def indexed(people: Any, bits: Any) -> Any:
    """(2 ** bits,) by hash, the place of every one of some different people (n_people, d); -1 where nobody is."""
    places = np.full(1 << bits, -1, np.int32)
    mask = np.uint64((1 << bits) - 1)
    for person in range(len(people)):
        at = _hashed(people, person) & mask
        while places[at] >= 0:
            at = (at + np.uint64(1)) & mask
        places[at] = person
    return places


@kernel
def equal(codes: Any, people: Any, places: Any, pairs: Any) -> Any:
    """As :func:`fitting`, of rows (n_rows, d) that are one value in every column, and people by their ``places``."""
    mask, found = np.uint64(len(places) - 1), 0
    for row in range(len(codes)):
        at = _hashed(codes, row) & mask
        while places[at] >= 0:
            person = places[at]
            same = True
            for j in range(codes.shape[1]):
                if codes[row, j] != people[person, j]:
                    same = False
                    break
            if same:
                pairs[found, 0], pairs[found, 1] = row, person
                found += 1
                break
            at = (at + np.uint64(1)) & mask
    return found


@kernel
def add_rows(pairs: Any, weights: Any, matches: Any) -> None:
    """Count every row, as ``weights`` (n_rows,) of them, for the person who fits it."""
    for pair in range(len(pairs)):
        matches[pairs[pair, 1]] += weights[pairs[pair, 0]]


@kernel
def add_values(pairs: Any, values: Any, place: Any, counts: Any) -> None:
    """Count the value of every row, (n_rows,), for the person who fits it, in the column of ``counts`` it has."""
    for pair in range(len(pairs)):
        counts[pairs[pair, 1], place[values[pairs[pair, 0]]]] += 1.0


@kernel
def add_groups(pairs: Any, groups: Any, weights: Any, held: Any, place: Any, counts: Any) -> None:
    """The same where a row stands for ``weights`` rows that have the values of a group by their shares.

    Group g has ``sizes[g]`` rows, with the values ``starts[g]:starts[g + 1]``, each so many times.
    """
    starts, values, times, sizes = held
    for pair in range(len(pairs)):
        row, person = pairs[pair, 0], pairs[pair, 1]
        group = groups[row]
        weight = weights[row] / sizes[group]
        for entry in range(starts[group], starts[group + 1]):
            counts[person, place[values[entry]]] += weight * times[entry]


@kernel
def cross_shares(cells: Any, others: Any, weights: Any, touches: Any, table: Any) -> None:
    """Add every row to ``table`` (n_cells, n_bins): its cell of one column with the bins that its other cell touches.

    Cell c of the other column touches the bins of ``starts[c]:starts[c + 1]``, each by a share.
    """
    starts, bins, shares = touches
    for row in range(len(cells)):
        for touch in range(starts[others[row]], starts[others[row] + 1]):
            table[cells[row], bins[touch]] += weights[row] * shares[touch]


@kernel
def cross_values(cells: Any, values: Any, place: Any, table: Any) -> None:
    """Add every row to ``table`` (n_cells, n_values): its cell with its value."""
    for row in range(len(cells)):
        table[cells[row], place[values[row]]] += 1.0


@kernel
def cross_groups(cells: Any, groups: Any, weights: Any, held: Any, place: Any, table: Any) -> None:
    """The same where rows have the values of a group by their shares, as in :func:`add_groups`."""
    starts, values, times, sizes = held
    for row in range(len(cells)):
        group = groups[row]
        weight = weights[row] / sizes[group]
        for entry in range(starts[group], starts[group + 1]):
            table[cells[row], place[values[entry]]] += weight * times[entry]


@kernel
def cross_cells(cells: Any, others: Any, weights: Any, table: Any) -> None:
    """Add every row to ``table`` (n_cells, n_others): its cell of one column with that of another."""
    for row in range(len(cells)):
        table[cells[row], others[row]] += weights[row]


@kernel
def spread_cells(table: Any, touches: Any, found: Any) -> None:
    """Add the lines of ``table`` (n_cells, n_others) to the lines of ``found`` (n_bins, n_others) that they touch."""
    starts, bins, shares = touches
    for cell in range(len(table)):
        line = table[cell]
        for touch in range(starts[cell], starts[cell + 1]):
            into, share = found[bins[touch]], shares[touch]
            for other in range(len(line)):
                into[other] += share * line[other]


@kernel
def cross_bins(bins: Any, others: Any, size: Any, counts: Any) -> None:
    """Count pairs of bins, (n_rows,) each: bin a with bin b of ``size`` stands at ``a * size + b``."""
    for row in range(len(bins)):
        counts[np.int64(bins[row]) * size + np.int64(others[row])] += 1
