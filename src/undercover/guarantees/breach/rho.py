"""ρ1-to-ρ2: whoever was at most ρ1 sure of anything about a person's value is at most ρ2 sure after the release.

Evfimievski, Gehrke & Srikant 2003 for upward breaches; Tao, Xiao, Li & Zhang, "On Anti-Corruption Privacy Preserving
Publication", Definition 2 and Theorem 2, for an adversary who may know everybody else's value.

A release without such breaches has no downward ones either: whoever was at least 1 - ρ1 sure stays at least 1 - ρ2
sure. A Δ-growth of ρ2 - ρ1 implies ρ1-to-ρ2, not conversely.

What is recomputed: the smallest cell, from the published column G, and with it the bound. That values were kept with
probability p and drawn from a domain of the stated size otherwise is how the release was made; no table shows it.

Δ-growth (Definition 3 and Theorem 3): nobody's confidence in anything about a person's value rises by more than Δ.

It implies ρ1-to-(ρ1 + Δ) for every ρ1; a ρ1-to-ρ2 promise does not imply it, for it says nothing of whoever rises from
far below ρ1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Self

from undercover.errors import ParameterError
from undercover.exact import Number, exact, plain
from undercover.forms import read
from undercover.forms.classes import Classes
from undercover.guarantees.breach.bounds import Bound, checked_rho
from undercover.guarantees.breach.composition import growth_after, likelihood_ratio, rho2_after
from undercover.guarantees.checking import Given, Promise
from undercover.model.finding import Finding, Sense, shown
from undercover.model.protocols import Cover, Short
from undercover.model.release import Release
from undercover.parameters import AtLeast, Within, check

NOISE = {
    "skew": Given("growth=0.25,skew=0.1"),
    "p": Given("growth=0.25,p=0.3,domain=50"),
    "domain": Given("growth=0.25,p=0.3,domain=50"),
}
NOT_SAMPLED = "The table has no column `G`: no row of it stands for several people."


class _Bounded(Promise):
    """A promise about values that went through a channel: what the smallest cell lets anybody conclude, at most."""

    sense: ClassVar[Sense] = "at most"
    about: ClassVar[frozenset[Cover]] = frozenset({"attribute", "distribution"})
    name: ClassVar[str]
    p: Number | None
    domain: int | None
    k: int | None
    earlier: Number | None

    def of_release(self, release: Release) -> Self:
        """The same, with p, the domain and whom it counts as the release states them."""
        return replace(self, **stated_noise(release, self.p, self.domain, self.k))

    def check(self, classes: Classes) -> Finding:
        """Compute the bound for the smallest cell."""
        people, problem = smallest_cell(classes, self.k, self.domain)
        actual = None if problem else self._reached(people)
        required = float(exact(self._promised))
        holds = actual is not None and actual <= required
        return Finding(self.name, self.parameters(), required, actual, holds, note=problem, sense=self.sense)

    def is_vacuous(self, classes: Classes) -> bool:
        """Nobody can be more than sure."""
        return exact(self._promised) >= 1

    @property
    def _promised(self) -> Number:
        raise NotImplementedError

    def _reached(self, k: int) -> float:
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class RhoBreach(_Bounded):
    """No confidence rises from ``rho1`` to more than ``rho2``.

    Parameters
    ----------
    rho1, rho2
        Confidence before and after.
    p, domain
        Probability with which a value was kept, and number of values of the declared domain; ``None`` takes what the
        release states.
    skew
        How sure the adversary may be of a single value beforehand.
    bound
        ``tight`` or ``paper``; see :mod:`undercover.guarantees.breach.bounds`.
    k
        How many people of a cell count at most; 1 where the cells were cut by looking at sensitive values.
    earlier
        How many times likelier earlier releases of the same people can make one value of a person than another; the
        promise is then about all of them together (:mod:`undercover.guarantees.breach.composition`).

    Examples
    --------
    >>> RhoBreach(rho1=0.2, rho2=0.45, p=0.3, domain=50, skew=0.1).parameters()["rho2"]
    0.45
    >>> RhoBreach(rho1=0.5, rho2=0.45, p=0.3, domain=50)
    Traceback (most recent call last):
    undercover.errors.ParameterError: The 'rho' of RhoBreach must be two numbers with 0 < rho1 < rho2 < 1. Got ...
    """

    name: ClassVar[str] = "rho-breach"
    short: ClassVar[Short] = {"rho2": {"rho1": Given("rho1=0.2,rho2=0.5", needed=True), **NOISE}}
    shown_as: ClassVar[str | None] = "rho2"

    rho1: Number
    rho2: Number
    p: Annotated[Number, Within(0, 1)] | None = None
    domain: Annotated[int, AtLeast(1)] | None = None
    skew: Annotated[Number, Within(0, 1, "(]")] = 1
    bound: Bound = "tight"
    k: Annotated[int, AtLeast(1)] | None = None
    earlier: Annotated[float | Fraction, AtLeast(1)] | None = None

    def __post_init__(self) -> None:
        check(self, half_said("RhoBreach", self.p, self.domain))
        checked_rho("RhoBreach", (self.rho1, self.rho2))
        if self.p is not None:
            self._reached(1 if self.k is None else self.k)

    def parameters(self) -> Mapping[str, Any]:
        """What was asked for, as written in a spec."""
        asked = {name: getattr(self, name) for name in ("rho2", "rho1", "p", "domain", "skew", "bound", "k", "earlier")}
        return {name: plain(value) for name, value in asked.items() if value is not None}

    def title(self) -> str:
        """Its name and numbers."""
        return f"{at_most(self.rho1)}-to-{at_most(self.rho2)} guarantee"

    def meaning(self) -> str:
        """What it means for the people in the table."""
        return (
            f"Whoever was at most {at_most(self.rho1)} sure of anything about a person's value is at most "
            f"{at_most(self.rho2)} sure after seeing the release (and whoever was at least "
            f"{at_most(1 - exact(self.rho1))} sure stays at least "
            f"{shown(float(1 - exact(self.rho2)), 'at least')} sure)"
            f"{conditions(self.skew, self.bound, self.k, self.earlier)}"
        )

    @property
    def _promised(self) -> Number:
        return self.rho2

    def _reached(self, k: int) -> float:
        assert self.p is not None and self.domain is not None  # noqa: PT018
        given: dict[str, Any] = {"p": self.p, "domain": self.domain, "skew": self.skew, "bound": self.bound}
        return rho2_after(self.earlier, rho1=self.rho1, k=k, **given)


def at_most(value: Number) -> str:
    """A number of a promise, rounded to the safe side."""
    return shown(float(exact(value)), "at most")


def conditions(skew: Number, bound: Bound, k: int | None, earlier: Number | None = None) -> str:
    """Under what such a promise is given: the end of the sentence that says what it means."""
    sure = "" if exact(skew) == 1 else f", provided nobody was more than {at_most(skew)} sure of a single value before"
    form = "" if bound == "tight" else " By the paper's bound."
    one = " Counted for one person per cell, because sensitive values drove the cuts." if k else ""
    before = (
        ""
        if earlier is None
        else " It counts what was published of the same people before, which can make one value of a person "
        f"{at_most(earlier)} times likelier than another: it holds for whoever has all of these releases."
    )
    return f", even if he knows the value of everybody else{sure}.{form}{one}{before}"


def half_said(owner: str, p: Number | None, domain: int | None) -> list[str]:
    """p and the size of the domain are said together."""
    if (p is None) == (domain is None):
        return []
    return [f"{owner} needs both `p` and `domain`, or neither: then the release says them."]


def stated_noise(release: Release, p: Number | None, domain: int | None, k: int | None) -> dict[str, Any]:
    """What a release says of how its values were drawn; nothing where they were not. Something else is an error."""
    noise = read(release).channel
    if noise is None:
        return {}
    if p is not None and (float(exact(p)), domain) != (float(noise.p), noise.size):
        raise ParameterError(
            f"The release states p = {noise.stated} and a domain of {noise.size} values. "
            f"Got p = {p} and {domain} instead. Leave both out."
        )
    # Cells that were cut by labels protect nobody better than one person alone.
    driven = release.parameters.get("labels", "free") != "free"
    stated = {} if p is not None else {"p": noise.stated, "domain": noise.size}
    return {**stated, "k": 1 if driven else k}


def released_ratio(release: Release) -> float | None:
    """How many times likelier a release can make one value of a person than another; ``None``: without limit."""
    reading = read(release)
    noise = reading.channel
    if noise is None:
        return None
    people, problem = smallest_cell(reading.classes, stated_noise(release, None, None, None)["k"], noise.size)
    return None if problem or noise.p == 1 else likelihood_ratio(p=noise.p, k=people, domain=noise.size)


def smallest_cell(classes: Classes, at_most: int | None, domain: int | None) -> tuple[int, str]:
    """People in the smallest cell, and why the bound does not apply where it does not.

    The bound needs cells of which one row each is published, and values from the domain it was computed for.
    """
    if len(classes.sensitive) != 1:
        raise ParameterError(f"The bound is about one sensitive column. Found {len(classes.sensitive)}.")
    if not classes.sampled:
        return 0, NOT_SAMPLED
    if classes.problems:
        return 0, " ".join(classes.problems)
    if domain is None:
        raise ParameterError(
            "The table does not say with which probability its values were kept, nor from how many they were drawn. "
            "Say it: p=0.3,domain=50."
        )
    if not classes.count:
        return 0, "There are no cells."
    if len(classes.labels) != classes.count:
        return 0, "Some cell has more than one published row."
    (values,) = classes.sensitive.values()
    if len(values.labels) > domain:
        return 0, f"{len(values.labels)} different values are published; the declared domain has {domain}."
    smallest = int(classes.sizes.min())
    return (smallest if at_most is None else min(smallest, at_most)), ""


@dataclass(frozen=True, kw_only=True)
class DeltaGrowth(_Bounded):
    """No confidence rises by more than ``growth``.

    Parameters
    ----------
    growth
        The largest rise.
    p, domain, skew, bound, k, earlier
        As in :class:`~undercover.guarantees.breach.rho.RhoBreach`.

    Examples
    --------
    >>> DeltaGrowth(growth=0.24, p=0.3, domain=50, skew=0.1).parameters()["growth"]
    0.24
    >>> DeltaGrowth(growth=2, p=0.3, domain=50)
    Traceback (most recent call last):
    undercover.errors.ParameterError: The 'growth' parameter of DeltaGrowth must be a number in [0, 1]. Got 2 ...
    """

    name: ClassVar[str] = "delta-growth"
    short: ClassVar[Short] = {"growth": NOISE}

    growth: Annotated[Number, Within(0, 1)]
    p: Annotated[Number, Within(0, 1)] | None = None
    domain: Annotated[int, AtLeast(1)] | None = None
    skew: Annotated[Number, Within(0, 1, "(]")] = 1
    bound: Bound = "tight"
    k: Annotated[int, AtLeast(1)] | None = None
    earlier: Annotated[float | Fraction, AtLeast(1)] | None = None

    def __post_init__(self) -> None:
        check(self, half_said("DeltaGrowth", self.p, self.domain))
        if self.p is not None:
            self._reached(1 if self.k is None else self.k)

    def title(self) -> str:
        """Its name and numbers."""
        return f"{at_most(self.growth)}-growth guarantee"

    def meaning(self) -> str:
        """What it means for the people in the table."""
        return (
            f"Nobody becomes surer of anything about a person's value by more than {at_most(self.growth)}"
            f"{conditions(self.skew, self.bound, self.k, self.earlier)}"
        )

    @property
    def _promised(self) -> Number:
        return self.growth

    def _reached(self, k: int) -> float:
        assert self.p is not None and self.domain is not None  # noqa: PT018
        given: dict[str, Any] = {"p": self.p, "domain": self.domain, "skew": self.skew, "bound": self.bound}
        return growth_after(self.earlier, k=k, **given)
