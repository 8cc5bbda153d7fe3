"""The classes of a release in two tables: its buckets (Xiao & Tao 2006), and where the tables contradict each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from undercover.forms.classes import Classes, whole_numbers, with_suppressed
from undercover.forms.distribution import Distribution, distribution_of
from undercover.forms.written import combine, first_rows, written
from undercover.model.form import Buckets
from undercover.model.groups import number
from undercover.model.release import Release

if TYPE_CHECKING:
    from undercover.forms.reading import Reading


def bucket_classes(reading: Reading, form: Buckets) -> Classes:
    """The buckets of a release as classes, beside the rows that are written alike."""
    release, qit, sat = reading.release, reading.main, reading.release.published(form.values)
    quasi, sensitive = qit.names("quasi-identifier"), sat.names("sensitive")
    both = _concatenated(qit.data.column(form.bucket), sat.data.column(form.bucket))
    labels, count = number(written(both).codes)
    in_qit, in_sat = labels[: qit.rows], labels[qit.rows :]
    sizes = np.bincount(in_qit, minlength=count)
    people = whole_numbers(sat.data.column(form.count))
    listed_people = np.bincount(in_sat, weights=people, minlength=count).astype(np.int64)
    found = []
    if (people < 1).any():
        found.append(f"Table `{sat.name}` has counts that are not whole numbers of at least 1.")
    differing = np.flatnonzero(sizes != listed_people)
    if len(differing):
        found.append(
            f"{len(differing):,} buckets have another number of rows in `{qit.name}` than their counts in "
            f"`{sat.name}` add up to."
        )
    found += _joined_problems(release, form)
    known = sizes > 0
    spread: dict[str, Distribution] = {}
    if not found:
        for name in sensitive:
            column = written(sat.data.column(name), nan_is_missing=True)
            spread[name] = distribution_of(name, column, in_sat, count, people)
    boxes = with_suppressed(reading.rows_alike(()), release.suppressed_rows)
    if not found:
        return Classes(
            quasi,
            in_qit,
            sizes,
            first_rows(in_qit, count),
            release.suppressed_rows,
            spread,
            qit.data,
            (form.bucket,),
            boxes,
        )
    renumbered = np.cumsum(known) - 1
    in_qit, sizes = renumbered[in_qit], sizes[known]
    first = first_rows(in_qit, len(sizes))
    empty = {name: _nothing(name, sat.data.column(name)) for name in sensitive}
    return Classes(
        quasi, in_qit, sizes, first, release.suppressed_rows, empty, qit.data, (form.bucket,), boxes, tuple(found)
    )


def _joined_problems(release: Release, form: Buckets) -> list[str]:
    """A joined view must show the boxes of the QIT and the values of the SAT, each as often."""
    if form.joined is None:
        return []
    qit, sat, joined = (release.published(name) for name in (form.rows, form.values, form.joined))
    quasi = list(qit.names("quasi-identifier"))
    problems = []
    if not _as_often(qit.data.select(quasi), joined.data.select(quasi)):
        problems.append(f"Table `{joined.name}` has other quasi-identifier cells than `{qit.name}`, or not as often.")
    for name in sat.names("sensitive"):
        people = whole_numbers(sat.data.column(form.count))
        spelled = sat.data.select([name]).take(pa.array(np.repeat(np.arange(sat.rows), np.maximum(people, 0))))
        if not _as_often(spelled, joined.data.select([name])):
            problems.append(f"Table `{joined.name}` has other values of `{name}` than `{sat.name}`, or not as often.")
    return problems


def _as_often(one: pa.Table, other: pa.Table) -> bool:
    both = [written(_concatenated(first, second)) for first, second in zip(one.columns, other.columns, strict=True)]
    labels, count = combine(both)
    mine, yours = (np.bincount(part, minlength=count) for part in (labels[: one.num_rows], labels[one.num_rows :]))
    return bool(np.array_equal(mine, yours))


def _concatenated(first: pa.ChunkedArray, second: pa.ChunkedArray) -> pa.ChunkedArray:
    kind = pa.int64() if pa.types.is_integer(first.type) and pa.types.is_integer(second.type) else pa.string()
    return pa.chunked_array([*first.cast(kind).chunks, *second.cast(kind).chunks], type=kind)


def _nothing(name: str, column: pa.ChunkedArray) -> Distribution:
    none = np.empty(0, dtype=np.int64)
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    return Distribution(name, pa.array([], kind), none, none, none, none, 0)
