"""Which release of a comparison satisfies the policy and loses least, ranked as ``recommend`` ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from undercover.io.plain import as_json
from undercover.model.figures import risk
from undercover.model.policy import POLICIES, Policy
from undercover.studies.recommend.search import Rank, ranked

MORE = "`undercover recommend` searches further parameters."


def recommended(releases: Sequence[Mapping[str, Any]], nothing: float | None, policy: Policy) -> dict[str, Any] | None:
    """The release that ``recommend`` would choose of these, and why; ``None`` where nothing is judged.

    ``nothing`` is the distance of pairs where every quasi-identifier is ``*``: what there is to lose.
    """
    if not releases or not policy.judges:
        return None

    def rank(release: Mapping[str, Any]) -> Rank:
        loss = _loss(release)
        kept = 1.0 - loss / nothing if nothing and loss is not None else 1.0
        return ranked(release["over"], kept, release["asks"], loss)

    best = min(releases, key=rank)
    satisfying, loss = sum(release["satisfies"] for release in releases), _loss(best)
    far = "" if loss is None else f": distance of pairs of columns from the truth {risk(loss)}"
    if best["satisfies"]:
        said = (
            f"Recommended: {best['title']}. It is {best['verdict']} under `{policy.name}`, and of the {satisfying:,} "
            f"releases here that satisfy the policy it leaves least to decide and then loses least{far}."
        )
    else:
        said = f"None of these satisfies `{policy.name}`. Nearest: {best['title']}. {' '.join(best['reasons'][:1])}"
    return {"title": best["title"], "satisfies": best["satisfies"], "sentence": f"{said} {MORE}"}


def policy_identity(policy: Policy) -> str:
    """What tells policies apart: the name of a built-in one, all limits of another."""
    return policy.name if POLICIES.get(policy.name) == policy else as_json(policy.to_dict())


def _loss(release: Mapping[str, Any]) -> float | None:
    pairs: Mapping[str, float] | None = release["utility"]["pairwise"]
    return None if pairs is None else pairs["mean"]
