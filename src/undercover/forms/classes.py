"""Equivalence classes of a published table: rows whose quasi-identifier cells are written alike.

Sweeney 2002 for the classes, Xiao & Tao 2006 for the two-table form in which a bucket takes the place of the class.

Deviations: a missing cell is a value of its own, so a person with an unknown age shares a class only with others of
unknown age. Suppressed rows are no class: in a table made elsewhere, a row whose every quasi-identifier is ``*``; our
own releases do not publish such rows, so there an all-``*`` class is a class like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from undercover.arrays import count, look_up
from undercover.errors import DataError, SchemaError, unknown
from undercover.forms.distribution import Distribution, distribution_of
from undercover.forms.written import Written, combined, labels_of, written
from undercover.model.cells import EVERYTHING


@dataclass(frozen=True)
class Classes:
    """The classes of a published table and how the sensitive values are spread over them.

    Where a release is a quasi-identifier table and a sensitive table, the classes are its buckets and ``boxes`` are
    the rows of the former that are written alike. ``problems`` says where the two tables contradict each other.
    """

    quasi_identifiers: tuple[str, ...]
    labels: NDArray[np.integer]  # (n_rows,) class of each published row, -1 for a suppressed one
    sizes: NDArray[np.int64]
    representatives: NDArray[np.integer]  # first published row of each class
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

    def column(self, name: str) -> Written:
        """The cells of a column, of every published row."""
        return written(self.data.column(name))

    def cells(self, name: str) -> Written:
        """The cells of a column, of every class."""
        return written(self.data.column(name).take(pa.array(self.representatives)))

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


def classes_of_table(
    data: pa.Table,
    quasi_identifiers: Iterable[str],
    sensitive: Iterable[str] = (),
    *,
    suppressed_is_star: bool,
    people: str | None = None,
) -> Classes:
    """The classes of any table.

    With ``suppressed_is_star`` a row whose every quasi-identifier is ``*`` is a suppressed row, not a member of a
    class. ``people`` is the column that says how many people a row stands for, where each is one of several; then no
    row is suppressed.
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
        return row_classes(data, quasi, secret, star=suppressed_is_star)
    return standing_for(row_classes(data, quasi, secret), people)


def row_classes(
    data: pa.Table,
    quasi: tuple[str, ...],
    sensitive: tuple[str, ...],
    read: Callable[..., Written] | None = None,
    *,
    star: bool = False,
) -> Classes:
    """The rows of a table that are written alike; ``read`` hands out columns that were read before."""

    def encoded(name: str, *, nan_is_missing: bool = False) -> Written:
        if read is None:
            return written(data.column(name), nan_is_missing=nan_is_missing)
        return read(name, nan_is_missing=nan_is_missing)

    if not quasi:
        raise SchemaError("At least one quasi-identifier is needed: the columns an attacker may know.")
    columns = [encoded(name) for name in quasi]
    labels, first = combined(columns)
    sizes, n_classes = count(labels, len(first)), len(first)
    suppressed = 0
    if star:
        hidden = _all_star(columns, first)
        if hidden.any():
            suppressed = int(sizes[hidden].sum())
            renumbered = np.where(hidden, -1, np.cumsum(~hidden) - 1).astype(labels.dtype)
            labels, sizes, first = look_up(renumbered, labels), sizes[~hidden], first[~hidden]
            n_classes = len(sizes)
    spread = {}
    for name in sensitive:
        column = encoded(name, nan_is_missing=True)
        unknown_value = None
        if suppressed and EVERYTHING in column.labels:
            unknown_value = (labels < 0) & (column.codes == column.labels.index(EVERYTHING))
        spread[name] = distribution_of(name, column, labels, n_classes, left_out=unknown_value)
    return Classes(quasi, labels, sizes, first, suppressed, spread, data)


def with_suppressed(classes: Classes, suppressed: int) -> Classes:
    """The same classes beside a number of suppressed rows."""
    return replace(classes, suppressed=suppressed)


def with_declared(classes: Classes, distinct: Container[str]) -> Classes:
    """The same classes, where the holder says of some columns that different spellings are different values."""
    spread = {name: replace(own, is_distinct=name in distinct) for name, own in classes.sensitive.items()}
    return replace(classes, sensitive=spread)


def standing_for(classes: Classes, people: str) -> Classes:
    """The classes of a table of which every row stands for as many people as a column of it says."""
    counts = whole_numbers(classes.data.column(people))
    sizes = count(classes.labels, classes.count, counts)
    wrong = (f"Column `{people}` has numbers that are not whole or below 1.",) if (counts < 1).any() else ()
    return replace(classes, sizes=sizes, problems=wrong, sampled=True)


def _all_star(columns: list[Written], rows: NDArray[np.integer]) -> NDArray[np.bool_]:
    hidden = np.ones(len(rows), dtype=bool)
    for column in columns:
        star = np.array([label == EVERYTHING for label in column.labels], dtype=bool)
        hidden &= star[column.codes[rows]]
    return hidden


def _plain(column: pa.ChunkedArray) -> pa.Array:
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)


def whole_numbers(column: pa.ChunkedArray) -> NDArray[np.integer]:
    """A column of counts; what is no whole number counts as 0."""
    if pa.types.is_signed_integer(column.type) and not column.null_count:
        return np.asarray(column.to_numpy())
    try:
        whole = pc.fill_null(column.cast(pa.int64()), 0)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return np.zeros(len(column), dtype=np.int64)
    return np.asarray(whole.to_numpy(), dtype=np.int64)
