"""Random COUNT queries: one sensitive value and a predicate on each of some quasi-identifiers.

Liu & Wang, "Privacy Streamliner", Section 4, after Xiao, Yi & Tao 2010: the sensitive value is uniform over those that
occur; a categorical quasi-identifier is asked for one uniform value, a numeric one for the range between two uniform
endpoints.

Deviations: dates are asked for ranges like numbers; ordinal columns, whose cells are ranges too, for one value like
other categories, as the paper asks for education and birthplace. Endpoints are values that occur; a missing value is
never one. For columns with a hierarchy everything is counted in leaves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from undercover.forms.coverage import Positions
from undercover.forms.meaning import leaf_values
from undercover.forms.spread import positions_of_codes
from undercover.model.table import EncodedColumn, Table
from undercover.randomness import Randomness


@dataclass(frozen=True, eq=False)
class Workload:
    """Queries as codes: a sensitive value and a range of positions in every column."""

    names: tuple[str, ...]
    values: Positions  # (n_queries,) sensitive code
    lows: Positions  # (n_queries, n_columns)
    highs: Positions  # (n_queries, n_columns) included

    @property
    def count(self) -> int:
        """Number of queries."""
        return len(self.values)


def asks_for_ranges(column: EncodedColumn) -> bool:
    """Whether queries ask for a range of this column rather than for one value."""
    return column.domain.kind in ("numeric", "date")


def draw_workload(table: Table, names: Sequence[str], sensitive: str, count: int, randomness: Randomness) -> Workload:
    """Draw ``count`` queries; the same seed gives the same queries whatever else is drawn."""
    purpose = f"count queries/{sensitive}/{'/'.join(names)}"
    values = _uniform(randomness, f"{purpose}/value", count, table[sensitive].domain.size)
    lows, highs = np.empty((count, len(names)), np.int64), np.empty((count, len(names)), np.int64)
    for j, name in enumerate(names):
        column = table[name]
        places = positions_of_codes(column, leaf_values(column))
        if asks_for_ranges(column):
            present = max(len(column.domain.values), 1)
            ends = [places[_uniform(randomness, f"{purpose}/{j}/{end}", count, present)] for end in (0, 1)]
            lows[:, j], highs[:, j] = np.minimum(*ends), np.maximum(*ends)
        else:
            lows[:, j] = highs[:, j] = places[_uniform(randomness, f"{purpose}/{j}", count, column.domain.size)]
    return Workload(tuple(names), values, lows, highs)


def _uniform(randomness: Randomness, purpose: str, count: int, size: int) -> NDArray[np.int64]:
    """Whole numbers below ``size``; with words of 32 bits off uniform by less than size / 2^32."""
    words = randomness.words(purpose, count).astype(np.uint64)
    return ((words * np.uint64(size)) >> np.uint64(32)).astype(np.int64)
