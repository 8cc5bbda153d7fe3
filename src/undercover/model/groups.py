"""Groups: which row went where."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Groups:
    """A partition of rows into numbered groups.

    Examples
    --------
    >>> groups = Groups(np.array([1, 0, 1]), 2)
    >>> groups.sizes.tolist(), groups.rows_of(1).tolist()
    ([1, 2], [0, 2])
    """

    labels: NDArray[np.int32]  # (n_rows,) group of each row
    count: int

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Rows in each group."""
        return np.bincount(self.labels, minlength=self.count)

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """(count + 1,) where each group starts in :attr:`order`."""
        return np.concatenate([[0], np.cumsum(self.sizes)])

    @cached_property
    def order(self) -> NDArray[np.int64]:
        """The rows, group by group."""
        return np.argsort(self.labels, kind="stable")

    def rows_of(self, group: int) -> NDArray[np.int64]:
        """The rows of one group."""
        return self.order[self.offsets[group] : self.offsets[group + 1]]
