"""Of one person after the other: which columns every published box fits in, and from that all subsets of columns at once.

What fits in a subset of columns is the sum over all sets of columns that contain it, so boxes are counted by the exact
set of columns they fit in, and the counts are then summed upwards (Yates 1937). The work is people times boxes, however
many subsets there are.

What an attacker concludes who matches on some columns only, so that many boxes fit.

As :func:`undercover.forms.kernels.posteriors` over the boxes of :func:`undercover.forms.kernels.covering_boxes`,
without writing the boxes down: of few known columns nearly all of them fit nearly everybody.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from undercover.compiled.jit import kernel
from undercover.compiled.words import lowest_bit

_BLOCK = 4096


class Covered(NamedTuple):
    """What boxes cover: the only value of each where ``exact``, else a bit per value. The other array is not read."""

    cells: Any  # (d, n_boxes)
    masks: Any  # as in :class:`undercover.forms.boxes.Boxes`
    word_starts: Any
    exact: bool
    weights: Any  # (n_boxes,) rows
    bucket_of: Any  # (n_boxes,)


@kernel
def subset_sums(covered: Covered, people: Any, own: Any, own_starts: Any, truth: Any, entries: Any) -> Any:
    """Chance of the person's own row and of the true value, summed over the subsets of each size.

    ``people`` (m, d) are values. The rows that may be person i's own, each as likely, fit in the columns of
    ``own[own_starts[i]:own_starts[i + 1]]``, as bits. ``truth`` is the sensitive value, in ascending order so that
    people with one value stand together; the entries are :class:`undercover.attacks.partial.attack.Entries`.
    """
    cells, masks, word_starts, exact, weights, bucket_of = covered
    m, d = people.shape
    n, full = len(weights), 1 << people.shape[1]
    identity, attribute = np.zeros((m, d + 1)), np.zeros((m, d + 1))
    fits = np.zeros(_BLOCK, np.uint16)
    share = np.zeros(entries.n_buckets)
    rows, true, mine = np.zeros(full), np.zeros(full), np.zeros(full)
    for i in range(m):
        if i == 0 or truth[i] != truth[i - 1]:
            share[:] = 0.0
            for entry in range(entries.starts[truth[i]], entries.starts[truth[i] + 1]):
                share[entries.buckets[entry]] = entries.shares[entry]
        rows[:] = 0.0
        true[:] = 0.0
        mine[:] = 0.0
        for place in range(own_starts[i], own_starts[i + 1]):
            mine[own[place]] += 1.0
        possible = own_starts[i + 1] - own_starts[i]
        for start in range(0, n, _BLOCK):  # a block at a time, so that what boxes fit in stays in the cache
            end = min(n, start + _BLOCK)
            if exact:
                fits[:] = 0
                for j in range(d):
                    value, bit, column = people[i, j], np.uint16(1 << j), cells[j]
                    for box in range(start, end):
                        fits[box - start] |= bit if column[box] == value else np.uint16(0)
            else:
                for box in range(start, end):
                    inside = 0
                    for j in range(d):
                        value = np.int64(people[i, j])
                        word = masks[box, word_starts[j] + (value >> 6)]
                        inside |= int((word >> np.uint64(value & 63)) & np.uint64(1)) << j
                    fits[box - start] = inside
            for box in range(start, end):
                rows[fits[box - start]] += weights[box]
                true[fits[box - start]] += weights[box] * share[bucket_of[box]]
        for j in range(d):
            for subset in range(full):
                if not subset & (1 << j):
                    rows[subset] += rows[subset | (1 << j)]
                    true[subset] += true[subset | (1 << j)]
                    mine[subset] += mine[subset | (1 << j)]
        for subset in range(full):
            if rows[subset] > 0:
                size, rest = 0, subset
                while rest:
                    size, rest = size + 1, rest & (rest - 1)
                identity[i, size] += mine[subset] / possible / rows[subset]
                attribute[i, size] += min(1.0, true[subset] / rows[subset])
    return identity, attribute


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
