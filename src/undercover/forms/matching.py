"""The linkage attack where boxes are so wide that the pairs of a person and a box that fits cannot be listed.

Groups that were drawn at random (the streamliner's wrap, for one) have cells that cover a large part of the table, and
a person fits thousands of them. How many rows fit, and how many of these show the true value, is then counted over
bitmaps (:mod:`undercover.forms.kernels`), exactly and for everybody. The most frequent value among the rows that
fit needs the whole distribution, which is looked at for a part of the people only, drawn with a fixed seed.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from undercover.forms.boxes import Boxes, match, value_codes
from undercover.forms.distribution import Distribution
from undercover.model.table import EncodedColumn

Integers = NDArray[np.int64]
MOST_PAIRS = 100_000_000  # of a person and a box that fits; beyond, they are counted and not listed
_PROBED = 256
_MOST_WORDS = 1 << 25  # of bitmaps, 8 bytes each


class Weights(NamedTuple):
    """Weights of boxes by number.

    Number 0 is that of the boxes beyond the least weight, which all have; number v + 1 is that of the sensitive value v
    in them. Number s has the planes ``plane_starts[s]:plane_starts[s + 1]``, or where it has none the boxes
    ``listed[list_starts[s]:list_starts[s + 1]]`` with their weights.
    """

    planes: NDArray[np.uint64]
    plane_starts: Integers
    list_starts: Integers
    listed: Integers
    listed_weights: Integers


def pairs_expected(boxes: Boxes, targets: Integers) -> float:
    """About how many boxes fit all targets together, from a few of them."""
    if boxes.exact is not None:
        return float(len(boxes.weights) + len(targets))
    chosen = np.random.default_rng(0).permutation(len(targets))[:_PROBED]
    offsets, _ = match(boxes, targets[chosen], 1)
    return float(offsets[-1]) / len(chosen) * len(targets)


def can_be_counted(boxes: Boxes) -> bool:
    """Whether every box is its own bucket, in parts of one size, and the bitmaps of all boxes can be held."""
    words = -(-len(boxes.weights) // 64) * int(boxes.value_starts[-1])
    own = bool((boxes.bucket_of == np.arange(len(boxes.weights))).all())
    return own and words <= _MOST_WORDS and all(_parts(boxes, column) for column in boxes.sensitive.values())


def counted_matches(
    boxes: Boxes,
    targets: Integers,
    target_of: Integers,
    sensitive: EncodedColumn | None,
    threads: int,
) -> tuple[Integers, NDArray[np.float64]]:
    """(n_targets,) rows that fit each target, and (n_rows,) the share of them with the row's true value.

    Parameters
    ----------
    boxes
        For which :func:`can_be_counted` holds.
    targets
        (n_targets, n_columns) codes.
    target_of
        (n_rows,) the target of each row.
    sensitive
        The column of the true values; without it all shares are 0.
    threads
        Parts of the targets are counted side by side.
    """
    from undercover.forms.kernels import index_boxes, weigh_covering

    n = len(targets)
    fewest_first = np.argsort([len(np.unique(column)) for column in targets.T], kind="stable")
    sorting = np.lexsort(targets[:, fewest_first].T[::-1])
    rank = np.empty(n, dtype=np.int64)
    rank[sorting] = np.arange(n)
    asked = np.ascontiguousarray(targets[sorting][:, fewest_first])
    truth = np.zeros(len(target_of), dtype=np.int64) if sensitive is None else sensitive.codes.astype(np.int64)
    order = np.lexsort((truth, rank[target_of]))
    rows_of = np.bincount(rank[target_of], minlength=n) if sensitive is not None else np.zeros(n, dtype=np.int64)
    starts = np.concatenate([[0], np.cumsum(rows_of)]).astype(np.int64)
    bitmaps, _ = index_boxes(boxes.masks, boxes.word_starts, boxes.value_starts, 0, len(boxes.weights))
    least = int(boxes.weights.min())
    weights = _weights(boxes, sensitive, least, bitmaps.shape[1])
    ordered = truth[order]

    def part(ends: tuple[int, int]) -> tuple[Integers, Integers]:
        first, last = ends
        rows = starts[first : last + 1]
        found: tuple[Integers, Integers] = weigh_covering(
            bitmaps,
            boxes.value_starts[:-1][fewest_first],
            asked[first:last],
            rows - rows[0],
            ordered[rows[0] : rows[-1]],
            least,
            weights,
        )
        return found

    cuts = np.linspace(0, n, 4 * threads + 1).astype(np.int64).tolist()
    with ThreadPoolExecutor(threads) as pool:
        found = list(pool.map(part, pairwise(cuts)))
    matches = np.concatenate([totals for totals, _ in found])[rank]
    if sensitive is None:
        return matches, np.zeros(len(target_of))
    true = np.empty(len(order), dtype=np.int64)
    true[order] = np.concatenate([shown for _, shown in found])
    rows = matches[target_of] * _parts(boxes, boxes.sensitive[sensitive.name])
    return matches, np.divide(true, rows, out=np.zeros(len(true)), where=rows > 0)


def _parts(boxes: Boxes, column: Distribution) -> int:
    """Into how many parts each row of a box is counted among its sensitive values; 0 where boxes differ."""
    sizes = column.sizes
    if len(sizes) != len(boxes.weights) or not len(sizes):
        return 0
    parts = int(sizes[0] // boxes.weights[0])
    return parts if bool((sizes == parts * boxes.weights).all()) else 0


def _weights(boxes: Boxes, sensitive: EncodedColumn | None, least: int, n_words: int) -> Weights:
    """Of the boxes beyond ``least``, and of every value: planes for what is in many boxes, lists for what is in few."""
    from undercover.forms.kernels import bit_planes

    numbered: list[tuple[Integers, Integers]] = [(np.arange(len(boxes.weights)), boxes.weights - least)]
    if sensitive is not None:
        column = boxes.sensitive[sensitive.name]
        codes, n_values = value_codes(column, sensitive)
        values = codes[column.value_index]
        order = np.argsort(values, kind="stable")
        ends = np.searchsorted(values[order], np.arange(n_values + 1))
        for low, high in pairwise(ends):
            entries = order[low:high]
            numbered.append((column.class_index[entries].astype(np.int64), column.counts[entries].astype(np.int64)))
    planes, plane_starts, listed, listed_weights, list_starts = [np.zeros((0, n_words), np.uint64)], [0], [], [], [0]
    for boxes_of, counts_of in numbered:
        inside, counts = boxes_of[counts_of > 0], counts_of[counts_of > 0]
        n_planes = int(counts.max(initial=0)).bit_length()
        if len(inside) > n_planes * n_words:
            planes.append(bit_planes(inside, counts, n_planes, n_words))
            plane_starts.append(plane_starts[-1] + n_planes)
            list_starts.append(list_starts[-1])
        else:
            listed.append(inside)
            listed_weights.append(counts)
            plane_starts.append(plane_starts[-1])
            list_starts.append(list_starts[-1] + len(inside))
    none = np.zeros(0, dtype=np.int64)
    return Weights(
        np.concatenate(planes),
        np.array(plane_starts),
        np.array(list_starts),
        np.concatenate([none, *listed]),
        np.concatenate([none, *listed_weights]),
    )
