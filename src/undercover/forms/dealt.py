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
from numpy.typing import NDArray

from undercover.errors import DataError, listed

if TYPE_CHECKING:
    from undercover.forms.reading import Reading
    from undercover.model.run import Run

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
    rows, found = (np.asarray(frame.column(each).to_numpy(), dtype=np.int64) for each in ("row", name))
    if not np.array_equal(rows, run.rows) or not np.array_equal(np.sort(found), np.arange(n_published)):
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

    def repeated(self, codes: NDArray[np.integer]) -> int:
        """The most rows of one group with the same one of these published values, (n_published,) codes."""
        keys = self.groups * (int(codes.max(initial=0)) + 1) + codes[self.published]
        return int(np.unique(keys, return_counts=True)[1].max(initial=0))


def smallest(labels: Rows) -> int:
    """Rows of the smallest group.

    >>> smallest(np.array([4, 7, 4]))
    1
    """
    return int(np.unique(labels, return_counts=True)[1].min(initial=len(labels)))
