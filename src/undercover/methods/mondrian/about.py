"""What is to be known of Mondrian beyond its class."""

from __future__ import annotations

from fractions import Fraction
from math import floor
from typing import Any

from undercover.model.about import About, Example, Stop, Sweep, Wanted
from undercover.steps.reach import checked, groups_of

DONE = (
    "The table was cut in two along one quasi-identifier after another for as long as both halves kept the promise. "
    "The rows of a final piece form a class: they all show the same quasi-identifier cells, which cover everybody in "
    "the class. Sensitive values were not changed."
)


def candidates(wanted: Wanted) -> list[dict[str, Any]]:
    """k alone, which tells nothing to somebody who knows the method; with l or t beside it where that is no condition.

    l need not be whole: no value is more than its inverse of a class.
    """
    least, *more = ({"k": k} for k in wanted.ks)
    if not wanted.unsafe:
        return [least, *more]
    diverse = [{**least, "l": l} for l in (wanted.barely_diverse, *wanted.ls) if l is not None]
    t = (
        0.0 if wanted.closeness is None else floor(wanted.closeness * 100 - Fraction(1, 10)) / 100
    )  # below it, not at it
    close = [{**least, "t": t}, {**least, "t": t / 2}] if t > 0 else []
    return [least, *diverse[:1], *close[:1], *more, *diverse[1:], *close[1:]]


ABOUT = About(
    title="Mondrian",
    idea="The table is cut into small boxes, and each is published with ranges and sets that cover its people.",
    when="Take it where recipients want one table they can open and filter, and who is in it must be uncertain.",
    did=lambda release: DONE,
    attacks=("minimality",),
    through_cuts="minimality",
    sweeps=(
        Sweep("Mondrian", "k", (5, 10, 20)),
        Sweep("Mondrian, k=5", "l", (2, 4, 8), {"k": 5}),
        Sweep("Mondrian distinct, k=5", "l", (2, 4, 8), {"k": 5, "diversity": "distinct"}, distinct=True),
        Sweep("Mondrian t-close, k=5", "t", (0.4, 0.2, 0.1), {"k": 5}),
    ),
    candidates=candidates,
    reach=checked,
    outlook=lambda method, holding: groups_of(method.k, holding),
    tour=(
        Stop("mondrian-k10", "Mondrian k=10", {"k": 10}),
        Stop("mondrian-k10-hierarchies", "Mondrian k=10, hierarchies", {"k": 10}, hierarchies=True, ahead=2),
        Stop("mondrian-k5-l5", "Mondrian k=5, l=5", {"k": 5, "l": 5}),
    ),
    examples=(
        Example({"k": 2}, "safe"),
        Example({"k": 2, "cut": "median"}, "safe"),
        Example({"k": 3}, "safe"),
        Example({"k": 2, "l": 2}, "unsafe"),
        Example({"k": 2, "l": 2, "cut": "median"}, "unsafe"),
        Example({"k": 2, "t": 0.4}, "unsafe"),
        Example({"k": 100}, "unreachable"),
    ),
)
