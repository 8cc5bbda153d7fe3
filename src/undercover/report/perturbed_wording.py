"""What report and datasheet say of perturbed generalization: promises, their conditions, and how to count with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from undercover.guarantees.exact import exact
from undercover.guarantees.finding import shown
from undercover.model.perturbation import Perturbation
from undercover.model.release import PublishedTable, Release

DONE = (
    "The quasi-identifiers were generalised into cells that do not overlap. Of every cell one row was drawn at random "
    "and is published, with the number of people in the cell in column G. Its sensitive value was kept with "
    "probability "
    "p and otherwise replaced by one drawn uniformly from the declared domain."
)
FREE = "The cells follow from quasi-identifiers and public weights alone."
DRIVEN = (
    "Sensitive values were perturbed first, and the cells were then cut so that they differ in the perturbed values, "
    "as "
    "the paper does it. Where the cuts lie therefore tells something about them, and the promise counts one person per "
    "cell only."
)
PEOPLE = "How many people the row stands for: one row of each cell is published."

_COUNT = """\
p, domain_size = {p}, {size}  # values were kept with p, else drawn from so many
value = table[{name}].mode()[0]  # the value you ask about
seen = (table[{name}] == value).astype(float)
weight = table["G"] / p
print("about", round((weight * (seen - (1 - p) / domain_size)).sum()), "people")
spread = (weight**2 * (seen - (weight**2 * seen).sum() / (weight**2).sum()) ** 2).sum() ** 0.5
print("give or take", round(spread), "(one standard error)")
"""
_GROUP = """\
share = (seen - (1 - p) / domain_size) / p  # of the people of the cell, on average
people = (table["G"] * share).groupby(table[{by}]).sum()
print((people / table.groupby({by})["G"].sum()).round(3))
"""


def promise_title(name: str, parameters: Mapping[str, Any]) -> str | None:
    """A promise of perturbed generalization by its numbers; ``None`` for any other.

    >>> promise_title("rho-breach", {"rho1": 0.2, "rho2": 0.45})
    '0.2-to-0.45 guarantee'
    >>> promise_title("delta-growth", {"growth": 0.28125})
    '0.282-growth guarantee'
    """
    if name == "rho-breach":
        return f"{_number(parameters.get('rho1'))}-to-{_number(parameters.get('rho2'))} guarantee"
    if name == "delta-growth":
        return f"{_number(parameters.get('growth'))}-growth guarantee"
    return None


def promise_words(name: str, parameters: Mapping[str, Any]) -> str | None:
    """What it means for the people in the table; ``None`` for any other promise."""
    if name in ("rho-breach", "delta-growth"):
        skew = exact(parameters.get("skew", 1))
        condition = (
            "" if skew == 1 else f", provided nobody was more than {_number(skew)} sure of a single value before"
        )
        form = "" if parameters.get("bound", "tight") == "tight" else " By the paper's bound."
        one = (
            " Counted for one person per cell, because sensitive values drove the cuts." if parameters.get("k") else ""
        )
        if name == "rho-breach":
            said = (
                f"Whoever was at most {_number(parameters.get('rho1'))} sure of anything about a person's value is at "
                f"most {_number(parameters.get('rho2'))} sure after seeing the release (and whoever was at least "
                f"{_number(1 - exact(parameters.get('rho1', 0)))} sure stays at least "
                f"{shown(float(1 - exact(parameters.get('rho2', 0))), 'at least')} sure)"
            )
        else:
            growth = _number(parameters.get("growth"))
            said = f"Nobody becomes surer of anything about a person's value by more than {growth}"
        return f"{said}, even if he knows the value of everybody else{condition}.{form}{one}"
    return {
        "disjoint-cells": "Nobody's quasi-identifiers fit two published rows.",
        "cell-sizes": "Column G is the number of original rows in every cell.",
        "values-declared": "Every published value is one of the declared domain.",
    }.get(name)


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


def snippets(release: Release, table: PublishedTable) -> list[dict[str, str]]:
    """Worked code: an unbiased count with its standard error, and shares by a quasi-identifier."""
    noise = Perturbation.of(release)
    (sensitive,) = table.names("sensitive")
    quasi = table.names("quasi-identifier")[0]
    return [
        {
            "title": f"Count a value of {sensitive}",
            "text": "Do not count the values as they stand: many were drawn. Weigh each row by G, take off what is "
            "hit by "
            "chance and divide by p. The estimate is unbiased; undercover.PerturbedCounts and undercover.fit_release "
            "do "
            "this for any question and for decision trees.",
            "code": _COUNT.format(name=repr(sensitive), p=round(float(noise.p), 6), size=noise.size),
        },
        {
            "title": f"Its share by {quasi}",
            "text": "The same for the cells of one column. Shares of few rows are noisy and may lie outside 0 and 1.",
            "code": _GROUP.format(by=repr(quasi)),
        },
    ]


def _number(value: Any) -> str:
    """A number of a promise, rounded to the safe side."""
    return shown(float(exact(value)), "at most") if value is not None else "?"
