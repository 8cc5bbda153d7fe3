"""How far the distributions a recipient estimates from a release are from the true ones.

Total variation distance, half the sum of the absolute differences of shares: 0 where both are equal, 1 where they have
nothing in common. It is taken for every quasi-identifier and sensitive column alone, and for every pair of
quasi-identifiers and of a quasi-identifier and a sensitive column. What the recipient estimates is described in
:mod:`undercover.forms.estimates`: cells are spread evenly, values of a bucket shared, drawn values taken as they
stand, perturbed ones corrected, with negative counts taken as 0. Shares are those of the published rows, so what
suppression leaves out shows where it leaves out some values more than others.

Ordered columns with more than 20 different values are cut into 20 ranges with about equally many people, and of
categories beyond the 49 most frequent the rest is taken together: the distance is then about what analyses ask, not
about values that hardly anybody has. Two samples of n people differ by about sqrt(bins / n) by chance alone.

How strongly two columns go together, in the original and in what a recipient estimates from a release.

Two columns with an order: Spearman's rank correlation of their bins (-1 to 1; people of one bin share a rank). Any
other pair: Cramér's V of the table of their bins (0: independent, 1: one tells the other). Both from the same tables of
counts, :mod:`undercover.utility.binned_tables`, so before and after differ by the release alone and not by the bins.
People whose value is missing are left out of a rank correlation and are a category in Cramér's V. Negative counts of a
corrected estimate are taken as 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from undercover.forms.estimates import Estimates
from undercover.model.table import Table
from undercover.utility.binned_tables import BinnedColumn, BinnedTables, tables_of

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


def distances_of(original: Table, shown: Estimates) -> Distances:
    """Compare what a release shows, as it was read, with the table it was made from."""
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


Kind = Literal["rank correlation", "Cramér's V"]
_NOTHING = 1e-12  # a variance that is rounding alone


@dataclass(frozen=True)
class Association:
    """How strongly two columns go together; ``None`` where one of them has only one value."""

    columns: tuple[str, str]
    kind: Kind
    before: float | None
    after: float | None

    @property
    def change(self) -> float | None:
        """After minus before."""
        return None if self.before is None or self.after is None else self.after - self.before

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        found = {"kind": self.kind, "before": self.before, "after": self.after, "change": self.change}
        return {"columns": list(self.columns), **found}


def associations(tables: BinnedTables) -> tuple[Association, ...]:
    """Every pair that was counted."""
    found = []
    for (a, b), (before, after) in tables.pairs.items():
        first, second = tables.columns[a], tables.columns[b]
        if first.ordered and second.ordered:
            shown: list[float | None] = [_ranked(first, second, table) for table in (before, after)]
            found.append(Association((a, b), "rank correlation", *shown))
        else:
            found.append(Association((a, b), "Cramér's V", *(cramers_v(table) for table in (before, after))))
    return tuple(found)


def cramers_v(counts: NDArray[Any]) -> float | None:
    """Cramér's V of a table of counts, over the rows and columns in which there is anybody."""
    kept: Floats = np.clip(counts, 0.0, None)
    kept = kept[kept.sum(axis=1) > 0][:, kept.sum(axis=0) > 0]
    least = min(kept.shape) - 1
    if least < 1:
        return None
    shares = kept / kept.sum()
    expected = np.outer(shares.sum(axis=1), shares.sum(axis=0))
    squares = float(((shares - expected) ** 2 / expected).sum())
    return min(1.0, float(np.sqrt(squares / least)))


def rank_correlation(counts: NDArray[Any]) -> float | None:
    """Spearman's rank correlation of two ordered columns, given as a table of counts; people of a bin share a rank."""
    kept: Floats = np.clip(counts, 0.0, None)
    if not kept.sum():
        return None
    shares = kept / kept.sum()
    rows, columns = shares.sum(axis=1), shares.sum(axis=0)
    # Middle ranks as shares of everybody; their mean is 1/2 whatever the bins are.
    row_ranks, column_ranks = np.cumsum(rows) - rows / 2 - 0.5, np.cumsum(columns) - columns / 2 - 0.5
    spread = float(rows @ row_ranks**2) * float(columns @ column_ranks**2)
    if spread <= _NOTHING:
        return None
    return max(-1.0, min(1.0, float(row_ranks @ shares @ column_ranks) / float(np.sqrt(spread))))


def _ranked(first: BinnedColumn, second: BinnedColumn, table: NDArray[Any]) -> float | None:
    rows, columns = table.shape[0] - first.has_missing, table.shape[1] - second.has_missing
    return rank_correlation(table[:rows, :columns])
