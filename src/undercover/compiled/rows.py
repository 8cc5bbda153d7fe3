"""Rows moved by their numbers, in arrays as narrow as what they hold.

numpy makes eight bytes of every number it is handed as a place. A table of a hundred million rows has no room for that.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from undercover.compiled.jit import kernel
from undercover.threads import parallel, stretches


@kernel
def label_rows(order: Any, offsets: Any, labels: Any, first: int, last: int) -> None:
    """Write the number of every group from ``first`` to ``last`` to its rows ``order[offsets[g]:offsets[g + 1]]``."""
    for g in range(first, last):
        for place in range(offsets[g], offsets[g + 1]):
            labels[order[place]] = g


@kernel
def gather(values: Any, rows: Any, found: Any, first: int, last: int) -> None:
    """Write the values of the rows from ``first`` to ``last`` to ``found``, as narrow as that is."""
    for i in range(first, last):
        found[i] = values[rows[i]]


def taken(values: NDArray[Any], rows: NDArray[Any], threads: int = 1, kind: Any = None) -> NDArray[Any]:
    """``values[rows]``, of another kind where one is given.

    >>> taken(np.array([5, 6, 7], np.uint8), np.array([2, 0], np.uint32))
    array([7, 5], dtype=uint8)
    """
    found = np.empty(len(rows), dtype=kind or values.dtype)
    parallel(lambda part: gather(values, rows, found, *part), stretches(len(rows), threads), threads)
    return found


def recoded(codes: NDArray[Any], place: NDArray[Any], threads: int = 1) -> NDArray[Any]:
    """``place[codes]``.

    >>> recoded(np.array([1, 0, 1], np.uint8), np.array([5, 6], np.int16))
    array([6, 5, 6], dtype=int16)
    """
    found = np.empty(len(codes), dtype=place.dtype)
    parallel(lambda part: recode(codes, place, found, *part), stretches(len(codes), threads), threads)
    return found


@kernel
def recode(codes: Any, place: Any, found: Any, first: int, last: int) -> None:
    """Write ``place[code]`` of the codes from ``first`` to ``last`` to ``found``."""
    for i in range(first, last):
        found[i] = place[codes[i]]


@kernel
def scatter(values: Any, places: Any, found: Any) -> None:
    """Write each value to the place in ``found`` that stands beside it."""
    for i in range(len(values)):
        found[places[i]] = values[i]
