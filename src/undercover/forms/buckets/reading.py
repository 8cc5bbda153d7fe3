"""Two tables that meet in buckets: rows with the number of a bucket, and the values of each bucket.

A row has each value of its bucket with the probability of its share there (Xiao & Tao 2006, Section 3).

In a bucket of m rows of which b satisfy a condition on quasi-identifiers and c values are the wanted one, between
max(0, b + c - m) and min(b, c) rows satisfy both, about b c / m (Xiao & Tao 2006, "Anatomy", Section 3). A sum over the
b rows lies between that of the b smallest and that of the b largest values of the bucket.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import ClassVar

import numpy as np
import pyarrow as pa

from undercover.arrays import count, first_rows, look_up
from undercover.errors import DataError
from undercover.forms.chance import Check
from undercover.forms.classes import Classes, whole_numbers, with_declared, with_suppressed
from undercover.forms.distribution import BucketTable, Distribution, distribution_of
from undercover.forms.own_rows import Made, check_row_order, compare_buckets, compare_own_rows
from undercover.forms.reading import FormPlugin, Reading
from undercover.forms.snippets import Snippet, counting, is_number, reading_tables, telling, with_undercover
from undercover.forms.written import Written, combine, together, written
from undercover.model.finding import Finding
from undercover.model.form import Buckets
from undercover.model.release import PublishedColumn, PublishedTable, Release

_DRAWN = "A value of the row's bucket, drawn at random: seldom the value of the person whose row it is."
_BUCKET = "Number of the bucket; the same number in both tables belongs together. It carries no other meaning."
_COUNT = "How often the sensitive value occurs in the bucket."

_EVERYBODY = """\
table = qit

certain = possible = table["bucket"].notna()  # everybody
likely = certain.astype(float)
print(certain.sum(), "rows")
"""

_BOTH = """\
buckets = pd.DataFrame({{
    "people": table.groupby("bucket").size(),
    "certain": certain.groupby(table["bucket"]).sum(),
    "possible": possible.groupby(table["bucket"]).sum(),
    "likely": likely.groupby(table["bucket"]).sum(),
}})
wanted = sat.groupby({name})["count"].sum().idxmax()  # the value you ask about
buckets["wanted"] = sat[sat[{name}] == wanted].groupby("bucket")["count"].sum()
buckets = buckets.fillna(0)
lower = (buckets["certain"] + buckets["wanted"] - buckets["people"]).clip(lower=0).sum()
upper = buckets[["possible", "wanted"]].min(axis=1).sum()
print("surely between", int(lower), "and", int(upper), "rows")
print("about", round((buckets["likely"] * buckets["wanted"] / buckets["people"]).sum()), "rows")
"""

_JOIN = """\
sat["share"] = sat["count"] / sat.groupby("bucket")["count"].transform("sum")
joined = qit.merge(sat, on="bucket")
# Every person appears once for each value of the bucket; the shares of a person add up to 1.
"""
_TABLE = 'print(joined.groupby([{quasi}, {name}])["share"].sum().unstack(fill_value=0).round(1))'
_MEANS = """\
weighted = (joined[{name}] * joined["share"]).groupby(joined[{quasi}]).sum()
print(weighted / joined.groupby({quasi})["share"].sum())"""

_COMPARE = """\
def profile(rows):
    of_rows = sat.merge(rows.groupby("bucket").size().rename("rows"), on="bucket")
    return (of_rows["share"] * of_rows["rows"]).groupby(of_rows[{name}]).sum() / len(rows)

groups = {{"inside": profile(table[certain]), "outside": profile(table[~possible])}}
print(pd.DataFrame(groups).fillna(0).round(3))
"""

_SUM = """\
values = sat.loc[sat.index.repeat(sat["count"])].sort_values(["bucket", {name}])
place = values.groupby("bucket").cumcount()
people = values.groupby("bucket")["bucket"].transform("size")
few, many = (values["bucket"].map(buckets[which]) for which in ("certain", "possible"))
least = values.loc[place < few, {name}].sum()
most = values.loc[place >= people - many, {name}].sum()
print("the sum lies between", least, "and", most)
if (certain == possible).all():
    print("the mean between", least / certain.sum(), "and", most / certain.sum())
