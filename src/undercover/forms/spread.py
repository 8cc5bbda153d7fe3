"""A release as boxes with sensitive values: what every COUNT estimate under the uniform assumption is computed from.

In one table a box is the rows written alike; its values are those rows' own. In two tables (QIT and SAT) a box is the
rows of one bucket written alike, and a row has each value of its bucket with the probability of its share there, as in
Xiao & Tao 2006, Section 3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from undercover.errors import DataError, listed
from undercover.forms.bucket_table import BucketTable
from undercover.forms.coverage import Coverage, Positions
from undercover.forms.distribution import distribution_of
from undercover.forms.meaning import NOTHING, Values
from undercover.forms.written import combine, first_rows
from undercover.model.cells import CellForm

if TYPE_CHECKING:
    from undercover.forms.reading import Reading


@dataclass(frozen=True, eq=False)
class Spread:
    """Boxes, what they cover, and the expected number of rows of each sensitive value in them.

    Pairs of a box and a value are sorted by value: those of value v are ``value_starts[v]:value_starts[v + 1]``.
    """

    coverage: Mapping[str, Coverage]
    cells: Mapping[str, Positions]  # name -> (n_boxes,) cell of each box
    value_starts: Positions  # (n_values + 1,)
    pair_box: Positions  # (n_pairs,)
    pair_weight: NDArray[np.float64]  # (n_pairs,)

    @classmethod
    def of_pairs(
        cls,
        coverage: Mapping[str, Coverage],
        cells: Mapping[str, Positions],
        pairs: tuple[NDArray[np.integer], NDArray[np.integer], NDArray[np.float64]],
        n_values: int,
    ) -> Spread:
        """Sort ``(boxes, values, weights)`` by value."""
        boxes, values, weights = pairs
        order = np.argsort(values, kind="stable")
        starts = np.concatenate([[0], np.cumsum(np.bincount(values, minlength=n_values))]).astype(np.int64)
        return cls(coverage, cells, starts, boxes[order].astype(np.int64), weights[order].astype(np.float64))

    @property
    def n_values(self) -> int:
        """Number of sensitive values, present or not."""
        return len(self.value_starts) - 1


def read_cells(name: str, labels: Sequence[str], form: CellForm, values: Values) -> Coverage:
    """What the distinct cells of a published column cover.

    >>> read_cells("sex", ["F", "{F, M}", "*"], "set", Values(("F", "M"), "categorical", False)).sizes.tolist()
    [1, 2, 2]
    >>> read_cells("sex", ["X"], "set", Values(("F", "M"), "categorical", False))
    Traceback (most recent call last):
    undercover.errors.DataError: Cells of `sex` that stand for no value of its domain: `X`.
    """
    meanings = values.read_all(tuple(labels), form)
    wrong = [label for label, meaning in zip(labels, meanings, strict=True) if meaning == NOTHING]
    if wrong:
        raise DataError(f"Cells of `{name}` that stand for no value of its domain: {listed(wrong, limit=5)}.")
    return Coverage.of_meanings(meanings, values.size)


def spread_of(reading: Reading, values: Mapping[str, Values], sensitive: str, labels: Sequence[str]) -> Spread:
    """Read the columns of ``values`` and one sensitive column of a release.

    Parameters
    ----------
    reading
        Of a release whose sensitive values are true, by row or by bucket.
    values
        The domain of each column to read.
    sensitive, labels
        The sensitive column and its values in order; they are the value codes of the result.
    """
    columns = {name: reading.column(name) for name in values}
    coverage = {name: reading.coverage(name, values[name]) for name in values}
    buckets = reading.buckets
    alike, count = combine([*columns.values(), *([] if buckets is None else [buckets.rows])])
    first = first_rows(alike, count)
    cells = {name: column.codes[first] for name, column in columns.items()}
    if buckets is not None:
        rows = np.bincount(alike, minlength=count)
        pairs = _shared(buckets, sensitive, labels, buckets.rows.codes[first], rows)
    else:
        own = distribution_of(sensitive, reading.column(sensitive), alike, count)
        codes = _value_codes(sensitive, own.labels, labels)
        pairs = own.class_index, codes[own.value_index], own.counts.astype(np.float64)
    return Spread.of_pairs(coverage, cells, pairs, len(labels))


def _shared(
    buckets: BucketTable, sensitive: str, labels: Sequence[str], bucket_of: Positions, rows: Positions
) -> tuple[Positions, Positions, NDArray[np.float64]]:
    """Every box with every value of its bucket, weighted by rows and the value's share."""
    listed_values = buckets.distribution(sensitive)
    codes = _value_codes(sensitive, listed_values.labels, labels)
    per_box = np.diff(listed_values.starts)[bucket_of]
    boxes = np.repeat(np.arange(len(bucket_of)), per_box)
    ends = np.cumsum(per_box)
    entry = np.arange(len(boxes)) - np.repeat(ends - per_box - listed_values.starts[bucket_of], per_box)
    share = listed_values.counts / listed_values.sizes[listed_values.class_index]
    return boxes, codes[listed_values.value_index[entry]], rows[boxes] * share[entry]


def _value_codes(name: str, published: Sequence[str], labels: Sequence[str]) -> Positions:
    place = {label: code for code, label in enumerate(labels)}
    strange = [label for label in published if label not in place]
    if strange:
        raise DataError(f"Values of `{name}` that are not in its domain: {listed(strange, limit=5)}.")
    return np.array([place[label] for label in published], dtype=np.int64)
