"""Dealing rows of different colours (sensitive values) into buckets, as Anatomy does."""

from __future__ import annotations

from typing import Any

import numpy as np

from undercover.compiled.jit import internal, kernel
from undercover.compiled.shuffle import below


@kernel
def deal_largest(offsets: Any, colours: Any, l: int, words: Any, spare: Any) -> Any:
    """Xiao & Tao 2006, Figure 3: one row from each of the l largest colours, as long as l colours are left.

    Rows of colour c stand at ``offsets[c]:offsets[c + 1]``, in an order nobody knows; ``colours`` are all of them,
    largest first; ``words`` has one for each of the at most l - 1 rows that are left over. Returns the bucket of each
    position, the number of buckets, and whether the words sufficed.

    ``ranked`` stays sorted by what is left: of the colours that tie with the l-th, the last ones are taken, so that
    taking one from each keeps the order.
    """
    n = offsets[-1]
    n_colours = len(colours)
    left = np.empty(n_colours, np.int64)
    ranked = np.empty(n_colours, np.int64)
    for i in range(n_colours):
        ranked[i] = colours[i]
        left[i] = offsets[colours[i] + 1] - offsets[colours[i]]
    heads = offsets.copy()
    bucket = np.full(n, -1, np.int32)
    members = np.empty((n // l + 1, l), np.int32)
    count = 0
    while n_colours >= l and left[l - 1] > 0:
        tie = left[l - 1]
        low, high = l - 1, l - 1
        while low > 0 and left[low - 1] == tie:
            low -= 1
        step = 1
        while high + step < n_colours and left[high + step] == tie:
            high += step
            step *= 2
        while step > 0:
            if high + step < n_colours and left[high + step] == tie:
                high += step
            step //= 2
        for i in range(l):
            rank = i if i < low else high - (i - low)
            colour = ranked[rank]
            left[rank] -= 1
            bucket[heads[colour]] = count
            heads[colour] += 1
            members[count, i] = colour
        count += 1

    # Figure 3, lines 9-12: each row left over joins a bucket without its colour, chosen uniformly.
    used = np.int64(0)
    drawn = 0
    for colour in colours:
        for position in range(heads[colour], offsets[colour + 1]):
            free = 0
            for b in range(count):
                free += not _holds(members, b, l, colour)
            if free == 0:
                return bucket, count, True
            chosen, used = below(free, words[drawn], spare, used)
            drawn += 1
            if used < 0:
                return bucket, count, False
            for b in range(count):
                if not _holds(members, b, l, colour):
                    if chosen == 0:
                        bucket[position] = b
                        break
                    chosen -= 1
    return bucket, count, True


@internal
def _holds(members: Any, b: int, l: int, colour: int) -> bool:
    for i in range(l):
        if members[b, i] == colour:
            return True
    return False
