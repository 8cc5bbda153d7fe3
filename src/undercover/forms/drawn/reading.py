"""A table in its old shape whose quasi-identifiers were drawn: a row is somebody's, though not with his values.

Report and datasheet say of it that it keeps its shape, and that its protection is what is hidden.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from undercover.errors import DataError, listed
from undercover.forms.coverage import Coverage
from undercover.forms.dealt import FRAME, Dealt, places, row_codes
from undercover.forms.estimates import Estimates, Shown
from undercover.forms.meaning import NOTHING, Values, domain_values
from undercover.forms.reading import FormPlugin, Reading, Rows
from undercover.forms.snippets import Snippet, again_with_undercover, cells_of, is_number
from undercover.model.finding import Finding
from undercover.model.form import Drawn
from undercover.model.release import PublishedColumn, PublishedTable, Release
from undercover.model.run import Run
from undercover.model.table import EncodedColumn, Table

if TYPE_CHECKING:
    from undercover.forms.displacement import Displacement
    from undercover.forms.loss import Loss

QUASI_IDENTIFIER = "Drawn at random from the values of similar people: near the person's own, and often equal to it."
VALUE = "A single value."
ORDER_KEPT = "is that of the input: whoever knows it knows which row is whose"

_ASK = {
    True: "# the range you ask about\nlow, high = table[{by}].quantile(0.25), table[{by}].quantile(0.75)\n"
    "inside = table[{by}].between(low, high)\n",
    False: "value = table[{by}].mode()[0]  # the value you ask about\ninside = table[{by}] == value\n",
}
_COUNT = """\
share = inside.mean()
error = (len(table) * share * (1 - share)) ** 0.5
print("about", inside.sum(), "+/-", round(error), "of", len(table), "rows")
"""
_VALUES = """\
print(table[{name}].value_counts(normalize=True).head(10))
wanted = table[{name}].mode()[0]  # the value you ask about
seen = table[{name}] == wanted
"""
_SHARES = """\
for which, rows in (("inside", seen[inside]), ("outside", seen[~inside])):
    error = (rows.mean() * (1 - rows.mean()) / max(len(rows), 1)) ** 0.5
    print(which, len(rows), "rows, share", round(rows.mean(), 3), "+/-", round(error, 3))
"""
_MEANS = """\
amount = table[{name}]
print("all: mean", amount.mean(), "and sum", amount.sum())
for which, rows in (("inside", amount[inside]), ("outside", amount[~inside])):
    print(which, len(rows), "rows, mean", rows.mean(), "+/-", rows.sem())
"""
_SLOPE = """\
outcome = {outcome}
usable = table[{by}].notna() & outcome.notna()
from_mean = table[{by}][usable] - table[{by}][usable].mean()
slope = (from_mean * outcome[usable]).sum() / (from_mean**2).sum()
print("per unit of", {by}, "about", slope)
"""


class DrawnReading(Reading):
    """Cells are single values that need not be the person's own; whose row is whose stays in the private run."""

    covers: ClassVar[bool] = False
    unit: ClassVar[str] = "group"
    story: ClassVar[str] = (
        " The values of a row were drawn at random: the rows that fit need not include the person's own, and then he "
        "is wrong. He cannot tell whether they do."
    )

    form: Drawn

    def __init__(self, release: Release) -> None:
        super().__init__(release)
        self.permuted = self.form.columns == "permuted"
        if self.form.values == "permuted":
            self.true_values, self.among = False, self.form.among

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
        people = np.stack([original[name].codes for name in known], axis=1)
        same: NDArray[np.bool_] = row_codes(self, known, original)[own] == people
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
        return QUASI_IDENTIFIER if column.role == "quasi-identifier" else super().meaning(table, column)

    def cell_words(self) -> Mapping[str, str]:
        """Every cell is a value."""
        return dict.fromkeys(super().cell_words(), VALUE)

    def limits(self) -> list[str]:
        """What drawn tables leave open."""
        return limits(self.release, self.form)

    def snippets(self, file_format: str) -> list[Snippet]:
        """Worked code for an ordinary table whose values were drawn."""
        return snippets(self.main, file_format)


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


