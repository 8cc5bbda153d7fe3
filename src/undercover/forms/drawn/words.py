"""What report and datasheet say of a table in its old shape, by what the form and the release state and nothing else.

Quasi-identifiers were drawn from private tables, or permuted among rows, and with them insensitive columns; sensitive
values are those of their rows, or were dealt anew. What is true of one is not said of another.
"""

from __future__ import annotations

from undercover.forms.snippets import (
    ALSO,
    Snippet,
    again_with_undercover,
    cells_of,
    imports,
    is_number,
    reading_lines,
    reads,
)
from undercover.model.form import Drawn
from undercover.model.release import PublishedColumn, PublishedTable, Release

QUASI_IDENTIFIER = "Drawn at random from the values of similar people: near the person's own, and often equal to it."
PERMUTED = (
    "Permuted among similar people: every value is there as often as it was, in a row that need not be its person's."
)
SENSITIVE = (
    "What others must not learn of a person. Dealt anew among at least {among} similar people: every value is there as "
    "often as it was, and beside whose it stands says little."
)
VALUE = "A single value."
ORDER_KEPT = "is that of the input: whoever knows it knows which row is whose"
MOVED = (
    " Values changed places among the people of a group: the rows that fit need not include the person's own. Whether "
    "they do is counted as likely as it was when they were dealt."
)
DEALT = (
    f"{MOVED} Sensitive values were dealt anew: one that a row shows is the person's with a probability of at most "
    "1/{among}, otherwise any other one, by how frequent it is. He weighs what fits by this law, not by how often he "
    "sees it."
)
_RARE = (
    "A rare value has a certain source: if one person is 90 years old, a published 90 says that somebody of that age "
    "is in the table. What stands beside it need not be that person's."
)
_TOLD = {
    "drawn": (
        "The protection rests on what is hidden: groups, output tables and draws. Somebody who knew the groups and "
        "the tables could often tell which row is whose; whoever knows the method can guess at both.",
        "Sensitive values stand in the rows of their owners: whoever finds the row knows the value. Groups were made "
        "so that in each of them the values differ, but nothing is promised about rows that look alike in the "
        "published table.",
        "The promise is about each column by itself. An attacker may match on several at once; he then meets rows that "
        "are not the person's, and cannot tell, but a part of his guesses is right.",
    ),
    "own": (
        "Every column but the sensitive ones was permuted by itself inside groups of similar people. What is hidden is "
        "whose sensitive value a row carries, not which values a group has: where all its people have the same one, "
        "whoever knows who is in the group knows it.",
        _RARE,
    ),
    "permuted": (
        "A row is nobody's: quasi-identifiers were permuted by themselves, and sensitive values dealt anew among at "
        "least {among} people whose values all differ. Nothing is hidden of which values occur.",
        "Values are hidden as far as any of the group could have any of them. What is known of people and rules a "
        "value out undoes it: of four men and one woman, `pregnant` is the woman's whatever was dealt.",
        _RARE,
    ),
}

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
_EXACT = """\
print(inside.sum(), "of", len(table), "rows")
"""
_ALONE = {
    "drawn": "Distributions of single columns are nearly those of the original. There are no bounds. Drawing "
    "adds at most this standard error; what the groups shift on top of it, towards their own middle, is not in "
    "it. Single rows mean nothing: a row is a mixture of similar people.",
    "permuted": "Counts of one column by itself are exact: its values changed places, and none was added or lost. "
    "Single rows mean nothing: a row is a mixture of similar people.",
}
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


def meaning(form: Drawn, column: PublishedColumn) -> str | None:
    """What a column stands for, where that is not what every release says of its role."""
    if column.role == "sensitive":
        return SENSITIVE.format(among=form.among) if form.values == "permuted" else None
    if form.columns == "permuted":
        return PERMUTED
    return QUASI_IDENTIFIER if column.role == "quasi-identifier" else None


def limits(release: Release, form: Drawn) -> list[str]:
    """What a drawn release does not protect."""
    said = []
    if form.order == "input":
        said.append("The rows stand in the order of the input: whoever knows that order knows which row is whose.")
    told = _TOLD["permuted" if form.values == "permuted" else "own" if form.columns == "permuted" else "drawn"]
    said += [sentence.format(among=form.among) for sentence in told]
    others = sorted({name for table in release.tables for name in table.names("insensitive")})
    if others and form.columns == "permuted":
        said.append(
            f"Permuted as quasi-identifiers are, though no secret: {', '.join(others)}. No promise covers them."
        )
    elif others:
        said.append(
            f"Published unchanged, as declared: {', '.join(others)}. Whoever knows these of a person can use them "
            "to find the row; no promise covers them."
        )
    if not release.has_safe_method:
        said.append("The release is not algorithm-safe: the groups depend on sensitive values.")
    said += [
        "The promises are about this release alone. A second release about the same people, or a second draw from the "
        "same table, can be joined with it.",
        "The promises are per row: a person with several rows is not covered by them.",
        "What holds for a whole group (people of this age earn more) can be learnt, and is meant to be; it applies to "
        "members of the group whether they are in the table or not.",
    ]
    return said


