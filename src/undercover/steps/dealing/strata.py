"""Strata: rows kept apart by quasi-identifiers, fixed before anybody looks at sensitive values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from undercover.errors import ParameterError, listed, unknown
from undercover.model.table import EncodedColumn, Table


class StratumNames:
    """The name of a stratum, worked out only when somebody asks."""

    def __init__(
        self, columns: Sequence[tuple[str, NDArray[np.int64], Sequence[str]]], rows: NDArray[np.int64]
    ) -> None:
        self.columns = columns
        self.rows = rows  # (n_strata,) a row of each stratum

    def __call__(self, stratum: int) -> str:
        """The columns of a stratum with their values."""
        if not self.columns:
            return "the whole table"
        row = self.rows[stratum]
        return ", ".join(f"{name} = {labels[codes[row]]}" for name, codes, labels in self.columns)


def strata_of(table: Table, names: Sequence[str]) -> tuple[NDArray[np.int64], StratumNames]:
    """The stratum of every row, numbered from 0 without gaps, and what each stratum is called."""
    columns = [(name, *_stratum_codes(table, name)) for name in names]
    key = np.zeros(table.n_rows, dtype=np.int64)
    size = 1
    for _, codes, labels in columns:
        key = key * len(labels) + codes
        size *= len(labels)
        if size > 4 * table.n_rows:  # number them anew before they outgrow the rows
            distinct, key = np.unique(key, return_inverse=True)
            size = len(distinct)
    present = np.bincount(key, minlength=size) > 0
    strata = (np.cumsum(present) - 1)[key]
    rows = np.empty(int(present.sum()), dtype=np.int64)
    rows[strata] = np.arange(table.n_rows)
    return strata, StratumNames(columns, rows)


def _stratum_codes(table: Table, name: str) -> tuple[NDArray[np.int64], Sequence[str]]:
    """A column, or a level of its hierarchy written ``column:level``, as codes and labels."""
    known = table.schema.quasi_identifiers
    if name in known:
        column = table[name]
        return column.codes.astype(np.int64), column.domain.labels
    base, _, level = name.rpartition(":")
    if base not in known:
        raise ParameterError(unknown("Stratum", name, known))
    return _level_codes(table[base], level)


def _level_codes(column: EncodedColumn, level: str) -> tuple[NDArray[np.int64], Sequence[str]]:
    hierarchy = column.settings.hierarchy
    if hierarchy is None:
        raise ParameterError(f"Column `{column.name}` has no hierarchy, so there is no level {level!r} of it.")
    if not level.isdigit() or int(level) >= hierarchy.n_levels:
        levels = listed(range(hierarchy.n_levels))
        raise ParameterError(f"Level {level!r} of `{column.name}` is not known. There are: {levels}.")
    names = [hierarchy.generalize(label, int(level)) for label in column.domain.labels[: len(column.domain.values)]]
    names += ["missing"] * column.domain.has_missing
    place = {label: position for position, label in enumerate(dict.fromkeys(names))}
    return np.array([place[label] for label in names], dtype=np.int64)[column.codes], list(place)
