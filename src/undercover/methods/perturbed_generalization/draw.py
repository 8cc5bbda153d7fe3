"""Sampling and perturbation in secret: the kernels and the randomness brought together.

Tao, Xiao, Li & Zhang, "On Anti-Corruption Privacy Preserving Publication", Section IV.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from undercover.model.groups import Groups
from undercover.randomness import Randomness
from undercover.steps.shuffling import spare_words

Array = NDArray[np.int64]


def draw_rows(groups: Groups, randomness: Randomness) -> Array:
    """One uniformly random row of every group.

    >>> groups = Groups(np.array([0, 1, 0], dtype=np.int32), 2)
    >>> draw_rows(groups, Randomness(seed=1)).tolist()[1]
    1
    """
    from undercover.methods.perturbed_generalization.kernels import draw_positions

    attempt = 0
    while True:
        words = randomness.words(f"row of a cell/{attempt}", groups.count)
        spare = randomness.words(f"row of a cell/{attempt}/spare", spare_words(groups.count, int(groups.sizes.max())))
        drawn = draw_positions(groups.offsets, words, spare)
        if len(drawn):
            return np.asarray(groups.order[drawn], dtype=np.int64)
        attempt += 1


def perturbed(codes: NDArray[Any], p: Fraction, size: int, randomness: Randomness) -> Array:
    """Every code kept with probability ``p`` (rounded down to 64 bits), otherwise drawn uniformly below ``size``.

    >>> perturbed(np.array([4, 2]), Fraction(1), 5, Randomness(seed=1)).tolist()
    [4, 2]
    """
    from undercover.methods.perturbed_generalization.kernels import perturb

    if p == 1:
        return codes.astype(np.int64)
    threshold = np.uint64(int(p * (1 << 64)))
    attempt = 0
    while True:
        high, low, words = (
            randomness.words(f"{purpose}/{attempt}", len(codes)) for purpose in ("keep", "keep, low", "new value")
        )
        spare = randomness.words(f"new value/{attempt}/spare", spare_words(len(codes), size))
        drawn = perturb(codes.astype(np.int64), high, low, threshold, words, spare, size)
        if len(drawn) or not len(codes):
            return np.asarray(drawn)
        attempt += 1
