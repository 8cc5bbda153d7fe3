"""Cells of a full-domain generalisation: filled from rows, and rolled up one level along one column.

LeFevre, DeWitt & Ramakrishnan 2005, "Incognito: Efficient Full-Domain K-Anonymity", Section 3: the frequency set of a
generalisation, and the roll-up that makes a coarser one from a finer one without reading the table again. Here a cell
holds a count, the bits of the sensitive values that occur in it, or how often each occurs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from undercover.kernels.jit import kernel


@kernel
def cell_keys(codes: Any, tables: Any, starts: Any, axes: Any, keys: Any) -> None:
    """The cell of every row: the sum of what each column adds.

    Parameters
    ----------
    codes
        (n_columns, n_rows) codes.
    tables, starts
        Column j adds ``tables[starts[j] + code]``: the place of its generalised value times the stride of its axis.
    axes
        The columns that add anything.
    keys
        (n_rows,) written.
    """
    n = codes.shape[1]
    keys[:] = 0
    for j in axes:
        start = starts[j]
        column = codes[j]
        for row in range(n):
            keys[row] += tables[start + column[row]]


@kernel
def count_rows(keys: Any, counts: Any) -> None:
    """Add every row to its cell."""
    for row in range(len(keys)):
        counts[keys[row]] += 1


@kernel
def mark_values(keys: Any, values: Any, first_word: int, masks: Any) -> None:
    """Set the bit of every row's sensitive value in its cell; ``masks`` is (n_cells, n_words)."""
    for row in range(len(keys)):
        value = np.uint64(values[row])
        word = first_word + np.int64(value >> np.uint64(6))
        masks[keys[row], word] |= np.uint64(1) << (value & np.uint64(63))


@kernel
def count_values(keys: Any, values: Any, first: int, tally: Any) -> None:
    """Count every row's sensitive value in its cell; ``tally`` is (n_cells, n_values)."""
    for row in range(len(keys)):
        tally[keys[row], first + values[row]] += 1


@kernel
def roll_up_sums(cells: Any, parent: Any, coarser: Any) -> None:
    """Add cells to their parents: (outer, finer, inner, width) into (outer, coarser, inner, width) along axis 1."""
    outer, finer, inner, width = cells.shape
    for a in range(outer):
        for b in range(finer):
            up = parent[b]
            for c in range(inner):
                for w in range(width):
                    coarser[a, up, c, w] += cells[a, b, c, w]


@kernel
def roll_up_bits(cells: Any, parent: Any, coarser: Any) -> None:
    """Join cells with their parents, bit by bit; shapes as in :func:`roll_up_sums`."""
    outer, finer, inner, width = cells.shape
    for a in range(outer):
        for b in range(finer):
            up = parent[b]
            for c in range(inner):
                for w in range(width):
                    coarser[a, up, c, w] |= cells[a, b, c, w]


@kernel
def merge_sums(cells: Any, labels: Any, merged: Any) -> None:
    """Add cell i to ``merged[labels[i]]``."""
    for i in range(len(labels)):
        for w in range(cells.shape[1]):
            merged[labels[i], w] += cells[i, w]


@kernel
def merge_bits(cells: Any, labels: Any, merged: Any) -> None:
    """Join cell i with ``merged[labels[i]]``, bit by bit."""
    for i in range(len(labels)):
        for w in range(cells.shape[1]):
            merged[labels[i], w] |= cells[i, w]
