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
def settle(offsets: Any, words: Any, spare: Any) -> bool:
    """Replace every word that :func:`shuffle_segments` would reject by the next spare one; False if these ran out."""
    used = np.int64(0)
    for g in range(len(offsets) - 1):
        start = offsets[g]
        for i in range(offsets[g + 1] - start - 1, 0, -1):
            s, word = np.uint64(i + 1), words[start + i]
            if (np.uint64(word) * s) & np.uint64(0xFFFFFFFF) < s:  # perhaps rejected
                before = used
                _, used = below(i + 1, word, spare, used)
                if used < 0:
                    return False
                if used > before:
                    words[start + i] = spare[used - 1]
    return True


@kernel
def shuffle_segments(items: Any, offsets: Any, words: Any, first: int, last: int) -> None:
    """Shuffle ``items[offsets[g]:offsets[g + 1]]`` in place for every g from ``first`` to ``last``.

    Position p uses word p, which is settled, so that segments do not wait for each other.
    """
    for g in range(first, last):
        start = offsets[g]
        for i in range(offsets[g + 1] - start - 1, 0, -1):
            j = np.int64((np.uint64(words[start + i]) * np.uint64(i + 1)) >> np.uint64(32))
            items[start + i], items[start + j] = items[start + j], items[start + i]


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
