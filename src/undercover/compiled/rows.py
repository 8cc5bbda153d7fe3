"""Rows moved by their numbers, in arrays as narrow as what they hold.

numpy makes eight bytes of every number it is handed as a place. A table of a hundred million rows has no room for that.
"""

from __future__ import annotations

from typing import Any

from undercover.compiled.jit import kernel


@kernel
def label_rows(order: Any, offsets: Any, labels: Any, first: int, last: int) -> None:
    """Write the number of every group from ``first`` to ``last`` to its rows ``order[offsets[g]:offsets[g + 1]]``."""
    for g in range(first, last):
        for place in range(offsets[g], offsets[g + 1]):
            labels[order[place]] = g


@kernel
def gather(values: Any, rows: Any, place: Any, found: Any, first: int, last: int) -> None:
    """Write ``place[values[row]]`` of the rows from ``first`` to ``last`` to ``found``, as narrow as that is."""
    for i in range(first, last):
        found[i] = place[values[rows[i]]]


@kernel
def recode(codes: Any, place: Any, found: Any, first: int, last: int) -> None:
    """Write ``place[code]`` of the codes from ``first`` to ``last`` to ``found``."""
    for i in range(first, last):
        found[i] = place[codes[i]]


@kernel
def scatter(values: Any, rows: Any, places: Any, found: Any) -> None:
    """Write the value of each of the ``rows`` to the place that stands beside it."""
    for i in range(len(rows)):
        found[places[i]] = values[rows[i]]
