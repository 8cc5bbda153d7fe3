"""Cubes: the combinations of codes that occur, and how many rows have each. All a search needs to know of the rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from undercover.model.groups import number
from undercover.model.table import Table

_LARGEST_KEY = 1 << 62
_LARGEST_COUNT = 1 << 24  # places of an array in which combinations are counted, whether they occur or not
_ROWS_AT_ONCE = 1 << 20


@dataclass(frozen=True, eq=False)
class Cube:
    """Combinations of codes of ``columns`` in ascending order, the first column first, each with its rows.

    Without ``counts`` every combination stands for one row, and may come again: the rows themselves are a cube, too.
    """

    columns: tuple[str, ...]
    codes: tuple[NDArray[Any], ...]  # (n_cells,) each
    counts: NDArray[np.int64] | None = None  # (n_cells,)

    @property
    def n_cells(self) -> int:
        """Number of combinations."""
        return len(self.codes[0]) if self.codes else 0

    @property
    def n_rows(self) -> int:
        """Rows of all of them."""
        return self.n_cells if self.counts is None else int(self.counts.sum())

    def as_table(self, like: Table) -> Table:
        """The combinations as the rows of a table with the same domains and no other columns."""
        held = {name: replace(like[name], codes=codes) for name, codes in zip(self.columns, self.codes, strict=True)}
        return replace(like, columns=held, n_rows=self.n_cells, kept=None, units=None, weights=None, population=None)


def rows_of(table: Table, columns: Sequence[str]) -> Cube:
    """The rows of a table as they are; nothing is copied."""
    return Cube(tuple(columns), tuple(table.codes(columns)))


def cube_of(table: Table, columns: Sequence[str]) -> Cube:
    """The combinations of ``columns`` that occur in ``table``.

    >>> import pyarrow as pa
    >>> from undercover.model.schema import Schema
    >>> people = pa.table({"age": [34, 28, 34, 34], "sex": ["f", "m", "f", "m"]})
    >>> cube = cube_of(Table.from_arrow(people, Schema(quasi_identifiers=["age", "sex"])), ["age", "sex"])
    >>> [codes.tolist() for codes in cube.codes], cube.counts.tolist()
    ([[0, 1, 1], [1, 0, 1]], [1, 2, 1])
    """
    sizes = [table[name].domain.size for name in columns]
    if not columns or prod(sizes) > _LARGEST_KEY:
        return _by_sorting(table, columns)
    if prod(sizes) <= min(_LARGEST_COUNT, max(8 * table.n_rows, 1 << 12)):
        counts = np.zeros(prod(sizes), dtype=np.int64)
        for start in range(0, table.n_rows, _ROWS_AT_ONCE):
            counts += np.bincount(_keys(table, columns, sizes, start), minlength=len(counts))
        keys = np.flatnonzero(counts)
        counts = counts[keys]
    else:
        found = [
            np.unique(_keys(table, columns, sizes, start), return_counts=True)
            for start in range(0, table.n_rows, _ROWS_AT_ONCE)
        ]
        keys, place = np.unique(np.concatenate([one for one, _ in found]), return_inverse=True)
        counts = np.bincount(place, np.concatenate([many for _, many in found]), minlength=len(keys)).astype(np.int64)
    codes = np.unravel_index(keys, sizes)
    kinds = [table[name].codes.dtype for name in columns]
    return Cube(tuple(columns), tuple(one.astype(kind) for one, kind in zip(codes, kinds, strict=True)), counts)


def _keys(table: Table, columns: Sequence[str], sizes: Sequence[int], start: int) -> NDArray[np.int64]:
    """The combinations of some rows, as numbers."""
    key: NDArray[np.int64] | int = 0
    for name, size in zip(columns, sizes, strict=True):
        key = key * size + table[name].codes[start : start + _ROWS_AT_ONCE].astype(np.int64)
    return np.asarray(key)


def _by_sorting(table: Table, columns: Sequence[str]) -> Cube:
    """The same where combinations are too many to be numbered beforehand."""
    key, first = np.zeros(table.n_rows, dtype=np.int64), np.zeros(min(table.n_rows, 1), dtype=np.int64)
    for name in columns:
        key, count = number(key * table[name].domain.size + table[name].codes)
        first = np.empty(count, dtype=np.int64)
        first[key] = np.arange(table.n_rows)
    codes = [one[first] for one in table.codes(columns)]
    order = np.lexsort(codes[::-1]) if codes else np.zeros(len(first), dtype=np.int64)
    counts = np.bincount(key, minlength=len(first))[order]
    return Cube(tuple(columns), tuple(one[order] for one in codes), counts)
