"""Quasi-identifiers as places on scales: what cuts and distances need of a column, in arrays; nothing here is compiled.

Numbers, dates and ranks lie along their scale, trees along their leaves; other values, and those whose distances are
the holder's own, have no order: two of them are the same or apart.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from undercover.arrays import count
from undercover.model.table import Table, cell_kind

MOST_BINS = 256
_UNIT = 1 << 16  # a whole scale, in the whole numbers of distances


class Scales(NamedTuple):
    """Quasi-identifiers as the cuts see them: at most ``MOST_BINS`` bins each, in the order in which they are cut."""

    bins: Any  # (n, d) uint8
    places: Any  # (d, MOST_BINS) place of a bin on the scale of its column, which is 1 wide
    ordered: Any  # (d,) whether bins are apart by their places; otherwise any two are 1 apart
    weights: Any  # (d,)


class Places(NamedTuple):
    """Where rows lie, in whole numbers, so that sums do not depend on their order."""

    at: Any  # (n, d) int32: place on the scale of an ordered column, else the code
    ordered: Any  # (d,)
    apart: Any  # (d,) int32: distance of two different values of a column that has no order


def scales_of(table: Table) -> Scales:
    """The quasi-identifiers in bins: numbers, dates and ranks along their scale, trees along their leaves, others flat.

    A column of more than ``MOST_BINS`` values is binned by its quantiles, or, where its values have no order, by
    frequency, the rare ones together: that only decides where to cut.
    """
    names = table.schema.quasi_identifiers
    bins = np.empty((table.n_rows, len(names)), dtype=np.uint8)
    places = np.zeros((len(names), MOST_BINS))
    ordered = np.empty(len(names), dtype=np.bool_)
    for a, name in enumerate(names):
        place, ordered[a] = place_of_codes(table, name)
        counts = count(table[name].codes, len(place))
        order = np.argsort(place if ordered[a] else -counts, kind="stable")
        ranks = np.arange(len(order))
        if len(order) > MOST_BINS and ordered[a]:
            ranks = (np.cumsum(counts[order]) - counts[order]) * MOST_BINS // table.n_rows
        of_code = np.empty(len(order), dtype=np.uint8)
        of_code[order] = np.minimum(ranks, MOST_BINS - 1)
        places[a, of_code[order][::-1]] = place[order][::-1]  # a bin lies where its lowest value lies
        bins[:, a] = of_code[table[name].codes]
    weights = np.array([table[name].settings.weight for name in names], dtype=np.float64)
    return Scales(bins, places, ordered, weights)


def place_of_codes(table: Table, name: str) -> tuple[NDArray[np.float64], bool]:
    """Where each code of a column lies on a scale 1 wide (missing beyond it), and whether that means anything."""
    column: Any = table[name]
    kind = cell_kind(column)
    if kind == "set" or column.settings.distance is not None:
        return np.arange(column.domain.size, dtype=np.float64), False
    if kind == "range":
        return column.domain.positions, True
    return column.leaf_codes / max(1, len(column.settings.hierarchy.rows) - 1), True


def places_of(table: Table) -> Places:
    """Where rows lie, in whole numbers."""
    names = table.schema.quasi_identifiers
    at = np.empty((table.n_rows, len(names)), dtype=np.int32)
    ordered = np.empty(len(names), dtype=np.bool_)
    apart = np.empty(len(names), dtype=np.int32)
    largest = max(table[name].settings.weight for name in names) or 1.0
    for a, name in enumerate(names):
        place, ordered[a] = place_of_codes(table, name)
        apart[a] = round(_UNIT * table[name].settings.weight / largest)
        at[:, a] = (np.rint(place * apart[a]) if ordered[a] else place).astype(np.int32)[table[name].codes]
    return Places(at, ordered, apart)
