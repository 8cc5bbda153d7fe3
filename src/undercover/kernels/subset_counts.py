"""Of one person after the other: which columns every published box fits in, and from that all subsets of columns at once.

What fits in a subset of columns is the sum over all sets of columns that contain it, so boxes are counted by the exact
set of columns they fit in, and the counts are then summed upwards (Yates 1937). The work is people times boxes, however
many subsets there are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from undercover.kernels.jit import kernel

_BLOCK = 4096


@kernel
def subset_sums(
    cells: Any, masks: Any, word_starts: Any, exact: bool, people: Any, own: Any, truth: Any, weights: Any,
    bucket_of: Any, entry_starts: Any, entry_buckets: Any, entry_shares: Any, n_buckets: int,
) -> Any:  # fmt: skip
    """Chance of the person's own row and of the true value, summed over the subsets of each size.

    Parameters
    ----------
    cells, masks, word_starts, exact
        What boxes cover: where ``exact``, the only value of each, ``cells`` (d, n_boxes); else a bit per value, as in
        :class:`undercover.attacks.boxes.Boxes`. The other array is not read.
    people, own, truth
        (m, d) values, the columns in which a person's own row fits as bits, and the sensitive value, in ascending order
        so that people with one value stand together.
    weights, bucket_of
        Rows and bucket of each box.
    entry_starts, entry_buckets, entry_shares
        By sensitive value: the buckets that hold it, and its share of each.
    """
    m, d = people.shape
    n, full = len(weights), 1 << people.shape[1]
    identity, attribute = np.zeros((m, d + 1)), np.zeros((m, d + 1))
    fits = np.zeros(_BLOCK, np.uint16)
    share = np.zeros(n_buckets)
    rows, true = np.zeros(full), np.zeros(full)
    for i in range(m):
        if i == 0 or truth[i] != truth[i - 1]:
            share[:] = 0.0
            for entry in range(entry_starts[truth[i]], entry_starts[truth[i] + 1]):
                share[entry_buckets[entry]] = entry_shares[entry]
        rows[:] = 0.0
        true[:] = 0.0
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
        for subset in range(full):
            if rows[subset] > 0:
                size, rest = 0, subset
                while rest:
                    size, rest = size + 1, rest & (rest - 1)
                if not subset & ~own[i]:
                    identity[i, size] += 1.0 / rows[subset]
                attribute[i, size] += min(1.0, true[subset] / rows[subset])
    return identity, attribute
