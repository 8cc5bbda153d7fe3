"""What the rest of the program must know of a method beyond its class: title, words, pictures, sweeps, tour, examples.

It stands in the method's own folder, and its class says where: ``about = "undercover.methods.anatomy.about:ABOUT"``.
Nothing else knows the method's name. A method that says nothing has a title made of its name, the first sentence of its
docstring for words, and defaults for everything else.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

from undercover import plugins
from undercover.errors import ParameterError
from undercover.model.release import Release
from undercover.model.run import Run


@dataclass(frozen=True)
class Sweep:
    """A method along one parameter, for a comparison.

    Parameters
    ----------
    label
        What the releases are called on the page.
    parameter, values
        What changes.
    fixed
        What stays.
    distinct
        Whether its l counts different values, instead of bounding the share of the most frequent one.
    """

    label: str
    parameter: str
    values: tuple[Any, ...]
    fixed: Mapping[str, Any] = field(default_factory=dict)
    distinct: bool = False


@dataclass(frozen=True)
class Stop:
    """A release of the tour; the title is a column of a terminal, so it is short.

    Parameters
    ----------
    folder, title, parameters
        Where it is written, what it is called, and what the method is given.
    hierarchies
        Whether the columns of the census are cut along their hierarchies.
    quasi_identifiers
        Where the holder has some columns only.
    beside
        The release of another holder that this one is joined with; a method that reads others' tables is given it.
    place
        Stops with a higher one come later; of those with the same one the order is that of the methods.
    ahead
        Whether it has large kernels of its own: made last, and compiled by a second process in the meantime.
    """

    folder: str
    title: str
    parameters: Mapping[str, Any]
    hierarchies: bool = False
    quasi_identifiers: tuple[str, ...] | None = None
    beside: str | None = None
    place: int = 0
    ahead: bool = False


@dataclass(frozen=True)
class Example:
    """Parameters to try on tables of four to six people, and what an adversary who knows the algorithm makes of them.

    ``safe``: he learns no more than the release alone says; ``unsafe``: of some table he does; ``unreachable``: the
    method refuses.
    """

    parameters: Mapping[str, Any]
    expected: Literal["safe", "unsafe", "unreachable"]


@dataclass(frozen=True)
class Drawing:
    """A picture of how a release came about, for the holder: its figures, and the charts made from these alone."""

    name: str  # under which the figures stand in ``report.json``
    facts: Callable[[Run], Any]  # empty where there is nothing to draw
    charts: Callable[[Any], Sequence[Any]]


def asked(*names: str) -> Callable[[Release], Mapping[str, Any]]:
    """Those of the named parameters that were given.

    >>> asked("k", "l")(Release("mondrian", {"l": 3, "k": 5, "cut": "loss"}, (), False))
    {'k': 5, 'l': 3}
    """
    return lambda release: {key: release.parameters[key] for key in names if release.parameters.get(key) is not None}


_MAIN = asked("delta", "k", "l", "t", "p")


@dataclass(frozen=True, kw_only=True)
class About:
    """What is to be known of a method.

    Parameters
    ----------
    title
        As a heading.
    did
        What was done, from public facts.
    main
        The parameters that stand in a title.
    stages
        What it has to say of a run beyond its groups: a title and a text each.
    beside
        Figures that are not promised: ``title``, ``mean``, ``max`` and ``words`` each.
    limits
        What a release does not protect, beyond what form and guarantees say.
    pictures
        How a release came about, drawn.
    attacks
        Attacks of its own, by their plug-in name.
    sweeps, tour, examples
        For comparisons, for the tour, and to be tried on tiny tables.

    Examples
    --------
    >>> about = About(title="Swap", did=lambda release: "Values were swapped.")
    >>> about.main(Release("swap", {"k": 5}, (), False))
    {'k': 5}
    """

    title: str
    did: Callable[[Release], str]
    main: Callable[[Release], Mapping[str, Any]] = _MAIN
    stages: Callable[[Run], Sequence[tuple[str, str]]] = lambda run: ()
    beside: Callable[[Run], Sequence[Mapping[str, Any]]] = lambda run: ()
    limits: Callable[[Release], Sequence[str]] = lambda release: ()
    pictures: tuple[Drawing, ...] = ()
    attacks: tuple[str, ...] = ()
    sweeps: tuple[Sweep, ...] = ()
    tour: tuple[Stop, ...] = ()
    examples: tuple[Example, ...] = ()


@cache
def about_of(name: str) -> About:
    """What is to be known of a method by its name, installed here or not.

    >>> about_of("anatomy").title, about_of("my-own-method").title
    ('Anatomy', 'My own method')
    """
    title = name.replace("-", " ").capitalize()
    words = f"The rows were grouped by the method {title}."
    try:
        kind = plugins.load("methods", name)
    except ParameterError:
        return About(title=title, did=lambda release: words)
    if hasattr(kind, "about"):
        found: About = plugins.find(kind.about)
        return found
    said = " ".join((inspect.getdoc(kind) or "").split("\n\n")[0].split()).partition(". ")[0].rstrip(".")
    if said and not said.startswith(f"{kind.__name__}("):  # which is what a dataclass says of itself
        words = f"{said}."
    return About(title=title, did=lambda release: words)
