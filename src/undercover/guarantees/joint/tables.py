"""Published tables about the same people with the same sensitive column, read so that they can be joined.

Cheong, Wu & Wong 2012, "Non-centralized distinct l-diversity", Section 3.2: each holder publishes a table of his own
quasi-identifiers; all share the sensitive attribute and its values.

Deviations: that the tables are about the same people is checked as far as it can be, by the number of rows of every
value. Tables with drawn values or quasi-identifiers (perturbed generalization, mutual cover) are refused: their classes
are not what they seem. Suppressed rows are no class; on request they are taken for one, since an adversary who finds a
person in no class knows where the row went.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from undercover.errors import DataError, SchemaError, listed, unknown
from undercover.forms import read
from undercover.forms.classes import Classes, classes_of_table
from undercover.forms.written import Written, written
from undercover.model.cells import CellForm
from undercover.model.form import BUCKET, COUNT
from undercover.model.release import Release


@dataclass(frozen=True, eq=False)
class Published:
    """One published table: its classes and their sensitive values.

    Examples
    --------
    >>> data = pa.table({"age": ["old", "old", "young"], "salary": ["high", "low", "low"]})
    >>> table = foreign_table(data, "revenue", sensitive="salary")
    >>> table
    <Published revenue: 2 classes of 3 rows by `age`; hand it to a joint attack>
    >>> table.values, table.totals.tolist(), table.counts.tolist()
    (('high', 'low'), [1, 2], [[1, 1], [0, 1]])
    """

    name: str
    column: str  # the sensitive one
    classes: Classes = field(repr=False)
    forms: Mapping[str, CellForm] = field(default_factory=dict)
    digest: str | None = None  # SHA-256 of the file it was read from
    hidden: int = 0  # rows that were suppressed and are not in the table
    with_suppressed: bool = False
    source: str | None = None  # private: where it was read from

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        """What an adversary must know of a person to find the class."""
        return self.classes.quasi_identifiers

    @property
    def values(self) -> tuple[str, ...]:
        """The sensitive values that are published, as text, in their order."""
        return self.classes.sensitive[self.column].labels

    @property
    def totals(self) -> NDArray[np.int64]:
        """(n_values,) published rows of each value."""
        return self.classes.sensitive[self.column].overall

    @property
    def suppressed(self) -> int:
        """Rows in no class."""
        return self.classes.suppressed

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """(n_classes, n_values) rows of each value in each class."""
        spread = self.classes.sensitive[self.column]
        counts = np.zeros((self.classes.count, len(self.values)), dtype=np.int64)
        counts[spread.class_index, spread.value_index] = spread.counts
        return counts

    @cached_property
    def cells(self) -> dict[str, Written]:
        """The cells of every class by column; of a release in two tables, its buckets."""
        names = self.classes.described_by or self.quasi_identifiers
        rows = pa.array(self.classes.representatives)
        return {name: written(self.classes.data.column(name).take(rows)) for name in names}

    def __repr__(self) -> str:
        return (
            f"<Published {self.name}: {self.classes.count:,} classes of {self.classes.rows:,} rows by "
            f"{listed(self.quasi_identifiers)}; hand it to a joint attack>"
        )


def released_table(
    release: Release,
    name: str,
    *,
    sensitive: str | None = None,
    suppressed: bool = False,
    digest: str | None = None,
) -> Published:
    """A release of ours as one of several published tables.

    Parameters
    ----------
    release, name
        What was published, and what it is called in messages.
    sensitive
        Needed only where the release has several sensitive columns.
    suppressed
        Whether rows that were suppressed count as one more class.
    """
    reading = read(release)
    if not (reading.covers and reading.true_values):
        raise DataError(
            f"`{name}` was made by {release.method}, which publishes drawn values: its classes cannot be joined with "
            "those of other tables."
        )
    classes = reading.classes
    if classes.problems:
        raise DataError([f"`{name}`: {problem}" for problem in classes.problems])
    known = tuple(classes.sensitive)
    if sensitive is None and len(known) != 1:
        raise SchemaError(
            f"`{name}` has {len(known)} sensitive columns ({listed(known)}). Name one: --sensitive COLUMN."
            if known
            else f"`{name}` has no sensitive column, so there is nothing to join it by."
        )
    column = sensitive or known[0]
    if column not in known:
        raise SchemaError(f"`{name}`: {unknown('Sensitive column', column, known)}")
    forms = {c.name: c.form for table in release.tables for c in table.columns if c.role == "quasi-identifier"}
    made = Published(name, column, classes, forms, digest, classes.suppressed, suppressed)
    return _checked(made)


def foreign_table(
    data: pa.Table,
    name: str,
    *,
    sensitive: str,
    quasi_identifiers: Iterable[str] | None = None,
    suppressed: bool = False,
    digest: str | None = None,
) -> Published:
    """A table made elsewhere; by default every column but the sensitive one is a quasi-identifier.

    For an example see :class:`Published`. A row whose every quasi-identifier is ``*`` is a suppressed one. A table with
    the columns ``bucket`` and ``count`` is the sensitive table of a bucketised release; its classes are the buckets.
    """
    if sensitive not in data.column_names:
        raise SchemaError(f"`{name}`: {unknown('Column', sensitive, data.column_names)}")
    if {BUCKET, COUNT} <= set(data.column_names):
        data, quasi_identifiers = _people_of_buckets(data, name, sensitive), None
    chosen = [column for column in data.column_names if column != sensitive]
    if quasi_identifiers is not None:
        wanted = set(quasi_identifiers)
        chosen = [column for column in chosen if column in wanted]
    if not chosen:
        raise SchemaError(f"`{name}` has no quasi-identifier beside `{sensitive}`, so it has no classes.")
    classes = classes_of_table(data, chosen, [sensitive], suppressed_is_star=True)
    return _checked(Published(name, sensitive, classes, {}, digest, 0, suppressed))


def _people_of_buckets(data: pa.Table, name: str, sensitive: str) -> pa.Table:
    """A row per person of a table of buckets; buckets of different tables have nothing to do with each other."""
    try:
        counts = data.column(COUNT).cast(pa.int64()).to_numpy()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        counts = np.zeros(1)
    if counts.min() < 1:
        raise DataError(f"`{name}` has counts that are not whole numbers of at least 1.")
    people = data.take(pa.array(np.repeat(np.arange(data.num_rows), counts)))
    return pa.table({f"{BUCKET} of {name}": people.column(BUCKET), sensitive: people.column(sensitive)})


def _checked(table: Published) -> Published:
    if table.suppressed and not table.with_suppressed:
        raise DataError(
            f"`{table.name}` has {table.suppressed:,} suppressed rows, whose people are in no class. Say that they "
            "count as a class of their own with --suppressed (suppressed=True)."
        )
    return table


@dataclass(frozen=True)
class Together:
    """Several published tables over one list of values."""

    tables: tuple[Published, ...]
    values: tuple[str, ...]
    totals: NDArray[np.int64]  # (n_values,) people of each value
    counts: tuple[NDArray[np.int64], ...]  # per table (n_classes, n_values); suppressed rows, if any, last

    def sets(self) -> list[list[int]]:
        """Per table the values of every class, as bits of a whole number."""
        return [set_bits(counts > 0) for counts in self.counts]

    def describe(self, table: int, index: int) -> dict[str, str]:
        """The cells of one class as text."""
        if index >= self.tables[table].classes.count:
            return {"suppressed": "yes"}
        return {name: column.labels[column.codes[index]] for name, column in self.tables[table].cells.items()}


def together(tables: Sequence[Published]) -> Together:
    """Check that tables can be about the same people, and bring their values into one order.

    Examples
    --------
    >>> first = foreign_table(pa.table({"age": ["o", "y"], "pay": ["high", "low"]}), "a", sensitive="pay")
    >>> second = foreign_table(pa.table({"zip": ["1", "1"], "pay": ["low", "low"]}), "b", sensitive="pay")
    >>> together([first, second])
    Traceback (most recent call last):
    undercover.errors.DataError: `b` is not about the same people as `a`: 0 rows with 'high' where `a` has 1; ...
    """
    if not tables:
        raise DataError("There is no table to look at. Give at least one.")
    complete = [table for table in tables if not table.hidden]
    if not complete:
        raise DataError(
            "Every one of the tables leaves suppressed rows out, so nobody can tell how often each value occurs. At "
            "least one must be complete."
        )
    reference = complete[0]
    problems = [problem for table in tables if (problem := _difference(reference, table))]
    if problems:
        raise DataError(problems)
    values, totals = reference.values, reference.totals
    counts = []
    for table in tables:
        place = {label: position for position, label in enumerate(values)}
        aligned = np.zeros((table.classes.count, len(values)), dtype=np.int64)
        aligned[:, [place[label] for label in table.values]] = table.counts
        if table.suppressed:
            aligned = np.concatenate([aligned, (totals - aligned.sum(axis=0))[None, :]])
        counts.append(aligned)
    return Together(tuple(tables), values, totals, tuple(counts))


def set_bits(inside: NDArray[np.bool_]) -> list[int]:
    """Rows of truth values as whole numbers: bit v is set where value v is inside.

    >>> set_bits(np.array([[True, False, True], [False, True, False]]))
    [5, 2]
    """
    packed = np.packbits(inside, axis=1, bitorder="little")
    return [int.from_bytes(row.tobytes(), "little") for row in packed]


def _difference(reference: Published, table: Published) -> str | None:
    """Where the number of rows of a value differs by more than the suppressed rows explain."""
    ours = dict(zip(reference.values, reference.totals.tolist(), strict=True))
    theirs = dict(zip(table.values, table.totals.tolist(), strict=True))
    absent = [label for label in theirs if label not in ours]
    other = [f"the value {label!r}, which `{reference.name}` does not have" for label in absent]
    other += [
        f"{theirs.get(label, 0):,} rows with {label!r} where `{reference.name}` has {count:,}"
        for label, count in ours.items()
        if (theirs.get(label, 0) > count if table.hidden else theirs.get(label, 0) != count)
    ]
    missing = sum(ours.values()) - sum(theirs.values())
    if not other and table.hidden and missing != table.hidden:
        other = [f"{missing:,} rows fewer, of which {table.hidden:,} were suppressed"]
    if not other:
        return None
    shown = "; ".join(other[:3]) + (f"; and {len(other) - 3} more" if len(other) > 3 else "")
    return (
        f"`{table.name}` is not about the same people as `{reference.name}`: {shown}. Tables can be joined only if "
        "every sensitive value occurs equally often."
    )