mean = (sat[{name}] * sat["share"]).groupby(sat["bucket"]).sum()  # of every bucket
print("mean by bucket: about", table["bucket"].map(mean)[certain].mean(), "inside")
print("and", table["bucket"].map(mean)[~possible].mean(), "outside")
"""


class BucketsReading(Reading):
    """Rows of one bucket cannot be told apart as to their sensitive values."""

    unit: ClassVar[str] = "bucket"

    form: Buckets

    @cached_property
    def main(self) -> PublishedTable:
        """The table with the quasi-identifiers."""
        problems = self.form.problems(self.release.tables)
        if problems:
            raise DataError(problems)
        return self.release.published(self.form.rows)

    @cached_property
    def buckets(self) -> BucketTable:
        """The values of buckets, from a table of their own."""
        rows, values = self.column(self.form.bucket), self.release.published(self.form.values)
        return BucketTable.of(rows, values, self.form.bucket, self.form.count)

    @cached_property
    def classes(self) -> Classes:
        """The buckets, beside the rows that are written alike; a joined view shows nothing that they do not."""
        return bucket_classes(self, self.form)

    @property
    def charged(self) -> Classes:
        """Buckets where quasi-identifiers are published as they are, else the rows that are written alike."""
        found = self.classes
        as_they_are = all(self.main.form(name) == "value" for name in found.quasi_identifiers)
        return found if as_they_are or found.boxes is None else found.boxes

    def compare_rows(self, made: Made) -> tuple[Finding, ...]:
        """Every row beside its own person's, its bucket and the values of all buckets."""
        if made.run.order is None or made.run.buckets is None:
            return super().compare_rows(made)
        return (*compare_own_rows(self, made), *compare_buckets(self, made, self.form.bucket, self.form.count))

    def test_law(self, made: Made) -> tuple[Check, ...] | None:
        """Rows of a group stand in a secret order."""
        return None if made.run.order is None else check_row_order(made)

    def meaning(self, table: PublishedTable, column: PublishedColumn) -> str:
        """What a column stands for; the values of a joined view belong to the bucket, not to the row."""
        if table.name == self.form.joined and column.role == "sensitive":
            return _DRAWN
        structure = {self.form.bucket: _BUCKET, self.form.count: _COUNT}
        return structure.get(column.name) or super().meaning(table, column)

    def snippets(self, file_format: str) -> list[Snippet]:
        """Worked code for two tables."""
        return [*_two_tables(self.main, self.values_table, file_format), with_undercover(self)]


def bucket_classes(reading: Reading, form: Buckets) -> Classes:
    """The buckets of a release as classes, beside the rows that are written alike."""
    release, qit, sat = reading.release, reading.main, reading.release.published(form.values)
    quasi, sensitive = qit.names("quasi-identifier"), sat.names("sensitive")
    rows = reading.column(form.bucket).codes
    labels, n_buckets = combine([together(reading.column(form.bucket), written(sat.data.column(form.bucket)))])
    same = np.array_equal(labels[: qit.rows], rows)  # as they are where buckets were numbered as they occur
    in_qit, in_sat = rows if same else labels[: qit.rows].copy(), labels[qit.rows :].copy()
    del labels
    sizes = count(in_qit, n_buckets)
    people = whole_numbers(sat.data.column(form.count))
    listed_people = count(in_sat, n_buckets, people)
    found = []
    if (people < 1).any():
        found.append(f"Table `{sat.name}` has counts that are not whole numbers of at least 1.")
    differing = np.flatnonzero(sizes != listed_people)
    if len(differing):
        found.append(
            f"{len(differing):,} buckets have another number of rows in `{qit.name}` than their counts in "
            f"`{sat.name}` add up to."
        )
    found += _joined_problems(release, form)
    if found:  # sensitive values cannot be told, and buckets without rows are none
        known = sizes > 0
        in_qit, sizes = look_up((np.cumsum(known) - 1).astype(in_qit.dtype), in_qit), sizes[known]
        spread = {name: _nothing(name, sat.data.column(name)) for name in sensitive}
    else:
        columns = {name: written(sat.data.column(name), nan_is_missing=True) for name in sensitive}
        spread = {name: distribution_of(name, column, in_sat, n_buckets, people) for name, column in columns.items()}
    del in_sat, people
    boxes = with_suppressed(reading.rows_alike(()), release.suppressed_rows)
    first = first_rows(in_qit, len(sizes))
    classes = Classes(
        quasi, in_qit, sizes, first, release.suppressed_rows, spread, qit.data, (form.bucket,), boxes, tuple(found)
    )
    return with_declared(classes, reading.distinct)


