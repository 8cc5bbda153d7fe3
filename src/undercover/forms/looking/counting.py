"""Tables of counts of all rows, a chunk at a time: of cells with bins of another column, and of cells with values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from undercover.forms.coverage import Coverage
from undercover.forms.looking.rows import CHUNK, ShownRows
from undercover.threads import parallel

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Add = Callable[[slice, NDArray[np.int32], Floats], None]
_MOST_PAIRS = 1 << 21  # of cells of two columns that are counted before they are spread over bins
_MOST_COUNTS = 1 << 20  # of cells of a column with values or bins of another one that are held at once, 8 bytes each
_AT_ONCE = 1 << 15  # rows at a time where a column has more cells than that


class Touches(NamedTuple):
    """The bins that cells touch: those of cell c are ``starts[c]:starts[c + 1]``, each by a share of the cell."""

    starts: Integers
    bins: NDArray[np.int32]
    shares: Floats

    @classmethod
    def of(cls, cover: Coverage, bins: Integers, n_bins: int) -> Touches:
        """The share of the positions a cell covers that lies in each bin; ``bins`` (n_positions,) are theirs.

        Cells are looked at some after the others: a table of all cells and bins would outgrow the release.
        """
        starts, found, shares = [0], [np.zeros(0, np.int32)], [np.zeros(0)]
        segments = np.flatnonzero(np.append(True, bins[1:] != bins[:-1])) if len(bins) else np.zeros(0, np.int64)
        sizes = np.diff(np.append(segments, len(bins)))
        before = np.zeros((len(segments) + 1, n_bins), dtype=np.int64)  # positions of each bin before a segment
        before[np.arange(len(segments)) + 1, bins[segments]] = sizes
        before = np.cumsum(before, axis=0)
        own = bins[segments]
        some = max(1, _MOST_COUNTS // max(n_bins, 1))
        for first, last in pieces(cover.starts, some):
            runs = slice(cover.starts[first], cover.starts[last])
            counts = _below(cover.high[runs] + 1, segments, before, own)
            counts -= _below(cover.low[runs], segments, before, own)
            counts = np.add.reduceat(counts, cover.starts[first:last] - cover.starts[first], axis=0)
            cells, touched = np.nonzero(counts)
            found.append(touched.astype(np.int32))
            shares.append(counts[cells, touched] / cover.sizes[first:last][cells])
            starts += (starts[-1] + np.cumsum(np.bincount(cells, minlength=last - first))).tolist()
        return cls(np.array(starts, dtype=np.int64), np.concatenate(found), np.concatenate(shares))

    def of_cells(self, cells: Integers) -> Touches:
        """The same of some cells, numbered anew."""
        times = np.diff(self.starts)[cells]
        ends = np.cumsum(times)
        at = np.arange(int(times.sum())) + np.repeat(self.starts[cells] - ends + times, times)
        return Touches(np.concatenate([[0], ends]), self.bins[at], self.shares[at])

    def spread(self, people: Floats, n_bins: int) -> Floats:
        """(n_bins,) the people of each bin, from those of each cell."""
        each = np.repeat(people, np.diff(self.starts))
        each *= self.shares
        return np.bincount(self.bins, each, minlength=n_bins).astype(np.float64)


def pieces(starts: Integers, most: int) -> Iterator[tuple[int, int]]:
    """Cells some after the others, of which no more than ``most`` runs are looked at together, or one cell."""
    first, n_cells = 0, len(starts) - 1
    while first < n_cells:
        last = max(first + 1, int(np.searchsorted(starts, starts[first] + most, side="right")) - 1)
        yield first, last
        first = last


def _below(positions: Integers, segments: Integers, before: Integers, own: Integers) -> Integers:
    """(n, n_bins) how many positions of each bin lie before each position; bins are constant within segments."""
    segment = np.searchsorted(segments, positions, side="right") - 1
    found = before[segment]
    found[np.arange(len(positions)), own[segment]] += positions - segments[segment]
    return found


def spread_items(cells: NDArray[Any], touches: Touches, shape: tuple[int, int], add: Add) -> Floats:
    """(n_bins, width) = ``shape``: what ``add`` adds for items to a table by cell, spread over the bins of the cells.

    ``cells`` (n_items,) have the bins of ``touches``. ``add`` is given a slice of items, their cells, and a table
    (n_cells, width) to add to: of all cells, or where these are many of the cells of some items.
    """
    from undercover.forms.looking.kernels import spread_cells

    found, (_, width), n_cells = np.zeros(shape), shape, len(touches.starts) - 1
    whole = n_cells * width <= _MOST_COUNTS
    at_once = CHUNK if whole else _AT_ONCE
    table = np.zeros((n_cells, width)) if whole else None
    for first in range(0, len(cells), at_once):
        items = slice(first, min(first + at_once, len(cells)))
        if table is not None:
            add(items, cells[items].astype(np.int32), table)
            continue
        used, place = np.unique(cells[items], return_inverse=True)
        part = np.zeros((len(used), width))
        add(items, place.reshape(-1).astype(np.int32), part)
        spread_cells(part, touches.of_cells(used), found)
    if table is not None:
        spread_cells(table, touches, found)
    return found


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
    shown: ShownRows,
    pairs: Sequence[tuple[int, int]],
    touches: Sequence[Touches],
    sizes: Sequence[int],
    threads: int,
) -> list[Floats]:
    """Of pairs of columns (n_bins, n_bins) expected rows; every column has its ``touches`` and number of bins."""
    from undercover.forms.looking.kernels import cross_shares, spread_cells

    def of_pair(pair: tuple[int, int]) -> Floats:
        a, b = pair
        n_cells = [shown.covers[j].n_cells for j in pair]
        if n_cells[0] * n_cells[1] <= _MOST_PAIRS:
            once = np.zeros((sizes[a], n_cells[1]))
            spread_cells(_cells_of_both(shown, a, b), touches[a], once)
            found = np.zeros((sizes[b], sizes[a]))
            spread_cells(np.ascontiguousarray(once.T), touches[b], found)
            return np.ascontiguousarray(found.T)

        def add(rows: slice, cells: NDArray[np.int32], table: Floats) -> None:
            cross_shares(cells, shown.cells[b][rows].astype(np.int32), shown.weights_of(rows), touches[b], table)

        return spread_items(shown.cells[a], touches[a], (sizes[a], sizes[b]), add)

    return parallel(of_pair, pairs, threads, steps=shown.n_rows * len(pairs))


def _cells_of_both(shown: ShownRows, a: int, b: int) -> Floats:
    """(n_cells, n_cells) rows."""
    from undercover.forms.looking.kernels import cross_cells

    table = np.zeros(
        (shown.covers[a].n_cells, shown.covers[b].n_cells), np.int32 if shown.n_rows < 1 << 24 else np.int64
    )
    for rows in shown.chunks:
        cells, others = (shown.cells[j][rows].astype(np.int32) for j in (a, b))
        cross_cells(cells, others, shown.weights_of(rows), table)
    return table.astype(np.float64)


def value_bins(
    shown: ShownRows,
    place: int,
    bin_of: Integers,
    touches: Sequence[Touches],
    sizes: Sequence[int],
    threads: int,
) -> list[Floats]:
    """Of every column (n_bins, n_value_bins) expected rows, by bins of the sensitive column at a ``place``.

    ``bin_of`` (n_labels,) are the bins of the original's values; published values that it does not have count nowhere.
    """
    from undercover.forms.looking.kernels import cross_groups, cross_values

    secret, count = shown.secrets[place], int(bin_of.max(initial=-1)) + 1
    outside = secret.place >= len(bin_of)
    bins = np.where(outside, count, bin_of[np.where(outside, 0, secret.place)])

    def of_column(column: int) -> Floats:
        def add(rows: slice, cells: NDArray[np.int32], table: Floats) -> None:
            if secret.held is None:
                assert secret.codes is not None
                cross_values(cells, secret.codes[rows], bins, table)
            else:
                cross_groups(cells, secret.groups(rows), shown.weights_of(rows), secret.held, bins, table)

        found = spread_items(shown.cells[column], touches[column], (sizes[column], count + 1), add)
        return np.ascontiguousarray(found[:, :count])

    return parallel(of_column, range(len(shown.cells)), threads, steps=shown.n_rows * len(shown.cells))


def value_counts(shown: ShownRows, place: int, column: int) -> Iterator[tuple[Integers, Integers, Floats]]:
    """The cells of a column, each with every value of the sensitive column at a ``place`` it has, and expected rows.

    Of all rows at once; where there are too many cells for that, of some rows after the others.
    """
    secret, n_cells = shown.secrets[place], shown.covers[column].n_cells
    few = n_cells * secret.n_values <= _MOST_COUNTS
    keys, rows = np.zeros(0, np.int64), np.zeros(0)
    for some in shown.chunks:
        own, values, each = secret.entries(some, shown.weights_of(some))
        found = _summed(shown.cells[column][some][own].astype(np.int64) * secret.n_values + values, each)
        if few:
            keys, rows = _summed(np.concatenate([keys, found[0]]), np.concatenate([rows, found[1]]))
        else:
            yield found[0] // secret.n_values, found[0] % secret.n_values, found[1]
    if few:
        yield keys // secret.n_values, keys % secret.n_values, rows


def _summed(keys: Integers, weights: Floats) -> tuple[Integers, Floats]:
    """The distinct keys in ascending order, and the weight of each."""
    if not len(keys):
        return keys, weights
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    first = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
    return keys[first], np.add.reduceat(weights[order], first)


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
