"""Equivalence classes of a published table: rows whose quasi-identifier cells are written alike.

Sweeney 2002 for the classes, Xiao & Tao 2006 for the two-table form in which a bucket takes the place of the class.

Deviations: a missing cell is a value of its own, so a person with an unknown age shares a class only with others of
unknown age. Suppressed rows are no class: in a table made elsewhere, a row whose every quasi-identifier is ``*``; our
own releases do not publish such rows, so there an all-``*`` class is a class like any other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from undercover.errors import DataError, SchemaError, listed, unknown
from undercover.forms.distribution import Distribution, distribution_of
from undercover.forms.written import Written, combine, first_rows, labels_of, number, written
from undercover.model.cells import EVERYTHING
from undercover.model.release import Release

BUCKET = "bucket"
COUNT = "count"
PEOPLE = "G"  # of perturbed generalization: how many people the one published row of a cell stands for


@dataclass(frozen=True)
class Classes:
    """The classes of a published table and how the sensitive values are spread over them.

    Where a release is a quasi-identifier table and a sensitive table, the classes are its buckets and ``boxes`` are
    the rows of the former that are written alike. ``problems`` says where the two tables contradict each other.

    Examples
    --------
    >>> data = pa.table({"age": ["[20, 30]", "[20, 30]", "*"], "disease": ["flu", "cold", "flu"]})
    >>> classes = classes_of_table(data, ["age"], ["disease"], suppressed_is_star=True)
    >>> classes
    <Classes: 1 of 2 rows, 1 suppressed; hand them to a guarantee's check()>
    >>> classes.labels.tolist(), classes.sizes.tolist(), classes.describe(0)
    ([0, 0, -1], [2], {'age': '[20, 30]'})
    """

    quasi_identifiers: tuple[str, ...]
    labels: NDArray[np.int64]  # (n_rows,) class of each published row, -1 for a suppressed one
    sizes: NDArray[np.int64]
    representatives: NDArray[np.int64]  # first published row of each class
    suppressed: int
    sensitive: Mapping[str, Distribution]
    data: pa.Table = field(repr=False, compare=False)
    described_by: tuple[str, ...] = ()
    boxes: Classes | None = None
    problems: tuple[str, ...] = ()
    sampled: bool = False  # whether a published row stands for G people of whom it is one

    @property
    def count(self) -> int:
        """Number of classes."""
        return len(self.sizes)

    @property
    def rows(self) -> int:
        """Rows that lie in a class."""
        return int(self.sizes.sum())

    def describe(self, index: int) -> dict[str, str]:
        """The cells of one class as text."""
        row = self.data.select(list(self.described_by or self.quasi_identifiers))
        row = row.slice(int(self.representatives[index]), 1)
        return {name: labels_of(_plain(column))[0] for name, column in zip(row.column_names, row.columns, strict=True)}

    def __repr__(self) -> str:
        return (
            f"<Classes: {self.count:,} of {self.rows:,} rows, {self.suppressed:,} suppressed; "
            "hand them to a guarantee's check()>"
        )


def classes_of(release: Release) -> Classes:
    """The classes of a release, from its published tables alone.

    >>> from undercover.model.release import PublishedColumn, PublishedTable
    >>> columns = (PublishedColumn("age", "quasi-identifier", "interval"), PublishedColumn("ill", "sensitive", "value"))
    >>> table = PublishedTable("table", columns, pa.table({"age": ["*", "*"], "ill": ["flu", "cold"]}))
    >>> classes_of(Release("mondrian", {}, (table,), True, suppressed_rows=3))
    <Classes: 1 of 2 rows, 3 suppressed; hand them to a guarantee's check()>
    """
    names = {table.name for table in release.tables}
    if {"qit", "sat"} <= names:  # a joined view beside them shows nothing that they do not
        return _bucket_classes(release)
    if len(release.tables) != 1:
        raise DataError(f"A release is one table, or `qit` and `sat`. Found: {listed(sorted(names))}.")
    table = release.tables[0]
    found = _row_classes(table.data, table.names("quasi-identifier"), table.names("sensitive"), star=False)
    if PEOPLE in table.names("structure"):
        found = _standing_for(found, table.data.column(PEOPLE))
    return _with_suppressed(found, release.suppressed_rows)


def classes_of_table(
    data: pa.Table,
    quasi_identifiers: Iterable[str],
    sensitive: Iterable[str] = (),
    *,
    suppressed_is_star: bool,
    people: str | None = None,
) -> Classes:
    """The classes of any table.

    Parameters
    ----------
    data
        The published rows.
    quasi_identifiers, sensitive
        Names of its columns.
    suppressed_is_star
        Whether a row whose every quasi-identifier is ``*`` is a suppressed row, not a member of a class.
    people
        The column that says how many people a row stands for, where each is one of several; then no row is suppressed.

    Examples
    --------
    >>> ages = pa.table({"age": [34, 34, None]})
    >>> classes_of_table(ages, ["age"], suppressed_is_star=True).sizes.tolist()
    [2, 1]
    """
    quasi, secret = tuple(quasi_identifiers), tuple(sensitive)
    names = data.column_names
    problems = [unknown("Column", name, names) for name in dict.fromkeys(quasi + secret) if name not in names]
    problems += [
        f"The table has more than one column named `{name}`. Rename them."
        for name in dict.fromkeys(quasi + secret)
        if names.count(name) > 1
    ]
    problems += [f"Column `{name}` is both a quasi-identifier and sensitive." for name in quasi if name in secret]
    if problems:
        raise SchemaError(problems)
    if not data.num_rows:
        raise DataError("The table is empty: it has no rows.")
    if people is None:
        return _row_classes(data, quasi, secret, star=suppressed_is_star)
    return _standing_for(_row_classes(data, quasi, secret, star=False), data.column(people))


def _row_classes(data: pa.Table, quasi: tuple[str, ...], sensitive: tuple[str, ...], *, star: bool) -> Classes:
    if not quasi:
        raise SchemaError("At least one quasi-identifier is needed: the columns an attacker may know.")
    columns = [written(data.column(name)) for name in quasi]
    labels, count = combine(columns)
    sizes = np.bincount(labels, minlength=count)
    first = first_rows(labels, count)
    suppressed = 0
    if star:
        hidden = _all_star(columns, first)
        if hidden.any():
            suppressed = int(sizes[hidden].sum())
            renumbered = np.where(hidden, -1, np.cumsum(~hidden) - 1)
            labels, sizes, first = renumbered[labels], sizes[~hidden], first[~hidden]
            count = len(sizes)
    spread = {}
    for name in sensitive:
        column = written(data.column(name), nan_is_missing=True)
        unknown_value = None
        if suppressed and EVERYTHING in column.labels:
            unknown_value = (labels < 0) & (column.codes == column.labels.index(EVERYTHING))
        spread[name] = distribution_of(name, column, labels, count, left_out=unknown_value)
    return Classes(quasi, labels, sizes, first, suppressed, spread, data)


def _bucket_classes(release: Release) -> Classes:
    qit, sat = release.published("qit"), release.published("sat")
    quasi, sensitive = qit.names("quasi-identifier"), sat.names("sensitive")
    problems = [
        f"Table `{table.name}` has no column `{name}`."
        for table, name in ((qit, BUCKET), (sat, BUCKET), (sat, COUNT))
        if name not in table.data.column_names
    ]
    if problems:
        raise DataError(problems)
    both = _concatenated(qit.data.column(BUCKET), sat.data.column(BUCKET))
    labels, count = number(written(both).codes)
    in_qit, in_sat = labels[: qit.rows], labels[qit.rows :]
    sizes = np.bincount(in_qit, minlength=count)
    people = _counts(sat.data.column(COUNT))
    listed_people = np.bincount(in_sat, weights=people, minlength=count).astype(np.int64)
    found = []
    if (people < 1).any():
        found.append("Table `sat` has counts that are not whole numbers of at least 1.")
    differing = np.flatnonzero(sizes != listed_people)
    if len(differing):
        found.append(
            f"{len(differing):,} buckets have another number of rows in `qit` than their counts in `sat` add up to."
        )
    found += _joined_problems(release)
    known = sizes > 0
    spread: dict[str, Distribution] = {}
    if not found:
        for name in sensitive:
            column = written(sat.data.column(name), nan_is_missing=True)
            spread[name] = distribution_of(name, column, in_sat, count, people)
    boxes = _with_suppressed(_row_classes(qit.data, quasi, (), star=False), release.suppressed_rows)
    if not found:
        return Classes(
            quasi,
            in_qit,
            sizes,
            first_rows(in_qit, count),
            release.suppressed_rows,
            spread,
            qit.data,
            (BUCKET,),
            boxes,
        )
    renumbered = np.cumsum(known) - 1
    in_qit, sizes = renumbered[in_qit], sizes[known]
    first = first_rows(in_qit, len(sizes))
    empty = {name: _nothing(name, sat.data.column(name)) for name in sensitive}
    return Classes(
        quasi, in_qit, sizes, first, release.suppressed_rows, empty, qit.data, (BUCKET,), boxes, tuple(found)
    )


def _joined_problems(release: Release) -> list[str]:
    """A joined view must show the boxes of the QIT and the values of the SAT, each as often."""
    if "joined" not in {table.name for table in release.tables}:
        return []
    qit, sat, joined = (release.published(name) for name in ("qit", "sat", "joined"))
    quasi = list(qit.names("quasi-identifier"))
    problems = []
    if not _as_often(qit.data.select(quasi), joined.data.select(quasi)):
        problems.append("Table `joined` has other quasi-identifier cells than `qit`, or not as often.")
    for name in sat.names("sensitive"):
        people = _counts(sat.data.column(COUNT))
        spelled = sat.data.select([name]).take(pa.array(np.repeat(np.arange(sat.rows), np.maximum(people, 0))))
        if not _as_often(spelled, joined.data.select([name])):
            problems.append(f"Table `joined` has other values of `{name}` than `sat`, or not as often.")
    return problems


def _as_often(one: pa.Table, other: pa.Table) -> bool:
    both = [written(_concatenated(first, second)) for first, second in zip(one.columns, other.columns, strict=True)]
    labels, count = combine(both)
    mine, yours = (np.bincount(part, minlength=count) for part in (labels[: one.num_rows], labels[one.num_rows :]))
    return bool(np.array_equal(mine, yours))


def _with_suppressed(classes: Classes, suppressed: int) -> Classes:
    return replace(classes, suppressed=suppressed)


def _standing_for(classes: Classes, people: pa.ChunkedArray) -> Classes:
    """The classes of a table of which every row stands for as many people as its column G says."""
    counts = _counts(people)
    sizes = np.bincount(classes.labels, weights=counts, minlength=classes.count).astype(np.int64)
    wrong = (f"Column `{PEOPLE}` has numbers that are not whole or below 1.",) if (counts < 1).any() else ()
    return replace(classes, sizes=sizes, problems=wrong, sampled=True)


def _all_star(columns: list[Written], rows: NDArray[np.int64]) -> NDArray[np.bool_]:
    hidden = np.ones(len(rows), dtype=bool)
    for column in columns:
        star = np.array([label == EVERYTHING for label in column.labels], dtype=bool)
        hidden &= star[column.codes[rows]]
    return hidden


def _plain(column: pa.ChunkedArray) -> pa.Array:
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)


def _concatenated(first: pa.ChunkedArray, second: pa.ChunkedArray) -> pa.ChunkedArray:
    kind = pa.int64() if pa.types.is_integer(first.type) and pa.types.is_integer(second.type) else pa.string()
    return pa.chunked_array([*first.cast(kind).chunks, *second.cast(kind).chunks], type=kind)


def _counts(column: pa.ChunkedArray) -> NDArray[np.int64]:
    try:
        whole = pc.fill_null(column.cast(pa.int64()), 0)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return np.zeros(len(column), dtype=np.int64)
    return np.asarray(whole.to_numpy(), dtype=np.int64)


def _nothing(name: str, column: pa.ChunkedArray) -> Distribution:
    none = np.empty(0, dtype=np.int64)
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    return Distribution(name, pa.array([], kind), none, none, none, none, 0)
