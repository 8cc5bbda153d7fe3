"""The recipient's snippets for two tables, Anatomy's and cross-bucket's.

In a bucket of m rows of which b satisfy a condition on quasi-identifiers and c values are the wanted one, between
max(0, b + c - m) and min(b, c) rows satisfy both, about b c / m (Xiao & Tao 2006, "Anatomy", Section 3). A sum over the
b rows lies between that of the b smallest and that of the b largest values of the bucket.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from undercover.forms.snippets import Snippet, counting, is_number, reading_tables, telling, with_undercover
from undercover.model.release import PublishedTable

if TYPE_CHECKING:
    from undercover.forms.buckets.reading import BucketsReading

DRAWN = "A value of the row's bucket, drawn at random: seldom the value of the person whose row it is."
BUCKET = "Number of the bucket; the same number in both tables belongs together. It carries no other meaning."
COUNT = "How often the sensitive value occurs in the bucket."

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


def snippets(reading: BucketsReading, file_format: str) -> list[Snippet]:
    """Titles, explanations and code for rows with buckets and the values of buckets."""
    return [*_two_tables(reading.main, reading.values_table, file_format), with_undercover(reading)]


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
