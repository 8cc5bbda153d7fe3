"""ρ1-to-ρ2: whoever was at most ρ1 sure of anything about a person's value is at most ρ2 sure after the release.

Evfimievski, Gehrke & Srikant 2003 for upward breaches; Tao, Xiao, Li & Zhang, "On Anti-Corruption Privacy Preserving
Publication", Definition 2 and Theorem 2, for an adversary who may know everybody else's value.

A release without such breaches has no downward ones either: whoever was at least 1 - ρ1 sure stays at least 1 - ρ2
sure. A Δ-growth of ρ2 - ρ1 implies ρ1-to-ρ2, not conversely.

What is recomputed: the smallest cell, from the published column G, and with it the bound. That values were kept with
probability p and drawn from a domain of the stated size otherwise is how the release was made; no table shows it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from undercover.errors import ParameterError
from undercover.guarantees.breach_bounds import Bound, checked_rho, rho2_bound
from undercover.guarantees.classes import Classes
from undercover.guarantees.exact import Number, exact, plain
from undercover.guarantees.finding import Finding

NOT_SAMPLED = "The table has no column `G`: it was not made by perturbed generalization."


@dataclass(frozen=True, kw_only=True)
class RhoBreach:
    """No confidence rises from ``rho1`` to more than ``rho2``.

    Parameters
    ----------
    rho1, rho2
        Confidence before and after.
    p, domain
        Probability with which a value was kept, and number of values of the declared domain.
    skew
        How sure the adversary may be of a single value beforehand.
    bound
        ``tight`` or ``paper``; see :mod:`undercover.guarantees.breach_bounds`.
    k
        How many people of a cell count at most; 1 where the cells were cut by looking at sensitive values.

    Examples
    --------
    >>> RhoBreach(rho1=0.2, rho2=0.45, p=0.3, domain=50, skew=0.1).parameters()["rho2"]
    0.45
    >>> RhoBreach(rho1=0.5, rho2=0.45, p=0.3, domain=50)
    Traceback (most recent call last):
    undercover.errors.ParameterError: The 'rho' of RhoBreach must be two numbers with 0 <= rho1 < rho2 <= 1. Got ...
    """

    name: ClassVar[str] = "rho-breach"

    rho1: Number
    rho2: Number
    p: Number
    domain: int
    skew: Number = 1
    bound: Bound = "tight"
    k: int | None = None

    def __post_init__(self) -> None:
        checked_rho("RhoBreach", (self.rho1, self.rho2))
        self._reached(1 if self.k is None else self.k)

    def parameters(self) -> Mapping[str, Any]:
        """What was asked for, as written in a spec."""
        asked = {name: plain(getattr(self, name)) for name in ("rho2", "rho1", "p", "domain", "skew")}
        return asked | {"bound": self.bound} | ({} if self.k is None else {"k": self.k})

    def check(self, classes: Classes) -> Finding:
        """Compute ρ2 for the smallest cell."""
        people, problem = smallest_cell(classes, self.k, self.domain)
        actual = None if problem else self._reached(people)
        required = float(exact(self.rho2))
        holds = actual is not None and actual <= required
        return Finding(self.name, self.parameters(), required, actual, holds, note=problem, sense="at most")

    def _reached(self, k: int) -> float:
        return rho2_bound(rho1=self.rho1, p=self.p, k=k, domain=self.domain, skew=self.skew, bound=self.bound)


def smallest_cell(classes: Classes, at_most: int | None, domain: int) -> tuple[int, str]:
    """People in the smallest cell, and why the bound does not apply where it does not.

    The bound needs cells of which one row each is published, and values from the domain it was computed for.
    """
    if len(classes.sensitive) != 1:
        raise ParameterError(f"The bound is about one sensitive column. Found {len(classes.sensitive)}.")
    if not classes.sampled:
        return 0, NOT_SAMPLED
    if classes.problems:
        return 0, " ".join(classes.problems)
    if not classes.count:
        return 0, "There are no cells."
    if len(classes.labels) != classes.count:
        return 0, "Some cell has more than one published row."
    (values,) = classes.sensitive.values()
    if len(values.labels) > domain:
        return 0, f"{len(values.labels)} different values are published; the declared domain has {domain}."
    smallest = int(classes.sizes.min())
    return (smallest if at_most is None else min(smallest, at_most)), ""
