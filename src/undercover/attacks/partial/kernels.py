"""Of a few people at once: which columns every published row fits in, and from that all subsets of columns at once.

What fits in a subset of columns is the sum over all sets of columns that contain it, so rows are counted by the exact
set of columns they fit in, and the counts are then summed upwards (Yates 1937). The work is people times rows, however
many subsets there are; a word holds the columns of eight people, or of four where there are more than eight columns.

Of everybody: classes of rows and people who are alike in some columns, split by one more.

What an attacker concludes who matches on some columns only, so that many boxes fit.

As :func:`undercover.forms.kernels.posteriors` over the boxes of :func:`undercover.forms.kernels.covering_boxes`,
without writing the boxes down: of few known columns nearly all of them fit nearly everybody.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from undercover.compiled.jit import kernel
from undercover.compiled.words import lowest_bit


@kernel
def columns_of_cells(starts: Any, low: Any, high: Any, values: Any, column: Any, width: Any) -> Any:
    """(n_cells,) of every one of some people the bit of a column, where a cell of it covers the person's value.

    Person k has the ``width`` bits from ``width * k`` on of a word. The runs of cell c are ``starts[c]:starts[c + 1]``.
    """
    found = np.zeros(len(starts) - 1, np.uint64)
    for cell in range(len(starts) - 1):
        for run in range(starts[cell], starts[cell + 1]):
            for person in range(len(values)):
                inside = np.uint64((low[run] <= values[person]) & (values[person] <= high[run]))
                found[cell] |= inside << np.uint64(width * person + column)
    return found


@kernel
def columns_that_fit(cells: Any, bits: Any) -> Any:
    """(n_rows,) of every person the columns in which a row fits; ``cells`` (n_rows, d) are lines of ``bits``."""
    found = np.zeros(len(cells), np.uint64)
    for row in range(len(cells)):
        for j in range(cells.shape[1]):
            found[row] |= bits[cells[row, j]]
    return found


@kernel
def add_weights(fits: Any, weights: Any, width: Any, sums: Any) -> None:
    """Add what each row weighs to ``sums`` (n_people, 2 ** d), by the columns in which it fits a person."""
    mask = np.uint64((1 << width) - 1)
    for row in range(len(fits)):
        for person in range(len(sums)):
            sums[person, (fits[row] >> np.uint64(width * person)) & mask] += weights[row]


@kernel
def add_true_values(fits: Any, values: Any, place: Any, truth: Any, width: Any, sums: Any) -> None:
    """Add 1 for every row that has the person's true value; ``place`` (n_values,) numbers values as ``truth`` does."""
    mask = np.uint64((1 << width) - 1)
    for row in range(len(fits)):
        value = place[values[row]]
        for person in range(len(sums)):
            if truth[person] == value:
                sums[person, (fits[row] >> np.uint64(width * person)) & mask] += 1.0


@kernel
def add_true_shares(
    fits: Any, groups: Any, weights: Any, held: Any, place: Any, truth: Any, width: Any, sums: Any
) -> None:
    """The same of rows that have the values of their group by their shares: see ``add_groups`` of looking."""
    starts, values, times, sizes = held
    mask = np.uint64((1 << width) - 1)
    for row in range(len(fits)):
        group = groups[row]
        weight = weights[row] / sizes[group]
        for entry in range(starts[group], starts[group + 1]):
            value = place[values[entry]]
            for person in range(len(sums)):
                if truth[person] == value:
                    sums[person, (fits[row] >> np.uint64(width * person)) & mask] += weight * times[entry]


