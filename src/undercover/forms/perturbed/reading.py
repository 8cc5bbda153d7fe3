"""One row for several people, its value through a public channel.

The attacker of :mod:`undercover.attacks.linkage`, who has corrupted nobody, believes of a person what is overall in the
table, except for the chance of 1/G that the row is the person's own (Tao, Xiao, Li & Zhang, equations 9 to 15, with
everybody undecided). Where he knows some columns only, several cells fit, and each counts by its people.

A row of G people that shows the value y stands for G ([y = v] - (1 - p) / |U|) / p people of every value v of the
domain U (Tao, Xiao, Li & Zhang, equation 11, inverted as in :mod:`undercover.forms.answers.channel`). The second
part is the same for all values, so it is kept apart, once for each box, and the estimate of a query is the sum of both.

Sensitive values are drawn and cannot be compared, but the cells can: every original row must lie in exactly one of
them, G must be the number of rows in it, and every published value must be one the schema declares. Report and
datasheet say what the promises rest on, and how to count with such a table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from undercover.arrays import tally
from undercover.errors import DataError, NotTold, described
from undercover.exact import exact
from undercover.forms.against import read_boxes
from undercover.forms.answers.sampling import sampling_of
from undercover.forms.boxes import match
from undercover.forms.chance import MOST_ITEMS, Check, check_sum
from undercover.forms.classes import Classes, standing_for, with_declared, with_suppressed
from undercover.forms.coverage import located
from undercover.forms.disclosure import Disclosure
from undercover.forms.estimates import Estimates, Shown, without_sensitive
from undercover.forms.meaning import Values
from undercover.forms.own_rows import Made, compare_cells
from undercover.forms.reading import FormPlugin, Reading, Rows
from undercover.forms.snippets import Snippet, again_with_undercover, is_number, reading_tables
from undercover.forms.spread import Spread
from undercover.forms.written import combine, first_rows, written
from undercover.model.channel import Channel
from undercover.model.finding import Finding, shown
from undercover.model.form import Perturbed
from undercover.model.release import PublishedColumn, PublishedTable, Release
from undercover.model.table import EncodedColumn, Table

Array = NDArray[np.int64]
Floats = NDArray[np.float64]

_BLOCK = 1 << 22  # numbers held at a time
PEOPLE = "How many people the row stands for: one row of each cell is published."

_COUNT = """\
p, domain_size = {p}, {size}  # values were kept with p, else drawn from so many
weight = table["G"] / p

def error(found):
    \"\"\"One standard error of the sum of weight times found.\"\"\"
    squares = weight**2
    draws = squares.sum() ** 2 / (squares**2).sum()
    spread = (squares * (found - (squares * found).sum() / squares.sum()) ** 2).sum()
    return (spread * draws / (draws - 1)) ** 0.5 if draws > 1 else float("nan")

value = table[{name}].mode()[0]  # the value you ask about
seen = (table[{name}] == value).astype(float)
people, spread = (weight * (seen - (1 - p) / domain_size)).sum(), error(seen)
print("about", round(people), "people of", table["G"].sum())
print("give or take", round(spread), "(one standard error)")
"""
_GROUP = """\
share = (seen - (1 - p) / domain_size) / p  # of the people of the cell, on average
groups = pd.DataFrame({{"people": table.groupby({by})["G"].sum()}})
groups["share"] = (table["G"] * share).groupby(table[{by}]).sum() / groups["people"]
largest = (weight**2).groupby(table[{by}]).sum() ** 0.5 / 2
groups["error"] = largest / groups["people"]  # at most one standard error
print(groups.round(3))
"""
_ALL = """\
import json

with open("release.json", encoding="utf-8") as file:
    domain = json.load(file)["form"]["domain"]
lines = []
for each in domain:
    found = (table[{name}] == {each}).astype(float)
    estimate = (weight * (found - (1 - p) / domain_size)).sum()
    lines.append((each, estimate, error(found) or float("nan")))
