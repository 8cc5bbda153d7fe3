"""Blocks of rows that lie near each other, by their quasi-identifiers alone.

The rows are halved (:mod:`undercover.steps.halving_kernels`) into as many blocks as there can be of at least ``size``
rows, all of that size or one or a few more. No sensitive value is looked at: whoever knows the quasi-identifiers knows
the blocks, and they tell him nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise, permutations, product

import numpy as np
from numpy.typing import NDArray

from undercover.model.groups import Groups
from undercover.model.protocols import Progress, no_progress
from undercover.model.table import Table
from undercover.randomness import Randomness
from undercover.steps.cutting.checks import require_rows
from undercover.steps.scales import Scales, scales_of
from undercover.steps.shuffling import shuffle_within
from undercover.threads import parallel

_ALONE = 16  # parts per thread that are cut before threads part


def exact_blocks(
    table: Table, size: int, *, randomness: Randomness, threads: int = 1, progress: Progress = no_progress
) -> Groups:
    """``n_rows // size`` blocks of at least ``size`` rows, none more than one larger than another."""
    require_rows(table, size)
    progress("dividing into blocks", 0.0)
    return _blocks(table, size, in_order(table, randomness), threads)


def block_outcomes(table: Table, size: int) -> Iterator[tuple[Fraction, NDArray[np.int32]]]:
    """Every division into blocks with its exact probability; for tiny tables."""
    orders = list(every_order(table))
    for rows in orders:
        yield Fraction(1, len(orders)), _blocks(table, size, rows, 1).labels


def _blocks(table: Table, size: int, rows: NDArray[np.int64], threads: int) -> Groups:
    n, count = table.n_rows, table.n_rows // size
    edges = np.arange(count + 1) * (n // count) + np.minimum(np.arange(count + 1), n % count)
    line = rows[None, :].copy()
    halved(line, edges, 1, scales_of(table), threads)
    return Groups.from_order(line[0], edges)


def in_order(table: Table, randomness: Randomness) -> NDArray[np.int64]:
    """The rows by their quasi-identifiers, equal ones shuffled in secret: the order of the input may tell of values."""
    rows = np.arange(table.n_rows, dtype=np.int64)
    shuffle_within(rows, np.array([0, table.n_rows]), randomness, "order among equal rows")
    return rows[np.argsort(quasi_identifier_keys(table)[rows], kind="stable")]


def every_order(table: Table) -> Iterator[NDArray[np.int64]]:
    """What :func:`in_order` may give, all equally likely; for tiny tables."""
    keys = quasi_identifier_keys(table)
    alike = [permutations(np.flatnonzero(keys == key).tolist()) for key in np.unique(keys)]
    for parts in product(*alike):
        yield np.array([row for part in parts for row in part], dtype=np.int64)


def quasi_identifier_keys(table: Table) -> NDArray[np.int64]:
    """(n_rows,) a number for each combination of quasi-identifiers, in the order of their codes."""
    keys, size = np.zeros(table.n_rows, dtype=np.int64), 1
    for name in table.schema.quasi_identifiers:
        column = table[name]
        if size * column.domain.size >= 1 << 62:  # number them anew before they grow too long
            distinct, keys = np.unique(keys, return_inverse=True)
            size = len(distinct)
        keys = keys * column.domain.size + column.codes
        size *= column.domain.size
    return keys


def halved(
    rows: NDArray[np.int64], edges: NDArray[np.int64], most: int, scales: Scales, threads: int
) -> NDArray[np.int64]:
    """Halve all pieces, on several threads; where the parts begin, in pieces.

    The first cuts are made alone; what they leave is shared out. A part is cut by what is in it, so the threads change
    nothing.
    """
    from undercover.steps.halving_kernels import halve

    pieces = len(edges) - 1
    ahead = halve(rows, edges, 0, pieces, max(most, pieces // (_ALONE * threads)), scales) if threads > 1 else [0]
    parts = list(pairwise([*ahead, pieces]))
    steps = rows.size * scales.bins.shape[1]
    return np.concatenate(parallel(lambda part: halve(rows, edges, *part, most, scales), parts, threads, steps=steps))
