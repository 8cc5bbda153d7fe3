"""What perturbed releases of the same people promise together.

Tao, Xiao, Li & Zhang, "On Anti-Corruption Privacy Preserving Publication", promise something for one release. Seen from
a victim, a cell of at least k people that shows y says only this: y is at most γ = 1 + p / (k u) times likelier if it
is the victim's value than if it is not, with u = (1 - p) / \\|U\\|, whatever values the others have. Releases whose
draws are independent multiply: all of them together make one value at most Γ = γ1 γ2 ... times likelier than another,
and the worst case is that every one of them shows it. So with w the belief in that value beforehand

    ρ2 = ρ1 + (1 - ρ1) (Γ - 1) w / (1 + (Γ - 1) w) with w = min(λ, ρ1),
    Δ = the largest (Γ - 1) w (1 - w) / (1 + (Γ - 1) w) with w ≤ λ, at w = 1 / (1 + √Γ) where λ allows it.

For one release these are the tight bounds. The proof is in docs/theory/perturbed_generalization.md, "Several releases".

Where the other releases are of another column or of another domain, values that belong together may be likelier
together: λ then says nothing, and the bounds hold with λ = 1 for any connection between the columns.
"""

from __future__ import annotations

import math
from typing import Any

from undercover.errors import ParameterError
from undercover.exact import Number, exact
from undercover.guarantees.breach.bounds import Bound, checked_growth, checked_rho, growth_bound, largest_p, rho2_bound

_OWNER = "the guarantee"


def likelihood_ratio(*, p: Number, k: int, domain: int) -> float:
    """How many times likelier, at most, a release can make one value of a person than another; infinite at p = 1.

    >>> round(likelihood_ratio(p=0.3, k=2, domain=50), 3)
    11.714
    """
    keep = exact(p)
    return math.inf if keep == 1 else float(1 + keep * domain / (k * (1 - keep)))


def composed_rho2(ratio: float, *, rho1: Number, skew: Number = 1) -> float:
    """The highest confidence of whoever had at most ``rho1`` before he saw releases of that ratio altogether.

    >>> round(composed_rho2(11.714, rho1=0.2), 3), round(composed_rho2(11.714**2, rho1=0.2), 3)
    (0.745, 0.972)
    """
    start = float(exact(rho1))
    if math.isinf(ratio):
        return 1.0 if start else 0.0
    gained = (ratio - 1) * min(float(exact(skew)), start)
    return min(1.0, start + (1 - start) * gained / (1 + gained))


def composed_growth(ratio: float, *, skew: Number = 1) -> float:
    """The most by which anybody's confidence can rise who sees releases of that ratio altogether.

    >>> round(composed_growth(11.714), 3), round(composed_growth(11.714**2), 3)
    (0.548, 0.843)
    """
    if math.isinf(ratio):
        return 1.0
    weight = min(float(exact(skew)), 1 / (1 + math.sqrt(ratio)))
    return (ratio - 1) * weight * (1 - weight) / (1 + (ratio - 1) * weight)


def largest_ratio(*, rho: tuple[Number, Number] | None = None, growth: Number | None = None, skew: Number = 1) -> float:
    """The largest ratio of all releases together that keeps a promise.

    >>> round(largest_ratio(growth=0.548), 2), round(largest_ratio(rho=(0.2, 0.45), skew=0.1), 2)
    (11.73, 5.55)
    """
    largest = float(exact(skew))
    if rho is not None:
        first, second = (float(value) for value in checked_rho(_OWNER, rho))
        share = (second - first) / (1 - first)
        return 1 + share / (min(largest, first) * (1 - share))
    if growth is None:
        raise ParameterError("Give either rho, of rho1 and rho2, or growth.")
    wanted = float(checked_growth(_OWNER, growth))
    if largest >= (1 - wanted) / 2:
        return 1 + 4 * wanted / (1 - wanted) ** 2
    return 1 + wanted / (largest * (1 - largest - wanted))


def growth_after(
    earlier: Number | None, *, p: Number, k: int, domain: int, skew: Number = 1, bound: Bound = "tight"
) -> float:
    """The most by which confidence can rise by a release, with ``earlier`` ones of that ratio where there are any."""
    alone = growth_bound(p=p, k=k, domain=domain, skew=skew, bound=bound)
    if earlier is None:
        return alone
    return max(alone, composed_growth(float(exact(earlier)) * likelihood_ratio(p=p, k=k, domain=domain), skew=skew))


def rho2_after(
    earlier: Number | None,
    *,
    rho1: Number,
    p: Number,
    k: int,
    domain: int,
    skew: Number = 1,
    bound: Bound = "tight",
) -> float:
    """The highest confidence after a release, and after ``earlier`` ones of that ratio where there are any."""
    alone = rho2_bound(rho1=rho1, p=p, k=k, domain=domain, skew=skew, bound=bound)
    if earlier is None:
        return alone
    ratio = float(exact(earlier)) * likelihood_ratio(p=p, k=k, domain=domain)
    return max(alone, composed_rho2(ratio, rho1=rho1, skew=skew))


def largest_p_after(
    earlier: Number | None,
    *,
    k: int,
    domain: int,
    rho: tuple[Number, Number] | None = None,
    growth: Number | None = None,
    skew: Number = 1,
    bound: Bound = "tight",
) -> float:
    """The largest p that keeps a promise together with ``earlier`` releases, rounded down; 0 where none is left.

    >>> round(largest_p_after(None, growth=0.548, k=2, domain=50), 3)
    0.3
    >>> round(largest_p_after(2, growth=0.548, k=2, domain=50), 3), largest_p_after(12, growth=0.548, k=2, domain=50)
    (0.163, 0.0)
    """
    alone = largest_p(k=k, domain=domain, rho=rho, growth=growth, skew=skew, bound=bound)
    if earlier is None:
        return alone
    left = max(1.0, largest_ratio(rho=rho, growth=growth, skew=skew) / float(exact(earlier)))
    odds = (left - 1) * k / domain
    found = min(alone, odds / (1 + odds))
    given: dict[str, Any] = {"k": k, "domain": domain, "skew": skew, "bound": bound}

    def kept(p: float) -> bool:
        if rho is not None:
            return rho2_after(earlier, rho1=rho[0], p=p, **given) <= float(exact(rho[1]))
        return growth_after(earlier, p=p, **given) <= float(exact(growth or 0))

    step = math.ulp(found)
    while found > 0 and not kept(found):  # what floating point got wrong in the last digits must not break the promise
        found, step = max(0.0, found - step), 2 * step
    return found
