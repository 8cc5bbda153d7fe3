"""Unbiased shuffling of segments from random words somebody else drew.

Fisher & Yates' shuffle; a word becomes a number below ``s`` by Lemire's multiplication (2019, "Fast Random Integer
Generation in an Interval"), which rejects the few words that would make some numbers more likely. A rejected word is
replaced by the next spare one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from undercover.compiled.jit import kernel


@kernel
def below(s: int, word: int, spare: Any, used: int) -> Any:
    """A uniform number in [0, s) from ``word``; returns it with the number of spare words used, -1 if they ran out."""
    product = np.uint64(word) * np.uint64(s)
    low = product & np.uint64(0xFFFFFFFF)
    if low < np.uint64(s):
        threshold = (np.uint64(1 << 32) - np.uint64(s)) % np.uint64(s)
        while low < threshold:
            if used >= len(spare):
                return np.int64(0), np.int64(-1)
            product = np.uint64(spare[used]) * np.uint64(s)
            low = product & np.uint64(0xFFFFFFFF)
            used += 1
    return np.int64(product >> np.uint64(32)), np.int64(used)


@kernel
def shuffle_segments(items: Any, offsets: Any, words: Any, spare: Any) -> bool:
    """Shuffle ``items[offsets[g]:offsets[g + 1]]`` in place for every g; False if the spare words ran out.

    Position p uses word p. A call that ran out leaves a valid (not yet uniform) arrangement: call again with new words.
    """
    used = np.int64(0)
    for g in range(len(offsets) - 1):
        start = offsets[g]
        for i in range(offsets[g + 1] - start - 1, 0, -1):
            j, used = below(i + 1, words[start + i], spare, used)
            if used < 0:
                return False
            items[start + i], items[start + j] = items[start + j], items[start + i]
    return True


@kernel
def counting_order(codes: Any, size: int) -> Any:
    """Rows in the order of their codes (stable), and where each code starts: ``(order, offsets)``."""
    offsets = np.zeros(size + 1, np.int64)
    for code in codes:
        offsets[code + 1] += 1
    for c in range(size):
        offsets[c + 1] += offsets[c]
    heads = offsets.copy()
    order = np.empty(len(codes), np.uint32)
    for row in range(len(codes)):
        order[heads[codes[row]]] = row
        heads[codes[row]] += 1
    return order, offsets
