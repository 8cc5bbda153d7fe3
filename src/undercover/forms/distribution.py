"""How the values of one sensitive column are spread over the classes, as sparse counts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from undercover.forms.alike import as_read
from undercover.forms.written import Written, first_rows, labels_of, positions_among, written
from undercover.model.release import PublishedTable


@dataclass(frozen=True)
class Distribution:
    """Counts of the values of one sensitive column in every class.

    Only what occurs is stored: entry ``i`` says that ``counts[i]`` rows of class ``class_index[i]`` have the value
    ``value_index[i]``. Entries are sorted by class, then by value. Every class has at least one.

    ``overall`` counts each value over all published rows: the reference that t-closeness and its kin compare with.
    """

    name: str
    values: pa.Array  # distinct published values in order, missing last
    class_index: NDArray[np.int64]
    value_index: NDArray[np.int64]
    counts: NDArray[np.int64]
    overall: NDArray[np.int64]  # (n_values,)
    n_classes: int

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The values as text; missing is empty."""
        return labels_of(self.values)

    @property
    def n_values(self) -> int:
        """Distinct values over all published rows."""
        return len(self.values)

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """(n_classes + 1,) where the entries of each class begin."""
        return np.searchsorted(self.class_index, np.arange(self.n_classes + 1))

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Rows of each class."""
        return self.sums(self.counts)

    @cached_property
    def largest(self) -> NDArray[np.int64]:
        """Rows of the most frequent value of each class."""
        return self.maxima(self.counts)

    @property
    def as_read(self) -> Distribution:
        """The same with values that nobody can tell apart on a page counted as one, under the first of them.

        A value that shows nothing at all counts as missing.
        """
        return self if self._merged is None else self._merged

    @cached_property
    def _merged(self) -> Distribution | None:
        """``None`` where every value is told apart: who keeps himself is freed late."""
        kind = self.values.type
        if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
            return None
        place: dict[str, int] = {}
        merged = np.array([place.setdefault(as_read(label), len(place)) for label in self.labels], dtype=np.int64)
        if len(place) == self.n_values:
            return None
        keys, entry = np.unique(self.class_index * len(place) + merged[self.value_index], return_inverse=True)
        first = first_rows(merged, len(place))
        return replace(
            self,
            values=self.values.take(pa.array(first)),
            class_index=keys // len(place),
            value_index=keys % len(place),
            counts=np.bincount(entry, self.counts, minlength=len(keys)).astype(np.int64),
            overall=np.bincount(merged, self.overall, minlength=len(place)).astype(np.int64),
        )

    @property
    def distinct(self) -> NDArray[np.int64]:
        """Distinct values of each class."""
        return np.diff(self.starts)

    def entries_of(self, classes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The entries of some classes one after the other, and how many each of these has."""
        times = self.distinct[classes]
        ends = np.cumsum(times)
        return np.arange(int(times.sum())) - np.repeat(ends - times - self.starts[classes], times), times

    def sums(self, entries: NDArray[np.int64]) -> NDArray[np.int64]:
        """Sum a whole number per entry over each class."""
        running = np.concatenate([[0], np.cumsum(entries)])
        return np.asarray(running[self.starts[1:]] - running[self.starts[:-1]])

    def maxima(self, entries: NDArray[np.int64]) -> NDArray[np.int64]:
        """The largest of a number per entry in each class."""
        if not self.n_classes:
            return entries[:0]
        return np.asarray(np.maximum.reduceat(entries, self.starts[:-1]))


def distribution_of(
    name: str,
    column: Written,
    labels: NDArray[np.int64],
    n_classes: int,
    counts: NDArray[np.int64] | None = None,
    *,
    left_out: NDArray[np.bool_] | None = None,
) -> Distribution:
    """Count the values of ``column`` in each class.

    ``labels`` is the class of each row, -1 for none; ``counts`` how many people a row stands for; rows ``left_out``
    do not count towards the overall distribution.
    """
    order = np.asarray(pc.sort_indices(column.values).to_numpy(), dtype=np.int64)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    value = place[column.codes]
    weights = np.ones(len(value), dtype=np.int64) if counts is None else counts
    counted = weights if left_out is None else np.where(left_out, 0, weights)
    overall = np.bincount(value, weights=counted, minlength=len(order)).astype(np.int64)
    used = overall > 0
    if not used.all():
        value = (np.cumsum(used) - 1)[value]
        order, overall = order[used], overall[used]
    inside = labels >= 0
    if counts is not None:
        inside &= counts > 0
    if not inside.all():
        labels, value, weights = labels[inside], value[inside], weights[inside]
    n_values = len(order)
    keys, totals = _count(labels * n_values + value, None if counts is None else weights, n_classes * n_values)
    return Distribution(
        name=name,
        values=column.values.take(pa.array(order)),
        class_index=keys // max(n_values, 1),
        value_index=keys % max(n_values, 1),
        counts=totals,
        overall=overall,
        n_classes=n_classes,
    )


def _count(
    keys: NDArray[np.int64], weights: NDArray[np.int64] | None, span: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The distinct keys in order and how often (or with what weight) each occurs."""
    if span <= max(8 * len(keys), 1 << 16):
        totals = np.bincount(keys, weights=weights, minlength=span).astype(np.int64)
        distinct = np.flatnonzero(totals)
        return distinct, totals[distinct]
    if weights is not None:
        distinct, inverse = np.unique(keys, return_inverse=True)
        return distinct, np.bincount(inverse, weights=weights).astype(np.int64)
    distinct, times = np.unique(keys, return_counts=True)
    return distinct, times.astype(np.int64)


@dataclass(frozen=True, eq=False)
class BucketTable:
    """Buckets, numbered as they occur among the rows, and the lines that list their values."""

    table: PublishedTable  # one line for each value of a bucket
    rows: Written  # (n_rows,) bucket of each row
    of_line: NDArray[np.int64]  # (n_lines,) bucket of each line
    people: NDArray[np.int64]  # (n_lines,) how often the value occurs in the bucket

    @classmethod
    def of(cls, rows: Written, table: PublishedTable, bucket: str, count: str) -> BucketTable:
        """Tie rows to the lines of a table by the number of the bucket."""
        named = written(table.data.column(bucket))
        people = np.asarray(table.data.column(count).to_numpy(), dtype=np.int64)
        return cls(table, rows, positions_among(named, rows)[named.codes], people)

    @property
    def count(self) -> int:
        """Number of buckets."""
        return len(self.rows.values)

    def distribution(self, name: str) -> Distribution:
        """How often each value of a sensitive column occurs in each bucket."""
        return distribution_of(name, written(self.table.data.column(name)), self.of_line, self.count, self.people)
