"""What the rest of the program must know of a method beyond its class: title, words, pictures, sweeps, tour, examples.

It stands in the method's own folder, and its class says where: ``about = "undercover.methods.anatomy.about:ABOUT"``.
Nothing else knows the method's name. A method that says nothing has a title made of its name, the first sentence of its
docstring for words, and defaults for everything else.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from math import ceil, floor
from typing import Any, Literal

import numpy as np

from undercover import plugins
from undercover.errors import ParameterError
from undercover.model.form import Form, Generalized
from undercover.model.policy import Policy
from undercover.model.release import Release
from undercover.model.run import Run
from undercover.model.schema import Schema
from undercover.model.table import Table


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
class Wanted:
    """What a release is to reach, for methods that say with which parameters they may: a policy, and the table's facts.

    Examples
    --------
    >>> from undercover.model.policy import policy_of
    >>> shares = {"class": (Fraction(37, 40), Fraction(3, 40))}
    >>> skewed = Wanted(policy_of("standard"), people=2000, alike=1, shares=shares)
    >>> skewed.k, skewed.largest_l, skewed.closeness
    (5, 1, Fraction(33, 40))
    """

    policy: Policy
    people: int
    alike: int  # the fewest rows that have all quasi-identifiers in common
    shares: Mapping[str, tuple[Fraction, ...]]  # sensitive column -> share of every value, the most frequent first

    @classmethod
    def of(cls, table: Table, policy: Policy) -> Wanted:
        """The facts of a table."""
        alike = np.zeros(table.n_rows, dtype=np.int64)
        for codes in table.codes(table.schema.quasi_identifiers):  # numbered anew, so that products stay small
            alike = np.unique(alike * (int(codes.max()) + 1) + codes, return_inverse=True)[1].reshape(-1)
        counts = {name: np.sort(np.bincount(table[name].codes))[::-1] for name in table.schema.sensitive}
        return cls(
            policy,
            table.n_rows if table.units is None else len(np.unique(table.units)),
            int(np.bincount(alike).min()),
            {name: tuple(Fraction(int(n), table.n_rows) for n in found if n) for name, found in counts.items()},
        )

    @property
    def k(self) -> int:
        """The fewest people among whom nobody's row is found more often than is allowed; 2 where nothing is said."""
        return 2 if self.policy.found is None else max(2, ceil(1 / Fraction(str(self.policy.found))))

    @property
    def largest_l(self) -> int:
        """The largest l that every sensitive column has room for, as long as its values stay true."""
        return min((floor(1 / shares[0]) for shares in self.shares.values()), default=0)

    @property
    def ks(self) -> tuple[int, ...]:
        """k, and stronger ones, each the double of the one before, as long as there is room for fifty classes."""
        return tuple(k for step in range(8) if (k := self.k * 2**step) == self.k or k * 50 <= self.people)

    @property
    def ls(self) -> tuple[int, ...]:
        """The least l that leaves nobody exposed, and the double; none where the table has no room for them.

        Somebody who knows the value of one other has one value less to choose from.
        """
        belief = self.policy.belief
        least = 2 if belief is None else max(2, floor(1 / Fraction(str(belief))) + 1 + self.policy.known_values)
        return tuple(values for values in (least, 2 * least) if values <= self.largest_l)

    @property
    def l_and_k(self) -> int | None:
        """The least l that hides the row as well, where a group has l rows; ``None`` where the table has no room."""
        least = max((self.k, *self.ls[:1]))
        return least if self.ls and least <= self.largest_l else None

    @property
    def barely_diverse(self) -> str | None:
        """An l that is not whole: every share just below the belief that counts; ``None`` where there is no room."""
        most = 1 if self.policy.belief is None else Fraction(str(self.policy.belief)) - Fraction(1, 100)
        fits = self.shares and all(shares[0] < most for shares in self.shares.values())
        return str(1 / Fraction(most)) if fits and 0 < most < 1 else None

    @property
    def closeness(self) -> Fraction | None:
        """How far the share of a value may be from that in the whole table before somebody counts as exposed.

        Of a value so frequent that nobody can gain that much there is no limit; ``None``: of no value there is.
        """
        if self.policy.belief is None:
            return None
        belief, gain = Fraction(str(self.policy.belief)), Fraction(str(self.policy.gain))
        each = (share for shares in self.shares.values() for share in shares if share + gain <= 1)
        return min((max(belief - share, gain) for share in each), default=None)

    @property
    def unsafe(self) -> bool:
        """Whether a method may be used whose workings tell somebody more than the release."""
        return self.policy.algorithm_safe != "required"


