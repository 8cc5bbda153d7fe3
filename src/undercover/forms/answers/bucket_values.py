"""The numbers of every bucket in ascending order, so that its smallest and its largest are added up at once.

Xiao & Tao 2006, "Anatomy", Section 3, for a release in two tables: of a bucket nobody outside knows whose number is
whose, so a sum over some of its rows is at least that of as many of its smallest numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class BucketValues:
    """The values of every bucket, one for each person, in ascending order."""

    sizes: Counts  # (count,) rows of the QIT
    lines: Counts  # (n_values,) line of the SAT
    bucket: Counts  # (n_values,) ascending
    values: Floats  # (n_values,) ascending within a bucket

    def only(self, chosen: NDArray[np.bool_]) -> BucketValues:
        """The values of some lines of the SAT."""
        kept = chosen[self.lines]
        return BucketValues(self.sizes, self.lines[kept], self.bucket[kept], self.values[kept])

    @cached_property
    def starts(self) -> Counts:
        """(count + 1,) where the values of each bucket begin."""
        return np.searchsorted(self.bucket, np.arange(len(self.sizes) + 1))

    @cached_property
    def running(self) -> Floats:
        """(n_values + 1,) sum of the values before each."""
        return np.concatenate([[0.0], np.cumsum(self.values)])

    @cached_property
    def totals(self) -> Floats:
        """(count,) sum of all values."""
        return self.smallest(np.diff(self.starts))

    @cached_property
    def negative(self) -> Counts:
        """(count,) how many values are below 0."""
        return np.bincount(self.bucket[self.values < 0], minlength=len(self.sizes))

    @cached_property
    def positive(self) -> Counts:
        """(count,) how many values are above 0."""
        return np.bincount(self.bucket[self.values > 0], minlength=len(self.sizes))

    def smallest(self, number: Counts) -> Floats:
        """(count,) sum of the smallest values of each bucket, ``number`` of them."""
        return np.asarray(self.running[self.starts[:-1] + number] - self.running[self.starts[:-1]])

    def largest(self, number: Counts) -> Floats:
        """(count,) sum of the largest values of each bucket, ``number`` of them."""
        return np.asarray(self.running[self.starts[1:]] - self.running[self.starts[1:] - number])
