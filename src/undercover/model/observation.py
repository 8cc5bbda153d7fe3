"""What an adversary sees of a partition: who is with whom, and how often each sensitive value occurs among them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

Seen = frozenset[tuple[frozenset[int], tuple[int, ...]]]
"""Groups as (rows, their sensitive codes in ascending order); numbers of groups and order of rows are not seen."""


def seen_groups(labels: Iterable[int], colours: NDArray[np.integer]) -> Seen:
    """What is seen of a partition by somebody who knows everybody's quasi-identifiers and so everybody's group.

    >>> sorted(sorted(rows) for rows, colours in seen_groups([0, 1, 0], np.array([5, 6, 7])))
    [[0, 2], [1]]
    """
    members: dict[int, list[int]] = {}
    for row, label in enumerate(labels):
        members.setdefault(int(label), []).append(row)
    return frozenset((frozenset(rows), tuple(sorted(int(colours[row]) for row in rows))) for rows in members.values())


Drawn = frozenset[tuple[frozenset[int], str]]
"""Cells of which one value is published: (rows, the value as it is written)."""


def drawn_cells(members: Sequence[Sequence[int]], values: Sequence[str]) -> Drawn:
    """What is seen of cells that publish one value each.

    >>> sorted(sorted(rows) for rows, value in drawn_cells([[0, 2], [1]], ["flu", "cold"]))
    [[0, 2], [1]]
    """
    return frozenset((frozenset(rows), value) for rows, value in zip(members, values, strict=True))
