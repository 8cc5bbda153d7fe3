"""Dealing in rounds: where people have several rows, no two rows of one person are dealt together.

Rows are put in rounds before anybody looks at sensitive values: people in a secret order, each one's rows in a secret
order behind each other, go round and round over as many rounds as the person with most rows has rows. So everybody has
at most one row in a round, rounds are equally large but for one row, and which round a row is in says nothing about its
value. Each round is then dealt like a table of its own: its groups have rows of different people, and what a dealing
promises of its groups, somebody who knows the algorithm included, holds as before (docs/theory/units.md).

A round that is not l-eligible is refused, never drawn again or joined with another: that would tell of its values.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from undercover.errors import UnreachableError
from undercover.model.groups import Groups
from undercover.model.run import Shuffle
from undercover.model.table import Table
from undercover.randomness import Randomness
from undercover.wording import option

Dealt = tuple[Groups, tuple[Shuffle, ...]]
"""Groups, and what was dealt in secret to make them."""


def rounds_of(units: NDArray[np.int64], randomness: Randomness) -> NDArray[np.int64]:
    """(n_rows,) the round of every row; nobody has two rows in one.

    >>> units = np.array([7, 3, 7, 5, 3, 7])
    >>> drawn = rounds_of(units, Randomness())
    >>> sorted(zip(units[units == 7].tolist(), drawn[units == 7].tolist()))
    [(7, 0), (7, 1), (7, 2)]
    """
    words = randomness.words("order of people and rows", 4 * len(units)).view(np.uint64)
    rows, people = words[: len(units)], words[len(units) :]
    order = np.lexsort((rows, units, people[np.unique(units, return_inverse=True)[1].reshape(-1)]))
    drawn = np.empty(len(units), dtype=np.int64)
    drawn[order] = np.arange(len(units)) % int(np.bincount(units).max())
    return drawn


def in_rounds(
    table: Table, sensitive: str, l: int, randomness: Randomness, deal: Callable[[Table, Randomness], Dealt]
) -> Dealt:
    """Deal ``table``, round by round where people have several rows."""
    if table.units is None:
        return deal(table, randomness)
    rounds = rounds_of(table.units, randomness)
    _require_eligible(table, sensitive, l, rounds)
    labels, count = np.empty(table.n_rows, dtype=np.int32), 0
    shuffles: list[Shuffle] = []
    for number in range(int(rounds.max()) + 1):
        rows = np.flatnonzero(rounds == number)
        words = Randomness(randomness.seed, f"{randomness.within}round {number}/")  # no other round draws the same
        groups, noted = deal(replace(table.take(rows), units=None), words)
        labels[rows] = groups.labels + count
        count += groups.count
        shuffles += noted  # every round was dealt by itself
    return Groups(labels, count), tuple(shuffles)


def _require_eligible(table: Table, sensitive: str, l: int, rounds: NDArray[np.int64]) -> None:
    column = table[sensitive]
    size, n_rounds = column.domain.size, int(rounds.max()) + 1
    counts = np.bincount(rounds * size + column.codes, minlength=n_rounds * size).reshape(n_rounds, size)
    best = int((counts.sum(axis=1) // counts.max(axis=1)).min())
    if best < l:
        raise UnreachableError(
            f"l={l} cannot be reached with rows of different people: one `{table.schema.unit}` has {n_rounds:,} rows, "
            f"so the {table.n_rows:,} rows are dealt in as many rounds, and a value is too frequent in one of them; "
            f"the largest feasible l is {best}. Ask for less, or keep one row of each: {option(one_row_per='first')}.",
            best={"l": best},
        )
