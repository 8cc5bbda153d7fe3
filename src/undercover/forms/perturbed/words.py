"""What report and datasheet say of perturbed tables: promises, their conditions, and how to count with them."""

from __future__ import annotations

from typing import Any

from undercover.exact import exact
from undercover.forms.snippets import Snippet, again_with_undercover, is_number, reading_tables
from undercover.model.channel import Channel
from undercover.model.finding import shown
from undercover.model.release import PublishedTable, Release

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
