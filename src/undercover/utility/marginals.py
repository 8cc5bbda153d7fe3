"""How far the distributions a recipient estimates from a release are from the true ones.

Total variation distance, half the sum of the absolute differences of shares: 0 where both are equal, 1 where they have
nothing in common. It is taken for every quasi-identifier and sensitive column alone, and for every pair of
quasi-identifiers and of a quasi-identifier and a sensitive column. What the recipient estimates is described in
:mod:`undercover.utility.estimates`: cells are spread evenly, values of a bucket shared, drawn values taken as they
stand, perturbed ones corrected, with negative counts taken as 0. Shares are those of the published rows, so what
suppression leaves out shows where it leaves out some values more than others.

Ordered columns with more than 20 different values are cut into 20 ranges with about equally many people, and of
categories beyond the 49 most frequent the rest is taken together: the distance is then about what analyses ask, not
about values that hardly anybody has. Two samples of n people differ by about sqrt(bins / n) by chance alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from undercover.model.release import Release
from undercover.model.table import Table
from undercover.utility.binned_tables import BinnedTables, tables_of
from undercover.utility.estimates import Estimates, estimates_of

Floats = NDArray[np.float64]
_ROUNDING = 1e-10  # what adding up shares of buckets leaves where nothing differs


@dataclass(frozen=True)
class Distances:
    """Total variation distances by column and by pair of columns.

    Examples
    --------
    >>> found = Distances({"age": 0.1, "ill": 0.0}, {("age", "ill"): 0.25})
    >>> found
    <Distances: columns 0.0500 on average, pairs 0.2500>
    >>> found.to_dict()["pairs"]["worst"]
    0.25
    """

    columns: Mapping[str, float]
    pairs: Mapping[tuple[str, str], float]

    @property
    def mean(self) -> float:
        """The mean over columns."""
        return float(np.mean(list(self.columns.values())))

    @property
    def pair_mean(self) -> float | None:
        """The mean over pairs; ``None`` where there is only one column."""
        return float(np.mean(list(self.pairs.values()))) if self.pairs else None

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON; pairs are named with a cross."""
        return {
            "columns": {"mean": self.mean, "worst": max(self.columns.values()), "each": dict(self.columns)},
            "pairs": {
                "mean": self.pair_mean,
                "worst": max(self.pairs.values(), default=None),
                "each": {" × ".join(pair): distance for pair, distance in self.pairs.items()},
            },
        }

    def __repr__(self) -> str:
        pairs = "" if self.pair_mean is None else f", pairs {self.pair_mean:.4f}"
        return f"<Distances: columns {self.mean:.4f} on average{pairs}>"


def distances(original: Table, release: Release) -> Distances:
    """Compare what a release shows with the table it was made from.

    Parameters
    ----------
    original
        The original table.
    release
        What was published of it, in any form.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from undercover.model.release import PublishedColumn, PublishedTable
    >>> from undercover.model.schema import Schema
    >>> people = pa.table({"age": [20, 20, 20, 30], "ill": ["flu", "flu", "cold", "cold"]})
    >>> original = Table.from_arrow(people, Schema(quasi_identifiers=["age"], sensitive="ill"))
    >>> age, ill = PublishedColumn("age", "quasi-identifier", "interval"), PublishedColumn("ill", "sensitive", "value")
    >>> data = pa.table({"age": ["[20, 30]"] * 4, "ill": ["flu", "flu", "cold", "cold"]})
    >>> found = distances(original, Release("mondrian", {}, (PublishedTable("table", (age, ill), data),), True))
    >>> found.columns["age"], found.columns["ill"]  # half instead of three quarters are taken to be 20
    (0.25, 0.0)
    """
    return distances_of(original, estimates_of(original, release))


def distances_of(original: Table, shown: Estimates) -> Distances:
    """The same where a release has been read before."""
    return distances_between(tables_of(original, shown))


def distances_between(tables: BinnedTables) -> Distances:
    """The same where everything has been counted before."""
    return Distances(
        {name: _distance(column.before, column.after) for name, column in tables.columns.items()},
        {pair: _distance(before.reshape(-1), after.reshape(-1)) for pair, (before, after) in tables.pairs.items()},
    )


def _distance(true: NDArray[np.int64], estimated: Floats) -> float:
    """Total variation distance of two tables of counts."""
    kept = np.clip(estimated, 0.0, None)
    if not kept.sum():
        return 1.0
    found = float(np.abs(true / true.sum() - kept / kept.sum()).sum() / 2)
    return found if found > _ROUNDING else 0.0
