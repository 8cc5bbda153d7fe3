"""Work shared out over threads: kernels run without the interpreter's lock, so threads run side by side.

What is made does not depend on how many there are: portions never write to one place. Nor does it depend on whether
threads are started at all, which takes longer than going through a few thousand rows does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

P = TypeVar("P")
R = TypeVar("R")

_LEAST = 1 << 15  # rows, or steps of some ten nanoseconds, below which threads cost more than they save
_EACH = 8  # portions per thread, so that none waits long for the slowest


def in_turn(work: Callable[[P], R], portions: Sequence[P], threads: int, *, steps: int | None = None) -> Iterator[R]:
    """What ``work`` makes of every portion, each as soon as it and those before it are made.

    ``steps`` are gone through in all, rows say; without a word of it every portion is worth a thread.

    >>> list(in_turn(len, ["ab", "c"], 2, steps=3))
    [2, 1]
    """
    if threads == 1 or len(portions) <= 1 or (steps is not None and steps < _LEAST):
        yield from map(work, portions)
        return
    with ThreadPoolExecutor(min(threads, len(portions))) as pool:
        yield from pool.map(work, portions)


def parallel(work: Callable[[P], R], portions: Sequence[P], threads: int, *, steps: int | None = None) -> list[R]:
    """The same of all portions together, in their order.

    >>> parallel(len, ["ab", "c"], 2)
    [2, 1]
    """
    return list(in_turn(work, portions, threads, steps=steps))


def stretches(count: int, threads: int) -> list[tuple[int, int]]:
    """Rows 0 to ``count`` in stretches of about as many each: where each begins and ends.

    >>> stretches(10, 2), stretches(0, 2)
    ([(0, 10)], [(0, 0)])
    """
    wanted = min(_EACH * threads, max(1, count // _LEAST)) if threads > 1 else 1
    if wanted == 1:
        return [(0, count)]
    return list(pairwise(np.linspace(0, count, wanted + 1).astype(np.int64).tolist()))


def segments(offsets: NDArray[np.int64], threads: int) -> list[tuple[int, int]]:
    """The segments ``offsets[g]:offsets[g + 1]`` in runs of about as many rows each: the first and behind the last.

    >>> segments(np.array([0, 5, 6]), 1), segments(np.array([0]), 2)
    ([(0, 2)], [(0, 0)])
    """
    places = [start for start, _ in stretches(int(offsets[-1] - offsets[0]), threads)]
    if len(places) == 1:
        return [(0, len(offsets) - 1)]
    edges = np.unique([*np.searchsorted(offsets[:-1], np.array(places) + offsets[0]), len(offsets) - 1])
    return list(pairwise([0, *edges[edges > 0].tolist()])) or [(0, 0)]


@contextmanager
def however_little() -> Iterator[None]:
    """Threads are started for however little there is to do: for whoever looks whether they change anything."""
    global _LEAST
    before, _LEAST = _LEAST, 1
    try:
        yield
    finally:
        _LEAST = before
