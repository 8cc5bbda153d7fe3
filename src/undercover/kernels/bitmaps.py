"""Which published boxes cover a given row, by bitmaps: for every value of every column, the boxes that cover it.

The boxes that cover a row are the intersection of the bitmaps of its values. A second bitmap with one bit for each word
of the first says where there is anything to intersect; boxes that lie close together stand close together, so most
words are never looked at.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from undercover.kernels.bits import lowest_bit
from undercover.kernels.jit import kernel


@kernel
def index_boxes(masks: Any, word_starts: Any, value_starts: Any, begin: int, end: int) -> Any:
    """Bitmaps of the boxes begin..end: ``(values, words)`` and the summary ``(values, words / 64)``.

    ``masks`` (n_boxes, n_words) has a bit for every value a box covers, the words of column j from ``word_starts[j]``;
    its values are numbered from ``value_starts[j]``.
    """
    n_words = (end - begin + 63) // 64
    bitmaps = np.zeros((value_starts[-1], n_words), np.uint64)
    summary = np.zeros((value_starts[-1], (n_words + 63) // 64), np.uint64)
    for box in range(begin, end):
        at, bit = (box - begin) >> 6, np.uint64(1) << np.uint64((box - begin) & 63)
        for j in range(len(word_starts)):
            stop = word_starts[j + 1] if j + 1 < len(word_starts) else masks.shape[1]
            for w in range(word_starts[j], stop):
                word = masks[box, w]
                while word != 0:
                    value = value_starts[j] + 64 * (w - word_starts[j]) + lowest_bit(word)
                    bitmaps[value, at] |= bit
                    summary[value, at >> 6] |= np.uint64(1) << np.uint64(at & 63)
                    word &= word - np.uint64(1)
    return bitmaps, summary


@kernel
def covering_boxes(bitmaps: Any, summary: Any, value_starts: Any, targets: Any) -> Any:
    """For every row of codes the boxes that cover it: (offsets (n_targets + 1,), boxes in ascending order)."""
    n, d = targets.shape
    offsets = np.zeros(n + 1, np.int64)
    boxes = np.empty(2 * n + 64, np.int64)
    found = 0
    for row in range(n):
        for sw in range(summary.shape[1]):
            places = summary[value_starts[0] + targets[row, 0], sw]
            for j in range(1, d):
                places &= summary[value_starts[j] + targets[row, j], sw]
            while places != 0:
                w = 64 * sw + lowest_bit(places)
                places &= places - np.uint64(1)
                word = bitmaps[value_starts[0] + targets[row, 0], w]
                for j in range(1, d):
                    word &= bitmaps[value_starts[j] + targets[row, j], w]
                while word != 0:
                    if found == len(boxes):
                        larger = np.empty(2 * found, np.int64)
                        for i in range(found):
                            larger[i] = boxes[i]
                        boxes = larger
                    boxes[found] = 64 * w + lowest_bit(word)
                    found += 1
                    word &= word - np.uint64(1)
        offsets[row + 1] = found
    return offsets, boxes[:found]
