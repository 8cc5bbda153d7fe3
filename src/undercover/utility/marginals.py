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
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from undercover.analysis.coverage import Coverage, Positions
from undercover.guarantees.meaning import leaf_values
from undercover.model.release import Release
from undercover.model.table import EncodedColumn, Table
from undercover.utility.bins import CATEGORIES, RANGES, bins_of
from undercover.utility.estimates import Estimates, Shown, estimates_of
from undercover.utility.spreads import positions_of_codes

Floats = NDArray[np.float64]
_ROUNDING = 1e-10  # what adding up shares of buckets leaves where nothing differs
_LARGEST_TABLE = 1 << 20  # pairs of distinct cells that are counted before they are spread over values
_BLOCK = 1 << 15  # boxes at a time where there are more


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
    quasi = tuple(shown.coverage)
    binned = {name: _bins(original[name]) for name in quasi}
    kinds = {name: _sensitive_bins(original[name], of) for name, of in shown.sensitive.items()}
    true = {name: of_code[original[name].codes] for name, (_, of_code, _) in {**binned, **kinds}.items()}
    size = {name: count for name, (_, _, count) in {**binned, **kinds}.items()}
    shares = {name: _cell_shares(shown.coverage[name], binned[name][0], size[name]) for name in quasi}
    sums: dict[str, Floats] = {}
    joint: dict[tuple[str, str], Floats] = {}
    for name in quasi:
        people = np.bincount(shown.cells[name], weights=shown.people, minlength=len(shares[name]))
        sums[name] = people @ shares[name]
    for a, b in combinations(quasi, 2):
        joint[a, b] = _pair(shown, a, b, shares)
    for secret, of in shown.sensitive.items():
        class_of, _, count = kinds[secret]
        every = of.by_class_of(np.zeros(shown.n_boxes, dtype=np.int64), 1, class_of, count)
        sums[secret] = every[0]
        for name in quasi:
            counted = of.by_class_of(shown.cells[name], len(shares[name]), class_of, count)
            joint[name, secret] = shares[name].T @ counted
    return Distances(
        {name: _distance(np.bincount(true[name], minlength=size[name]), sums[name]) for name in size},
        {
            (a, b): _distance(np.bincount(true[a] * size[b] + true[b], minlength=size[a] * size[b]), table.reshape(-1))
            for (a, b), table in joint.items()
        },
    )


def _pair(shown: Estimates, a: str, b: str, shares: Mapping[str, Floats]) -> Floats:
    """Expected people of every bin of one quasi-identifier with every bin of another."""
    rows, columns = len(shares[a]), len(shares[b])
    if rows * columns <= _LARGEST_TABLE:
        cells = shown.cells[a] * columns + shown.cells[b]
        people = np.bincount(cells, weights=shown.people, minlength=rows * columns).reshape(rows, columns)
        return np.asarray(shares[a].T @ people @ shares[b])
    found = np.zeros((shares[a].shape[1], shares[b].shape[1]))
    for first in range(0, shown.n_boxes, _BLOCK):
        part = slice(first, first + _BLOCK)
        weighted = shares[a][shown.cells[a][part]] * shown.people[part, None]
        found += weighted.T @ shares[b][shown.cells[b][part]]
    return found


def _bins(column: EncodedColumn) -> tuple[Positions, Positions, int]:
    """The bin of each leaf and of each code of a quasi-identifier, and how many bins there are."""
    values = leaf_values(column)
    place = positions_of_codes(column, values)
    counts = np.zeros(values.size, dtype=np.int64)
    counts[place] = np.bincount(column.codes, minlength=column.domain.size)
    bins = bins_of(column.domain.kind, counts, ranges=RANGES, categories=CATEGORIES, missing=column.domain.has_missing)
    return bins, bins[place], int(bins.max()) + 1


def _sensitive_bins(column: EncodedColumn, shown: Shown) -> tuple[Positions, Positions, int]:
    """The same for a sensitive column, whose labels may be more than occur."""
    class_of = label_bins(column, shown.labels, ranges=RANGES, categories=CATEGORIES)
    place = {label: position for position, label in enumerate(shown.labels)}
    codes = np.array([place[label] for label in column.domain.labels], dtype=np.int64)
    return class_of, class_of[codes], int(class_of.max()) + 1


def label_bins(column: EncodedColumn, labels: tuple[str, ...], *, ranges: int, categories: int) -> Positions:
    """(n_labels,) the bin of each label of a sensitive column, labels that do not occur included."""
    own = dict(zip(column.domain.labels, np.bincount(column.codes, minlength=column.domain.size), strict=True))
    counts = np.array([own.get(label, 0) for label in labels], dtype=np.int64)
    order = _order(column, labels)
    missing = column.domain.has_missing and labels[order[-1]] == ""
    bins = np.empty(len(labels), dtype=np.int64)
    bins[order] = bins_of(column.domain.kind, counts[order], ranges=ranges, categories=categories, missing=missing)
    return bins


def _order(column: EncodedColumn, labels: tuple[str, ...]) -> Positions:
    """Labels in the order of their values; missing is the last."""
    from undercover.guarantees.meaning import Values

    if column.domain.kind in ("numeric", "date"):
        return np.argsort(Values(labels, column.domain.kind, False).numbers, kind="stable")
    if column.domain.kind == "ordinal" and column.settings.domain is not None:
        rank = {label: place for place, label in enumerate(column.settings.domain)}
        return np.argsort([rank.get(label, len(rank)) for label in labels], kind="stable")
    return np.argsort([label == "" for label in labels], kind="stable")


def _cell_shares(coverage: Coverage, bins: Positions, count: int) -> Floats:
    """(n_cells, n_bins) the share of the values a cell covers that lies in each bin."""
    before = np.zeros((len(bins) + 1, count))
    before[np.arange(len(bins)) + 1, bins] = 1.0
    before = np.cumsum(before, axis=0)
    runs = before[coverage.high + 1] - before[coverage.low]
    return np.asarray(np.add.reduceat(runs, coverage.starts[:-1], axis=0) / coverage.sizes[:, None])


def _distance(true: NDArray[np.int64], estimated: Floats) -> float:
    """Total variation distance of two tables of counts."""
    kept = np.clip(estimated, 0.0, None)
    if not kept.sum():
        return 1.0
    found = float(np.abs(true / true.sum() - kept / kept.sum()).sum() / 2)
    return found if found > _ROUNDING else 0.0
