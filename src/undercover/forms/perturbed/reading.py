"""One row for several people, its value through a public channel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from undercover.errors import NotTold
from undercover.forms.boxes import match
from undercover.forms.classes import Classes, standing_for, with_suppressed
from undercover.forms.disclosure import Disclosure
from undercover.forms.estimates import Estimates, Shown, without_sensitive
from undercover.forms.meaning import Values
from undercover.forms.perturbed import words
from undercover.forms.perturbed.corrected import corrected_spreads
from undercover.forms.perturbed.posteriors import perturbed_posteriors
from undercover.forms.reading import FormPlugin, Reading, Rows
from undercover.forms.snippets import Snippet
from undercover.forms.spread import Spread
from undercover.model.channel import Channel
from undercover.model.form import Perturbed
from undercover.model.release import PublishedColumn, PublishedTable, Release
from undercover.model.table import Table

if TYPE_CHECKING:
    from undercover.model.finding import Finding


class PerturbedReading(Reading):
    """A cell covers its people; of its one value everybody knows how it was drawn."""

    true_values: ClassVar[bool] = False
    one_each: ClassVar[bool] = False
    story: ClassVar[str] = (
        " Of every cell one row is published, and its sensitive value may have been drawn at random: he believes what "
        "is overall in the table, and takes the row to be the person's own with probability 1/G."
    )

    channel: Channel

    def __init__(self, release: Release) -> None:
        assert isinstance(release.form, Perturbed)
        super().__init__(release)
        self.form = release.form
        self.channel = release.form.channel

    @cached_property
    def people(self) -> Rows:
        """(n_rows,) people of each cell."""
        return np.asarray(self.main.data.column(self.form.people).to_numpy(), dtype=np.int64)

    @cached_property
    def seen(self) -> Rows:
        """(n_rows,) the published value, by its place in the domain of the channel."""
        values = self.column(self.sensitive)
        return np.array([self.channel.code[label] for label in values.labels], dtype=np.int64)[values.codes]

    @property
    def sensitive(self) -> str:
        """The column whose values went through the channel."""
        return self.main.names("sensitive")[0]

    @cached_property
    def classes(self) -> Classes:
        """Cells, each of as many people as it says."""
        alike = self.rows_alike(self.main.names("sensitive"))
        return with_suppressed(standing_for(alike, self.form.people), self.release.suppressed_rows)

    def disclosure(
        self, known: Sequence[str], original: Table, target_of: Rows, targets: Rows, threads: int
    ) -> Disclosure:
        """By Bayes' rule, through the channel."""
        (sensitive,) = original.schema.sensitive
        offsets, members = match(self.boxes(known, original), targets, threads)
        found = perturbed_posteriors(self, original[sensitive], known, offsets, members, target_of)
        return Disclosure(found[0], {sensitive: found[1]}, {sensitive: found[2]})

    @property
    def told(self) -> bool:
        """Where no value was kept, none can be counted."""
        return bool(self.channel.p)

    def told_estimates(self, original: Table, values: Mapping[str, Values], sensitive: tuple[str, ...]) -> Estimates:
        """Corrected counts, which may be negative."""
        if not self.told:
            return without_sensitive(self, values)
        seen, evenly = corrected_spreads(self, values, sensitive[0], self.channel.domain)
        n_boxes = len(self.people)
        shown = Shown.of(seen, self.channel.domain, n_boxes, evenly.pair_weight)
        draws = np.ones(n_boxes, dtype=np.int64)
        return Estimates(seen.coverage, seen.cells, self.people.astype(np.float64), draws, {sensitive[0]: shown})

    def spread(self, values: Mapping[str, Values], sensitive: str, labels: Sequence[str]) -> Spread:
        """Values that went through a channel are not those of the rows they stand in."""
        raise NotTold("Sensitive values went through a channel; they cannot be counted as they stand.")

    def spreads(self, values: Mapping[str, Values], sensitive: str, labels: Sequence[str]) -> tuple[Spread, ...]:
        """The values seen, and what is taken off every value alike."""
        return corrected_spreads(self, values, sensitive, labels)

    def against(self, original: Table) -> tuple[Finding, ...]:
        """Everybody in one cell, cells of their size, values that were declared."""
        from undercover.forms.perturbed.against import verify_sampled

        return verify_sampled(self, original)

    def meaning(self, table: PublishedTable, column: PublishedColumn) -> str:
        """What a column stands for."""
        return words.PEOPLE if column.name == self.form.people else super().meaning(table, column)

    def limits(self) -> list[str]:
        """What the promise rests on, and what it leaves open."""
        return words.limits(self.release)

    def snippets(self, file_format: str) -> list[Snippet]:
        """Worked code: unbiased counts, shares, means and sums."""
        return words.snippets(self, file_format)


PLUGIN = FormPlugin(form=Perturbed, reading=PerturbedReading)
