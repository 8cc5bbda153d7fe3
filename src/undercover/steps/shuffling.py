"""Uniform shuffles in secret: the kernel and the randomness brought together."""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from undercover.randomness import Randomness
from undercover.threads import parallel, segments

_PIECE = 1 << 20  # words drawn at a time; position decides, so pieces make the same words


def shuffle_within(
    items: NDArray[Any], offsets: NDArray[np.int64], randomness: Randomness, purpose: str, threads: int = 1
) -> None:
    """Shuffle every segment ``items[offsets[g]:offsets[g + 1]]`` uniformly, in place."""
    from undercover.compiled.shuffle import settle, shuffle_segments

    longest = int(np.diff(offsets).max(initial=1))
    for attempt in count():
        words = drawn(randomness, f"{purpose}/{attempt}", len(items), threads)
        spare = randomness.words(f"{purpose}/{attempt}/spare", spare_words(len(items), longest))
        if settle(offsets, words, spare):
            break
    parallel(lambda run: shuffle_segments(items, offsets, words, *run), segments(offsets, threads), threads)


def drawn(randomness: Randomness, purpose: str, count: int, threads: int) -> NDArray[np.uint32]:
    """The words 0 to ``count`` for ``purpose``, on several threads."""
    if count <= _PIECE:
        return randomness.words(purpose, count)
    words = np.empty(count, dtype=np.uint32)

    def draw(start: int) -> None:
        some = min(_PIECE, count - start)
        words[start : start + some] = randomness.words(purpose, some, start=start)

    parallel(draw, range(0, count, _PIECE), threads)
    return words


def spare_words(draws: int, longest: int) -> int:
    """Enough replacements for rejected words: a draw below ``longest`` is rejected with at most longest / 2**32."""
    return 64 + int(2 * draws * longest / 2**32)