_CSV = 'pd.read_csv({file}, keep_default_na=False, na_values=[""])'


def snippets(table: PublishedTable, file_format: str, form: Drawn) -> list[Snippet]:
    """Code for recipients: an ordinary table, to be read as one, with what was drawn or dealt kept in mind."""
    permuted, dealt = form.columns == "permuted", form.values == "permuted"
    did = "permuted" if permuted else "drawn"
    # A value may be spelled NA; only an empty cell is missing.
    lines = [f"table = {reads(table, file_format, _CSV)}"]
    if file_format != "csv":
        lines = reading_lines(table, file_format, "table")
        lines += [] if file_format == "parquet" else ['table = table.mask(table == "")']
    code = "\n".join([*imports([table], file_format), *lines, ""])
    text = "It has the shape of an original table: one row per person, one plain value per cell." + ALSO.get(
        file_format, ""
    )
    quasi, sensitive = table.names("quasi-identifier"), table.names("sensitive")
    numbers = [name for name in quasi if is_number(table, name)]
    by = (numbers or quasi)[0]
    found = [
        {"title": "Read the table", "text": text, "code": code},
        {
            "title": f"Count by {by}",
            "text": _ALONE[did],
            "code": _ASK[bool(numbers)].format(by=repr(by)) + (_EXACT if permuted else _COUNT),
        },
    ]
    if len(quasi) > 1:
        found.append(
            {
                "title": f"{quasi[0]} and {quasi[1]} together",
                "text": f"Values were {did} column by column, so tables of several columns are blurred: what goes with "
                "what shows weaker than it is, and combinations may appear that nobody has.",
                "code": f"print(pd.crosstab(table[{quasi[0]!r}], table[{quasi[1]!r}]))\n",
            }
        )
    if sensitive:
        found += _beside_sensitive(table, sensitive[0], by if numbers else None, did, dealt)
    return [*found, _with_undercover(table, permuted)]


def _beside_sensitive(table: PublishedTable, sensitive: str, by: str | None, did: str, dealt: bool) -> list[Snippet]:
    number = is_number(table, sensitive)
    code = _VALUES.format(name=repr(sensitive)) + (_MEANS.format(name=repr(sensitive)) if number else _SHARES)
    found = [
        {
            "title": f"Distribution of {sensitive}, and two groups compared",
            "text": (
                "Sensitive values are all there, each as often, but stand in rows of similar people. "
                if dealt
                else "Sensitive values are as they were, each as often. "
            )
            + "By group they are off by as much as the "
            "group's borders are blurred: rows near the border have changed sides, small groups suffer most, and "
            "differences come out too small. The standard errors do not know of this.",
            "code": code,
        }
    ]
    if by is not None and len(cells_of(table, by)) > 1:
        outcome = f"table[{sensitive!r}]" if number else "seen.astype(float)"
        text = (
            f"A quasi-identifier that was {did} is one measured with an error: the slope is drawn towards 0, the more "
            "the wider the groups. Read its sign and order of size, not its digits."
        )
        found.append(
            {"title": f"Regression on {by}", "text": text, "code": _SLOPE.format(outcome=outcome, by=repr(by))}
        )
    return found


def _with_undercover(table: PublishedTable, permuted: bool) -> Snippet:
    sensitive = table.names("sensitive")
    lines = ["print(uc.verify(release))"]
    where, why = (
        ("tables that stay", "values that were drawn")
        if not permuted
        else ("groups that stay", "rows that are nobody's")
    )
    text = (
        f"It checks the files against release.json. What was promised lies in {where} with the holder, so "
        f"the verification leaves it open; counts are refused, because {why} bound nothing."
    )
    if sensitive and is_number(table, sensitive[0]):
        lines.append(f"print(uc.answer_sum(release, uc.SumQuery({sensitive[0]!r})))")
        text += " A sum is that of the published rows."
    return again_with_undercover(text, lines)
