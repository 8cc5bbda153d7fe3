"""How a series looks: a method has one colour in every picture of every page, its variants their own mark and dash.

A series is of the method whose name it begins with ("Mondrian, k=5", "mutual cover (drawn again)"). What is of no
method (a value of a parameter, an algorithm) takes the colours that are left, in the order in which it comes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from undercover import plugins
from undercover.model.view import AFTER, BEFORE

# Okabe & Ito 2008, in an order in which neighbours differ in lightness; marks and dashes tell them apart as well.
COLORS = (
    AFTER,
    BEFORE,
    "var(--series-3, #009e73)",
    "var(--series-4, #b0569a)",
    "var(--series-5, #b07800)",
    "var(--series-6, #56a0d9)",
    "var(--series-7, #333333)",
    "var(--series-8, #8f2d56)",
)
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
DASHES = ([1, 0], [7, 3], [2, 2], [8, 3, 2, 3], [12, 4], [4, 4])


class Look(NamedTuple):
    """Of a line and its marks."""

    color: str
    shape: str
    dash: list[int]


def looks(series: Iterable[str]) -> dict[str, Look]:
    """How each series of a page looks.

    >>> found = looks(["Mondrian", "Mondrian, k=5", "mutual cover", "l = 4"])
    >>> found["Mondrian"].color == found["Mondrian, k=5"].color == looks(["mutual cover", "mondrian"])["mondrian"].color
    True
    >>> len({look.color for look in found.values()}), len({(look.shape, *look.dash) for look in found.values()})
    (3, 4)
    """
    names = list(dict.fromkeys(series))
    methods = {_letters(method): place for place, method in enumerate(plugins.names("methods"))}
    families = {name: next((key for key in methods if _letters(name).startswith(key)), name) for name in names}
    taken = {methods[family] % len(COLORS) for family in families.values() if family in methods}
    free = [place for place in range(len(COLORS)) if place not in taken] or list(range(len(COLORS)))
    others = list(dict.fromkeys(family for family in families.values() if family not in methods))
    places = methods | {family: free[i % len(free)] for i, family in enumerate(others)}
    found: dict[str, Look] = {}
    for name, family in families.items():
        alike = sum(places[families[other]] % len(COLORS) == places[family] % len(COLORS) for other in found)
        place = places[family] % len(COLORS)
        found[name] = Look(COLORS[place], SHAPES[(place + alike) % len(SHAPES)], list(DASHES[alike % len(DASHES)]))
    return found


def _letters(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())
