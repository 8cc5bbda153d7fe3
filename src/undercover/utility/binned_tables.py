"""Tables of counts before and after: of every column alone and of every pair, over bins that people would use.

What a recipient estimates of a release is described in :mod:`undercover.forms.estimates`; here it is added up over
the bins of :mod:`undercover.utility.binned_tables`, for every quasi-identifier and sensitive column alone, and for
every pair of quasi-identifiers and of a quasi-identifier and a sensitive column. The same bins count the original.

Values put together, so that distances and classes are about people and not about values hardly anybody has.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from undercover.arrays import count
from undercover.forms import read
from undercover.forms.coverage import Positions
from undercover.forms.estimates import Estimates, Shown
from undercover.forms.looking.counting import Touches, cell_counts, crossed_bins, pair_counts, spread_items, value_bins
from undercover.forms.looking.rows import MANY, estimated_rows
from undercover.forms.meaning import Values, leaf_values
from undercover.forms.reading import Reading
from undercover.forms.spread import positions_of_codes
from undercover.forms.written import first_rows
from undercover.model.groups import number
from undercover.model.release import Release
from undercover.model.schema import Kind
from undercover.model.table import EncodedColumn, Table

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class BinnedColumn:
    """One column: its bins, the people in each, and what a recipient takes them to be."""

    name: str
    labels: tuple[str, ...]  # of the bins
    ordered: bool  # whether the bins have an order; missing, the last, is outside of it
    has_missing: bool
    before: Counts  # (n_bins,)
    after: Floats  # (n_bins,) expected people; below 0 where a correction overshoots

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        counted = zip(self.labels, self.before, self.after, strict=True)
        bins = [{"label": label, "before": int(before), "after": float(after)} for label, before, after in counted]
        return {"name": self.name, "ordered": self.ordered, "bins": bins}


@dataclass(frozen=True, eq=False)
class BinnedTables:
    """Columns by name, and tables of two columns, before and after."""

    columns: Mapping[str, BinnedColumn]
    pairs: Mapping[tuple[str, str], tuple[Counts, Floats]]  # (n_bins_a, n_bins_b) each


@dataclass(frozen=True, eq=False)
class _Bins:
    """How the values of a column are put together."""

    of_place: Positions  # (n_values,) the bin of each leaf, or of each label of a sensitive column
    of_code: Positions  # (n_codes,) the bin of each code of the original
    labels: tuple[str, ...]

    @property
    def count(self) -> int:
        return len(self.labels)


def binned_tables(original: Table, release: Release, threads: int = 1) -> BinnedTables:
    """Count the original, and what a release shows of it, over the same bins."""
    reading = read(release)
    whole = set(original.schema.quasi_identifiers) <= set(reading.main.names("quasi-identifier"))
    if original.n_rows > MANY and reading.people is None and reading.told and whole:
        return counted_tables(original, reading, threads)
    return tables_of(original, reading.estimates(original), threads)


def counted_tables(original: Table, reading: Reading, threads: int) -> BinnedTables:
    """The same by going through all rows: nothing of table length is made."""
    names = original.schema.quasi_identifiers
    shown = estimated_rows(reading, original, {name: leaf_values(original[name]) for name in names})
    bins = {name: _quasi_bins(original[name]) for name in names}
    sizes = [bins[name].count for name in names]
    touches = [
        Touches.of(cover, bins[name].of_place, bins[name].count)
        for name, cover in zip(names, shown.covers, strict=True)
    ]
    counted = zip(names, cell_counts(shown, threads), touches, strict=True)
    after = {name: touch.spread(rows, bins[name].count) for name, rows, touch in counted}
    pairs = list(combinations(range(len(names)), 2))
    tables = pair_counts(shown, pairs, touches, sizes, threads)
    joint = {(names[a], names[b]): table for (a, b), table in zip(pairs, tables, strict=True)}
    for place, secret in enumerate(shown.secrets):
        found = bins[secret.name] = _sensitive_bins(original[secret.name], original[secret.name].domain.labels)
        for name, table in zip(names, value_bins(shown, place, found.of_place, touches, sizes, threads), strict=True):
            joint[name, secret.name] = table
            after[secret.name] = table.sum(axis=0)
    return _beside(original, bins, after, joint, threads)


def tables_of(original: Table, shown: Estimates, threads: int = 1) -> BinnedTables:
    """The same where a release has been read before."""
    quasi = tuple(shown.coverage)
    bins = {name: _quasi_bins(original[name]) for name in quasi}
    bins |= {name: _sensitive_bins(original[name], of.labels) for name, of in shown.sensitive.items()}
    touches = {name: Touches.of(shown.coverage[name], bins[name].of_place, bins[name].count) for name in quasi}
    after: dict[str, Floats] = {}
    joint: dict[tuple[str, str], Floats] = {}
    for name in quasi:
        in_cells = np.bincount(shown.cells[name], weights=shown.people, minlength=shown.coverage[name].n_cells)
        after[name] = touches[name].spread(in_cells.astype(np.float64), bins[name].count)
    boxes, people = _written_alike(shown)
    for a, b in combinations(quasi, 2):
        joint[a, b] = _pair(boxes[a], boxes[b], people, (touches[a], touches[b]), (bins[a].count, bins[b].count))
    for secret, of in shown.sensitive.items():
        class_of, count = bins[secret].of_place, bins[secret].count
        every = of.by_class_of(np.zeros(shown.n_boxes, dtype=np.int64), 1, class_of, count)
        after[secret] = every[0]
        for name in quasi:
            joint[name, secret] = _by_bins(of, shown.cells[name], touches[name], bins[name].count, class_of, count)
    return _beside(original, bins, after, joint, threads)


def _beside(
    original: Table,
    bins: Mapping[str, _Bins],
    after: Mapping[str, Floats],
    joint: Mapping[tuple[str, str], Floats],
    threads: int,
) -> BinnedTables:
    """What was estimated beside what is true."""
    names = list(bins)
    of_code, sizes = [bins[name].of_code for name in names], [bins[name].count for name in names]
    true = crossed_bins([original[name].codes for name in names], of_code, sizes, threads)
    before = dict(zip(combinations(names, 2), true, strict=True))
    return BinnedTables(
        {name: _column(original[name], found, after[name]) for name, found in bins.items()},
        {pair: (before[pair], table) for pair, table in joint.items()},
    )


def _column(column: EncodedColumn, bins: _Bins, after: Floats) -> BinnedColumn:
    codes = count(column.codes, column.domain.size)
    return BinnedColumn(
        column.name,
        bins.labels,
        column.domain.kind != "categorical",
        column.domain.has_missing,
        np.bincount(bins.of_code, codes, minlength=bins.count).astype(np.int64),
        after,
    )


def _written_alike(shown: Estimates) -> tuple[dict[str, Positions], Floats]:
    """The cells and people of boxes that differ in their quasi-identifiers; those of several buckets are one."""
    keys = np.zeros(shown.n_boxes, dtype=np.int64)
    for name, cells in shown.cells.items():
        keys, _ = number(keys * shown.coverage[name].n_cells + cells)
    keys, count = number(keys)
    first = first_rows(keys, count)
    people: Floats = np.bincount(keys, weights=shown.people, minlength=count).astype(np.float64)
    return {name: cells[first] for name, cells in shown.cells.items()}, people


def _pair(
    a: Positions, b: Positions, people: Floats, touches: tuple[Touches, Touches], sizes: tuple[int, int]
) -> Floats:
    """Expected people of every bin of one quasi-identifier with every bin of another."""
    from undercover.forms.looking.kernels import cross_shares

    columns = len(touches[1].starts) - 1
    keys, count = number(a * columns + b)
    pairs = np.empty(count, dtype=np.int64)
    pairs[keys] = a * columns + b
    people = np.bincount(keys, weights=people, minlength=count).astype(np.float64)
    a, b = np.divmod(pairs, columns)

    def add(items: slice, cells: NDArray[np.int32], table: Floats) -> None:
        cross_shares(cells, b[items].astype(np.int32), people[items], touches[1], table)

    return spread_items(a, touches[0], sizes, add)


def _by_bins(of: Shown, cells: Positions, touches: Touches, n_bins: int, class_of: Positions, n_classes: int) -> Floats:
    """(n_bins, n_classes) expected people of every bin of a quasi-identifier with each class of sensitive values."""
    entries = np.repeat(cells, np.diff(of.starts))

    def add(items: slice, own: NDArray[np.int32], table: Floats) -> None:
        keys = own.astype(np.int64) * n_classes + class_of[of.values[items]]
        table += np.bincount(keys, weights=of.weights[items], minlength=table.size).reshape(table.shape)

    found = spread_items(entries, touches, (n_bins, n_classes), add)
    if of.evenly is not None:
        evenly = np.bincount(cells, weights=of.evenly, minlength=len(touches.starts) - 1).astype(np.float64)
        found += np.outer(touches.spread(evenly, n_bins), np.bincount(class_of, minlength=n_classes))
    return found


def _quasi_bins(column: EncodedColumn) -> _Bins:
    """The bins of a quasi-identifier: of its leaves and of its codes."""
    values = leaf_values(column)
    place = positions_of_codes(column, values)
    counts = np.zeros(values.size, dtype=np.int64)
    counts[place] = count(column.codes, column.domain.size)
    bins = bins_of(column.domain.kind, counts, ranges=RANGES, categories=CATEGORIES, missing=column.domain.has_missing)
    return _Bins(bins, bins[place], _bin_labels(bins, values.labels, counts, column.domain.kind != "categorical"))


def _sensitive_bins(column: EncodedColumn, labels: tuple[str, ...]) -> _Bins:
    """The same for a sensitive column, whose labels may be more than occur."""
    class_of = label_bins(column, labels, ranges=RANGES, categories=CATEGORIES)
    place = {label: position for position, label in enumerate(labels)}
    codes = np.array([place[label] for label in column.domain.labels], dtype=np.int64)
    counts = np.zeros(len(labels), dtype=np.int64)
    counts[codes] = count(column.codes, column.domain.size)
    order = _order(column, labels)
    named = tuple(labels[position] for position in order)
    ordered = column.domain.kind != "categorical"
    return _Bins(class_of, class_of[codes], _bin_labels(class_of[order], named, counts[order], ordered))


def _bin_labels(bins: Positions, labels: tuple[str, ...], counts: Counts, ordered: bool) -> tuple[str, ...]:
    """The name of each bin: its value, its range, or how many values it takes together."""
    members: list[list[int]] = [[] for _ in range(int(bins.max(initial=-1)) + 1)]
    for place, bin_ in enumerate(bins):
        members[bin_].append(place)
    found = []
    for places in members:
        occurring = [place for place in places if counts[place]] or places
        first, last = labels[occurring[0]], labels[occurring[-1]]
        if len(occurring) == 1:
            found.append(first or "missing")
        else:
            found.append(f"{first} to {last}" if ordered else f"{len(occurring)} others")
    return tuple(found)


def label_bins(column: EncodedColumn, labels: tuple[str, ...], *, ranges: int, categories: int) -> Positions:
    """(n_labels,) the bin of each label of a sensitive column, labels that do not occur included."""
    own = dict(zip(column.domain.labels, count(column.codes, column.domain.size), strict=True))
    counts = np.array([own.get(label, 0) for label in labels], dtype=np.int64)
    order = _order(column, labels)
    missing = column.domain.has_missing and labels[order[-1]] == ""
    bins = np.empty(len(labels), dtype=np.int64)
    bins[order] = bins_of(column.domain.kind, counts[order], ranges=ranges, categories=categories, missing=missing)
    return bins


def _order(column: EncodedColumn, labels: tuple[str, ...]) -> Positions:
    """Labels in the order of their values; missing is the last."""
    if column.domain.kind in ("numeric", "date"):
        return np.argsort(Values(labels, column.domain.kind, False).numbers, kind="stable")
    if column.domain.kind == "ordinal" and column.settings.domain is not None:
        rank = {label: place for place, label in enumerate(column.settings.domain)}
        return np.argsort([rank.get(label, len(rank)) for label in labels], kind="stable")
    return np.argsort([label == "" for label in labels], kind="stable")


RANGES = 20  # of an ordered column
CATEGORIES = 50


def bins_of(kind: Kind, counts: NDArray[np.int64], *, ranges: int, categories: int, missing: bool = False) -> Positions:
    """The bin of each value, by how many people have it.

    A column with at most as many different values as there are bins keeps them all. Otherwise the values of an ordered
    column are cut into ranges of about equally many people, and of a categorical one all but the most frequent are put
    together. Values nobody has do not change the bins of the others. Missing, the last value, is a bin of its own.

    Values are given in their order, but for categories, which have none; ``counts`` (n_values,) are people with each
    value, ``ranges`` and ``categories`` the most bins of an ordered and of a categorical column beside that of missing.
    """
    if missing:
        present = bins_of(kind, counts[:-1], ranges=ranges, categories=categories)
        return np.append(present, present.max(initial=-1) + 1)
    everybody = int(counts.sum())
    occurring = int((counts > 0).sum())
    most = categories if kind == "categorical" else ranges
    if occurring <= most or not everybody:
        return np.arange(len(counts), dtype=np.int64)
    if kind == "categorical":
        order = np.argsort(-counts, kind="stable")
        bins = np.full(len(counts), most - 1, dtype=np.int64)
        bins[order[: most - 1]] = np.arange(most - 1)
        return bins
    before = np.cumsum(counts) - counts
    found = np.minimum((before + counts / 2) * ranges / everybody, ranges - 1).astype(np.int64)
    return np.unique(found, return_inverse=True)[1].reshape(-1).astype(np.int64)
