"""What is to be known of Privacy Streamliner beyond its class."""

from __future__ import annotations

from typing import Any

from undercover.model.about import About, Example, Stop, Sweep, Wanted
from undercover.model.release import Release
from undercover.steps.reach import dealt, groups_of, one_sensitive

DONE = (
    "The rows were put into groups in which the sensitive values differ. The quasi-identifiers of a group were widened "
    "until they are the same for all of its rows."
)
_ALGORITHMS = {
    "wrap": "Who is with whom was drawn at random, so that groups are as small as they can be.",
    "guided": "Groups keep within strata that were fixed beforehand; within them near rows were joined in a way that "
    "does not depend on which sensitive value is whose. Whoever knows the value of one person may learn from it about "
    "people of other groups.",
    "classes": "Near rows were joined in a way that does not depend on which sensitive value is whose. Whoever knows "
    "the value of one person may learn from it about people of other groups.",
    "rda": "Who is with whom was drawn at random.",
    "gda": "Near rows were joined by an algorithm that looks at sensitive values, as its paper says; somebody who "
    "knows it may invert it.",
    "ria": "Partners were drawn at random and merged. This is a demonstration: the groups are large.",
}


def did(release: Release) -> str:
    """What was done, by which algorithm.

    >>> did(Release("streamliner", {"algorithm": "rda"}, (), True)).split(". ")[-1]
    'Who is with whom was drawn at random.'
    """
    return " ".join(filter(None, [DONE, _ALGORITHMS.get(str(release.parameters.get("algorithm")))]))


def candidates(wanted: Wanted) -> list[dict[str, Any]]:
    """Groups have l rows, so l hides the row as well; near rows together unless known values would then tell others."""
    ways = ("wrap",) if wanted.policy.known_values else ("classes", "wrap")
    return [] if wanted.l_and_k is None else [{"l": wanted.l_and_k, "algorithm": way} for way in ways]


ABOUT = About(
    title="Privacy streamliner",
    idea="Rows are dealt into groups by an order that is blind to whose value is whose; cells cover their groups.",
    when="Take it where an attacker knows the algorithm and l-diversity must hold all the same.",
    did=did,
    sweeps=(
        Sweep("Streamliner wrap", "l", (2, 4, 8)),
        Sweep("Streamliner guided", "l", (2, 4, 8), {"algorithm": "guided"}),
        Sweep("Streamliner classes", "l", (2, 4, 8), {"algorithm": "classes"}),
    ),
    candidates=candidates,
    fits=one_sensitive,
    reach=dealt,
    outlook=lambda method, holding: groups_of(method.l, holding),
    tour=(
        Stop("streamliner-l8", "Streamliner l=8", {"l": 8}, ahead=1),
        Stop(
            "streamliner-l8-guided",
            "Streamliner l=8, by sex",
            {"l": 8, "algorithm": "guided", "strata": ("sex",)},
            ahead=1,
        ),
    ),
    examples=(
        *(
            Example({"l": l, "algorithm": algorithm}, "safe")
            for l in (2, 3)
            for algorithm in ("wrap", "guided", "classes", "rda", "ria")
        ),
        Example({"l": 2, "algorithm": "gda", "allow_unsafe": True}, "unsafe"),
        Example({"l": 100}, "unreachable"),
    ),
)
