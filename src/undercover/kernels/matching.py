"""Which published boxes cover a given row: a tree over boxes, searched for many rows.

A box is one bit mask per column (a bit for every value it covers), all masks of a box one behind the other. The tree
joins boxes that lie close together; a node's masks are the unions of what is below it, so a row whose value is not in
a node's mask is in none of its boxes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from undercover.kernels.jit import internal, kernel

LEAF = 8  # boxes in a leaf at most


@kernel
def build_tree(masks: Any, centres: Any) -> Any:
    """Order the boxes and put a tree over them.

    Parameters
    ----------
    masks
        (n_boxes, n_words)
    centres
        (n_boxes, d) where the box lies on each column's scale of 0 to 1.

    Returns
    -------
    order (n_boxes,), nodes (n_nodes, 4): first and last box in order (end excluded), left and right child (-1: leaf),
    node_masks (n_nodes, n_words). Children stand behind their parents; node 0 is the root.
    """
    n, d = centres.shape
    order = np.arange(n)
    spare = np.empty(n, np.int64)
    nodes = np.empty((2 * n + 1, 4), np.int64)
    nodes[0, 0], nodes[0, 1] = 0, n
    count, at = 1, 0
    while at < count:
        start, end = nodes[at, 0], nodes[at, 1]
        nodes[at, 2], nodes[at, 3] = -1, -1
        if end - start > LEAF:
            widest, spread, cut = 0, -1.0, 0.0
            for j in range(d):
                low, high, total = np.inf, -np.inf, 0.0
                for p in range(start, end):
                    centre = centres[order[p], j]
                    low, high, total = min(low, centre), max(high, centre), total + centre
                if high - low > spread:
                    widest, spread, cut = j, high - low, total / (end - start)
            left, right = start, start
            for p in range(start, end):
                if centres[order[p], widest] < cut:
                    order[left] = order[p]
                    left += 1
                else:
                    spare[right] = order[p]
                    right += 1
            for p in range(end - left):
                order[left + p] = spare[start + p]
            if left == start or left == end:
                left = (start + end) // 2
            nodes[at, 2], nodes[at, 3] = count, count + 1
            nodes[count, 0], nodes[count, 1] = start, left
            nodes[count + 1, 0], nodes[count + 1, 1] = left, end
            count += 2
        at += 1
    n_words = masks.shape[1]
    node_masks = np.zeros((count, n_words), np.uint64)
    for i in range(count - 1, -1, -1):
        if nodes[i, 2] < 0:
            for p in range(nodes[i, 0], nodes[i, 1]):
                for w in range(n_words):
                    node_masks[i, w] |= masks[order[p], w]
        else:
            for w in range(n_words):
                node_masks[i, w] = node_masks[nodes[i, 2], w] | node_masks[nodes[i, 3], w]
    return order, nodes[:count], node_masks


@internal
def _covers(masks: Any, i: int, targets: Any, row: int, word_starts: Any) -> bool:
    for j in range(len(word_starts)):
        code = targets[row, j]
        if (masks[i, word_starts[j] + (code >> 6)] >> np.uint64(code & 63)) & np.uint64(1) == 0:
            return False
    return True


@kernel
def find_matches(masks: Any, word_starts: Any, order: Any, nodes: Any, node_masks: Any, targets: Any) -> Any:
    """For every target row of codes, the boxes that cover it: (offsets (n_targets + 1,), boxes)."""
    n = len(targets)
    offsets = np.zeros(n + 1, np.int64)
    boxes = np.empty(2 * n + 16, np.int64)
    stack = np.empty(len(nodes) + 2, np.int64)
    found = 0
    for row in range(n):
        stack[0] = 0
        depth = 1
        while depth > 0:
            depth -= 1
            node = stack[depth]
            if not _covers(node_masks, node, targets, row, word_starts):
                continue
            if nodes[node, 2] >= 0:
                stack[depth], stack[depth + 1] = nodes[node, 2], nodes[node, 3]
                depth += 2
                continue
            for p in range(nodes[node, 0], nodes[node, 1]):
                if _covers(masks, order[p], targets, row, word_starts):
                    if found == len(boxes):
                        larger = np.empty(2 * found, np.int64)
                        for i in range(found):
                            larger[i] = boxes[i]
                        boxes = larger
                    boxes[found] = order[p]
                    found += 1
        offsets[row + 1] = found
    return offsets, boxes[:found]


@kernel
def posteriors(
    offsets: Any, boxes: Any, weights: Any, bucket_of: Any, bucket_starts: Any, bucket_values: Any, bucket_counts: Any,
    bucket_sizes: Any, n_values: int, target_of: Any, truth: Any,
) -> Any:  # fmt: skip
    """What an attacker thinks of the true value of every row, and whether his best guess hits.

    A box weighs ``weights`` rows and its sensitive values are those of its bucket
    (``bucket_starts[b]:bucket_starts[b + 1]`` of values and counts, ``bucket_sizes`` rows in all). The probability of a
    value is its mean over the matching rows; the guess is the most probable value, one of several by chance.

    ``target_of`` is the target of each row, in ascending order; ``truth`` its sensitive value.
    Returns (probability, hit), one number per row each.
    """
    n = len(target_of)
    probability = np.zeros(n)
    hit = np.zeros(n)
    share = np.zeros(n_values)
    touched = np.empty(n_values, np.int64)
    row = 0
    while row < n:
        target = target_of[row]
        n_touched, total = 0, 0.0
        for i in range(offsets[target], offsets[target + 1]):
            box = boxes[i]
            bucket = bucket_of[box]
            total += weights[box]
            for v in range(bucket_starts[bucket], bucket_starts[bucket + 1]):
                value = bucket_values[v]
                if share[value] == 0.0:
                    touched[n_touched] = value
                    n_touched += 1
                share[value] += weights[box] * bucket_counts[v] / bucket_sizes[bucket]
        highest = 0.0
        for i in range(n_touched):
            highest = max(highest, share[touched[i]])
        ties = 0
        for i in range(n_touched):
            ties += share[touched[i]] >= highest * (1.0 - 1e-12)
        while row < n and target_of[row] == target:
            if total > 0.0:
                probability[row] = min(1.0, share[truth[row]] / total)
                if share[truth[row]] >= highest * (1.0 - 1e-12):
                    hit[row] = 1.0 / ties
            row += 1
        for i in range(n_touched):
            share[touched[i]] = 0.0
    return probability, hit
