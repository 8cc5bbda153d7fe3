"""What subsets of what is known of some people tell, all at once, by going through all rows a chunk at a time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from undercover.forms.looking.rows import ShownRows
from undercover.model.table import Table
from undercover.threads import parallel

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
_MOST_BITS = 1 << 22  # of cells and people who are looked for together, 8 bytes each


class Own(NamedTuple):
    """The columns in which the rows fit that may be a person's own, as bits, person by person."""

    bits: NDArray[Any]
    starts: NDArray[np.int64]  # (m + 1,)


def subset_sums(
    shown: ShownRows, original: Table, known: Sequence[str], people: Integers, own: Own, threads: int
) -> tuple[Floats, dict[str, Floats]]:
    """(m, d + 1) chances of the own row, and of each true value, summed over the subsets of each size."""
    names = [secret.name for secret in shown.secrets]
    truth = {name: original[name].codes[people].astype(np.int64) for name in names}
    codes = np.stack([original[name].codes[people] for name in known], axis=1).astype(np.int64)
    rows, *found = _counted(shown, codes, truth, threads)
    mine = np.zeros(rows.shape)
    np.add.at(mine, (np.repeat(np.arange(len(people)), np.diff(own.starts)), own.bits.astype(np.int64)), 1.0)
    rows, mine = _upwards(rows), _upwards(mine) / np.diff(own.starts)[:, None]
    identity = _by_size(mine, rows)
    attribute = {}
    sums = iter(found)
    for secret in shown.secrets:
        attribute[secret.name] = _by_size(np.minimum(_upwards(next(sums)), rows), rows)
        if secret.law is not None:
            law, true = secret.law, truth[secret.name][:, None]
            seen = _by_size(_upwards(next(sums)), rows)
            subsets = [math.comb(len(known), size) for size in range(len(known) + 1)]
            believed = law.base[true] * seen + law.slope[true] * attribute[secret.name]
            attribute[secret.name] = np.minimum(believed, law.most * np.array(subsets))
    return identity, attribute


def _by_size(part: Floats, whole: Floats) -> Floats:
    """(m, d + 1) parts of a whole, 0 where there is none, summed over the subsets of each size."""
    shares = np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)
    sizes = np.bitwise_count(np.arange(part.shape[1]))
    order = np.argsort(sizes, kind="stable")
    # A product of matrices would do, but threads that wait for such a small one take longer than it does.
    return np.add.reduceat(shares[:, order], np.flatnonzero(np.diff(sizes[order], prepend=-1)), axis=1)


def _upwards(exactly: Floats) -> Floats:
    """(m, 2 ** d) sums over all sets of columns that contain each, in the place of what is there for exactly one."""
    bit = 1
    while bit < exactly.shape[1]:
        pairs = exactly.reshape(len(exactly), -1, 2, bit)
        pairs[:, :, 0] += pairs[:, :, 1]
        bit *= 2
    return exactly


def _counted(shown: ShownRows, codes: Integers, truth: dict[str, Integers], threads: int) -> list[Floats]:
    """(m, 2 ** d) by the columns they fit in: rows, of every sensitive column those with the true value, and its law's
    spread where it has one.
    """
    m, d = codes.shape
    width = 8 if d <= 8 else 16
    together = [slice(first, min(first + 64 // width, m)) for first in range(0, m, 64 // width)]
    n_cells = sum(cover.n_cells for cover in shown.covers)
    at_once = max(1, _MOST_BITS // max(n_cells, 1))
    found = [
        _counted_of(shown, codes, truth, together[first : first + at_once], threads)
        for first in range(0, len(together), at_once)
    ]
    return list(sum(found[1:], found[0]))


def _counted_of(
    shown: ShownRows, codes: Integers, truth: dict[str, Integers], together: Sequence[slice], threads: int
) -> Floats:
    """The same of some of the people, 0 for the others."""
    m, d = codes.shape
    width = 8 if d <= 8 else 16
    bits = [_bits(shown, codes[some], width) for some in together]
    figures = 1 + sum(1 + (secret.law is not None) for secret in shown.secrets)
    chunks = shown.chunks

    def through(mine: Sequence[slice]) -> Floats:
        sums = np.zeros((figures, m, 1 << d))
        for rows in mine:
            cells = shown.cells_of(rows)
            for some, of_cells in zip(together, bits, strict=True):
                true = {name: each[some] for name, each in truth.items()}
                _add(shown, rows, cells, of_cells, true, width, sums[:, some])
        return sums

    parts = parallel(through, [chunks[part::threads] for part in range(min(threads, len(chunks)))], threads)
    return np.asarray(sum(parts[1:], parts[0]))


def _bits(shown: ShownRows, codes: Integers, width: int) -> NDArray[np.uint64]:
    """(n_cells,) the columns in which cells fit some people, cells numbered as in :meth:`ShownRows.cells_of`."""
    from undercover.attacks.partial.kernels import columns_of_cells

    each = []
    for j in shown.narrowest:
        cover, values = shown.covers[j], np.ascontiguousarray(codes[:, j])
        each.append(columns_of_cells(cover.starts, cover.low, cover.high, values, j, width))
    return np.concatenate(each)


def _add(
    shown: ShownRows,
    rows: slice,
    cells: NDArray[np.int32],
    bits: NDArray[np.uint64],
    truth: dict[str, Integers],
    width: int,
    sums: Floats,
) -> None:
    """Count some rows for some people."""
    from undercover.attacks.partial.kernels import add_true_shares, add_true_values, add_weights, columns_that_fit

    fits = columns_that_fit(cells, bits)
    weights = shown.weights_of(rows).astype(np.float64)
    add_weights(fits, weights, width, sums[0])
    at = 1
    for secret in shown.secrets:
        true = truth[secret.name]
        if secret.held is None:
            assert secret.codes is not None
            add_true_values(fits, secret.codes[rows], secret.place, true, width, sums[at])
        else:
            add_true_shares(fits, secret.groups(rows), weights, secret.held, secret.place, true, width, sums[at])
        at += 1
        if secret.law is not None:
            assert secret.codes is not None
            add_weights(fits, secret.law.spread[secret.place[secret.codes[rows]]], width, sums[at])
            at += 1
