"""Uniform shuffles in secret: the kernel and the randomness brought together."""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from undercover.randomness import Randomness


def shuffle_within(items: NDArray[Any], offsets: NDArray[np.int64], randomness: Randomness, purpose: str) -> None:
    """Shuffle every segment ``items[offsets[g]:offsets[g + 1]]`` uniformly, in place."""
    from undercover.compiled.shuffle import shuffle_segments

    longest = int(np.diff(offsets).max(initial=1))
    for attempt in count():
        words = randomness.words(f"{purpose}/{attempt}", len(items))
        spare = randomness.words(f"{purpose}/{attempt}/spare", spare_words(len(items), longest))
        if shuffle_segments(items, offsets, words, spare):
            return


def spare_words(draws: int, longest: int) -> int:
    """Enough replacements for rejected words: a draw below ``longest`` is rejected with at most longest / 2**32."""
    return 64 + int(2 * draws * longest / 2**32)
