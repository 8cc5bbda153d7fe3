"""Counting rows into cells: of a table by compiled loops, of a cube by the rows each of its combinations stands for.

Some rows after the others, so that the keys of all of them are never there at once; on several threads, each of which
counts for itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from undercover.arrays import narrowest
from undercover.threads import parallel, stretches

_ROWS = 1 << 16  # whose keys stay in the cache
_WORTH = 4  # rows per number of a cube from which on another one is filled beside it

P = TypeVar("P")


def narrow(nodes: NDArray[np.int64]) -> NDArray[Any]:
    """Whole numbers as narrow as they may be."""
    return nodes.astype(narrowest(int(nodes.max(initial=0))))


def keys_of(codes: Sequence[NDArray[Any]], tables: Sequence[NDArray[Any] | None], rows: slice) -> NDArray[Any]:
    """The cell of every one of some rows: the sum of what each column adds, which is ``table[code]``."""
    from undercover.steps.lattice.kernels import cell_keys

    kind = next((table.dtype for table in tables if table is not None), np.dtype(np.int32))
    keys = np.zeros(rows.stop - rows.start, dtype=kind)
    for column, table in zip(codes, tables, strict=True):
        if table is not None:
            cell_keys(column[rows], table, keys)
    return keys


def all_keys(codes: Sequence[NDArray[Any]], tables: Sequence[NDArray[Any] | None], threads: int) -> NDArray[Any]:
    """The cell of every row."""

    def some(part: tuple[int, int]) -> NDArray[Any]:
        return keys_of(codes, tables, slice(*part))

    return np.concatenate(parallel(some, stretches(len(codes[0]), threads), threads))


def count_cells(
    asked: Mapping[P, tuple[int, Sequence[tuple[NDArray[Any], int]]]],
    keys: Callable[[slice], NDArray[Any]],
    n_cells: int,
    n_rows: int,
    counts: NDArray[np.int64] | None,
    threads: int,
) -> dict[P, NDArray[Any]]:
    """What is kept of every cell, (n_cells, width) each: ``asked`` has the width, and columns with their first place.

    ``keys`` are the cells of some rows. Threads count for themselves where there are rows enough, and are joined.
    """

    def fill(portion: tuple[int, int]) -> dict[P, NDArray[Any]]:
        held: dict[P, NDArray[Any]] = {
            payload: np.zeros((n_cells, width), np.uint64 if payload == "bits" else np.int64)
            for payload, (width, _) in asked.items()
        }
        for start in range(*portion, _ROWS):
            rows = slice(start, min(start + _ROWS, portion[1]))
            cells, times = keys(rows), None if counts is None else counts[rows]
            for payload, (_, columns) in asked.items():
                if payload == "counts":
                    add_rows(cells, held[payload], times)
                for values, first in columns:
                    add = mark_values if payload == "bits" else add_values
                    add(cells, values[rows], first, held[payload], times)
        return held

    room = n_cells * max(width for width, _ in asked.values())
    portions = min(threads, max(1, n_rows // (_WORTH * room)))
    edges = np.linspace(0, n_rows, portions + 1).astype(int).tolist()
    first, *others = parallel(fill, list(pairwise(edges)), threads, steps=n_rows)
    for other in others:
        for payload, cells in other.items():
            join = np.bitwise_or if payload == "bits" else np.add
            join(first[payload], cells, out=first[payload])
    return first


def add_rows(keys: NDArray[Any], cells: NDArray[np.int64], counts: NDArray[np.int64] | None) -> None:
    """Add to every cell (n_cells, 1) the rows that have its key."""
    if counts is None:
        from undercover.steps.lattice.kernels import count_rows

        count_rows(keys, cells[:, 0])
    else:
        np.add.at(cells[:, 0], keys, counts)


def mark_values(
    keys: NDArray[Any], values: NDArray[Any], first: int, cells: NDArray[np.uint64], counts: NDArray[np.int64] | None
) -> None:
    """Set the bit of every row's value in its cell (n_cells, n_words), however many rows it stands for."""
    from undercover.steps.lattice import kernels

    kernels.mark_values(keys, values, first, cells)


def add_values(
    keys: NDArray[Any], values: NDArray[Any], first: int, cells: NDArray[np.int64], counts: NDArray[np.int64] | None
) -> None:
    """Add to every cell (n_cells, width) the rows of each value, the values of this column from place ``first`` on."""
    if counts is None:
        from undercover.steps.lattice.kernels import count_values

        count_values(keys, values, first, cells)
    else:
        np.add.at(cells, (keys, values.astype(np.int64) + first), counts)
