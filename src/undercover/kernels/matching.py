"""What an attacker concludes from the boxes that fit a person: how probable each sensitive value is."""

from __future__ import annotations

from typing import Any

import numpy as np

from undercover.kernels.jit import kernel


@kernel
def posteriors(
    offsets: Any, boxes: Any, weights: Any, bucket_of: Any, bucket_starts: Any, bucket_values: Any, bucket_counts: Any,
    bucket_sizes: Any, n_values: int, target_of: Any, truth: Any,
) -> Any:  # fmt: skip
    """What an attacker thinks of the true value of every row, and whether his best guess hits.

    A box weighs ``weights`` rows and its sensitive values are those of its bucket
    (``bucket_starts[b]:bucket_starts[b + 1]`` of values and counts, ``bucket_sizes`` rows in all). The probability of a
    value is its mean over the matching rows; the guess is the most probable value, one of several by chance.

    ``target_of`` is the target of each row, in ascending order; ``truth`` its sensitive value.
    Returns (probability, hit), one number per row each.
    """
    n = len(target_of)
    probability = np.zeros(n)
    hit = np.zeros(n)
    share = np.zeros(n_values)
    touched = np.empty(n_values, np.int64)
    row = 0
    while row < n:
        target = target_of[row]
        n_touched, total = 0, 0.0
        for i in range(offsets[target], offsets[target + 1]):
            box = boxes[i]
            bucket = bucket_of[box]
            total += weights[box]
            for v in range(bucket_starts[bucket], bucket_starts[bucket + 1]):
                value = bucket_values[v]
                if share[value] == 0.0:
                    touched[n_touched] = value
                    n_touched += 1
                share[value] += weights[box] * bucket_counts[v] / bucket_sizes[bucket]
        highest = 0.0
        for i in range(n_touched):
            highest = max(highest, share[touched[i]])
        ties = 0
        for i in range(n_touched):
            ties += share[touched[i]] >= highest * (1.0 - 1e-12)
        while row < n and target_of[row] == target:
            if total > 0.0:
                probability[row] = min(1.0, share[truth[row]] / total)
                if share[truth[row]] >= highest * (1.0 - 1e-12):
                    hit[row] = 1.0 / ties
            row += 1
        for i in range(n_touched):
            share[touched[i]] = 0.0
    return probability, hit


@kernel
def count_items(offsets: Any, owners: Any, starts: Any, items: Any, n_items: int) -> Any:
    """How many different items the owners of each target have together.

    Target t has the owners ``owners[offsets[t]:offsets[t + 1]]``, and an owner the items
    ``items[starts[o]:starts[o + 1]]``, numbered below ``n_items``.
    """
    n = len(offsets) - 1
    counts = np.zeros(n, np.int64)
    seen = np.full(n_items, -1, np.int64)
    for target in range(n):
        for i in range(offsets[target], offsets[target + 1]):
            owner = owners[i]
            for j in range(starts[owner], starts[owner + 1]):
                if seen[items[j]] != target:
                    seen[items[j]] = target
                    counts[target] += 1
    return counts
