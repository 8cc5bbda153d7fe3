"""The values of buckets: how rows that carry the number of a bucket are tied to the values listed for it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from undercover.forms.distribution import Distribution, distribution_of
from undercover.forms.written import Written, positions_among, written
from undercover.model.release import PublishedTable


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