@dataclass(frozen=True)
class Holding:
    """What is counted of a table before anything is made of it, for methods that say how far they can go on it."""

    schema: Schema
    rows: int
    people: int
    most_of_one: int  # rows of the person who has most of them
    alike: int  # the fewest rows that have all quasi-identifiers in common
    alone: int  # people with whom nobody has all quasi-identifiers in common
    counts: Mapping[str, tuple[int, ...]]  # sensitive column -> rows of each value, the most frequent first

    def wanted(self, policy: Policy) -> Wanted:
        """What a release of it is to reach."""
        shares = {name: tuple(Fraction(n, self.rows) for n in counts) for name, counts in self.counts.items()}
        return Wanted(policy, self.people, self.alike, shares)


@dataclass(frozen=True)
class Reach:
    """How far a parameter can go on a table: ``least`` and ``most`` that can be reached, and why."""

    parameter: str
    why: str
    least: Fraction | None = None
    most: Fraction | None = None


@dataclass(frozen=True)
class Grid:
    """What two parameters come to together: a figure for each pair, from 0 (nothing happens) to 1."""

    title: str
    down: str
    across: str
    rows: tuple[tuple[str, tuple[tuple[float, str], ...]], ...]  # value of ``down``, figures with how they are written
    columns: tuple[str, ...]  # values of ``across``
    chosen: tuple[str, str] | None = None  # the row and the column that are asked for


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
    """What is to be known of a method.

    >>> about_of("anatomy").title, about_of("nobody's").title
    ('Anatomy', "Nobody's")
    """

    title: str
    did: Callable[[Release], str]  # what was done, from public facts
    idea: str = ""  # what the method does, in a line
    when: str = ""  # when to take it, in another
    main: Callable[[Release], Mapping[str, Any]] = _MAIN  # the parameters that stand in a title
    stages: Callable[[Run], Sequence[tuple[str, str]]] = lambda run: ()  # beyond its groups: a title and a text each
    # Figures that are not promised: ``title``, ``mean``, ``max`` and ``words`` each.
    beside: Callable[[Run], Sequence[Mapping[str, Any]]] = lambda run: ()
    limits: Callable[[Release], Sequence[str]] = lambda release: ()  # beyond what form and guarantees say
    pictures: tuple[Drawing, ...] = ()  # how a release came about
    attacks: tuple[str, ...] = ()  # of its own, by their plug-in name
    through_cuts: str | None = None  # the one of these that asks what was refused, where a table is too large for all
    # The form of releases whose manifest was written before manifests stated one, by their parameters.
    unstated_form: Callable[[Mapping[str, Any]], Form] = lambda parameters: Generalized()
    sweeps: tuple[Sweep, ...] = ()  # for comparisons
    # For recommendations: parameters that may reach what is wanted; of those with the same names, the weakest first.
    candidates: Callable[[Wanted], Sequence[Mapping[str, Any]]] = lambda wanted: ()
    fits: Callable[[Schema], Sequence[str]] = lambda schema: ()  # why it cannot run on a table of this schema
    # How far parameters can go on a table, beside the others as they are given, and what is to be expected of a method.
    reach: Callable[[Mapping[str, Any], Holding], Sequence[Reach]] = lambda given, holding: ()
    outlook: Callable[[Any, Holding], Sequence[str | Grid]] = lambda method, holding: ()
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
