"""Counting rows into cells: of a table by compiled loops, of a cube by the rows each of its combinations stands for."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def add_rows(keys: NDArray[Any], cells: NDArray[np.int64], counts: NDArray[np.int64] | None) -> None:
    """Add to every cell (n_cells, 1) the rows that have its key."""
    if counts is None:
        from undercover.steps.lattice.kernels import count_rows

        count_rows(keys, cells[:, 0])
    else:
        np.add.at(cells[:, 0], keys, counts)


def add_values(
    keys: NDArray[Any], values: NDArray[Any], first: int, cells: NDArray[np.int64], counts: NDArray[np.int64] | None
) -> None:
    """Add to every cell (n_cells, width) the rows of each value, the values of this column from place ``first`` on."""
    if counts is None:
        from undercover.steps.lattice.kernels import count_values

        count_values(keys, values, first, cells)
    else:
        np.add.at(cells, (keys, values.astype(np.int64) + first), counts)
