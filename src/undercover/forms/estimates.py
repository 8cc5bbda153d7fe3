"""What a recipient takes a release to say, in one shape for every form: boxes, people, and sensitive values.

A box is what rows are written alike; its people are spread evenly over the values it covers. Of sensitive values a box
shows those of its own rows (one table), the shares of its bucket (two tables), what was drawn and is taken as it stands
(mutual cover), or corrected counts, which may be negative (perturbed generalization). Quasi-identifiers that are not
published may have any value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from undercover.errors import DataError
from undercover.forms.coverage import Coverage, Positions
from undercover.forms.meaning import Values
from undercover.forms.spread import Spread, spread_of_rows
from undercover.forms.written import Written, combine, first_rows
from undercover.model.table import Table

if TYPE_CHECKING:
    from undercover.forms.reading import Reading

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Shown:
    """The sensitive values of boxes: those of box b are entries ``starts[b]:starts[b + 1]``."""

    labels: tuple[str, ...]
    starts: Positions  # (n_boxes + 1,)
    values: Positions  # (n_entries,) position in labels
    weights: Floats  # (n_entries,) expected people
    evenly: Floats | None = None  # (n_boxes,) to be added to every value

    @classmethod
    def of(cls, spread: Spread, labels: tuple[str, ...], n_boxes: int, evenly: Floats | None = None) -> Shown:
        """The entries of a spread, by box."""
        values = np.repeat(np.arange(spread.n_values), np.diff(spread.value_starts))
        order = np.argsort(spread.pair_box, kind="stable")
        starts = np.concatenate([[0], np.cumsum(np.bincount(spread.pair_box, minlength=n_boxes))])
        return cls(labels, starts, values[order], spread.pair_weight[order], evenly)

    def by_class(self, class_of: Positions, n_classes: int) -> Floats:
        """(n_boxes, n_classes) people of each class of values in every box; ``class_of`` is by label."""
        return self.by_class_of(np.arange(len(self.starts) - 1), len(self.starts) - 1, class_of, n_classes)

    def by_class_of(self, group_of: Positions, n_groups: int, class_of: Positions, n_classes: int) -> Floats:
        """(n_groups, n_classes) the same for groups of boxes, such as those with equal cells in one column."""
        groups = np.repeat(group_of, np.diff(self.starts))
        keys = groups * n_classes + class_of[self.values]
        counts: Floats = np.bincount(keys, weights=self.weights, minlength=n_groups * n_classes).astype(np.float64)
        found = counts.reshape(n_groups, n_classes)
        if self.evenly is not None:
            evenly = np.bincount(group_of, weights=self.evenly, minlength=n_groups)
            found = found + np.outer(evenly, np.bincount(class_of, minlength=n_classes))
        return found


@dataclass(frozen=True, eq=False)
class Estimates:
    """The boxes of a release."""

    coverage: Mapping[str, Coverage]  # what the distinct cells of a quasi-identifier cover, in leaves
    cells: Mapping[str, Positions]  # (n_boxes,) cell of each box
    people: Floats  # (n_boxes,)
    draws: Positions  # (n_boxes,) how many people's sensitive values it rests on
    sensitive: Mapping[str, Shown]

    @property
    def n_boxes(self) -> int:
        """Number of boxes."""
        return len(self.people)


def estimates_of_rows(original: Table) -> Estimates:
    """The original table itself, as if it were published as it is."""
    names = original.schema.quasi_identifiers
    spreads = {name: spread_of_rows(original, names, name) for name in original.schema.sensitive}
    if spreads:
        return of_spreads(original, spreads)
    raise DataError("The table has no sensitive column.")


def of_spreads(original: Table, spreads: Mapping[str, Spread]) -> Estimates:
    """The boxes of spreads. Spreads of several sensitive columns have the same boxes in the same order."""
    first = next(iter(spreads.values()))
    n_boxes = 1 + int(first.pair_box.max(initial=-1))
    people: Floats = np.bincount(first.pair_box, weights=first.pair_weight, minlength=n_boxes).astype(np.float64)
    return Estimates(
        first.coverage,
        first.cells,
        people,
        np.rint(people).astype(np.int64),
        {name: Shown.of(spread, original[name].domain.labels, n_boxes) for name, spread in spreads.items()},
    )


def without_sensitive(reading: Reading, values: Mapping[str, Values]) -> Estimates:
    """Boxes and their people alone."""
    table = reading.main
    columns = {name: reading.column(name) for name in values}
    coverage = {name: reading.coverage(name, values[name]) for name in values}
    buckets = [] if reading.buckets is None else [reading.buckets.rows]
    alike: list[Written] = [*columns.values(), *buckets] or [Written(np.zeros(table.rows, np.int64), pa.nulls(1))]
    labels, count = combine(alike)
    first = first_rows(labels, count)
    sizes = np.bincount(labels, minlength=count)
    cells = {name: column.codes[first].astype(np.int64) for name, column in columns.items()}
    weights = np.ones(table.rows) if reading.people is None else reading.people
    counted: Floats = np.bincount(labels, weights=weights, minlength=count).astype(np.float64)
    return Estimates(coverage, cells, counted, sizes, {})


def with_unpublished(found: Estimates, sizes: Mapping[str, int]) -> Estimates:
    """Columns that are not in the release: one cell that covers everything."""
    if not sizes:
        return found
    nothing = np.zeros(found.n_boxes, dtype=np.int64)
    whole = {name: Coverage.of_ranges(np.array([0]), np.array([size - 1]), size) for name, size in sizes.items()}
    cells = {**found.cells, **dict.fromkeys(sizes, nothing)}
    return replace(found, coverage={**found.coverage, **whole}, cells=cells)
