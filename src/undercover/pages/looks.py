"""How a series looks: a method has one colour and one mark in every picture of every page, whatever stands beside it.

A series is of the method it is said to be of, or whose name it begins with ("Mondrian, k=5", "mutual cover (drawn
again)"). Built-in methods have colour and mark by their place among them, others by a hash of their name, which never
comes to the pair of a built-in one; where two of those on one page come to the same, the later name takes the next.
Variants of a method differ by dash and by the hole in the mark, in the order in which the method declares its sweeps.
What is of no method (a value of a parameter, an algorithm) takes the colours that are left, with marks that no method
has in them, in the order in which it comes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from undercover import plugins
from undercover.model.about import about_of
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
MARKS = {
    "circle": "M0 -1A1 1 0 1 1 0 1A1 1 0 1 1 0 -1Z",
    "square": "M-.88 -.88H.88V.88H-.88Z",
    "triangle up": "M0 -1.1L1.1 .85H-1.1Z",
    "diamond": "M0 -1.2L1 0L0 1.2L-1 0Z",
    "star": "M0 -1.2L.4 -.5L1.2 -.35L.65 .25L.75 1.05L0 .7L-.75 1.05L-.65 .25L-1.2 -.35L-.4 -.5Z",
    "plus": "M-.38 -1.1H.38V-.38H1.1V.38H.38V1.1H-.38V.38H-1.1V-.38H-.38Z",
    "triangle down": "M0 1.1L-1.1 -.85H1.1Z",
    "x": "M0 -.5L.55 -1.05L1.05 -.55L.5 0L1.05 .55L.55 1.05L0 .5L-.55 1.05L-1.05 .55L-.5 0L-1.05 -.55L-.55 -1.05Z",
}
"""Outlines of marks, from -1 to 1 and clockwise; a hole runs against the clock."""
SHAPES = tuple(MARKS.values())
HOLES = (
    "",
    "M0 -.4A.4 .4 0 1 0 0 .4A.4 .4 0 1 0 0 -.4Z",
    "M-.55 -.16V.16H.55V-.16Z",
    "M-.16 -.5V.5H.16V-.5Z",
    "M-.5 -.13V.13H-.13V.5H.13V.13H.5V-.13H.13V-.5H-.13V-.13Z",
    "M-.45 -.3V0H-.15V-.3ZM.15 -.3V0H.45V-.3Z",
)
DASHES = ([1, 0], [7, 3], [2, 2], [8, 3, 2, 3], [12, 4], [4, 4], [1, 3])
VERDICTS = {"Ready": "var(--good, #00704f)", "Decide": "var(--care, #7a5200)", "Do not publish": "var(--bad, #b3261e)"}
"""The colour of what a policy says of a release; a word or a sign stands beside it."""
SIGNS = {"Ready": "✓", "Decide": "?", "Do not publish": "✗"}
Pair = tuple[int, int]
_PLACES = len(COLORS)
_OFF = [(color, shape) for color in range(_PLACES) for shape in range(_PLACES) if color != shape]


class Look(NamedTuple):
    """Of a line and its marks; ``mark`` is the path of one, from -1 to 1."""

    color: str
    mark: str
    dash: list[int]


def looks(series: Iterable[str], methods: Mapping[str, str] | None = None) -> dict[str, Look]:
    """How each series of a page looks; ``methods`` says of which method one is whose name does not.

    >>> found = looks(["Mondrian", "Mondrian, k=5", "mutual cover", "l = 4"])
    >>> found["mutual cover"] == looks(["l = 7", "mutual cover"])["mutual cover"]
    True
    >>> found["Mondrian"].color == found["Mondrian, k=5"].color, found["Mondrian"].mark in found["Mondrian, k=5"].mark
    (True, True)
    """
    names = list(dict.fromkeys(series))
    of = {name: (methods or {}).get(name) or _method(name) for name in names}
    pairs = _pairs({method for method in of.values() if method is not None})
    free = [color for color in range(_PLACES) if color not in {taken for taken, _ in pairs.values()}]
    free = free or list(range(_PLACES))
    variants = _variants(of)
    found: dict[str, Look] = {}
    others = 0
    for name, method in of.items():
        if method is None:
            color, again = free[others % len(free)], others // len(free)
            pair, variant, dash = (color, (color + _PLACES // 2 + again) % _PLACES), 0, again
            others += 1
        else:
            pair, variant = pairs[method], variants[name]
            dash = variant
        mark = SHAPES[pair[1]] + HOLES[variant % len(HOLES)]
        found[name] = Look(COLORS[pair[0]], mark, list(DASHES[dash % len(DASHES)]))
    return found


def lean(part: Any) -> dict[str, Any]:
    """An axis, a legend or a scale as what was said of it: layers copy theirs with everything that was not, too.

    >>> import altair as alt
    >>> lean(alt.Scale(zero=True))
    {'zero': True}
    """
    said: dict[str, Any] = part.to_dict(validate=False)
    return said


def _method(series: str) -> str | None:
    """The method whose name a series begins with: the longest, where one name begins another."""
    letters = _letters(series)
    return max((name for name in plugins.names("methods") if letters.startswith(_letters(name))), key=len, default=None)


def _pairs(methods: Iterable[str]) -> dict[str, Pair]:
    """Colour and mark of each method, by their places."""
    home = list(plugins.BUILT_IN["methods"])
    found: dict[str, Pair] = {}
    for method in sorted(methods):
        if method in home:
            place, again = home.index(method) % _PLACES, home.index(method) // _PLACES
            found[method] = place, (place + again) % _PLACES
            continue
        start = int.from_bytes(hashlib.sha256(method.encode()).digest()[:4], "big")
        tried = (_OFF[(start + step) % len(_OFF)] for step in range(len(_OFF)))
        found[method] = next((pair for pair in tried if pair not in found.values()), _OFF[start % len(_OFF)])
    return found


def _variants(of: Mapping[str, str | None]) -> dict[str, int]:
    """The place of each series among those of its method: as declared, else the first that nobody has."""
    found: dict[str, int] = {}
    for method in dict.fromkeys(method for method in of.values() if method is not None):
        mine = [name for name in of if of[name] == method]
        declared = [_letters(sweep.label) for sweep in about_of(method).sweeps]
        placed = {name: declared.index(_letters(name)) for name in mine if _letters(name) in declared}
        if 0 not in placed.values():  # whoever is called as the method itself looks as its first sweep
            placed |= {name: 0 for name in mine if _letters(name) == _letters(method)}
        left = [*range(len(declared), len(HOLES)), *range(len(declared)), *range(len(HOLES), len(of) + len(HOLES))]
        free = iter(dict.fromkeys(place for place in left if place not in placed.values()))
        found |= {name: placed[name] if name in placed else next(free) for name in mine}
    return found


def _letters(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())
