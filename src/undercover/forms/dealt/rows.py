"""Whose published row is whose, and inside which groups values changed places, from the private run alone.

The frame ``published_rows`` gives every input row the published row that carries the person's own sensitive value
(``published``) and, where sensitive values were dealt anew, the row in which the person's place is (``cells``): the one
that would carry the value if it had not been dealt. Sensitive values were dealt inside the groups of the run; where
quasi-identifiers were permuted inside other groups than these, the frame ``blocks`` says which.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from undercover.errors import DataError, listed
from undercover.forms.meaning import domain_values
from undercover.forms.written import Written, combine
from undercover.model.spellings import number_values

if TYPE_CHECKING:
    from collections.abc import Sequence

    from undercover.forms.reading import Reading
    from undercover.model.run import Run
    from undercover.model.table import Table

FRAME, BLOCKS = "published_rows", "blocks"
Rows = NDArray[np.int64]


def places(run: Run, n_published: int, column: str = "published") -> Rows:
    """(n_rows,) the published row of every grouped row; runs that never dealt values have one column for both."""
    frame = run.frames.get(FRAME)
    if frame is None:
        raise DataError(f"The private run has no `{FRAME}`.")
    name = column if column in frame.column_names else "published"
    lacking = [each for each in ("row", name) if each not in frame.column_names]
    if lacking:
        raise DataError(f"The private `{FRAME}` has no column {listed(lacking)}.")
    rows, found = (np.asarray(frame.column(each).to_numpy()) for each in ("row", name))
    whole = len(found) == n_published and (not n_published or (found.min() >= 0 and found.max() < n_published))
    taken = np.zeros(n_published if whole else 0, dtype=bool)
    taken[found if whole else []] = True
    if not np.array_equal(rows, run.rows) or not whole or not taken.all():
        raise DataError(f"The private `{FRAME}` does not give every input row a published row of its own.")
    return found


@dataclass(frozen=True)
class Dealt:
    """Where everybody's sensitive value and everybody's place is published, and who was dealt with whom."""

    published: Rows  # (n_rows,) the row with the person's own sensitive value
    cells: Rows  # (n_rows,) the row in which the person's place is
    groups: Rows  # (n_rows,) group inside which sensitive values were dealt
    blocks: Rows  # (n_rows,) group inside which quasi-identifiers were permuted

    @classmethod
    def of(cls, run: Run, reading: Reading) -> Dealt:
        """Read the frames of a run; raises where they do not give everybody one row of each kind and one group."""
        n_published, groups = reading.main.rows, np.asarray(run.groups.labels, dtype=np.int64)
        if len(groups) != len(run.rows):
            raise DataError("The private run does not say of everybody in which group the row is.")
        frame, blocks = run.frames.get(BLOCKS), groups
        if frame is not None:
            named = {"row", "block"} <= set(frame.column_names)
            if not named or not np.array_equal(frame.column("row").to_numpy(), run.rows):
                raise DataError(f"The private `{BLOCKS}` do not say of everybody in which block the row is.")
            blocks = np.asarray(frame.column("block").to_numpy(), dtype=np.int64)
        return cls(places(run, n_published), places(run, n_published, "cells"), groups, blocks)

    @cached_property
    def strayed(self) -> int:
        """Published rows whose value came from another group than the place they are."""
        whose = np.empty((2, len(self.groups)), dtype=np.int64)
        whose[0, self.published], whose[1, self.cells] = self.groups, self.groups
        return int((whose[0] != whose[1]).sum())

    def chance(self, cells: Rows, people: Rows) -> NDArray[np.float64]:
        """(n_rows,) how likely a person's own row fits: the share of those it was dealt among that do.

        ``cells`` (n_published, d) and ``people`` (n_rows, d) are codes of the same columns. Inside a group every
        pairing of people and rows is as likely: this is what an attacker can hope for, which row it became is luck.
        """
        keys = np.empty(len(people) + len(cells), dtype=np.int64)
        keys[: len(people)] = keys[len(people) + self.published] = self.groups
        columns = [keys, *(np.concatenate([people[:, j], cells[:, j]]) + 1 for j in range(people.shape[1]))]
        alike, count = combine([Written(codes, pa.nulls(int(codes.max()) + 1)) for codes in columns])
        fitting = np.bincount(alike[len(people) :], minlength=count)[alike[: len(people)]]
        return np.asarray(fitting / self.sizes[self.groups])

    def columns_that_fit(
        self, reading: Reading, known: Sequence[str], original: Table, chosen: Rows
    ) -> tuple[NDArray[np.uint64], Rows]:
        """The columns in which each row fits that may be a chosen person's own, as bits, and where those of each start.

        As in :meth:`chance`, with at most 64 columns.
        """
        wanted = np.zeros(len(self.sizes), dtype=bool)
        wanted[self.groups[chosen]] = True
        members = np.flatnonzero(wanted[self.groups])  # of the groups of chosen people
        members = members[np.argsort(self.groups[members], kind="stable")]
        first = np.searchsorted(self.groups[members], self.groups[chosen])
        times = self.sizes[self.groups[chosen]]
        starts = np.concatenate([[0], np.cumsum(times)])
        rows = self.published[members[np.arange(starts[-1]) - np.repeat(starts[:-1] - first, times)]]
        found, cells = np.zeros(starts[-1], dtype=np.uint64), row_codes(reading, known, original, rows=rows)
        for j, name in enumerate(known):
            mine = np.repeat(original[name].codes[chosen], times)
            found |= (cells[:, j] == mine).astype(np.uint64) << np.uint64(j)
        return found, starts

    @cached_property
    def sizes(self) -> Rows:
        """Rows of each group."""
        return np.bincount(self.groups)

    def repeated(self, column: Written, *, distinct: bool = False) -> int:
        """The most rows of one group that show one value of a column, however it is spelled.

        ``distinct`` says that the holder calls different spellings different values.
        """
        merged = number_values(column.labels, distinct=distinct)
        keys = self.groups * (int(merged.max(initial=0)) + 1) + merged[column.codes][self.published]
        return int(np.unique(keys, return_counts=True)[1].max(initial=0))


def row_codes(
    reading: Reading,
    known: Sequence[str],
    original: Table,
    *,
    nan_is_missing: bool = False,
    rows: Rows | None = None,
) -> Rows:
    """(n_rows, n_known) the cells as codes of the original; -1 where they are none of its values.

    Of all published rows, or of some.
    """
    found = np.empty((reading.main.rows if rows is None else len(rows), len(known)), dtype=np.int64)
    for j, name in enumerate(known):
        column, values = reading.column(name, nan_is_missing=nan_is_missing), domain_values(original[name])
        meanings = [values.read(label, "value") for label in column.labels]
        code = np.array([meaning.low if meaning.size == 1 else -1 for meaning in meanings], dtype=np.int64)
        found[:, j] = code[column.codes if rows is None else column.codes[rows]]
    return found


def smallest(labels: Rows) -> int:
    """Rows of the smallest group.

    >>> smallest(np.array([4, 7, 4]))
    1
    """
    return int(np.unique(labels, return_counts=True)[1].min(initial=len(labels)))
