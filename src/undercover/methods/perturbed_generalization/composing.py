"""What perturbed generalization can still promise to people who were published before.

What is promised must hold for whoever has all releases of a person (:mod:`undercover.guarantees.breach.composition`). A
p that follows from a promise is lowered to what earlier releases have left of it. A p that was given promises what it
reaches alone, and together with any other release it reaches more: that is refused, with the numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from undercover.errors import UnreachableError
from undercover.exact import Number, exact
from undercover.guarantees.breach.composition import composed_growth, composed_rho2, largest_ratio, likelihood_ratio
from undercover.methods.perturbed_generalization.domain import declared_domain
from undercover.model.finding import shown
from undercover.model.run import Earlier
from undercover.model.schema import Schema
from undercover.wording import parameter

LEAVE_OUT = "Or leave these people out."


def spent(
    earlier: Sequence[Earlier],
    schema: Schema,
    *,
    k: int,
    beside: Number,
    p: Number | None,
    rho: tuple[Number, Number] | None,
    growth: Number | None,
    skew: Number,
) -> tuple[float, Any]:
    """The ratio of all earlier releases together and of those ``beside`` them, and the λ that may be assumed then."""
    ratio = math.prod(math.inf if before.ratio is None else before.ratio for before in earlier) * float(exact(beside))
    domain = declared_domain(schema.column(schema.sensitive[0])) or ()
    if any((before.sensitive, before.domain) != (schema.sensitive[:1], domain) for before in earlier):
        skew = 1  # λ is about the values of one column
    told = f"{'; '.join(before.sentence() for before in earlier)}. What is published of them already"
    if math.isinf(ratio):
        raise UnreachableError(
            f"{told} does not limit how sure anybody becomes of their values, so nothing can be promised together with "
            "it. Leave these people out.",
            best={"growth": 1.0},
        )
    already = composed_growth(ratio, skew=skew)
    told += f" lets somebody become surer of a value by {_up(already)}"
    if p is not None:
        own = likelihood_ratio(p=p, k=k, domain=len(domain))
        alone, together = composed_growth(own, skew=skew), composed_growth(own * ratio, skew=skew)
        raise UnreachableError(
            f"{told}; with p = {float(exact(p)):g} of {len(domain)} values and k = {k} it becomes {_up(together)}, "
            f"where p alone promises {_up(alone)}. Ask for what must hold for all releases together, growth or rho: p "
            f"is then lowered to what is left of it. {LEAVE_OUT}",
            best={"growth": together},
        )
    if largest_ratio(rho=rho, growth=growth, skew=skew) <= ratio:
        reached: dict[str, Any] = {"growth": already}
        asked = parameter(growth=growth)
        if rho is not None:
            reached["rho2"] = composed_rho2(ratio, rho1=rho[0], skew=skew)
            told += f", and from {rho[0]} sure to {_up(reached['rho2'])} sure"
            asked = parameter(rho=tuple(rho))
        raise UnreachableError(f"{told}: {asked} leaves nothing for another release. {LEAVE_OUT}", best=reached)
    return ratio, skew


def _up(value: float) -> str:
    return shown(value, "at most")