def _joined_problems(release: Release, form: Buckets) -> list[str]:
    """A joined view must show the boxes of the QIT and the values of the SAT, each as often."""
    if form.joined is None:
        return []
    qit, sat, joined = (release.published(name) for name in (form.rows, form.values, form.joined))
    quasi = qit.names("quasi-identifier")
    problems = [
        f"Table `{joined.name}` has no column `{name}`."
        for name in (*quasi, *sat.names("sensitive"))
        if name not in joined.data.column_names
    ]
    if problems:
        return problems
    ours, theirs = ([written(table.data.column(name)) for name in quasi] for table in (qit, joined))
    if not _as_often(ours, theirs):
        problems.append(f"Table `{joined.name}` has other quasi-identifier cells than `{qit.name}`, or not as often.")
    for name in sat.names("sensitive"):
        people = whole_numbers(sat.data.column(form.count))
        listed_values = written(sat.data.column(name))
        spelled = Written(np.repeat(listed_values.codes, np.maximum(people, 0)), listed_values.values)
        if not _as_often([spelled], [written(joined.data.column(name))]):
            problems.append(f"Table `{joined.name}` has other values of `{name}` than `{sat.name}`, or not as often.")
    return problems


def _as_often(one: Sequence[Written], other: Sequence[Written]) -> bool:
    """Whether two tables have the same rows, each as often."""
    labels, n_labels = combine([together(first, second) for first, second in zip(one, other, strict=True)])
    rows = len(one[0].codes)
    return bool(np.array_equal(count(labels[:rows], n_labels), count(labels[rows:], n_labels)))


def _nothing(name: str, column: pa.ChunkedArray) -> Distribution:
    none = np.empty(0, dtype=np.int64)
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    return Distribution.of_keys(name, pa.array([], kind), none, none, none, 0)


def _two_tables(qit: PublishedTable, sat: PublishedTable, file_format: str) -> list[Snippet]:
    (sensitive,) = sat.names("sensitive")
    found = [reading_tables([qit, sat], file_format, ["qit", "sat"])]
    ways = counting(qit)
    if ways:
        ways[0] = {**ways[0], "code": "table = qit\n\n" + ways[0]["code"]}
    else:
        ways = [_everybody()]
    by, number = telling(qit), sat.form(sensitive) == "value" and is_number(sat, sensitive)
    names = {"quasi": repr(by), "name": repr(sensitive)}
    found += [
        *ways,
        {
            "title": f"How many of these have one value of {sensitive}, with bounds",
            "text": "The rows counted above, and of them those with a certain value. Bucket by bucket the bounds are "
            "certain. The estimate takes every value of a bucket to belong to every row of it alike; it is exact where "
            "the two columns have nothing to do with each other, and off the more they have.",
            "code": _BOTH.format(name=repr(sensitive)),
        },
        {
            "title": f"{sensitive} by {by}: join by bucket",
            "text": "Do not count the rows of the join: add up the shares. The table is drawn towards what it would be "
            "if the columns were independent.",
            "code": _JOIN + (_MEANS if number else _TABLE).format(**names) + "\n",
        },
    ]
    if not number:
        text = (
            "The direction of a difference is right on average, its size is not: a group that is dealt over many "
            "buckets shows only a part of how it differs, often little more than 1/l of it in buckets of l rows. No "
            "number of rows repairs this; tests and regressions on the shares find too little."
        )
        found.append({"title": "Compare two groups", "text": text, "code": _COMPARE.format(name=repr(sensitive))})
    if number:
        text = (
            "Whoever satisfies the condition has, in every bucket, at least its smallest and at most its largest "
            "values. The bounds hold if no value is negative. The means of two groups "
            "come out too close to each other, often by a factor near l, and no number of rows repairs this: the same "
            "goes for a regression on them."
        )
        found.append({"title": f"Sum and mean of {sensitive}", "text": text, "code": _SUM.format(name=repr(sensitive))})
    return found


def _everybody() -> Snippet:
    return {
        "title": "Count everybody",
        "text": "No quasi-identifier says anything to choose rows by.",
        "code": _EVERYBODY,
    }


PLUGIN = FormPlugin(form=Buckets, reading=BucketsReading)
