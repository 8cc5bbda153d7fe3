"""Dealing: slots fixed by public counts, shuffled in secret within each sensitive value, taken by rows in turn.

l-eligibility: whether any partition of the table can be l-diverse at all (Machanavajjhala et al. 2006). Strata: rows
kept apart by quasi-identifiers, fixed before anybody looks at sensitive values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from undercover.errors import ParameterError, UnreachableError, listed, unknown
from undercover.model.groups import Groups
from undercover.model.table import EncodedColumn, Table
from undercover.multisets import distinct_orders
from undercover.randomness import Randomness
from undercover.steps.shuffling import shuffle_within


@dataclass(frozen=True)
class Deal:
    """Slots to be shuffled within each segment, and what becomes of the rows then."""

    slots: NDArray[Any]
    offsets: NDArray[np.int64]
    assign: Callable[[NDArray[Any]], NDArray[np.int32]]  # slots -> group of every row
    count: int

    def draw(self, randomness: Randomness) -> Groups:
        """Shuffle in secret and deal."""
        slots = self.slots.copy()
        shuffle_within(slots, self.offsets, randomness, "slots of one value")
        return lay_out(self.assign(slots), self.count)

    def outcomes(self) -> Iterator[tuple[Fraction, NDArray[np.int32]]]:
        """Every assignment with its probability; for tiny tables."""
        segments = [self.slots[start:end].tolist() for start, end in zip(self.offsets, self.offsets[1:], strict=False)]
        orders = [list(distinct_orders(segment)) for segment in segments]
        share = Fraction(1, prod(len(order) for order in orders))
        for chosen in product(*orders):
            slots = np.array([slot for segment in chosen for slot in segment], dtype=self.slots.dtype)
            yield share, self.assign(slots)


def lay_out(labels: NDArray[np.int32], count: int) -> Groups:
    """Groups whose rows are already in order."""
    from undercover.compiled.shuffle import counting_order

    return Groups.from_order(*counting_order(labels, count))


def sensitive_column(table: Table, method: str) -> str:
    """The one sensitive column of a table, for methods that protect exactly one."""
    if len(table.schema.sensitive) != 1:
        raise ParameterError(
            f"{method} protects exactly one sensitive column. Got {len(table.schema.sensitive)} instead."
        )
    return table.schema.sensitive[0]


def require_eligible(table: Table, sensitive: str, counts: NDArray[np.int64], l: float) -> None:
    """Raise where some value is more than 1/l of the rows: then no partition is l-diverse."""
    top = int(counts.argmax())
    if counts[top] * l > table.n_rows:
        best = table.n_rows // int(counts[top])
        raise UnreachableError(
            f"l={l:g} cannot be reached: {table[sensitive].domain.labels[top]!r} is {counts[top] / table.n_rows:.1%} "
            f"of the rows ({counts[top]:,} of {table.n_rows:,}); the largest feasible l is {best}.",
            best={"l": best},
        )


def strata_of(table: Table, names: Sequence[str]) -> tuple[NDArray[np.int64], Callable[[int], str]]:
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
    rows = np.empty(int(present.sum()), dtype=np.int64)  # one of each stratum
    rows[strata] = np.arange(table.n_rows)

    def named(stratum: int) -> str:
        row = rows[stratum]
        return ", ".join(f"{name} = {labels[codes[row]]}" for name, codes, labels in columns) or "the whole table"

    return strata, named


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
