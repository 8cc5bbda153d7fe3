"""A release, read: the one place where attacks, measures, answers and pages learn what published cells mean.

The base reads the plainest form: one table whose cells cover the truth, with true sensitive values, one person a row.
Another form overrides what is different. Whoever reads asks for facts (does a cell cover the truth? is a value true?),
never for the name of a form or of a method.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from operator import is_not
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

import numpy as np
from numpy.typing import NDArray

from undercover.arrays import look_up
from undercover.errors import DataError
from undercover.forms.boxes import Boxes, MergedBoxes, merged_boxes
from undercover.forms.classes import Classes, row_classes, with_declared, with_suppressed
from undercover.forms.coverage import Coverage
from undercover.forms.disclosure import AtMost, Disclosure, disclosure_of
from undercover.forms.distribution import BucketTable
from undercover.forms.estimates import Estimates, of_spreads, with_unpublished, without_sensitive
from undercover.forms.looking.rows import look_for, published_rows
from undercover.forms.meaning import Values, leaf_values
from undercover.forms.spread import Spread, read_cells, spread_of
from undercover.forms.written import Written, as_written, may_be_nan, written
from undercover.model.cells import EVERYTHING
from undercover.model.channel import Channel
from undercover.model.release import PublishedColumn, PublishedTable, Release
from undercover.model.schema import INSENSITIVE

if TYPE_CHECKING:
    from undercover.forms.chance import Check
    from undercover.forms.dealt.rows import Dealt
    from undercover.forms.displacement import Displacement
    from undercover.forms.loss import Loss
    from undercover.forms.own_rows import Made
    from undercover.forms.snippets import Snippet
    from undercover.model.finding import Finding
    from undercover.model.run import Run
    from undercover.model.table import Domain, EncodedColumn, Table

Rows = NDArray[np.int64]

_CELLS: Final[Mapping[str, str]] = {
    "value": "The value itself.",
    "interval": "[low, high] stands for a value from low to high, both included; a value alone for itself; * for any.",
    "set": '{a, b} stands for one of its members (one that contains a comma is quoted: {a, "b, c"}); a value alone '
    "for itself; * for any.",
    "node": "A node of the column's hierarchy stands for any value below it; a value alone for itself; * for any.",
}
_ROLES: Final[Mapping[str, str]] = {
    "quasi-identifier": "What others may know of a person.",
    "sensitive": "What others must not learn of a person.",
    "insensitive": f"{INSENSITIVE.capitalize()}.",
    "structure": "Holds the tables together; it says nothing about a person.",
}


class Reading:
    """What a release says, from its tables and its form alone; each answer is worked out once and kept.

    What a form cannot answer raises :class:`~undercover.errors.NotTold` with the reason, which whoever asked shows.

    >>> import undercover as uc
    >>> from undercover.forms import read
    >>> example = uc.datasets.hospital("cross-bucket")
    >>> found = read(uc.publish(example.table, example.schema, uc.Anatomy(l=4), policy="none").release)
    >>> found.covers, found.one_each, found.main.name
    (True, True, 'qit')
    """

    covers: ClassVar[bool] = True
    """Whether a person's true quasi-identifiers lie in the cells of the person's row."""
    true_values: bool = True
    """Whether sensitive values are those of the people they are shown of."""
    among: int | None = None
    """Among how many people at least sensitive values were dealt anew, where they were."""
    permuted: bool = False
    """Whether all other columns were permuted among rows, so that every value is there as often as it was."""
    one_each: ClassVar[bool] = True
    """Whether a row is one person."""
    unit: ClassVar[str] = "class"
    """What rows are called that nobody can tell apart."""
    story: str = ""
    """What else there is to say of an attacker who meets this form."""
    channel: Channel | None = None
    """What sensitive values went through, where they are not true."""
    form: Any
    """Of the release; every form's own reading knows its class."""

    @property
    def posterior(self) -> bool:
        """Whether the rows that fit, weighed by the form's law, are what somebody may believe of a person.

        Where quasi-identifiers were drawn and values are their rows' own they are not: a row that fits is there by
        chance, and so is one that does not.
        """
        return self.covers or self.among is not None

    def __init__(self, release: Release) -> None:
        self.release = copy(release)  # which does not keep this reading in turn: a circle of tables is freed late
        self.form = release.form
        self._written: dict[tuple[str, str, bool], Written] = {}
        self._boxes: tuple[tuple[str, ...], list[Domain], MergedBoxes] | None = None

    def of(self, release: Release) -> Self:
        """The same tables read, of a release that says something else of them."""
        again = copy(self)
        again.release = copy(release)
        return again

    # The tables.

    @cached_property
    def main(self) -> PublishedTable:
        """The table with the quasi-identifiers."""
        problems = self.release.form.problems(self.release.tables)
        if problems:
            raise DataError(problems)
        return self.release.tables[0]

    @property
    def values_table(self) -> PublishedTable:
        """The table with the sensitive values."""
        return self.main if self.buckets is None else self.buckets.table

    @cached_property
    def buckets(self) -> BucketTable | None:
        """The values of buckets, where they stand in a table of their own."""
        return None

    @property
    def people(self) -> Rows | None:
        """How many people each row stands for, where that is not one."""
        return None

    @cached_property
    def seen(self) -> Rows:
        """(n_rows,) the published value, by its place in the domain of the channel it went through."""
        assert self.channel is not None
        values = self.column(self.main.names("sensitive")[0])
        return look_up(np.array([self.channel.code[label] for label in values.labels], dtype=np.int64), values.codes)

    def column(self, name: str, *, nan_is_missing: bool = False) -> Written:
        """A column of the main table, as codes."""
        return self.cells(self.main, name, nan_is_missing=nan_is_missing)

    def cells(self, table: PublishedTable, name: str, *, nan_is_missing: bool = False) -> Written:
        """A column of one of the tables, as codes."""
        cells = table.data.column(name)
        key = (table.name, name, nan_is_missing and may_be_nan(cells.type))
        if key not in self._written:
            self._written[key] = written(cells, nan_is_missing=nan_is_missing)
        return self._written[key]

    def encoded(self, columns: Iterable[EncodedColumn]) -> None:
        """Columns of the main table of which somebody has the codes already: they are not read again."""
        self._written |= {(self.main.name, column.name, False): as_written(column) for column in columns}

    def coverage(self, name: str, values: Values) -> Coverage:
        """What the distinct cells of a column cover, of its possible values."""
        return read_cells(name, self.column(name).labels, self.main.form(name), values)

    @cached_property
    def unsaid(self) -> float:
        """The share of the cells of quasi-identifiers that stand for everything, ``*``."""
        names = self.main.names("quasi-identifier")
        empty = 0.0
        for name in names:
            cells = self.column(name)
            if self.main.form(name) != "value" and EVERYTHING in cells.labels:
                empty += float((cells.codes == cells.labels.index(EVERYTHING)).mean())
        return empty / len(names) if names else 0.0

    # A verifier.

    @cached_property
    def classes(self) -> Classes:
        """The rows that nobody can tell apart, and their sensitive values."""
        alike = self.rows_alike(self.main.names("sensitive"))
        return with_declared(with_suppressed(alike, self.release.suppressed_rows), self.distinct)

    @property
    def distinct(self) -> frozenset[str]:
        """Columns of which the holder says that different spellings are different values."""
        columns = (column for table in self.release.tables for column in table.columns)
        return frozenset(column.name for column in columns if column.spellings is not None)

    def rows_alike(self, sensitive: tuple[str, ...]) -> Classes:
        """The rows of the main table that are written alike."""
        return row_classes(self.main.data, self.main.names("quasi-identifier"), sensitive, self.column)

    @property
    def charged(self) -> Classes | None:
        """The rows that discernibility counts as one; ``None`` where nothing is generalised."""
        return self.classes

    # An attacker.

    def boxes(self, known: Sequence[str], original: Table) -> Boxes:
        """What a person can be matched against who is known by some columns."""
        return self.merged(known, original).boxes

    def merged(self, known: Sequence[str], original: Table) -> MergedBoxes:
        """The same, with the buckets the rows of each lie in."""
        # Attack after attack asks for the same, of everybody or of a sample: then the domains are the same objects.
        names = (*known, "", *original.schema.sensitive)
        domains = [original[name].domain for name in names if name]
        if self._boxes is None or names != self._boxes[0] or any(map(is_not, domains, self._boxes[1])):
            self._boxes = names, domains, merged_boxes(self, original, known, original.schema.sensitive)
        return self._boxes[2]

    def disclosure(
        self, known: Sequence[str], original: Table, target_of: Rows, targets: Rows, threads: int
    ) -> Disclosure:
        """What somebody achieves on everybody who knows these columns of them."""
        return disclosure_of(self.boxes(known, original), original, target_of, targets, threads)

    def look_for(
        self, known: Sequence[str], original: Table, people: Table, target_of: Rows, targets: Rows, threads: int
    ) -> Disclosure:
        """The same on some ``people`` of the original: all rows are gone through, and nothing is kept of them."""
        return look_for(published_rows(self, original, known), people, target_of, targets, threads)

    def at_most(self, known: Sequence[str], original: Table) -> AtMost:
        """What nobody who knows these columns achieves more than, on anybody."""
        if not (self.covers and self.one_each):
            return AtMost()
        if set(known) != set(self.classes.quasi_identifiers):
            return AtMost.of(self.boxes(known, original))
        return AtMost.of_classes((self.classes.boxes or self.classes).sizes, self.classes.sensitive)

    def own_fits(
        self, known: Sequence[str], original: Table, own: Rows | None, people: Rows | None = None
    ) -> NDArray[np.bool_] | None:
        """(n_people, n_known) whether a person's own row fits the person's values; ``None``: it always does.

        Of everybody, or of the ``people`` in some rows.
        """
        return None

    def dealt(self, run: Run | None) -> Dealt | None:
        """Among which rows everybody's own one was dealt, where rows were and the run says so."""
        return None

    # A recipient.

    @property
    def told(self) -> bool:
        """Whether anything can be counted of sensitive values."""
        return True

    def estimates(self, original: Table) -> Estimates:
        """The boxes, people and values a recipient expects, over the domains of the original."""
        published = set(self.main.names("quasi-identifier"))
        values = {name: leaf_values(original[name]) for name in original.schema.quasi_identifiers}
        told = {name: found for name, found in values.items() if name in published}
        shown = self.values_table.names("sensitive")
        sensitive = tuple(name for name in original.schema.sensitive if name in shown)
        found = self.told_estimates(original, told, sensitive)
        return with_unpublished(found, {name: every.size for name, every in values.items() if name not in published})

    def told_estimates(self, original: Table, values: Mapping[str, Values], sensitive: tuple[str, ...]) -> Estimates:
        """The same for the columns that are published."""
        if not sensitive:
            return without_sensitive(self, values)
        spreads = {name: self.spread(values, name, original[name].domain.labels) for name in sensitive}
        return of_spreads(original, spreads)

    def spread(self, values: Mapping[str, Values], sensitive: str, labels: Sequence[str]) -> Spread:
        """Boxes of the columns of ``values`` with the expected rows of each value of a sensitive column."""
        return spread_of(self, values, sensitive, labels)

    def spreads(self, values: Mapping[str, Values], sensitive: str, labels: Sequence[str]) -> tuple[Spread, ...]:
        """What COUNT estimates are the sum of: a spread over the values, and perhaps one that is alike for all."""
        return (self.spread(values, sensitive, labels),)

    # The holder.

    def against(self, original: Table) -> tuple[Finding, ...]:
        """The release beside the table it was made from: nothing lost, nothing invented, everybody covered."""
        from undercover.forms.against import verify_covering

        return verify_covering(self, original)

    def against_run(self, original: Table, run: Run) -> tuple[Finding, ...]:
        """What the private run says of who was dealt with whom, beside the original and the release."""
        return ()

    def compare_rows(self, made: Made) -> tuple[Finding, ...]:
        """Every published row beside the input rows it was made of; beside any, where nobody says which these are."""
        from undercover.forms.against import compared

        return compared(self, made.original, made.run)

    def test_law(self, made: Made) -> tuple[Check, ...] | None:
        """Tests of what was drawn against the law the form declares; ``None`` where it declares none."""
        return None

    def misstated(self, run: Run) -> list[str]:
        """Where the form says something else than the private run, one sentence each."""
        return []

    def losses(self, original: Table, own: Rows | None) -> Mapping[str, Loss]:
        """How much detail was lost, by measure."""
        from undercover.forms.loss import losses

        return losses(original, self)

    def moved(self, original: Table, own: Rows | None) -> Displacement | None:
        """How far values were moved; ``None`` where they were not."""
        return None

    def moved_cells(self, original: Table, run: Run | None) -> Displacement | None:
        """How far quasi-identifiers were moved alone; ``None`` where the person's own row says it, too."""
        return None

    def own_rows(self, run: Run | None) -> Rows | None:
        """(n_rows,) the published row of each row, where the run or the form tells and the cells do not."""
        return None

    # Words, from public facts alone.

    @property
    def sampling(self) -> Mapping[str, Any] | None:
        """What it does to counts that not everybody's row is published; ``None`` where it is."""
        return None

    @property
    def order(self) -> str:
        """What the order of the rows says."""
        return "carries no information"

    def meaning(self, table: PublishedTable, column: PublishedColumn) -> str:
        """What a column stands for."""
        rounded = "" if column.ends == "exact" else " Ends of intervals were rounded outwards, so they need not occur."
        return _ROLES.get(column.role, "") + rounded

    def cell_words(self) -> Mapping[str, str]:
        """How each way of writing a cell is read."""
        return _CELLS

    def limits(self) -> list[str] | None:
        """What the form leaves open; ``None`` where promises and methods say all there is to say."""
        return None

    def snippets(self, file_format: str) -> list[Snippet]:
        """Worked code for the recipient; without any of its own, how to read the tables.

        A format knows in how many files a table lies (:class:`~undercover.model.formats.Files`); ``reading_tables`` of
        :mod:`undercover.forms.snippets` reads them all.
        """
        from undercover.forms.snippets import reading_tables

        return [reading_tables(self.release.tables, file_format)]


@dataclass(frozen=True)
class FormPlugin:
    """A form and how it is read: what a package offers in the entry-point group ``undercover.forms``.

    >>> from undercover import plugins
    >>> plugins.load("forms", "buckets").form.name
    'buckets'
    """

    form: type[Any]
    reading: type[Reading]
