"""How the values of one sensitive column are spread over the classes, as sparse counts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from undercover.arrays import count, crossed, first_rows, look_up, narrowest, stretches, tally
from undercover.forms.written import Written, labels_of, positions_among, written
from undercover.model.release import PublishedTable
from undercover.model.spellings import number_values

BLOCK = 1 << 18
"""Entries that are looked at together."""


@dataclass(frozen=True)
class Distribution:
    """Counts of the values of one sensitive column in every class.

    Only what occurs is stored: entry ``i`` says that ``counts[i]`` rows of class ``class_index[i]`` have the value
    ``value_index[i]``. Entries are sorted by class, then by value. Every class has at least one. They are held as
    narrow as they can be; whoever asks for them gets numbers that may be multiplied.

    ``overall`` counts each value over all published rows: the reference that t-closeness and its kin compare with.
    """

    name: str
    values: pa.Array  # distinct published values in order, missing last
    starts: NDArray[np.int64]  # (n_classes + 1,) where the entries of each class begin
    held_values: NDArray[np.integer]  # (n_entries,)
    held_counts: NDArray[np.integer]  # (n_entries,)
    overall: NDArray[np.int64]  # (n_values,)
    is_distinct: bool = False  # whether the holder says that spellings of what seems one value are several

    @classmethod
    def of_keys(
        cls,
        name: str,
        values: pa.Array,
        keys: NDArray[np.integer],
        counts: NDArray[np.integer],
        overall: NDArray[np.int64],
        n_classes: int,
    ) -> Distribution:
        """From ``class * n_values + value`` of every entry, in order."""
        n_values = max(len(values), 1)
        held = np.empty(len(keys), dtype=narrowest(n_values))
        for part in stretches(len(keys)):
            held[part] = keys[part] % n_values
        begins = np.searchsorted(keys, (np.arange(n_classes) * n_values).astype(keys.dtype))
        starts = np.append(begins, len(keys)).astype(np.int64)
        return cls(name, values, starts, held, counts.astype(narrowest(int(counts.max(initial=0)))), overall)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The values as text; missing is empty."""
        return labels_of(self.values)

    @property
    def n_values(self) -> int:
        """Distinct values over all published rows."""
        return len(self.values)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.starts) - 1

    @property
    def class_index(self) -> NDArray[np.int64]:
        """(n_entries,) the class of each entry."""
        return np.repeat(np.arange(self.n_classes), self.distinct)

    @property
    def value_index(self) -> NDArray[np.int64]:
        """(n_entries,) the value of each entry, by its place among :attr:`values`."""
        return self.held_values.astype(np.int64)

    @property
    def counts(self) -> NDArray[np.int64]:
        """(n_entries,) rows of each entry."""
        return self.held_counts.astype(np.int64)

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Rows of each class."""
        return self.sums(self.held_counts)

    @cached_property
    def largest(self) -> NDArray[np.int64]:
        """Rows of the most frequent value of each class."""
        if not self.n_classes:
            return np.empty(0, dtype=np.int64)
        return np.maximum.reduceat(self.held_counts, self.starts[:-1]).astype(np.int64)

    @property
    def as_read(self) -> Distribution:
        """The same with the spellings of one value counted as one, under the first of them.

        Where the holder says that they are different values, only those that nobody can tell apart on a page. A value
        that shows nothing at all counts as missing.
        """
        return self if self._merged is None else self._merged

    @cached_property
    def _merged(self) -> Distribution | None:
        """``None`` where every value is told apart: who keeps himself is freed late."""
        kind = self.values.type
        if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
            return None
        merged = number_values(self.labels, distinct=self.is_distinct)
        size = int(merged.max(initial=-1)) + 1
        if size == self.n_values:
            return None
        keys, entry = np.unique(self.class_index * size + merged[self.value_index], return_inverse=True)
        values = self.values.take(pa.array(first_rows(merged, size)))
        counts, overall = count(entry, len(keys), self.held_counts), count(merged, size, self.overall)
        return Distribution.of_keys(self.name, values, keys, counts, overall, self.n_classes)

    @property
    def distinct(self) -> NDArray[np.int64]:
        """Distinct values of each class."""
        return np.diff(self.starts)

    def entries_of(self, classes: NDArray[np.integer]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The entries of some classes one after the other, and how many each of these has."""
        times = self.distinct[classes]
        ends = np.cumsum(times)
        return np.arange(int(times.sum())) - np.repeat(ends - times - self.starts[classes], times), times

    def sums(self, entries: NDArray[np.integer]) -> NDArray[np.int64]:
        """Sum a whole number per entry over each class."""
        found = np.zeros(self.n_classes, dtype=np.int64)
        filled = np.flatnonzero(self.distinct)
        if len(filled):
            found[filled] = np.add.reduceat(entries, self.starts[filled], dtype=np.int64)
        return found

    def blocks(self, entries: int = BLOCK) -> Iterator[Distribution]:
        """The same, some classes after the others, so that figures of entries need no more room than a block does."""
        begin = 0
        while begin < self.n_classes:
            last = int(np.searchsorted(self.starts, self.starts[begin] + entries, side="right")) - 1
            end = min(max(last, begin + 1), self.n_classes)
            if begin == 0 and end == self.n_classes:
                yield self
                return
            inside = slice(int(self.starts[begin]), int(self.starts[end]))
            yield replace(
                self,
                starts=self.starts[begin : end + 1] - self.starts[begin],
                held_values=self.held_values[inside],
                held_counts=self.held_counts[inside],
            )
            begin = end


def distribution_of(
    name: str,
    column: Written,
    labels: NDArray[np.integer],
    n_classes: int,
    counts: NDArray[np.integer] | None = None,
    *,
    left_out: NDArray[np.bool_] | None = None,
) -> Distribution:
    """Count the values of ``column`` in each class.

    ``labels`` is the class of each row, -1 for none; ``counts`` how many people a row stands for; rows ``left_out``
    do not count towards the overall distribution.
    """
    order = np.asarray(pc.sort_indices(column.values).to_numpy(), dtype=np.int64)
    counted = counts
    if left_out is not None:
        counted = np.where(left_out, 0, 1 if counts is None else counts)
    overall = count(column.codes, len(order), counted)[order]
    used = np.flatnonzero(overall > 0)
    order, overall = order[used], overall[used]
    place = np.zeros(len(column.values), dtype=narrowest(len(order)))
    place[order] = np.arange(len(order))
    if counts is not None and len(counts) and counts.min() == counts.max() == 1:
        counts = None
    codes, inside = column.codes, np.ones(0, dtype=bool)
    if len(labels) and labels.min() < 0:
        inside = labels >= 0
    if counts is not None and len(counts) and counts.min() <= 0:
        inside = (counts > 0) & (labels >= 0)
    if len(inside):
        labels, codes, counts = labels[inside], codes[inside], None if counts is None else counts[inside]
    n_values = max(len(order), 1)
    keys = crossed(labels, n_classes, look_up(place, codes), n_values)
    keys, totals = tally(keys, n_classes * n_values, counts)
    return Distribution.of_keys(name, column.values.take(pa.array(order)), keys, totals, overall, n_classes)


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
