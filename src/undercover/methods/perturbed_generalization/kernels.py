"""Cells split into the children of a node, one random row of every cell, values that are kept or drawn anew.

Fung, Wang & Yu 2005, "Top-Down Specialization for Information and Privacy Preservation": a value is specialised for all
rows that have it, or for none. Tao, Xiao, Li & Zhang, "On Anti-Corruption Privacy Preserving Publication", Section IV,
for the draws (Phases 3 and 1).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from undercover.compiled.jit import kernel
from undercover.compiled.shuffle import below


@kernel
def specialize(
    rows: Any, cell: Any, leaves: Any, first: int, child_of: Any, n_children: int, k: int, n_cells: int
) -> int:
    """Give the rows of each child cells of their own; the new number of cells, or -1 where one would fall below k.

    ``rows`` lie below the node; a cell lies below it with all of its rows or with none. ``cell`` (n_rows,) is changed
    in place unless -1 is returned. ``child_of`` has the child of each cutting code from ``first`` on.
    """
    local = np.full(n_cells, -1, np.int64)
    n_local = 0
    for row in rows:
        if local[cell[row]] < 0:
            local[cell[row]] = n_local
            n_local += 1
    counts = np.zeros(n_local * n_children, np.int64)
    for row in rows:
        counts[local[cell[row]] * n_children + child_of[leaves[row] - first]] += 1
    for count in counts:
        if 0 < count < k:
            return -1
    names = np.full(n_local * n_children, -1, np.int64)
    kept = np.zeros(n_local, np.bool_)
    for row in rows:
        place = local[cell[row]]
        key = place * n_children + child_of[leaves[row] - first]
        if names[key] < 0:
            if kept[place]:
                names[key] = n_cells
                n_cells += 1
            else:
                names[key] = cell[row]
                kept[place] = True
        cell[row] = names[key]
    return n_cells


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
