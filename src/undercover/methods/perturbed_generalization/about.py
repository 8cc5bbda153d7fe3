"""What is to be known of perturbed generalization beyond its class."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from undercover.model.about import About, Example, Stop, Sweep, Wanted, asked
from undercover.model.finding import shown
from undercover.model.release import Release
from undercover.model.run import Run

DONE = (
    "The quasi-identifiers were generalised into cells that do not overlap. Of every cell one row was drawn at random "
    "and is published, with the number of people in the cell in column G. Its sensitive value was kept with "
    "probability p and otherwise replaced by one drawn uniformly from the declared domain."
)
_LABELS = {
    "free": "The cells follow from quasi-identifiers and public weights alone.",
    "driven": "Sensitive values were perturbed first, and the cells were then cut so that they differ in the perturbed "
    "values, as the paper does it. Where the cuts lie therefore tells something about them, and the promise counts one "
    "person per cell only.",
}


def did(release: Release) -> str:
    """What was done, in words.

    >>> did(Release("perturbed-generalization", {"labels": "free"}, (), True)).endswith("public weights alone.")
    True
    """
    return " ".join(filter(None, [DONE, _LABELS.get(str(release.parameters.get("labels")))]))


def main(release: Release) -> Mapping[str, Any]:
    """k, and the p that was used, whatever it was asked by."""
    keep = getattr(release.form, "keep", None)
    return {**asked("k", "p")(release), **({} if keep is None else {"p": shown(float(Fraction(keep)), "at least")})}


def stages(run: Run) -> list[tuple[str, str]]:
    """How values were perturbed."""
    p = run.diagnostics.get("p")
    return [] if p is None else [("Perturbed", f"Every published sensitive value was kept with probability {p:g}.")]


def candidates(wanted: Wanted) -> list[dict[str, Any]]:
    """Cells of k people hide the row; of its value so much is kept as the policy allows, tried from much to little."""
    return [{"k": wanted.k, "p": p} for p in ("9/10", "3/5", "3/10")] if len(wanted.shares) == 1 else []


ABOUT = About(
    title="Perturbed generalization",
    idea="One person of each cell is published; the sensitive value is kept with probability p, else drawn anew.",
    when="Take it where attackers may know the values of others, and recipients count and can correct for noise.",
    did=did,
    main=main,
    stages=stages,
    sweeps=(Sweep("Perturbed generalization", "p", (0.15, 0.3, 0.45), {"k": 6}),),
    candidates=candidates,
    tour=(Stop("perturbed-k6-rho", "Perturbed, 0.2 to 0.45", {"k": 6, "rho": (0.2, 0.45), "skew": 0.1}, ahead=1),),
    examples=(
        Example({"k": 2, "p": "3/5"}, "safe"),
        Example({"k": 2, "p": "1/4", "recoding": "specialize"}, "safe"),
        Example({"k": 2, "p": "1/4", "recoding": "incognito"}, "safe"),
        Example({"k": 100, "p": "1/2"}, "unreachable"),
    ),
)