print(pd.DataFrame(lines, columns=["value", "people", "error"]).round(1))
"""
_MEAN = """\
by_chance = pd.to_numeric(pd.Series(domain)).mean()
amount = table[{name}]
total = (weight * (amount - (1 - p) * by_chance)).sum()
print("sum about", total, "+/-", error(amount))
print("mean about", total / table["G"].sum(), "+/-", error(amount) / table["G"].sum())
"""


class PerturbedReading(Reading):
    """A cell covers its people; of its one value everybody knows how it was drawn."""

    true_values = False
    one_each: ClassVar[bool] = False
    story: str = (
        " Of every cell one row is published, and its sensitive value may have been drawn at random: he believes what "
        "is overall in the table, and takes the row to be the person's own with probability 1/G."
    )

    channel: Channel

    form: Perturbed

    def __init__(self, release: Release) -> None:
        super().__init__(release)
        self.channel = self.form.channel

    @cached_property
    def people(self) -> Rows:
        """(n_rows,) people of each cell."""
        return np.asarray(self.main.data.column(self.form.people).to_numpy(), dtype=np.int64)

    @cached_property
    def classes(self) -> Classes:
        """Cells, each of as many people as it says."""
        alike = self.rows_alike(self.main.names("sensitive"))
        cells = with_suppressed(standing_for(alike, self.form.people), self.release.suppressed_rows)
        return with_declared(cells, self.distinct)

    def disclosure(
        self, known: Sequence[str], original: Table, target_of: Rows, targets: Rows, threads: int
    ) -> Disclosure:
        """By Bayes' rule, through the channel."""
        if len(original.schema.sensitive) != 1:
            raise DataError("The schema of the run does not name the one sensitive column that was perturbed.")
        (sensitive,) = original.schema.sensitive
        offsets, members = match(self.boxes(known, original), targets, threads)
        found = perturbed_posteriors(self, original[sensitive], known, offsets, members, target_of)
        return Disclosure(found[0], {sensitive: found[1]}, {sensitive: found[2]})

    def look_for(
        self, known: Sequence[str], original: Table, people: Table, target_of: Rows, targets: Rows, threads: int
    ) -> Disclosure:
        """The same: cells are far fewer than people."""
        return self.disclosure(known, people, target_of, targets, threads)

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
        table, classes, suppressed = self.main, self.classes, self.release.suppressed_rows
        expected = original.n_rows - suppressed
        findings = [Finding("rows-preserved", {}, expected, classes.rows, classes.rows == expected)]
        boxes = read_boxes(table, classes, original)
        columns = [written(pa.array(original[name].codes)) for name in classes.quasi_identifiers]
        labels, count = combine(columns)
        first = first_rows(labels, count)
        points = [original[name].codes[first].astype(np.int64) for name in classes.quasi_identifiers]
        box, times = located(points, boxes.cells, boxes.covers)
        alone = np.flatnonzero(times[labels] != 1)
        notes = list(boxes.unread)
        if len(alone) > suppressed:
            notes.append(
                f"In no cell or in several, by row of the input: {', '.join(map(str, original.rows[alone[:10]]))}."
            )
        findings.append(
            Finding(
                "rows-covered",
                {},
                expected,
                original.n_rows - len(alone),
                len(alone) <= suppressed,
                note=" ".join(notes),
            )
        )
        inside = box[labels]
        people = np.bincount(inside[inside >= 0], minlength=classes.count)
        wrong_size = int((people != classes.sizes).sum())
        findings.append(Finding("cell-sizes", {}, 0, wrong_size, wrong_size == 0, sense="at most"))
        for name in classes.sensitive:
            declared = original[name].settings.domain if name in original.columns else None
            published = classes.sensitive[name].labels
            strange = [label for label in published if label not in set(declared or published)]
            note = f"Outside the declared domain: {described(strange)}." if strange else ""
            findings.append(
                Finding("values-declared", {"column": name}, 0, len(strange), not strange, sense="at most", note=note)
            )
        return tuple(findings)

    def compare_rows(self, made: Made) -> tuple[Finding, ...]:
        """Everybody beside the cell of the own group, where the run says which it is."""
        if made.row_of_group is None:
            return super().compare_rows(made)
        return compare_cells(self, made, self.people)

    def test_law(self, made: Made) -> tuple[Check, ...] | None:
        """Published values went through the channel: they are those of their cells as often as it lets through."""
        return None if made.row_of_group is None else _test_channel(self, made, made.row_of_group)

    def meaning(self, table: PublishedTable, column: PublishedColumn) -> str:
        """What a column stands for."""
        return PEOPLE if column.name == self.form.people else super().meaning(table, column)

    @cached_property
    def sampling(self) -> Mapping[str, Any]:
        """One row of every cell is there."""
        return sampling_of(self.people, self.channel, self.form.people)

    def limits(self) -> list[str]:
        """What the promise rests on, and what it leaves open."""
        return limits(self.release)

    def snippets(self, file_format: str) -> list[Snippet]:
        """Worked code: unbiased counts, shares, means and sums."""
        return snippets(self.main, self.channel, self.form.people, file_format)


