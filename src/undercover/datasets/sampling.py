"""Drawing many categories at once: the inverse of a distribution function, written out as a table.

A distribution over ``size`` values becomes a row of ``slots`` cells in which each value fills as many cells as its
probability asks for. Drawing is then one look-up with the leading bits of a random word, whatever the context the
row of the census is in; there is no search and no loop over rows. Probabilities are rounded to ``1 / slots``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


def quantile_table(weights: ArrayLike, slots: int = 4096) -> NDArray[Any]:
    """Write out the quantile function of each row of ``weights`` in ``slots`` cells, a power of two.

    ``weights`` is (contexts, size) or (size,) and non-negative; each row is scaled to sum to one.

    >>> quantile_table([3, 0, 1], slots=8)
    array([[0, 0, 0, 0, 0, 0, 2, 2]], dtype=uint8)
    """
    rows = np.atleast_2d(np.asarray(weights, dtype=np.float64))
    ends = np.rint(np.cumsum(rows, axis=1) / rows.sum(axis=1, keepdims=True) * slots).astype(np.int64)
    cells = np.diff(ends, axis=1, prepend=0)
    values = np.arange(rows.shape[1], dtype=np.uint8 if rows.shape[1] <= 256 else np.uint16)
    return np.repeat(np.tile(values, len(rows)), cells.ravel()).reshape(len(rows), slots)


def draw(table: NDArray[Any], words: NDArray[np.uint32], context: NDArray[Any] | None = None) -> NDArray[Any]:
    """One value per word, from the row of ``table`` that ``context`` names.

    >>> table = quantile_table([[1, 1], [0, 1]], slots=2)
    >>> draw(table, np.array([0, 2**31, 0], dtype=np.uint32), np.array([0, 0, 1])).tolist()
    [0, 1, 1]
    """
    slots = table.shape[1]
    places = words >> np.uint32(32 - (slots.bit_length() - 1))
    if context is not None:
        places = places + context.astype(np.uint32) * np.uint32(slots)
    return table.ravel().take(places)