def limits(release: Release, form: Drawn) -> list[str]:
    """What a drawn release does not protect."""
    said = []
    if form.order == "input":
        said.append("The rows stand in the order of the input: whoever knows that order knows which row is whose.")
    said += [
        "δ is the largest share one person has of any value that may be released in the group. It does not bound the "
        "probability of being found: somebody who keeps a value that others rarely draw is found more often than δ "
        "says. The holder has these figures.",
        "The protection rests on what is hidden: groups, output tables and draws. Somebody who knew the groups and "
        "the tables could often tell which row is whose; whoever knows the method can guess at both.",
        "Sensitive values stand in the rows of their owners: whoever finds the row knows the value. Groups were made "
        "so that in each of them the values differ, but nothing is promised about rows that look alike in the "
        "published table.",
        "The promise is about each column by itself. An attacker may match on several at once; he then meets rows that "
        "are not the person's, and cannot tell, but a part of his guesses is right.",
    ]
    unchanged = sorted({name for table in release.tables for name in table.names("insensitive")})
    if unchanged:
        said.append(
            f"Published unchanged, as declared: {', '.join(unchanged)}. Whoever knows these of a person can use them "
            "to find the row; no promise covers them."
        )
    said += [
        "The release is not algorithm-safe: the groups depend on sensitive values.",
        "The promises are about this release alone. A second release about the same people, or a second draw from the "
        "same table, can be joined with it.",
        "The promises are per row: a person with several rows is not covered by them.",
        "What holds for a whole group (people of this age earn more) can be learnt, and is meant to be; it applies to "
        "members of the group whether they are in the table or not.",
    ]
    return said


def snippets(table: PublishedTable, file_format: str) -> list[Snippet]:
    """Code for recipients: an ordinary table, to be read as one, with what was drawn kept in mind."""
    # A value may be spelled NA; only an empty cell is missing.
    options = "" if file_format == "parquet" else ', keep_default_na=False, na_values=[""]'
    code = f'import pandas as pd\n\ntable = pd.read_{file_format}("{table.name}.{file_format}"{options})\n'
    text = "It has the shape of an original table: one row per person, one plain value per cell."
    quasi, sensitive = table.names("quasi-identifier"), table.names("sensitive")
    numbers = [name for name in quasi if is_number(table, name)]
    by = (numbers or quasi)[0]
    found = [
        {"title": "Read the table", "text": text, "code": code},
        {
            "title": f"Count by {by}",
            "text": "Distributions of single columns are nearly those of the original. There are no bounds. Drawing "
            "adds at most this standard error; what the groups shift on top of it, towards their own middle, is not in "
            "it. Single rows mean nothing: a row is a mixture of similar people.",
            "code": _ASK[bool(numbers)].format(by=repr(by)) + _COUNT,
        },
    ]
    if len(quasi) > 1:
        found.append(
            {
                "title": f"{quasi[0]} and {quasi[1]} together",
                "text": "Values were drawn column by column, so tables of several columns are blurred: what goes with "
                "what shows weaker than it is, and combinations may appear that nobody has.",
                "code": f"print(pd.crosstab(table[{quasi[0]!r}], table[{quasi[1]!r}]))\n",
            }
        )
    if sensitive:
        found += _beside_sensitive(table, sensitive[0], by if numbers else None)
    return [*found, _with_undercover(table)]


def _beside_sensitive(table: PublishedTable, sensitive: str, by: str | None) -> list[Snippet]:
    number = is_number(table, sensitive)
    code = _VALUES.format(name=repr(sensitive)) + (_MEANS.format(name=repr(sensitive)) if number else _SHARES)
    found = [
        {
            "title": f"Distribution of {sensitive}, and two groups compared",
            "text": "Sensitive values are as they were, each as often. By group they are off by as much as the "
            "group's borders are blurred: rows near the border have changed sides, small groups suffer most, and "
            "differences come out too small. The standard errors do not know of this.",
            "code": code,
        }
    ]
    if by is not None and len(cells_of(table, by)) > 1:
        outcome = f"table[{sensitive!r}]" if number else "seen.astype(float)"
        text = (
            "A quasi-identifier that was drawn is one measured with an error: the slope is drawn towards 0, the more "
            "the wider the groups. Read its sign and order of size, not its digits."
        )
        found.append(
            {"title": f"Regression on {by}", "text": text, "code": _SLOPE.format(outcome=outcome, by=repr(by))}
        )
    return found


def _with_undercover(table: PublishedTable) -> Snippet:
    sensitive = table.names("sensitive")
    lines = ["print(uc.verify(release))"]
    text = (
        "It checks the files against release.json. What was promised lies in tables that stay with the holder, so "
        "the verification leaves it open; counts are refused, because values that were drawn bound nothing."
    )
    if sensitive and is_number(table, sensitive[0]):
        lines.append(f"print(uc.answer_sum(release, uc.SumQuery({sensitive[0]!r})))")
        text += " A sum is that of the published rows."
    return again_with_undercover(text, lines)
