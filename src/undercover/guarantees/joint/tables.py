"""Published tables about the same people with the same sensitive column, read so that they can be joined.

Cheong, Wu & Wong 2012, "Non-centralized distinct l-diversity", Section 3.2: each holder publishes a table of his own
quasi-identifiers; all share the sensitive attribute and its values.

Deviations: that the tables are about the same people is checked as far as it can be, by the number of rows of every
value. Tables with drawn values or quasi-identifiers (perturbed generalization, mutual cover) are refused: their classes
are not what they seem. Suppressed rows are no class; on request they are taken for one, since an adversary who finds a
person in no class knows where the row went.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from undercover.errors import DataError, SchemaError, listed, shape_of, unknown
from undercover.forms import read
from undercover.forms.classes import Classes, classes_of_table, whole_numbers
from undercover.model.form import BUCKET, COUNT
from undercover.model.published import ClassCells, Published
from undercover.model.release import Release
from undercover.wording import option


def released_table(
    release: Release, name: str, *, sensitive: str | None = None, suppressed: bool = False, digest: str | None = None
) -> Published:
    """A release of ours as one of several published tables.

    ``sensitive`` is needed only where the release has several sensitive columns; ``suppressed`` says whether rows that
    were suppressed count as one more class.
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
            f"`{name}` has {len(known)} sensitive columns ({listed(known)}). Name one: {option(sensitive=...)}"
            if known
            else f"`{name}` has no sensitive column, so there is nothing to join it by."
        )
    column = sensitive or known[0]
    if column not in known:
        raise SchemaError(f"`{name}`: {unknown('Sensitive column', column, known)}")
    return _published(name, column, classes, digest, hidden=classes.suppressed, with_suppressed=suppressed)


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

    A row whose every quasi-identifier is ``*`` is a suppressed one. A table with the columns ``bucket`` and ``count``
    is the sensitive table of a bucketised release; its classes are the buckets.
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
    return _published(name, sensitive, classes, digest, hidden=0, with_suppressed=suppressed)


def _people_of_buckets(data: pa.Table, name: str, sensitive: str) -> pa.Table:
    """A row per person of a table of buckets; buckets of different tables have nothing to do with each other."""
    counts = whole_numbers(data.column(COUNT))
    if counts.min() < 1:
        raise DataError(f"`{name}` has counts that are not whole numbers of at least 1.")
    people = data.take(pa.array(np.repeat(np.arange(data.num_rows), counts)))
    return pa.table({f"{BUCKET} of {name}": people.column(BUCKET), sensitive: people.column(sensitive)})


def _published(
    name: str, column: str, classes: Classes, digest: str | None, *, hidden: int, with_suppressed: bool
) -> Published:
    if classes.suppressed and not with_suppressed:
        raise DataError(
            f"`{name}` has {classes.suppressed:,} suppressed rows, whose people are in no class. Say that they "
            f"count as a class of their own: {option(suppressed=True)}."
        )
    spread = classes.sensitive[column]
    counts = np.zeros((classes.count, spread.n_values), dtype=np.int64)
    counts[spread.class_index, spread.value_index] = spread.counts
    shown = {label: classes.cells(label) for label in classes.described_by or classes.quasi_identifiers}
    return Published(
        name=name,
        column=column,
        quasi_identifiers=classes.quasi_identifiers,
        values=spread.labels,
        totals=spread.overall,
        counts=counts,
        cells={label: ClassCells(cells.codes.astype(np.int64), cells.labels) for label, cells in shown.items()},
        in_buckets=classes.boxes is not None,
        suppressed=classes.suppressed,
        hidden=hidden,
        with_suppressed=with_suppressed,
        digest=digest,
    )


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
        if index >= self.tables[table].n_classes:
            return {"suppressed": "yes"}
        return {name: column.labels[column.codes[index]] for name, column in self.tables[table].cells.items()}


def together(tables: Sequence[Published]) -> Together:
    """Check that tables can be about the same people, and bring their values into one order."""
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
        aligned = np.zeros((table.n_classes, len(values)), dtype=np.int64)
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
    other = [f"{shape_of(label)}, which `{reference.name}` does not have" for label in absent]
    other += [
        f"{theirs.get(label, 0):,} rows with one value where `{reference.name}` has {count:,}"
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