def _test_channel(reading: PerturbedReading, made: Made, row_of_group: NDArray[np.integer]) -> tuple[Check, ...]:
    """Test p: of every cell, the share of its people who have the value that is published of it.

    A person of m is drawn, the value kept with p and otherwise drawn from the domain. With c_v people of value v the
    published one is v with p c_v / m + u, so the share c / m has the mean p sum (c_v / m)^2 + u.
    """
    name, noise = "values that are those of their cells", reading.channel
    if not reading.release.algorithm_safe:
        note = "Not tested: cells follow from the values that are published, so these say nothing of p."
        return (Check(name, None, float(noise.p), 1.0, 0, None, note),)
    (sensitive,) = made.original.schema.sensitive
    groups, size = made.run.groups, noise.size
    stride = -(-len(groups.labels) // MOST_ITEMS)
    people = np.flatnonzero(groups.labels % stride == 0) if stride > 1 else np.arange(len(groups.labels))
    labels = groups.labels[people].astype(np.int64)
    column = made.original[sensitive]
    own = np.array([noise.code[label] for label in column.domain.labels], dtype=np.int64)[made.codes(sensitive)[people]]
    key, times = tally(labels * size + own, groups.count * size)
    group = np.asarray(key // size, dtype=np.int64)
    share = times / groups.sizes[group]
    p, u = float(noise.p), float(noise.u)
    mean = p * np.bincount(group, share**2, groups.count) + u * np.bincount(group, share, groups.count)
    square = p * np.bincount(group, share**3, groups.count) + u * np.bincount(group, share**2, groups.count)
    total = share[reading.seen[row_of_group[group]] == key % size].sum()
    tested = np.unique(group)
    variance = float((square - mean**2).sum())
    return (check_sum(name, float(total), float(mean.sum()), max(variance, 0.0), len(tested)),)


def perturbed_posteriors(
    reading: PerturbedReading,
    column: EncodedColumn,
    known: Sequence[str],
    offsets: Array,
    members: Array,
    target_of: Array,
) -> tuple[Array, Floats, Floats]:
    """For every person: people of the cells that fit, probability given to the true value, and of a right guess.

    The boxes that cover target t of the ``known`` columns are ``members[offsets[t]:offsets[t + 1]]``; a box is the
    published rows that are written alike in them. ``target_of`` is the target of each person, ``column`` the sensitive
    column of the original.
    """
    noise, seen, people = reading.channel, reading.seen, reading.people
    p, u = float(noise.p), float(noise.u)
    own = np.array([noise.code[label] for label in column.domain.labels], dtype=np.int64)[column.codes]
    prior = np.bincount(own, minlength=noise.size) / len(own)
    box, n_boxes = combine([reading.column(name) for name in known])
    order = np.argsort(box, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(box, minlength=n_boxes))])
    weight = np.divide(1.0, p * prior[seen] + u, out=np.zeros(len(seen)), where=p * prior[seen] + u > 0)

    n_targets = len(offsets) - 1
    matches = np.zeros(n_targets, dtype=np.int64)
    by_target = np.argsort(target_of, kind="stable")
    ends = np.concatenate([[0], np.cumsum(np.bincount(target_of, minlength=n_targets))])
    chance, hits = np.empty(len(own)), np.empty(len(own))
    step = max(1, _BLOCK // noise.size)
    for first in range(0, n_targets, step):
        last = min(first + step, n_targets)
        boxes = members[offsets[first] : offsets[last]]
        counts = starts[boxes + 1] - starts[boxes]
        of_box = np.repeat(np.arange(first, last), np.diff(offsets[first : last + 1]))
        target = np.repeat(of_box - first, counts)
        inside = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
        rows = order[np.repeat(starts[boxes], counts) + inside]
        size = last - first
        matches[first:last] = np.bincount(target, weights=people[rows], minlength=size).astype(np.int64)
        everywhere = np.bincount(target, weights=people[rows] - 1 + u * weight[rows], minlength=size)
        extra = np.bincount(target * noise.size + seen[rows], weights=p * weight[rows], minlength=size * noise.size)
        belief = prior * (everywhere[:, None] + extra.reshape(size, noise.size))
        total = belief.sum(axis=1, keepdims=True)
        belief = np.divide(belief, total, out=np.zeros_like(belief), where=total > 0)
        best = belief >= belief.max(axis=1, keepdims=True) * (1 - 1e-12)
        guess = best / best.sum(axis=1, keepdims=True)
        persons = by_target[ends[first] : ends[last]]
        at = (target_of[persons] - first, own[persons])
        chance[persons], hits[persons] = belief[at], guess[at] * (belief[at] > 0)
    return matches[target_of], chance, hits


def corrected_spreads(
    reading: PerturbedReading, values: Mapping[str, Values], sensitive: str, labels: Sequence[str]
) -> tuple[Spread, Spread]:
    """The boxes of a release with the values seen, and with what is taken off every value alike.

    ``labels`` are the sensitive values whose counts are asked for, in order; others of the domain may be seen. What is
    taken off is a spread of a single value that stands for every one of them; its weights are negative.
    """
    noise = reading.channel
    if not noise.p:
        raise NotTold("p = 0: no value was kept, so nothing can be estimated of them.")
    columns = {name: reading.column(name) for name in values}
    coverage = {name: reading.coverage(name, values[name]) for name in values}
    cells = {name: column.codes.astype(np.int64) for name, column in columns.items()}
    people = reading.people.astype(np.float64)
    shown = reading.column(sensitive)
    place = {label: code for code, label in enumerate(labels)}
    codes = np.array([place.get(label, -1) for label in shown.labels], dtype=np.int64)[shown.codes]
    boxes = np.flatnonzero(codes >= 0)
    p, u = float(noise.p), float(noise.u)
    return (
        Spread.of_pairs(coverage, cells, (boxes, codes[boxes], people[boxes] / p), len(labels)),
        Spread.of_pairs(coverage, cells, (np.arange(len(people)), np.zeros(len(people), int), -people * u / p), 1),
    )


PLUGIN = FormPlugin(form=Perturbed, reading=PerturbedReading)


def limits(release: Release) -> list[str]:
    """What the promise rests on, and what it leaves open."""
    said = [
        "One release per table: a second release of the same people draws anew, and whoever holds both learns more "
        "than "
        "either promises.",
        "It is no secret who is in the table: the adversary is taken to know that.",
        "The promise rests on randomness that stays secret, on a domain that was declared beforehand, and on one row "
        "per "
        "person.",
        "It takes the victim's value to be independent of the values of people the adversary knows nothing about.",
        "Single rows may be absurd: many published values were drawn and belong to nobody.",
    ]
    skew = exact(release.parameters.get("skew", 1))
    if skew != 1:
        said.append(
            f"Whoever is more than {_number(skew)} sure of a single value of a person beforehand is outside the "
            "promise."
        )
    said.append(
        "What holds for a whole group (people of this age earn more) can be learnt, and is meant to be; it applies to "
        "members of the group whether they are in the table or not."
    )
    return said


def snippets(table: PublishedTable, noise: Channel, people: str, file_format: str) -> list[Snippet]:
    """Worked code: unbiased counts, shares, means and sums with their standard errors."""
    counted = _counted(table, noise, people)
    return [reading_tables([table], file_format, ["table"]), *counted, _with_undercover(table, noise)]


def _counted(table: PublishedTable, noise: Channel, people: str) -> list[Snippet]:
    (sensitive,) = table.names("sensitive")
    quasi, number = table.names("quasi-identifier")[0], is_number(table, sensitive)
    if not noise.p:
        text = "p = 0: every value was drawn, none was kept. The table says how many people are in each cell, no more."
        return [{"title": "Count people", "text": text, "code": f"print(table.groupby({quasi!r})[{people!r}].sum())\n"}]
    found = [
        {
            "title": f"Count a value of {sensitive}",
            "text": "Do not count the values as they stand: many were drawn. Weigh each row by G, take off what is hit "
            "by chance and divide by p. The estimate is unbiased, and may lie below 0. The standard error covers what "
            "was drawn, and is on average too large rather than too small.",
            "code": _COUNT.format(name=repr(sensitive), p=round(float(noise.p), 9), size=noise.size),
        },
        {
            "title": f"Its share by {quasi}",
            "text": "The same for the cells of one column. How many people are in a cell was not drawn. Shares of few "
            "rows are noisy and may lie outside 0 and 1: join cells before you compare, and do not cut them off at 0, "
            "or they are no longer unbiased.",
            "code": _GROUP.format(by=repr(quasi)),
        },
        {
            "title": f"All values of {sensitive}",
            "text": "The declared domain stands in release.json. The estimates add up to the number of people. A value "
            "that shows nowhere has no spread to tell an error from; it may still be that of some people.",
            "code": _ALL.format(name=repr(sensitive), each="float(each)" if number else "each"),
        },
    ]
    if number:
        text = (
            "A plain mean of the column is drawn towards the mean of the declared domain. Taking that off and "
            "dividing by p puts it right. For a regression do the same to the outcome and weigh rows by G."
        )
        found.append(
            {"title": f"Sum and mean of {sensitive}", "text": text, "code": _MEAN.format(name=repr(sensitive))}
        )
    return found


def _with_undercover(table: PublishedTable, noise: Channel) -> Snippet:
    (sensitive,) = table.names("sensitive")
    number = is_number(table, sensitive)
    if not noise.p:
        text = "It checks the files against release.json and recomputes what is promised."
        return again_with_undercover(text, ["print(uc.verify(release))"])
    lines = [
        "counts = uc.PerturbedCounts(release)",
        f"print(counts.count({{{sensitive!r}: {'value.item()' if number else 'value'}}}))",
    ]
    if number:
        lines.append("print(counts.mean())")
    text = (
        "It takes predicates on any column, weighs cells that lie partly in the query, and has marginals, means and "
        "sums with standard errors. undercover.fit_release learns a decision tree from the release (with the extra "
        "undercover[analysis])."
    )
    return again_with_undercover(text, lines)


def _number(value: Any) -> str:
    """A number of a promise, rounded to the safe side."""
    return shown(float(exact(value)), "at most") if value is not None else "?"
