"""Dealing: slots fixed by public counts, shuffled in secret within each sensitive value, taken by rows in turn.

l-eligibility: whether any partition of the table can be l-diverse at all (Machanavajjhala et al. 2006).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from undercover.errors import UnreachableError
from undercover.model.groups import Groups
from undercover.model.table import Table
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


def require_eligible(table: Table, sensitive: str, counts: NDArray[np.int64], l: float) -> None:  # noqa: E741
    """Raise where some value is more than 1/l of the rows: then no partition is l-diverse."""
    top = int(counts.argmax())
    if counts[top] * l > table.n_rows:
        best = table.n_rows // int(counts[top])
        raise UnreachableError(
            f"l={l:g} cannot be reached: {table[sensitive].domain.labels[top]!r} is {counts[top] / table.n_rows:.1%} "
            f"of the rows ({counts[top]:,} of {table.n_rows:,}); the largest feasible l is {best}.",
            best={"l": best},
        )
