"""What is to be known of cross-bucket generalization beyond its class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from undercover.model.about import About, Example, Holding, Reach, Stop, Sweep, Wanted
from undercover.model.release import Release
from undercover.steps.reach import dealt, groups_of, one_sensitive

DONE = (
    "One table shows the cells of every row with the number of its bucket, the other how often each sensitive value "
    "occurs in each bucket. Which value of a bucket belongs to which row is not published."
)
_VARIANTS = {
    "safe": "Rows that lie close together form equivalence groups, whose rows show the same quasi-identifier cells; "
    "sensitive values had no part in that. Across the groups rows were dealt into buckets in which the sensitive "
    "values differ, in a way that does not depend on which value is whose.",
    "paper": "Rows that lie close together and differ in their sensitive values were taken together and divided twice: "
    "into equivalence groups, whose rows show the same quasi-identifier cells, and across these groups into buckets.",
}
_ROBUST = "Who is with whom in a bucket was drawn at random."
_CLASSES = (
    "Rows of a bucket lie close together as far as that tells nothing; whoever knows the value of one person may learn "
    "from it about people of other buckets."
)


def did(release: Release) -> str:
    """What was done, in which variant; a release of which nobody says is of the paper's, as all were once.

    >>> did(Release("cross-bucket", {"variant": "safe", "robust": True}, (), True)).split(". ")[2]
    'Who is with whom in a bucket was drawn at random'
    """
    variant = str(release.parameters.get("variant", "paper"))
    dealt = (_ROBUST if release.parameters.get("robust") else _CLASSES) if variant == "safe" else None
    return " ".join(filter(None, [_VARIANTS.get(variant), dealt, DONE]))


def candidates(wanted: Wanted) -> list[dict[str, Any]]:
    """Boxes of k rows, and buckets that hide the value; dealt at random where values of others are known."""
    beside = {"robust": True} if wanted.policy.known_values else {}
    return [{"k": wanted.k, "l": l, **beside} for l in wanted.ls]


def reach(given: Mapping[str, Any], holding: Holding) -> list[Reach]:
    """As wherever rows are dealt; the paper's k takes rows of different values together, as l does."""
    rows, *values = dealt(given, holding)
    if given.get("variant") != "paper":
        return [rows, *values]
    alike = [replace(value, parameter="k", why=value.why.replace(": l is", ": k is")) for value in values]
    return [*(alike or [rows]), *values]


ABOUT = About(
    title="Cross-bucket generalization",
    idea="Quasi-identifiers become cells of k people; sensitive values stand in buckets of l across the cells.",
    when="Take it where l is to be well above k and a sensitive column has many values, none of them frequent.",
    did=did,
    sweeps=(
        Sweep("Cross-bucket, k=5", "l", (2, 4, 8), {"k": 5}),
        Sweep("Cross-bucket of the paper, k=5", "l", (2, 4, 8), {"k": 5, "variant": "paper"}),
    ),
    candidates=candidates,
    fits=one_sensitive,
    reach=reach,
    outlook=lambda method, holding: groups_of(method.k, holding),
    tour=(Stop("cross-bucket-k3-l8", "Cross-bucket k=3, l=8", {"k": 3, "l": 8}, ahead=2),),
    examples=(
        Example({"k": 2, "l": 2}, "safe"),
        Example({"k": 3, "l": 2, "boxes": "exact", "robust": True}, "safe"),
        Example({"k": 2, "l": 2, "variant": "paper"}, "unsafe"),
        Example({"k": 1, "l": 2, "variant": "paper"}, "unsafe"),
        Example({"k": 2, "l": 100}, "unreachable"),
        Example({"k": 2, "l": 100, "variant": "paper"}, "unreachable"),
    ),
)
