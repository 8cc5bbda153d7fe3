"""What an attacker concludes who matches on some columns only, so that many boxes fit.

As :func:`undercover.kernels.matching.posteriors` over the boxes of :func:`undercover.kernels.bitmaps.covering_boxes`,
without writing the boxes down: of few known columns nearly all of them fit nearly everybody.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from undercover.kernels.bits import lowest_bit
from undercover.kernels.jit import kernel


@kernel
def covering_posteriors(
    bitmaps: Any, value_starts: Any, columns: Any, codes: Any, weights: Any, bucket_of: Any, bucket_starts: Any,
    bucket_values: Any, bucket_shares: Any, n_values: int, order: Any, target_of: Any, truth: Any,
) -> Any:  # fmt: skip
    """Matching rows, probability of the true value and of a right guess, for every row.

    Parameters
    ----------
    bitmaps, value_starts
        Of :func:`undercover.kernels.bitmaps.index_boxes`, all boxes at once.
    columns
        The columns that are matched on; none: everything fits.
    codes
        (n_rows, d) the people's values.
    bucket_shares
        Share of the bucket's rows that have each of its values.
    order, target_of
        Rows so that those alike in ``columns`` stand together, and a number they have in common.
    """
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
        n_touched, total = 0, 0
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
                    share[value] += weights[box] * bucket_shares[v]
        highest = 0.0
        for i in range(n_touched):
            highest = max(highest, share[touched[i]])
        ties = 0
        for i in range(n_touched):
            ties += share[touched[i]] >= highest * (1.0 - 1e-12)
        while at < n and target_of[order[at]] == target:
            row = order[at]
            matches[row] = total
            if n_touched > 0:
                probability[row] = min(1.0, share[truth[row]] / total)
                if share[truth[row]] >= highest * (1.0 - 1e-12):
                    hit[row] = 1.0 / ties
            at += 1
        for i in range(n_touched):
            share[touched[i]] = 0.0
    return matches, probability, hit
