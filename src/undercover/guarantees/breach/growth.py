"""Δ-growth: nobody's confidence in anything about a person's value rises by more than Δ.

Tao, Xiao, Li & Zhang, "On Anti-Corruption Privacy Preserving Publication", Definition 3 and Theorem 3, for an adversary
who may know everybody else's value. It implies ρ1-to-(ρ1 + Δ) for every ρ1; a ρ1-to-ρ2 promise does not imply it, for
it says nothing of whoever rises from far below ρ1.

What is recomputed and what is not: as for :mod:`undercover.guarantees.breach.rho`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar

from undercover.exact import Number, exact, plain
from undercover.forms.classes import Classes
from undercover.guarantees.breach.bounds import Bound, growth_bound
from undercover.guarantees.breach.rho import (
    NOISE,
    at_most,
    conditions,
    half_said,
    smallest_cell,
    stated_noise,
)
from undercover.model.finding import Finding, Sense
from undercover.model.protocols import Cover, Short
from undercover.model.release import Release
from undercover.parameters import AtLeast, Within, check


@dataclass(frozen=True, kw_only=True)
class DeltaGrowth:
    """No confidence rises by more than ``growth``.

    Parameters
    ----------
    growth
        The largest rise.
    p, domain, skew, bound, k
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
    sense: ClassVar[Sense] = "at most"
    short: ClassVar[Short] = {"growth": NOISE}

    growth: Annotated[Number, Within(0, 1)]
    p: Annotated[Number, Within(0, 1)] | None = None
    domain: Annotated[int, AtLeast(1)] | None = None
    skew: Annotated[Number, Within(0, 1, "(]")] = 1
    bound: Bound = "tight"
    k: Annotated[int, AtLeast(1)] | None = None

    def __post_init__(self) -> None:
        check(self, half_said("DeltaGrowth", self.p, self.domain))
        if self.p is not None:
            self._reached(1 if self.k is None else self.k)

    def parameters(self) -> Mapping[str, Any]:
        """What was asked for, as written in a spec."""
        asked = {name: getattr(self, name) for name in ("growth", "p", "domain", "skew", "bound", "k")}
        return {name: plain(value) for name, value in asked.items() if value is not None}

    def title(self) -> str:
        """Its name and numbers."""
        return f"{at_most(self.growth)}-growth guarantee"

    def meaning(self) -> str:
        """What it means for the people in the table."""
        return (
            f"Nobody becomes surer of anything about a person's value by more than {at_most(self.growth)}"
            f"{conditions(self.skew, self.bound, self.k)}"
        )

    def covers(self) -> frozenset[Cover]:
        """What it is about."""
        return frozenset({"attribute", "distribution"})

    def of_release(self, release: Release) -> DeltaGrowth:
        """The same, with p, the domain and whom it counts as the release states them."""
        return replace(self, **stated_noise(release, self.p, self.domain, self.k))

    def check(self, classes: Classes) -> Finding:
        """Compute Δ for the smallest cell."""
        people, problem = smallest_cell(classes, self.k, self.domain)
        actual = None if problem else self._reached(people)
        required = float(exact(self.growth))
        holds = actual is not None and actual <= required
        return Finding(self.name, self.parameters(), required, actual, holds, note=problem, sense=self.sense)

    def _reached(self, k: int) -> float:
        assert self.p is not None and self.domain is not None  # noqa: PT018
        return growth_bound(p=self.p, k=k, domain=self.domain, skew=self.skew, bound=self.bound)
