"""Which values occur how often in every group."""

from __future__ import annotations

from typing import Any

import numpy as np

from undercover.compiled.jit import kernel


@kernel
def distinct_values(codes: Any, order: Any, offsets: Any, size: int) -> Any:
    """The distinct codes of every group, ascending, with their counts.

    Parameters
    ----------
    codes
        (n_rows,) codes of one column, below ``size``.
    order, offsets
        The rows of group g are ``order[offsets[g]:offsets[g + 1]]``.

    Returns
    -------
    starts (n_groups + 1,), values, counts: group g has ``values[starts[g]:starts[g + 1]]``
    """
    n_groups = len(offsets) - 1
    starts = np.zeros(n_groups + 1, np.int64)
    values = np.empty(len(order), np.int32)
    counts = np.empty(len(order), np.int32)
    tally = np.zeros(size, np.int32)
    end = 0
    for g in range(n_groups):
        start = end
        for p in range(offsets[g], offsets[g + 1]):
            code = codes[order[p]]
            if tally[code] == 0:
                values[end] = code
                end += 1
            tally[code] += 1
        if 8 * (end - start) > size:
            end = start
            for code in range(size):
                if tally[code] > 0:
                    values[end] = code
                    end += 1
        else:
            for i in range(start + 1, end):
                value, k = values[i], i
                while k > start and values[k - 1] > value:
                    values[k] = values[k - 1]
                    k -= 1
                values[k] = value
        for i in range(start, end):
            counts[i] = tally[values[i]]
            tally[values[i]] = 0
        starts[g + 1] = end
    return starts, values[:end].copy(), counts[:end].copy()
