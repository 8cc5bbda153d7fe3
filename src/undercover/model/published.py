"""A published table of anybody as data: its classes, and how often each has every sensitive value.

Methods that publish beside others and the attack that joins tables start from it;
:mod:`undercover.guarantees.joint.tables` reads it from releases and files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from undercover.errors import listed


class ClassCells(NamedTuple):
    """One column of the classes: a code per class, and the cells as text."""

    codes: NDArray[np.int64]  # (n_classes,)
    labels: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Published:
    """One published table: its classes and their sensitive values."""

    name: str
    column: str  # the sensitive one
    quasi_identifiers: tuple[str, ...]  # what an adversary must know of a person to find the class
    values: tuple[str, ...]  # the sensitive values that are published, as text, in their order
    totals: NDArray[np.int64]  # (n_values,) published rows of each value
    counts: NDArray[np.int64] = field(repr=False)  # (n_classes, n_values) rows of each value in each class
    cells: Mapping[str, ClassCells] = field(repr=False)  # by column; of a release in two tables, its buckets
    in_buckets: bool = False  # whether the quasi-identifiers are in a table of their own
    suppressed: int = 0  # rows in no class
    hidden: int = 0  # those of them that are not in the table
    with_suppressed: bool = False  # whether they count as one more class
    digest: str | None = None  # SHA-256 of the file it was read from
    source: str | None = None  # private: where it was read from

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.counts)

    @property
    def rows(self) -> int:
        """Rows that lie in a class."""
        return int(self.counts.sum())

    def __repr__(self) -> str:
        return (
            f"<Published {self.name}: {self.n_classes:,} classes of {self.rows:,} rows by "
            f"{listed(self.quasi_identifiers)}; hand it to a joint attack>"
        )