@kernel
def split_classes(alike: Any, row_codes: Any, codes: Any, n_codes: Any) -> Any:
    """The classes of rows and people (:class:`undercover.attacks.partial.alike.Alike`), split by one more column.

    Of every class, ``row_codes`` and ``codes`` of its rows and people are counted, and rows and people of every code
    that both have become a class, in the order they had.
    """
    rows, row_starts, people, person_starts = alike
    most = min(len(rows), len(people))
    new_rows, new_row_starts = np.empty(len(rows), np.int64), np.zeros(most + 1, np.int64)
    new_people, new_person_starts = np.empty(len(people), np.int64), np.zeros(most + 1, np.int64)
    n_rows, n_people = np.zeros(n_codes + 1, np.int64), np.zeros(n_codes + 1, np.int64)
    row_at, person_at = np.empty(n_codes + 1, np.int64), np.empty(n_codes + 1, np.int64)
    touched = np.empty(n_codes + 1, np.int64)
    n_classes = 0
    for c in range(len(row_starts) - 1):
        n_touched = 0
        for i in range(row_starts[c], row_starts[c + 1]):
            code = row_codes[rows[i]]
            if n_rows[code] == 0:
                touched[n_touched] = code
                n_touched += 1
            n_rows[code] += 1
        for i in range(person_starts[c], person_starts[c + 1]):
            n_people[codes[people[i]]] += 1
        for i in range(n_touched):
            code = touched[i]
            if n_people[code] > 0:
                row_at[code], person_at[code] = new_row_starts[n_classes], new_person_starts[n_classes]
                n_classes += 1
                new_row_starts[n_classes] = row_at[code] + n_rows[code]
                new_person_starts[n_classes] = person_at[code] + n_people[code]
        for i in range(row_starts[c], row_starts[c + 1]):
            code = row_codes[rows[i]]
            if n_people[code] > 0:
                new_rows[row_at[code]] = rows[i]
                row_at[code] += 1
        for i in range(person_starts[c], person_starts[c + 1]):
            code = codes[people[i]]
            if n_rows[code] > 0:
                new_people[person_at[code]] = people[i]
                person_at[code] += 1
            n_people[code] = 0
        for i in range(n_touched):
            n_rows[touched[i]] = 0
    last_row, last_person = new_row_starts[n_classes], new_person_starts[n_classes]
    starts = new_row_starts[: n_classes + 1], new_person_starts[: n_classes + 1]
    return new_rows[:last_row], starts[0], new_people[:last_person], starts[1]


@kernel
def covering_posteriors(
    bitmaps: Any, value_starts: Any, columns: Any, codes: Any, buckets: Any, shares: Any, order: Any, target_of: Any,
    truth: Any,
) -> Any:  # fmt: skip
    """Matching rows, probability of the true value and of a right guess, for every row.

    The ``bitmaps`` are those of :func:`undercover.forms.kernels.index_boxes`, all boxes at once; ``buckets`` as in its
    ``posteriors``, with the ``shares`` of the bucket's rows that each entry has. ``codes`` (n_rows, d) are the people's
    values, matched on in ``columns``; ``order`` puts rows side by side that are alike in these, with a number in
    common.
    """
    weights, bucket_of, bucket_starts, bucket_values, _, _, n_values = buckets
    n, n_boxes = len(order), len(weights)
    n_words = (n_boxes + 63) // 64
    matches = np.zeros(n, np.int64)
    probability = np.zeros(n)
    hit = np.zeros(n)
    share = np.zeros(n_values)
    touched = np.empty(n_values, np.int64)
    at = 0
    while at < n:
        person = order[at]
        target = target_of[person]
        n_touched, total = 0, 0.0
        for w in range(n_words):
            word = ~np.uint64(0)
            if w == n_words - 1 and n_boxes & 63:
                word = (np.uint64(1) << np.uint64(n_boxes & 63)) - np.uint64(1)
            for j in columns:
                word &= bitmaps[value_starts[j] + codes[person, j], w]
            while word != 0:
                box = 64 * w + lowest_bit(word)
                word &= word - np.uint64(1)
                total += weights[box]
                for v in range(bucket_starts[bucket_of[box]], bucket_starts[bucket_of[box] + 1]):
                    value = bucket_values[v]
                    if share[value] == 0.0:
                        touched[n_touched] = value
                        n_touched += 1
                    share[value] += weights[box] * shares[v]
        highest = 0.0
        for i in range(n_touched):
            highest = max(highest, share[touched[i]])
        ties = 0
        for i in range(n_touched):
            ties += share[touched[i]] >= highest * (1.0 - 1e-12)
        while at < n and target_of[order[at]] == target:
            row = order[at]
            matches[row] = np.int64(total)
            if n_touched > 0:
                probability[row] = min(1.0, share[truth[row]] / total)
                if share[truth[row]] >= highest * (1.0 - 1e-12):
                    hit[row] = 1.0 / ties
            at += 1
        for i in range(n_touched):
            share[touched[i]] = 0.0
    return matches, probability, hit
