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
    """A method along one parameter, for a comparison."""

    label: str  # what the releases are called on the page
    parameter: str
    values: tuple[Any, ...]
    fixed: Mapping[str, Any] = field(default_factory=dict)
    distinct: bool = False  # whether its l counts different values, instead of bounding the share of the most frequent


@dataclass(frozen=True)
class Stop:
    """A release of the tour; the title is a column of a terminal, so it is short."""

    folder: str
    title: str
    parameters: Mapping[str, Any]
    hierarchies: bool = False  # whether the columns of the census are cut along their hierarchies
    quasi_identifiers: tuple[str, ...] | None = None  # where the holder has some columns only
    beside: str | None = (
        None  # the release of another holder that this one is joined with, handed to a method that reads it
    )
    place: int = 0  # later ones are higher; of those with the same the order is that of the methods
    # Not 0: made later, and compiled by a second process in the meantime; 2 after 1, for those that share kernels with
    # releases that are not compiled ahead, which are on the disk by then.
    ahead: int = 0


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
    """Those of the named parameters that were given."""
    return lambda release: {key: release.parameters[key] for key in names if release.parameters.get(key) is not None}


_MAIN = asked("delta", "k", "l", "t", "p")


@dataclass(frozen=True, kw_only=True)
class About:
    """What is to be known of a method."""

    title: str
    did: Callable[[Release], str]  # what was done, from public facts
    main: Callable[[Release], Mapping[str, Any]] = _MAIN  # the parameters that stand in a title
    stages: Callable[[Run], Sequence[tuple[str, str]]] = lambda run: ()  # beyond its groups: a title and a text each
    # Figures that are not promised: ``title``, ``mean``, ``max`` and ``words`` each.
    beside: Callable[[Run], Sequence[Mapping[str, Any]]] = lambda run: ()
    limits: Callable[[Release], Sequence[str]] = lambda release: ()  # beyond what form and guarantees say
    pictures: tuple[Drawing, ...] = ()  # how a release came about
    attacks: tuple[str, ...] = ()  # of its own, by their plug-in name
    sweeps: tuple[Sweep, ...] = ()  # for comparisons
    tour: tuple[Stop, ...] = ()
    examples: tuple[Example, ...] = ()  # to be tried on tiny tables


@cache
def about_of(name: str) -> About:
    """What is to be known of a method by its name, installed here or not."""
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
