"""A table in its old shape whose quasi-identifiers were drawn: a row is somebody's, though not with his values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from undercover.errors import DataError, listed
from undercover.forms.coverage import Coverage
from undercover.forms.drawn import words
from undercover.forms.estimates import Estimates, Shown
from undercover.forms.meaning import NOTHING, Values, domain_values
from undercover.forms.reading import FormPlugin, Reading, Rows
from undercover.forms.snippets import Snippet
from undercover.model.finding import Finding
from undercover.model.form import Drawn
from undercover.model.release import PublishedColumn, PublishedTable
from undercover.model.run import Run
from undercover.model.table import EncodedColumn, Table

if TYPE_CHECKING:
    from undercover.forms.displacement import Displacement
    from undercover.forms.loss import Loss

FRAME = "published_rows"
"""The private frame that says whose row is whose."""


class DrawnReading(Reading):
    """Cells are single values that need not be the person's own; whose row is whose stays in the private run."""

    covers: ClassVar[bool] = False
    unit: ClassVar[str] = "group"
    story: ClassVar[str] = (
        " The values of a row were drawn at random: the rows that fit need not include the person's own, and then he "
        "is wrong. He cannot tell whether they do."
    )

    form: Drawn

    @property
    def charged(self) -> None:
        """Nothing is generalised, so there is nothing to count."""
        return

    def own_fits(self, known: Sequence[str], original: Table, own: Rows | None) -> NDArray[np.bool_]:
        """(n_rows, n_known) whether a person's own row kept the person's value."""
        if own is None:
            raise DataError(
                "Which published row is whose stays in the private run, and without it nobody can say whether an "
                "attacker is right. Attack the run or its folder, not the release alone."
            )
        if len(own) != original.n_rows:
            raise DataError(f"The run has {len(own):,} rows, the original {original.n_rows:,}.")
        same = np.empty((original.n_rows, len(known)), dtype=bool)
        for j, name in enumerate(known):
            column, values = self.column(name), domain_values(original[name])
            meanings = [values.read(label, "value") for label in column.labels]
            code = np.array([meaning.low if meaning.size == 1 else -1 for meaning in meanings], dtype=np.int64)
            same[:, j] = code[column.codes][own] == original[name].codes
        return same

    def coverage(self, name: str, values: Values) -> Coverage:
        """Every cell is one value; a number that nobody has counts as the nearest that somebody has."""
        places = np.array([_nearest(name, label, values) for label in self.column(name).labels], dtype=np.int64)
        return Coverage.of_ranges(places, places, values.size)

    def told_estimates(self, original: Table, values: Mapping[str, Values], sensitive: tuple[str, ...]) -> Estimates:
        """Every row as it stands."""
        n_rows, shown = self.main.rows, {}
        coverage = {name: self.coverage(name, every) for name, every in values.items()}
        cells = {name: self.column(name).codes for name in values}
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
        released).
        """
        table = self.main
        findings = [Finding("rows-preserved", {}, original.n_rows, table.rows, table.rows == original.n_rows)]
        names = (*table.names("sensitive"), *table.names("quasi-identifier"))
        absent = [name for name in names if name not in original.columns]
        if absent:
            note = f"The original has no column {listed(absent)}."
            return (*findings, Finding("values-of-the-original", {}, 0, None, False, note=note, sense="at most"))
        for name in table.names("sensitive"):
            before = np.bincount(original[name].codes, minlength=original[name].domain.size)
            column = self.column(name, nan_is_missing=True)
            after = Counter(dict(zip(column.labels, np.bincount(column.codes).tolist(), strict=True)))
            after.subtract(dict(zip(original[name].domain.labels, before.tolist(), strict=True)))
            wrong = max(sum(count for count in after.values() if count > 0), -sum(c for c in after.values() if c < 0))
            findings.append(
                Finding("sensitive-values-preserved", {"column": name}, 0, wrong, wrong == 0, sense="at most")
            )
        strange, notes = 0, []
        for name in table.names("quasi-identifier"):
            column = self.column(name)
            outside = [not _belongs(original[name], label) for label in column.labels]
            if any(outside):
                strange += int(np.array(outside)[column.codes].sum())
                labels = [label for label, out in zip(column.labels, outside, strict=True) if out]
                notes.append(f"`{name}` was released as {listed(labels, limit=5)}, which its column does not have.")
        findings.append(
            Finding("values-of-the-original", {}, 0, strange, strange == 0, note=" ".join(notes), sense="at most")
        )
        return tuple(findings)

    def losses(self, original: Table, own: Rows | None) -> Mapping[str, Loss]:
        """How far values were moved, as a share of their scale."""
        return self.moved(original, own).losses()

    def moved(self, original: Table, own: Rows | None) -> Displacement:
        """How far values were moved."""
        from undercover.forms.displacement import displacement

        return displacement(original, self, own)

    def own_rows(self, run: Run | None) -> Rows | None:
        """(n_rows,) the published row of each grouped row, from the run or from the order."""
        frame = None if run is None else run.frames.get(FRAME)
        if run is None or frame is None:
            return np.arange(self.main.rows) if self.form.order == "input" else None
        rows, published = (np.asarray(frame.column(name).to_numpy(), dtype=np.int64) for name in ("row", "published"))
        if not np.array_equal(rows, run.rows) or not np.array_equal(np.sort(published), np.arange(self.main.rows)):
            raise DataError(f"The private `{FRAME}` does not give every input row a published row of its own.")
        return published

    @property
    def order(self) -> str:
        """What the order of the rows says."""
        return words.ORDER_KEPT if self.form.order == "input" else super().order

    def meaning(self, table: PublishedTable, column: PublishedColumn) -> str:
        """What a column stands for."""
        return words.QUASI_IDENTIFIER if column.role == "quasi-identifier" else super().meaning(table, column)

    def cell_words(self) -> Mapping[str, str]:
        """Every cell is a value."""
        return dict.fromkeys(super().cell_words(), words.VALUE)

    def limits(self) -> list[str]:
        """What drawn tables leave open."""
        return words.limits(self.release, self.form)

    def snippets(self, file_format: str) -> list[Snippet]:
        """Worked code for an ordinary table whose values were drawn."""
        return words.snippets(self.main, file_format)


def _nearest(name: str, label: str, values: Values) -> int:
    meaning = values.read(label, "value")
    if meaning != NOTHING:
        return meaning.low
    if values.kind not in ("numeric", "date"):
        raise DataError(f"Cells of `{name}` that stand for no value of its domain: `{label}`.")
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
