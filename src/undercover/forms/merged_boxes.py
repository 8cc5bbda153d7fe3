"""Boxes of a release in two tables, each with the sensitive values of all buckets its rows lie in.

Where the cells of the QIT are generalised, a box covers many people and its rows lie in several buckets. Whoever
matches a person with boxes need not match him with every pair of a box and a bucket: what a box says of a value, summed
over its buckets, is the same for everybody who fits it. So each box becomes a bucket of its own in which a value s
occurs

    sum over B of Num(E, B) Num(s, B) / |B|

times, counted in parts of a common denominator so that it stays a whole number.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from undercover.forms.boxes import Boxes, boxes_of
from undercover.forms.distribution import Distribution
from undercover.forms.written import combine, first_rows
from undercover.model.table import Table

if TYPE_CHECKING:
    from undercover.forms.reading import Reading

_LARGEST = 1 << 62


@dataclass(frozen=True)
class MergedBoxes:
    """Boxes, and the buckets the rows of each lie in: ``buckets[starts[i]:starts[i + 1]]``."""

    boxes: Boxes
    starts: NDArray[np.int64]  # (n_boxes + 1,)
    buckets: NDArray[np.int64]
    n_buckets: int


def merged_boxes(reading: Reading, original: Table, known: Sequence[str], sensitive: Sequence[str]) -> MergedBoxes:
    """The boxes of a release as :func:`undercover.forms.boxes.boxes_of` reads them, one for all its buckets."""
    boxes = boxes_of(reading, original, known, sensitive)
    count = len(boxes.weights)
    n_buckets = int(boxes.bucket_of.max(initial=-1)) + 1
    separate = MergedBoxes(boxes, np.arange(count + 1), boxes.bucket_of, n_buckets)
    if reading.buckets is None or boxes.exact is not None:
        return separate
    whole = math.lcm(*(size for column in boxes.sensitive.values() for size in np.unique(column.sizes).tolist()))
    if whole * int(boxes.weights.sum()) >= _LARGEST:
        return separate  # no whole number would hold the counts
    columns = [reading.column(name) for name in known]
    entry_of, _ = combine([*columns, reading.buckets.rows])
    box_of, n_boxes = combine(columns)
    owner = np.empty(count, dtype=np.int64)  # the box of each pair of a box and a bucket
    owner[entry_of] = box_of
    first = first_rows(owner, n_boxes)
    order = np.argsort(owner, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=n_boxes))])
    weights = np.bincount(owner, weights=boxes.weights, minlength=n_boxes).astype(np.int64)
    merged = replace(
        boxes,
        weights=weights,
        bucket_of=np.arange(n_boxes),
        masks=np.ascontiguousarray(boxes.masks[first]),
        sensitive={
            name: _merged(column, owner, boxes.bucket_of, boxes.weights, n_boxes, whole)
            for name, column in boxes.sensitive.items()
        },
    )
    return MergedBoxes(merged, starts, boxes.bucket_of[order], n_buckets)


def _merged(
    column: Distribution,
    owner: NDArray[np.int64],
    bucket_of: NDArray[np.int64],
    rows: NDArray[np.int64],
    n_boxes: int,
    whole: int,
) -> Distribution:
    """The values of every box, in parts of ``1 / whole``."""
    times = column.distinct[bucket_of]
    ends = np.cumsum(times)
    entry = np.arange(int(ends[-1])) - np.repeat(ends - times - column.starts[bucket_of], times)
    keys = np.repeat(owner, times) * column.n_values + column.value_index[entry]
    parts = np.repeat(rows * (whole // column.sizes[bucket_of]), times) * column.counts[entry]
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    first = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
    return replace(
        column,
        class_index=keys[first] // column.n_values,
        value_index=keys[first] % column.n_values,
        counts=np.add.reduceat(parts[order], first),
        n_classes=n_boxes,
    )
