"""One random row of every group, and values that are kept with a probability or drawn anew.

Tao, Xiao, Li & Zhang, "On Anti-Corruption Privacy Preserving Publication", Section IV, Phases 3 and 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from undercover.kernels.jit import kernel
from undercover.kernels.shuffle import below


@kernel
def draw_positions(offsets: Any, words: Any, spare: Any) -> Any:
    """A uniform position of every group ``offsets[g]:offsets[g + 1]``; an empty array if the spare words ran out."""
    n_groups = len(offsets) - 1
    drawn = np.empty(n_groups, np.int64)
    used = np.int64(0)
    for g in range(n_groups):
        place, used = below(offsets[g + 1] - offsets[g], words[g], spare, used)
        if used < 0:
            return drawn[:0]
        drawn[g] = offsets[g] + place
    return drawn


@kernel
def perturb(codes: Any, high: Any, low: Any, threshold: Any, words: Any, spare: Any, size: int) -> Any:
    """Each code where the 64-bit number ``high:low`` lies below ``threshold``, else a uniform one of ``size``.

    An empty array if the spare words ran out.
    """
    drawn = np.empty(len(codes), np.int64)
    used = np.int64(0)
    for i in range(len(codes)):
        number = (np.uint64(high[i]) << np.uint64(32)) | np.uint64(low[i])
        if number < np.uint64(threshold):
            drawn[i] = codes[i]
        else:
            drawn[i], used = below(size, words[i], spare, used)
            if used < 0:
                return drawn[:0]
    return drawn
