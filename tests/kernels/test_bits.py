"""The processor's bit counting against Python's own."""

from __future__ import annotations

import numpy as np
from numba import njit

from undercover.compiled.words import count_bits, leading_zeros, lowest_bit


@njit
def _all_three(words, lowest, zeros, counts):
    for i in range(len(words)):
        lowest[i] = lowest_bit(words[i])
        zeros[i] = leading_zeros(words[i])
        counts[i] = count_bits(words[i])


def test_bits_of_words() -> None:
    rng = np.random.default_rng(30)
    single = [1 << i for i in range(64)]
    random = rng.integers(0, 1 << 64, 500, dtype=np.uint64) >> rng.integers(0, 64, 500).astype(np.uint64)
    words = np.array([0, (1 << 64) - 1, *single, *random.tolist()], dtype=np.uint64)
    lowest, zeros, counts = (np.zeros(len(words), np.int64) for _ in range(3))
    _all_three(words, lowest, zeros, counts)
    for word, low, zero, count in zip(words.tolist(), lowest, zeros, counts, strict=True):
        assert low == ((word & -word).bit_length() - 1 if word else 64)
        assert zero == 64 - word.bit_length()
        assert count == word.bit_count()
