"""What report and datasheet say of a drawn table: it keeps its shape, and its protection is what is hidden."""

from __future__ import annotations

from undercover.forms.snippets import Snippet, again_with_undercover, cells_of, is_number
from undercover.model.form import Drawn
from undercover.model.release import PublishedTable, Release

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
