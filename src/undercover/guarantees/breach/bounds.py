"""What perturbed generalization promises: how far any adversary's confidence can rise, in closed form, and the inverse.

Tao, Xiao, Li & Zhang, "On Anti-Corruption Privacy Preserving Publication", Section VI. A sensitive value is kept with
probability p and otherwise drawn uniformly from a declared domain U; of every cell of at least k people one random row
is published. The adversary may know everybody else's value; of the victim's he is sure of no value by more than the
skew λ beforehand. With u = (1 - p) / \\|U\\|:

- ``bound="paper"``: Theorem 2 (ρ1-to-ρ2) and Theorem 3 (Δ-growth), by way of the largest ownership probability h⊤.
- ``bound="tight"`` (ours): ρ2 = ρ1 + (1 - ρ1) p w / (p w + k u) with w = min(λ, ρ1), and
  Δ = p w (1 - w) / (p w + k u) with w = min(λ, w'), w' = (√((k u)² + p k u) - k u) / p.

The paper maximises the ownership probability and the gain of an owner one after the other, although no prior has both
at their maximum; the tight forms maximise the product. They are never weaker, and some prior attains them wherever the
domain has room for it (:func:`attained`). The derivation is in docs/theory/perturbed_generalization.md.

Deviations: the inverse is the *largest* p that still keeps the promise; the paper says the minimum (Section VI), which
would always be 0. At p = 0 and p = 1, where the formulas divide by zero, the limits are taken.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Literal, get_args

from undercover.errors import ParameterError, unknown
from undercover.exact import Number, checked, exact

Bound = Literal["tight", "paper"]
BOUNDS: tuple[Bound, ...] = get_args(Bound)

NOBODY_BELOW = (
    "With rho1 = 0 the 'rho' of {owner} promises nothing: whoever holds something to be impossible learns nothing by "
    "Bayes' rule, whatever is published, so that p = 1 (true values) would keep it. Say how sure somebody may be "
    "beforehand who is to be kept from more, such as a rho of 0.1 and 0.3, or limit the rise for "
    "everybody, by a growth of 0.25."
)
LIMITS_NOTHING = (
    "A confidence of 1 afterwards, or a rise by 1, is no limit for {owner}: p = 1, which publishes true values, would "
    "keep it. Ask for less, such as a rho of 0.2 and 0.45 or a growth of 0.25; to publish true values, ask for p = 1."
)

_OWNER = "the guarantee"
_BISECTIONS = 200


def rho2_bound(*, rho1: Number, p: Number, k: int, domain: int, skew: Number = 1, bound: Bound = "tight") -> float:
    """The highest confidence after the attack of whoever had at most ``rho1`` before it.

    ``p`` is the probability with which a value is kept, ``k`` the people in the smallest cell, ``domain`` the number of
    values in the declared domain. ``skew`` is how sure the adversary may be of a single value beforehand; 1 assumes
    nothing.
    """
    start, keep, largest = _checked(rho1=rho1, p=p, k=k, domain=domain, skew=skew, bound=bound)
    if keep == 0 or start in (0, 1):
        return start
    if keep == 1:
        return 1.0
    noise = (1 - keep) / domain
    if bound == "tight":
        weight = keep * min(largest, start)
        return min(1.0, start + (1 - start) * weight / (weight + k * noise))
    gamma = 1 + keep / noise
    owned = gamma * start / (1 - start + gamma * start)
    top = _highest_ownership(keep, k, noise, largest)
    return min(1.0, top * owned + (1 - top) * start)


def growth_bound(*, p: Number, k: int, domain: int, skew: Number = 1, bound: Bound = "tight") -> float:
    """The most by which the confidence in any property can rise.

    Parameters are those of :func:`rho2_bound`.
    """
    _, keep, largest = _checked(rho1=0, p=p, k=k, domain=domain, skew=skew, bound=bound)
    if keep in (0, 1):
        return keep
    noise = (1 - keep) / domain
    others = k * noise if bound == "tight" else noise
    weight = min(largest, others / (math.sqrt(others * others + keep * others) + others))
    gain = keep * weight * (1 - weight) / (keep * weight + others)
    return gain if bound == "tight" else _highest_ownership(keep, k, noise, largest) * gain


def largest_p(
    *,
    k: int,
    domain: int,
    rho: tuple[Number, Number] | None = None,
    growth: Number | None = None,
    skew: Number = 1,
    bound: Bound = "tight",
) -> float:
    """The largest probability of keeping a value that still guarantees a target, rounded down.

    The target is ``rho = (rho1, rho2)``, where whoever was at most rho1 sure before is at most rho2 sure after, or
    ``growth``, by which nobody's confidence rises more; the others are those of :func:`rho2_bound`.
    """
    if (rho is None) == (growth is None):
        raise ParameterError("Give either rho, of rho1 and rho2, or growth, and not both.")
    if rho is not None:
        first, second = checked_rho(_OWNER, rho)
        _checked(rho1=first, p=0, k=k, domain=domain, skew=skew, bound=bound)
        target = float(second)

        def reached(p: float) -> float:
            return rho2_bound(rho1=first, p=p, k=k, domain=domain, skew=skew, bound=bound)
    else:
        wanted = checked_growth(_OWNER, growth)
        _checked(rho1=0, p=0, k=k, domain=domain, skew=skew, bound=bound)
        target = float(wanted)

        def reached(p: float) -> float:
            return growth_bound(p=p, k=k, domain=domain, skew=skew, bound=bound)

    if reached(1.0) <= target:  # a target so close to certainty that it is the same number
        raise ParameterError(LIMITS_NOTHING.format(owner=_OWNER))
    if bound == "paper":
        return _bisect(reached, target)
    odds = (
        _rho_odds(float(first), target, k / domain, float(exact(skew)))
        if rho is not None
        else _growth_odds(target, k / domain, float(exact(skew)))
    )
    found = odds / (1 + odds) if math.isfinite(odds) else 1.0
    while reached(found) > target:  # what floating point got wrong in the last digits must not break the promise
        found = math.nextafter(found, 0.0)
    return found


def attained(*, domain: int, skew: Number = 1, rho1: Number | None = None, p: Number = 0, k: int = 1) -> bool:
    """Whether some prior of that skew attains the tight bound: the domain must have room for it.

    With ``rho1`` for :func:`rho2_bound`, without it for :func:`growth_bound` at ``p`` and ``k``.
    """
    largest = exact(skew)
    if domain < 2:
        return False
    if rho1 is not None:
        start = exact(rho1)
        return math.ceil(start / largest) + math.ceil((1 - start) / largest) <= domain
    keep = float(exact(p))
    others = k * (1 - keep) / domain
    weight = min(float(largest), others / (math.sqrt(others * others + keep * others) + others)) if others else 0.0
    return weight + (domain - 1) * float(largest) >= 1


def guarantee_grid(
    *, ks: Sequence[int], ps: Sequence[Number], rho1: Number, domain: int, skew: Number = 1, bound: Bound = "tight"
) -> list[dict[str, Any]]:
    """Both promises for every k and p, one mapping each."""
    return [
        {
            "k": k,
            "p": float(exact(p)),
            "rho2": rho2_bound(rho1=rho1, p=p, k=k, domain=domain, skew=skew, bound=bound),
            "growth": growth_bound(p=p, k=k, domain=domain, skew=skew, bound=bound),
        }
        for k in ks
        for p in ps
    ]


def cell_size(sample: Number) -> int:
    """The k that publishes at most the share ``sample`` of the rows: ⌈1/s⌉, of the number that was meant."""
    share = exact(checked(_OWNER, "sample", sample, "a number in (0, 1]"))
    if not 0 < share <= 1:
        raise ParameterError(f"The 'sample' must be a number in (0, 1]. Got {sample!r} instead.")
    return math.ceil(1 / share)


def checked_rho(owner: str, rho: Any) -> tuple[Fraction, Fraction]:
    """ρ1 and ρ2 with 0 < ρ1 < ρ2 < 1, or an error: at either end the promise is empty, and p would be 1.

    >>> checked_rho("it", ("1/5", 0.45))
    (Fraction(1, 5), Fraction(9, 20))
    >>> checked_rho("it", (0, 0.3))
    Traceback (most recent call last):
    undercover.errors.ParameterError: With rho1 = 0 the 'rho' of it promises nothing: ...
    """
    expected = "two numbers with 0 < rho1 < rho2 < 1"
    try:
        first, second = (exact(checked(owner, "rho", value, expected)) for value in rho)
    except (TypeError, ValueError):
        raise ParameterError(f"The 'rho' of {owner} must be {expected}. Got {rho!r} instead.") from None
    if first == 0 and 0 < second <= 1:
        raise ParameterError(NOBODY_BELOW.format(owner=owner))
    if second == 1 and 0 <= first < 1:
        raise ParameterError(LIMITS_NOTHING.format(owner=owner))
    if not 0 < first < second < 1:
        raise ParameterError(f"The 'rho' of {owner} must be {expected}. Got {rho!r} instead.")
    return first, second


def checked_growth(owner: str, growth: Any) -> Fraction:
    """Δ in (0, 1), or an error.

    >>> checked_growth("it", 0.24)
    Fraction(6, 25)
    """
    value = exact(checked(owner, "growth", growth, "a number in (0, 1)"))
    if value == 1:
        raise ParameterError(LIMITS_NOTHING.format(owner=owner))
    if not 0 < value < 1:
        raise ParameterError(f"The 'growth' of {owner} must be a number in (0, 1). Got {growth!r} instead.")
    return value


def _checked(*, rho1: Number, p: Number, k: int, domain: int, skew: Number, bound: str) -> tuple[float, float, float]:
    """The numbers as floats; everything that is wrong with them is reported together."""
    problems: list[str] = []
    numbers: dict[str, Fraction] = {}
    for name, value, expected in (("rho1", rho1, "[0, 1]"), ("p", p, "[0, 1]"), ("skew", skew, "[1/domain, 1]")):
        try:
            numbers[name] = exact(checked(_OWNER, name, value, f"a number in {expected}"))
        except ParameterError as error:
            problems += error.problems
    for name, value in (("k", k), ("domain", domain)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            problems.append(f"The '{name}' of {_OWNER} must be an int in [1, inf). Got {value!r} instead.")
    problems += [
        f"The '{name}' of {_OWNER} must be a number in [0, 1]. Got {value!r} instead."
        for name, value in (("rho1", rho1), ("p", p))
        if name in numbers and not 0 <= numbers[name] <= 1
    ]
    if not problems and not Fraction(1, domain) <= numbers["skew"] <= 1:
        problems.append(
            f"The 'skew' of {_OWNER} must be a number in [1/{domain}, 1]: {domain} values cannot all have less. "
            f"Got {skew!r} instead."
        )
    if bound not in BOUNDS:
        problems.append(unknown("Bound", str(bound), BOUNDS))
    if problems:
        raise ParameterError(problems)
    return float(numbers["rho1"]), float(numbers["p"]), float(numbers["skew"])


def _highest_ownership(keep: float, k: int, noise: float, skew: float) -> float:
    """h⊤, inequality 20."""
    return (keep * skew + noise) / (keep * skew + k * noise)


def _rho_odds(rho1: float, rho2: float, ratio: float, skew: float) -> float:
    """p / (1 - p) at which the tight ρ2 is reached; ``ratio`` is k / \\|U\\|."""
    share = (rho2 - rho1) / (1 - rho1)
    return share * ratio / (min(skew, rho1) * (1 - share))


def _growth_odds(growth: float, ratio: float, skew: float) -> float:
    """The same for Δ."""
    if skew >= (1 - growth) / 2:
        return 4 * ratio * growth / (1 - growth) ** 2
    return ratio * growth / (skew * (1 - skew - growth))


def _bisect(reached: Any, target: float) -> float:
    low, high = 0.0, 1.0
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if reached(middle) <= target else (low, middle)
    return low
