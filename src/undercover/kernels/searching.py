"""Looking a value up in a sorted run, inside kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

from undercover.kernels.jit import internal


@internal
def place_of(values: Any, start: int, end: int, wanted: Any) -> Any:
    """Where ``wanted`` stands in the ascending run ``values[start:end]``, or -1."""
    low, high = start, end
    while low < high:
        middle = (low + high) // 2
        if values[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low if low < end and values[low] == wanted else np.int64(-1)
