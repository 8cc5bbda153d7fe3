"""A release as boxes with sensitive values: what every COUNT estimate under the uniform assumption is computed from.

In one table a box is the rows written alike; its values are those rows' own. In two tables (QIT and SAT) a box is the
rows of one bucket written alike, and a row has each value of its bucket with the probability of its share there, as in
Xiao & Tao 2006, Section 3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from undercover.errors import DataError, ParameterError, listed
from undercover.forms.classes import BUCKET, COUNT
from undercover.forms.coverage import Coverage, Positions
from undercover.forms.distribution import distribution_of
from undercover.forms.meaning import NOTHING, Values
from undercover.forms.written import Written, combine, first_rows, positions_among, written
from undercover.model.cells import CellForm
from undercover.model.release import Release


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


def spread_of_release(
    release: Release, values: Mapping[str, Values], sensitive: str, sensitive_labels: Sequence[str]
) -> Spread:
    """Read the columns of ``values`` and one sensitive column of a release.

    Parameters
    ----------
    release
        One generalised table, or ``qit`` and ``sat``.
    values
        The domain of each column to read.
    sensitive, sensitive_labels
        The sensitive column and its values in order; they are the value codes of the result.
    """
    if release.method == "perturbed-generalization":
        raise ParameterError("Sensitive values of perturbed generalization are drawn at random and cannot be counted.")
    two_tables = len(release.tables) > 1
    table = release.published("qit") if two_tables else release.published()
    columns = {name: written(table.data.column(name)) for name in values}
    coverage = {name: read_cells(name, columns[name].labels, table.form(name), values[name]) for name in values}
    buckets = written(table.data.column(BUCKET)) if two_tables else None
    labels, count = combine([*columns.values(), *([] if buckets is None else [buckets])])
    first = first_rows(labels, count)
    cells = {name: column.codes[first] for name, column in columns.items()}
    if buckets is not None:
        rows = np.bincount(labels, minlength=count)
        pairs = _shared(release, sensitive, sensitive_labels, buckets, buckets.codes[first], rows)
    else:
        own = distribution_of(sensitive, written(table.data.column(sensitive)), labels, count)
        codes = _value_codes(sensitive, own.labels, sensitive_labels)
        pairs = own.class_index, codes[own.value_index], own.counts.astype(np.float64)
    return Spread.of_pairs(coverage, cells, pairs, len(sensitive_labels))


def _shared(
    release: Release,
    sensitive: str,
    sensitive_labels: Sequence[str],
    buckets: Written,
    bucket_of: Positions,
    rows: Positions,
) -> tuple[Positions, Positions, NDArray[np.float64]]:
    """Every box with every value of its bucket, weighted by rows and the value's share."""
    sat = release.published("sat").data
    named = written(sat.column(BUCKET))
    known = positions_among(named, buckets)
    counts = np.asarray(sat.column(COUNT).to_numpy(), dtype=np.int64)
    listed_values = distribution_of(
        sensitive, written(sat.column(sensitive)), known[named.codes], len(buckets.values), counts
    )
    codes = _value_codes(sensitive, listed_values.labels, sensitive_labels)
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
