"""Which published boxes cover a given row, by bitmaps: for every value of every column, the boxes that cover it.

Values that no cell tells apart share a bitmap, so that there are about as many bitmaps as there are ends of cells.

The boxes that cover a row are the intersection of the bitmaps of its values. A second bitmap with one bit for each word
of the first says where there is anything to intersect; boxes that lie close together stand close together, so most
words are never looked at.

What an attacker concludes from the boxes that fit a person: how probable each sensitive value is.

Counting over the boxes that cover a row without listing them: bits of bitmaps, weighed by bit planes.

Wide boxes cover many people, and a list of all pairs of a person and a box outgrows any memory. A sum of weights over
the covering boxes needs no list: with plane b the bitmap of the boxes whose weight has bit b,

    sum of weights = sum over b of 2^b * |covering and plane b|.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from undercover.compiled.jit import kernel
from undercover.compiled.words import count_bits, lowest_bit


@kernel
def index_boxes(cells: Any, starts: Any, low: Any, high: Any, n_values: int) -> Any:
    """Bitmaps of boxes: ``(values, words)`` and the summary ``(values, words / 64)``.

    ``cells`` (n_boxes, d) and values are numbered through all columns; cell c covers the values of the runs
    ``starts[c]:starts[c + 1]``, from ``low`` to ``high``.
    """
    n_words = (len(cells) + 63) // 64
    bitmaps = np.zeros((n_values, n_words), np.uint64)
    summary = np.zeros((n_values, (n_words + 63) // 64), np.uint64)
    for box in range(len(cells)):
        at, bit = box >> 6, np.uint64(1) << np.uint64(box & 63)
        place = np.uint64(1) << np.uint64(at & 63)
        for j in range(cells.shape[1]):
            for run in range(starts[cells[box, j]], starts[cells[box, j] + 1]):
                for value in range(low[run], high[run] + 1):
                    bitmaps[value, at] |= bit
                    summary[value, at >> 6] |= place
    return bitmaps, summary


@kernel
def covering_boxes(bitmaps: Any, summary: Any, place_of: Any, value_starts: Any, targets: Any) -> Any:
    """For every row of codes the boxes that cover it: (offsets (n_targets + 1,), boxes in ascending order).

    The values of column j are numbered from ``value_starts[j]``; value v has the line ``place_of[v]`` of the bitmaps.
    """
    n, d = targets.shape
    offsets = np.zeros(n + 1, np.int64)
    boxes = np.empty(2 * n + 64, np.int64)
    found = 0
    for row in range(n):
        for sw in range(summary.shape[1]):
            places = summary[place_of[value_starts[0] + targets[row, 0]], sw]
            for j in range(1, d):
                places &= summary[place_of[value_starts[j] + targets[row, j]], sw]
            while places != 0:
                w = 64 * sw + lowest_bit(places)
                places &= places - np.uint64(1)
                word = bitmaps[place_of[value_starts[0] + targets[row, 0]], w]
                for j in range(1, d):
                    word &= bitmaps[place_of[value_starts[j] + targets[row, j]], w]
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


@kernel
def posteriors(offsets: Any, boxes: Any, buckets: Any, law: Any, target_of: Any, truth: Any) -> Any:
    """What an attacker thinks of the true value of every row, and whether his best guess hits.

    What he believes of a value follows by the ``law`` (:class:`undercover.forms.dealt.law.Law`) from how many of the
    matching rows have it; the guess is the most probable value, one of several by chance, and may be one that no row
    has. ``buckets`` are :class:`undercover.forms.boxes.Buckets`; target t fits ``boxes[offsets[t]:offsets[t + 1]]``.

    ``target_of`` is the target of each row, in ascending order; ``truth`` its sensitive value.
    Returns (probability, hit), one number per row each.
    """
    weights, bucket_of, bucket_starts, bucket_values, bucket_counts, bucket_sizes, n_values = buckets
    base, slope, spread, most = law
    n = len(target_of)
    probability = np.zeros(n)
    hit = np.zeros(n)
    share = np.zeros(n_values)
    touched = np.empty(n_values, np.int64)
    frequent, n_frequent = 0.0, 0
    for value in range(n_values):
        if base[value] > frequent:
            frequent, n_frequent = base[value], 0
        n_frequent += base[value] == frequent
    row = 0
    while row < n:
        target = target_of[row]
        n_touched, total, seen = 0, 0.0, 0.0
        for i in range(offsets[target], offsets[target + 1]):
            box = boxes[i]
            bucket = bucket_of[box]
            total += weights[box]
            for v in range(bucket_starts[bucket], bucket_starts[bucket + 1]):
                value = bucket_values[v]
                if share[value] == 0.0:
                    touched[n_touched] = value
                    n_touched += 1
                rows = weights[box] * bucket_counts[v] / bucket_sizes[bucket]
                share[value] += rows
                seen += rows * spread[value]
        if total > 0.0:
            seen /= total
        unseen = frequent * seen  # what is believed of the most frequent values, where no row has them
        highest, ties = unseen, n_frequent
        for i in range(n_touched):
            value = touched[i]
            share[value] /= total
            highest = max(highest, min(base[value] * seen + slope[value] * share[value], most))
            ties -= base[value] == frequent
        near = highest * (1.0 - 1e-12)
        if unseen < near:
            ties = 0
        for i in range(n_touched):
            value = touched[i]
            ties += min(base[value] * seen + slope[value] * share[value], most) >= near
        while row < n and target_of[row] == target:
            if total > 0.0:
                value = truth[row]
                probability[row] = min(base[value] * seen + slope[value] * share[value], most)
                if probability[row] >= near:
                    hit[row] = 1.0 / max(ties, 1)
            row += 1
        for i in range(n_touched):
            share[touched[i]] = 0.0
    return probability, hit


@kernel
def count_items(offsets: Any, owners: Any, starts: Any, items: Any, n_items: int) -> Any:
    """How many different items the owners of each target have together.

    Target t has the owners ``owners[offsets[t]:offsets[t + 1]]``, and an owner the items
    ``items[starts[o]:starts[o + 1]]``, numbered below ``n_items``.
    """
    n = len(offsets) - 1
    counts = np.zeros(n, np.int64)
    seen = np.full(n_items, -1, np.int64)
    for target in range(n):
        for i in range(offsets[target], offsets[target + 1]):
            owner = owners[i]
            for j in range(starts[owner], starts[owner + 1]):
                if seen[items[j]] != target:
                    seen[items[j]] = target
                    counts[target] += 1
    return counts


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
def weigh_covering(bitmaps: Any, targets: Any, row_starts: Any, truth: Any, least: int, weights: Any) -> Any:
    """(n_targets,) weight of the boxes that cover each target, and (n_rows,) the weight of each row's true value there.

    ``bitmaps`` (n_values, n_words) as :func:`undercover.forms.kernels.index_boxes` makes them, and ``targets`` (n, d)
    lines of them. Targets that begin alike share the intersection of these columns with the one before, so they should be sorted. The rows of target t
    are ``row_starts[t]:row_starts[t + 1]`` of ``truth``; equal values stand together. The ``weights`` are
    :class:`undercover.forms.disclosure.Weights`.
    """
    planes, plane_starts, list_starts, listed, listed_weights = weights
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
            own = bitmaps[targets[target, j]]
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
