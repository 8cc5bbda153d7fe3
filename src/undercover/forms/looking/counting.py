"""Tables of counts of all rows, a chunk at a time: of cells with bins of another column, and of cells with values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from undercover.forms.looking.rows import CHUNK, ShownRows
from undercover.threads import parallel

Floats = NDArray[np.float64]
_MOST_PAIRS = 1 << 24  # of cells of two columns that are counted before they are spread over bins


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
    found = parallel(through, [chunks[part::parts] for part in range(parts)], threads)
    return [np.sum(tables, axis=0) if parts > 1 else tables[0] for tables in zip(*found, strict=True)]


def cell_counts(shown: ShownRows, threads: int) -> list[Floats]:
    """Of every column (n_cells,) rows."""

    def add(rows: slice, tables: list[Floats]) -> None:
        weights = None if shown.weights is None else shown.weights[rows]
        for codes, table in zip(shown.cells, tables, strict=True):
            table += np.bincount(codes[rows], weights, minlength=len(table))

    return together(shown, [(cover.n_cells,) for cover in shown.covers], add, threads)


def pair_counts(
    shown: ShownRows, pairs: Sequence[tuple[int, int]], shares: Sequence[Floats], threads: int
) -> list[Floats]:
    """Of pairs of columns (n_bins, n_bins) expected rows; ``shares`` are (n_cells, n_bins) of every column."""
    from undercover.forms.looking.kernels import spread_cells

    def of_pair(pair: tuple[int, int]) -> Floats:
        a, b = pair
        if len(shares[a]) * len(shares[b]) <= _MOST_PAIRS:
            found = np.zeros((shares[a].shape[1], len(shares[b])))
            spread_cells(_cells_of_both(shown, a, b), Touches.of(shares[a]), found)
            return np.asarray(found @ shares[b])
        return _spread_over(shown, a, b, shares)

    return parallel(of_pair, pairs, threads, steps=shown.n_rows * len(pairs))


def _cells_of_both(shown: ShownRows, a: int, b: int) -> NDArray[np.uint32]:
    """(n_cells, n_cells) rows."""
    from undercover.forms.looking.kernels import cross_cells

    table = np.zeros(
        (shown.covers[a].n_cells, shown.covers[b].n_cells), np.int32 if shown.n_rows < 1 << 24 else np.int64
    )
    for rows in shown.chunks:
        cells, others = (shown.cells[j][rows].astype(np.int32) for j in (a, b))
        cross_cells(cells, others, shown.weights_of(rows), table)
    return table.astype(np.float64)


def _spread_over(shown: ShownRows, a: int, b: int, shares: Sequence[Floats]) -> Floats:
    """The same where there are too many pairs of cells: row by row, the cells of one column over the bins they touch.

    The other column's are spread when all are counted.
    """
    from undercover.forms.looking.kernels import cross_shares

    table, touches = np.zeros((len(shares[a]), shares[b].shape[1])), Touches.of(shares[b])
    for rows in shown.chunks:
        cells, others = (shown.cells[j][rows].astype(np.int32) for j in (a, b))
        cross_shares(cells, others, shown.weights_of(rows), touches, table)
    return np.asarray(shares[a].T @ table)


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

    n, pairs = len(codes[0]), list(combinations(range(len(codes)), 2))
    parts = max(1, min(threads, -(-n // CHUNK)))
    narrow = [np.asarray(each, dtype=np.uint8 if max(sizes) <= 256 else np.uint32) for each in of_code]

    def through(part: int) -> list[NDArray[np.int64]]:
        tables = [np.zeros(sizes[j] * sizes[k], np.int64) for j, k in pairs]
        for first in range(part * CHUNK, n, parts * CHUNK):
            rows = slice(first, min(first + CHUNK, n))
            bins = [each[column[rows]] for each, column in zip(narrow, codes, strict=True)]
            for (j, k), table in zip(pairs, tables, strict=True):
                cross_bins(bins[j], bins[k], sizes[k], table)
        return tables

    found = zip(*parallel(through, range(parts), threads), strict=True)
    return [np.sum(each, axis=0).reshape(sizes[j], sizes[k]) for (j, k), each in zip(pairs, found, strict=True)]
