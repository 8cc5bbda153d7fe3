"""Tables of counts of all rows, a chunk at a time: of cells with bins of another column, and of cells with values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from undercover.forms.looking.rows import CHUNK, ShownRows

Floats = NDArray[np.float64]


class Touches(NamedTuple):
    """The bins that cells touch: those of cell c are ``starts[c]:starts[c + 1]``, each by a share of the cell."""

    starts: NDArray[np.int64]
    bins: NDArray[np.int64]
    shares: Floats

    @classmethod
    def of(cls, shares: Floats) -> Touches:
        """Of (n_cells, n_bins) shares."""
        cells, bins = np.nonzero(shares)
        starts = np.searchsorted(cells, np.arange(len(shares) + 1)).astype(np.int64)
        return cls(starts, bins.astype(np.int64), shares[cells, bins])


def together(
    shown: ShownRows, empty: Sequence[tuple[int, ...]], add: Callable[[slice, list[Floats]], None], threads: int
) -> list[Floats]:
    """Tables of the shapes of ``empty``, to which ``add`` adds some rows after the others, on every thread its own."""

    def through(mine: Sequence[slice]) -> list[Floats]:
        tables = [np.zeros(shape) for shape in empty]
        for rows in mine:
            add(rows, tables)
        return tables

    chunks, parts = shown.chunks, min(threads, max(len(shown.chunks), 1))
    with ThreadPoolExecutor(parts) as pool:
        found = list(pool.map(through, [chunks[part::parts] for part in range(parts)]))
    return [np.sum(tables, axis=0) if parts > 1 else tables[0] for tables in zip(*found, strict=True)]


def cell_counts(shown: ShownRows, threads: int) -> list[Floats]:
    """Of every column (n_cells,) rows."""

    def add(rows: slice, tables: list[Floats]) -> None:
        weights = None if shown.weights is None else shown.weights[rows]
        for codes, table in zip(shown.cells, tables, strict=True):
            table += np.bincount(codes[rows], weights, minlength=len(table))

    return together(shown, [(cover.n_cells,) for cover in shown.covers], add, threads)


def pair_counts(shown: ShownRows, pairs: Sequence[tuple[int, int]], shares: Sequence[Floats], threads: int) -> Any:
    """Of pairs of columns (n_bins, n_bins) expected rows; ``shares`` are (n_cells, n_bins) of every column.

    The column whose cells touch fewer bins is spread over them row by row, the other when all are counted.
    """
    from undercover.forms.looking.kernels import cross_shares

    touches = [Touches.of(share) for share in shares]
    mean = [len(touch.bins) / max(len(touch.starts) - 1, 1) for touch in touches]
    turned = [(a, b) if mean[b] <= mean[a] else (b, a) for a, b in pairs]

    def add(rows: slice, tables: list[Floats]) -> None:
        weights = shown.weights_of(rows)
        cells = [codes[rows].astype(np.int32) for codes in shown.cells]
        for (a, b), table in zip(turned, tables, strict=True):
            cross_shares(cells[a], cells[b], weights, touches[b], table)

    empty = [(len(shares[a]), shares[b].shape[1]) for a, b in turned]
    found = []
    for pair, (a, _), table in zip(pairs, turned, together(shown, empty, add, threads), strict=True):
        crossed = shares[a].T @ table
        found.append(crossed if a == pair[0] else crossed.T)
    return found


def value_counts(shown: ShownRows, place: int, threads: int) -> list[Floats]:
    """Of every column (n_cells, n_values) expected rows with each value of the sensitive column at a ``place``."""
    from undercover.forms.looking.kernels import cross_groups, cross_values

    secret = shown.secrets[place]

    def add(rows: slice, tables: list[Floats]) -> None:
        for codes, table in zip(shown.cells, tables, strict=True):
            cells = codes[rows].astype(np.int32)
            if secret.held is None:
                assert secret.codes is not None
                cross_values(cells, secret.codes[rows], secret.place, table)
            else:
                groups, weights = secret.groups(rows), shown.weights_of(rows)
                cross_groups(cells, groups, weights, secret.held, secret.place, table)

    return together(shown, [(cover.n_cells, secret.n_values) for cover in shown.covers], add, threads)


def crossed_bins(
    codes: Sequence[NDArray[Any]], of_code: Sequence[NDArray[Any]], sizes: Sequence[int], threads: int
) -> list[NDArray[np.int64]]:
    """Of every two columns j < k (n_bins, n_bins) rows; ``of_code`` are the bins of each column's codes."""
    from undercover.forms.looking.kernels import cross_bins

    d, n, widths = len(codes), len(codes[0]), np.asarray(sizes, dtype=np.int64)
    shapes = [(sizes[j], sizes[k]) for j in range(d) for k in range(j + 1, d)]
    narrow = [np.asarray(each, dtype=np.uint8 if max(sizes) <= 256 else np.uint32) for each in of_code]

    def through(part: int) -> NDArray[np.int64]:
        tables = np.zeros((len(shapes), max((a * b for a, b in shapes), default=0)), np.int64)
        for first in range(part * CHUNK, n, threads * CHUNK):
            rows = slice(first, min(first + CHUNK, n))
            bins = np.stack([each[column[rows]] for each, column in zip(narrow, codes, strict=True)], axis=1)
            cross_bins(bins, widths, tables)
        return tables

    with ThreadPoolExecutor(threads) as pool:
        tables = np.sum(list(pool.map(through, range(threads))), axis=0)
    return [table[: a * b].reshape(a, b) for table, (a, b) in zip(tables, shapes, strict=True)]
