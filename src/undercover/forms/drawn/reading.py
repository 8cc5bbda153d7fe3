"""A table in its old shape whose quasi-identifiers were drawn or permuted: whose a row is, its cells do not say.

The person a row is about is the one whose sensitive value it carries: that is the own row of attacks and of loss.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from undercover.errors import DataError, described, listed
from undercover.forms.chance import Check
from undercover.forms.coverage import Coverage
from undercover.forms.dealt.rows import FRAME, Dealt, places, row_codes, smallest
from undercover.forms.drawn.law import check_drawn
from undercover.forms.drawn.words import DEALT, MOVED, ORDER_KEPT, VALUE, limits, meaning, snippets
from undercover.forms.estimates import Estimates, Shown
from undercover.forms.meaning import NOTHING, Values, domain_values
from undercover.forms.own_rows import Made, compare_values
from undercover.forms.reading import FormPlugin, Reading, Rows
from undercover.forms.snippets import Snippet
from undercover.model.finding import Finding
from undercover.model.form import Drawn
from undercover.model.release import PublishedColumn, PublishedTable, Release
from undercover.model.run import Run
from undercover.model.table import EncodedColumn, Table

if TYPE_CHECKING:
    from undercover.forms.displacement import Displacement
    from undercover.forms.loss import Loss


class DrawnReading(Reading):
    """Cells are single values that need not be the person's own; whose row is whose stays in the private run."""

    covers: ClassVar[bool] = False
    unit: ClassVar[str] = "group"
    story: str = (
        " The values of a row were drawn at random: the rows that fit need not include the person's own, and then he "
        "is wrong. He cannot tell whether they do."
    )

    form: Drawn

    def __init__(self, release: Release) -> None:
        super().__init__(release)
        if self.form.columns == "permuted":
            self.permuted, self.story = True, MOVED
        if self.form.values == "permuted":
            self.true_values, self.among, self.story = False, self.form.among, DEALT.format(among=self.form.among)

    @property
    def charged(self) -> None:
        """Nothing is generalised, so there is nothing to count."""
        return

    def own_fits(
        self, known: Sequence[str], original: Table, own: Rows | None, people: Rows | None = None
    ) -> NDArray[np.bool_]:
        """(n_people, n_known) whether a person's own row kept the person's value."""
        if own is None:
            raise DataError(
                "Which published row is whose stays in the private run, and without it nobody can say whether an "
                "attacker is right. Attack the run or its folder, not the release alone."
            )
        if len(own) != original.n_rows:
            raise DataError(f"The run has {len(own):,} rows, the original {original.n_rows:,}.")
        own, some = (own, slice(None)) if people is None else (own[people], people)
        values = np.stack([original[name].codes[some] for name in known], axis=1)
        same: NDArray[np.bool_] = row_codes(self, known, original, rows=own) == values
        return same

    def dealt(self, run: Run | None) -> Dealt | None:
        """Who was dealt with whom, where columns were permuted and the run is there."""
        return Dealt.of(run, self) if self.permuted and run is not None and FRAME in run.frames else None

    def coverage(self, name: str, values: Values) -> Coverage:
        """Every cell is one value; a number that nobody has counts as the nearest that somebody has."""
        places = np.array([_nearest(name, label, values) for label in self.column(name).labels], dtype=np.int64)
        return Coverage.of_ranges(places, places, values.size)

    def told_estimates(self, original: Table, values: Mapping[str, Values], sensitive: tuple[str, ...]) -> Estimates:
        """Every row as it stands."""
        n_rows, shown = self.main.rows, {}
        coverage = {name: self.coverage(name, every) for name, every in values.items()}
        cells = {name: self.column(name).codes.astype(np.int64) for name in values}
        for name in sensitive:
            labels = original[name].domain.labels
            place = {label: code for code, label in enumerate(labels)}
            column = self.column(name)
            codes = np.array([place[label] for label in column.labels], dtype=np.int64)[column.codes]
            shown[name] = Shown(labels, np.arange(n_rows + 1), codes, np.ones(n_rows))
        return Estimates(coverage, cells, np.ones(n_rows), np.ones(n_rows, dtype=np.int64), shown)

    def against(self, original: Table) -> tuple[Finding, ...]:
        """What can be compared without knowing whose row is whose.

        There are as many rows, every sensitive value is there as often, and no quasi-identifier was released that its
        column does not have (numbers may lie between those that occur: every whole number of a group's range may be
        released). Where columns were permuted, every value of every column is there as often.
        """
        table = self.main
        findings = [Finding("rows-preserved", {}, original.n_rows, table.rows, table.rows == original.n_rows)]
        quasi = table.names("quasi-identifier")
        kept = dict.fromkeys(table.names("sensitive"), "sensitive-values-preserved")
        if self.permuted:
            kept |= dict.fromkeys((*quasi, *table.names("insensitive")), "column-preserved")
        absent = [name for name in dict.fromkeys((*kept, *quasi)) if name not in original.columns]
        if absent:
            note = f"The original has no column {listed(absent)}."
            return (*findings, Finding("values-of-the-original", {}, 0, None, False, note=note, sense="at most"))
        for name, called in kept.items():
            before = np.bincount(original[name].codes, minlength=original[name].domain.size)
            column = self.column(name, nan_is_missing=True)
            after = Counter(dict(zip(column.labels, np.bincount(column.codes).tolist(), strict=True)))
            after.subtract(dict(zip(original[name].domain.labels, before.tolist(), strict=True)))
            wrong = max(sum(count for count in after.values() if count > 0), -sum(c for c in after.values() if c < 0))
            findings.append(Finding(called, {"column": name}, 0, wrong, wrong == 0, sense="at most"))
        strange, notes = 0, []
        for name in table.names("quasi-identifier"):
            column = self.column(name)
            outside = [not _belongs(original[name], label) for label in column.labels]
            if any(outside):
                strange += int(np.array(outside)[column.codes].sum())
                labels = [label for label, out in zip(column.labels, outside, strict=True) if out]
                notes.append(f"`{name}` was released with {described(labels)} that its column does not have.")
        findings.append(
            Finding("values-of-the-original", {}, 0, strange, strange == 0, note=" ".join(notes), sense="at most")
        )
        return tuple(findings)

    def against_run(self, original: Table, run: Run) -> tuple[Finding, ...]:
        """Whether everybody's sensitive value is in the row the run says, and no other value left its block."""
        dealt = self.dealt(run)
        if dealt is None or len(dealt.groups) != original.n_rows:
            return ()
        values, others = original.schema.sensitive, original.schema.quasi_identifiers + original.schema.insensitive
        here, there = (row_codes(self, names, original, nan_is_missing=True) for names in (values, others))
        wrong = int(sum((here[dealt.published, j] != original[n].codes).sum() for j, n in enumerate(values)))
        for j, name in enumerate(others):
            keys = dealt.blocks * (original[name].domain.size + 1)
            wrong += int((np.sort(keys + original[name].codes) != np.sort(keys + there[dealt.cells, j])).sum())
        return (Finding("dealt-as-kept", {}, 0, wrong, wrong == 0, sense="at most"),)

    def compare_rows(self, made: Made) -> tuple[Finding, ...]:
        """Every column beside the original's, and every sensitive value beside its owner's."""
        found = (*self.against(made.original), *self.against_run(made.original, made.run))
        own = self.own_rows(made.run)
        return found if self.permuted or own is None else (*found, compare_values(self, made, own))

    def test_law(self, made: Made) -> tuple[Check, ...] | None:
        """Columns were permuted or drawn, and rows shuffled, as the form says; the run must say who was where."""
        return None if FRAME not in made.run.frames else check_drawn(self, made)

    def misstated(self, run: Run) -> list[str]:
        """Whether values that are said to be the rows' own were dealt, or among fewer than is said."""
        frame = run.frames.get(FRAME)
        if frame is None or (self.among is None and "cells" not in frame.column_names):
            return []
        try:
            dealt = Dealt.of(run, self)
        except DataError as error:
            return list(error.problems)
        moved, least = int((dealt.published != dealt.cells).sum()), smallest(dealt.groups)
        if self.among is None and moved:
            return [f"The form says that values are their rows' own; in {moved:,} rows the run dealt others."]
        if self.among is not None and least < self.among:
            return [f"The form says that values were dealt among {self.among} rows; the run has a group of {least}."]
        return []

    def moved_cells(self, original: Table, run: Run | None) -> Displacement | None:
        """How far quasi-identifiers were moved from the person's place, where the value is not shown there."""
        dealt = self.dealt(run)
        if dealt is None or np.array_equal(dealt.cells, dealt.published):
            return None
        return self.moved(original, dealt.cells)

    def losses(self, original: Table, own: Rows | None) -> Mapping[str, Loss]:
        """How far values were moved, as a share of their scale."""
        return self.moved(original, own).losses()

    def moved(self, original: Table, own: Rows | None) -> Displacement:
        """How far values were moved."""
        from undercover.forms.displacement import displacement

        return displacement(original, self, own)

    def own_rows(self, run: Run | None) -> Rows | None:
        """(n_rows,) the row with each grouped row's own sensitive value, from the run or from the order."""
        if run is None or FRAME not in run.frames:
            return np.arange(self.main.rows) if self.form.order == "input" else None
        return places(run, self.main.rows)

    @property
    def order(self) -> str:
        """What the order of the rows says."""
        return ORDER_KEPT if self.form.order == "input" else super().order

    def meaning(self, table: PublishedTable, column: PublishedColumn) -> str:
        """What a column stands for."""
        return meaning(self.form, column) or super().meaning(table, column)

    def cell_words(self) -> Mapping[str, str]:
        """Every cell is a value."""
        return dict.fromkeys(super().cell_words(), VALUE)

    def limits(self) -> list[str]:
        """What drawn tables leave open."""
        return limits(self.release, self.form)

    def snippets(self, file_format: str) -> list[Snippet]:
        """Worked code for an ordinary table whose values were drawn."""
        return snippets(self.main, file_format, self.form)


def _nearest(name: str, label: str, values: Values) -> int:
    meaning = values.read(label, "value")
    if meaning != NOTHING:
        return meaning.low
    if values.kind not in ("numeric", "date"):
        raise DataError(f"Cells of `{name}` stand for no value of its domain: {described([label])}.")
    present = values.numbers[: values.size - values.has_missing]
    number = Values((label,), values.kind, False).numbers[0]
    return int(np.abs(present - number).argmin())


def _belongs(column: EncodedColumn, label: str) -> bool:
    values = domain_values(column)
    if label in values.position:
        return True
    if values.kind != "numeric":
        return False
    try:
        number = float(label)
    except ValueError:
        return False
    present = values.numbers[: len(column.domain.values)]
    return bool(len(present) and present[0] <= number <= present[-1] and number.is_integer())


PLUGIN = FormPlugin(form=Drawn, reading=DrawnReading)
