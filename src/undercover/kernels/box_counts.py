"""Counting over the boxes that cover a row without listing them: bits of bitmaps, weighed by bit planes.

Wide boxes cover many people, and a list of all pairs of a person and a box outgrows any memory. A sum of weights over
the covering boxes needs no list: with plane b the bitmap of the boxes whose weight has bit b,

    sum of weights = sum over b of 2^b * |covering and plane b|.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from undercover.kernels.bits import count_bits
from undercover.kernels.jit import kernel


@kernel
def bit_planes(boxes: Any, weights: Any, n_planes: int, n_words: int) -> Any:
    """(n_planes, n_words) bitmaps of the boxes whose weight has each bit."""
    planes = np.zeros((n_planes, n_words), np.uint64)
    for i in range(len(boxes)):
        at, bit = boxes[i] >> 6, np.uint64(1) << np.uint64(boxes[i] & 63)
        for plane in range(n_planes):
            if (weights[i] >> plane) & 1:
                planes[plane, at] |= bit
    return planes


@kernel
def weigh_covering(
    bitmaps: Any, value_starts: Any, targets: Any, row_starts: Any, truth: Any, least: int, planes: Any,
    plane_starts: Any, list_starts: Any, listed: Any, listed_weights: Any,
) -> Any:  # fmt: skip
    """(n_targets,) weight of the boxes that cover each target, and (n_rows,) the weight of each row's true value there.

    ``bitmaps`` (n_values, n_words) as :func:`undercover.kernels.bitmaps.index_boxes` makes them. Targets that begin
    alike share the intersection of these columns with the one before, so they should be sorted. The rows of target t
    are ``row_starts[t]:row_starts[t + 1]`` of ``truth``; equal values stand together. Weight number 0 is that of the
    boxes beyond ``least``, which all have; number v + 1 is that of the sensitive value v in them. Number s has the
    planes ``plane_starts[s]:plane_starts[s + 1]``, or where it has none the boxes
    ``listed[list_starts[s]:list_starts[s + 1]]`` with their weights.
    """
    n, d = targets.shape
    n_words = bitmaps.shape[1]
    totals = np.zeros(n, np.int64)
    true = np.zeros(len(truth), np.int64)
    level = np.zeros((d, n_words), np.uint64)  # boxes that cover the first columns
    covering = level[d - 1]
    for target in range(n):
        same = 0
        while target > 0 and same < d and targets[target, same] == targets[target - 1, same]:
            same += 1
        for j in range(same, d):
            own = bitmaps[value_starts[j] + targets[target, j]]
            if j == 0:
                for w in range(n_words):
                    level[0, w] = own[w]
            else:
                for w in range(n_words):
                    level[j, w] = level[j - 1, w] & own[w]
        everything = 0
        for w in range(n_words):
            everything += count_bits(covering[w])
        for row in range(row_starts[target] - 1, row_starts[target + 1]):
            number = 0 if row < row_starts[target] else truth[row] + 1
            if row > row_starts[target] and truth[row] == truth[row - 1]:
                true[row] = true[row - 1]
                continue
            weight = 0
            for plane in range(plane_starts[number], plane_starts[number + 1]):
                bits = 0
                for w in range(n_words):
                    bits += count_bits(covering[w] & planes[plane, w])
                weight += bits << (plane - plane_starts[number])
            for i in range(list_starts[number], list_starts[number + 1]):
                box = listed[i]
                if (covering[box >> 6] >> np.uint64(box & 63)) & np.uint64(1):
                    weight += listed_weights[i]
            if row < row_starts[target]:
                totals[target] = weight + least * everything
            else:
                true[row] = weight
    return totals, true
