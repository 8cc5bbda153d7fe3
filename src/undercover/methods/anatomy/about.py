"""What is to be known of Anatomy beyond its class."""

from __future__ import annotations

from typing import Any

from undercover.model.about import About, Example, Stop, Sweep, Wanted
from undercover.steps.reach import dealt, one_sensitive

DONE = (
    "The rows were dealt at random into buckets in which the sensitive values differ. One table shows the "
    "quasi-identifiers as they are with the number of the bucket, the other how often each sensitive value occurs in "
    "each bucket. Which value of a bucket belongs to which person is not published."
)


def candidates(wanted: Wanted) -> list[dict[str, Any]]:
    """Quasi-identifiers stay as they are: only where people are alike in them as it is."""
    return [{"l": l} for l in wanted.ls] if wanted.policy.found is None or wanted.alike >= wanted.k else []


ABOUT = About(
    title="Anatomy",
    idea="One table has the quasi-identifiers as they are, another the sensitive values; buckets of people join them.",
    when="Take it where analyses need exact quasi-identifiers and it is no secret who is in the table.",
    did=lambda release: DONE,
    sweeps=(Sweep("Anatomy", "l", (2, 4, 8)),),
    candidates=candidates,
    fits=one_sensitive,
    reach=dealt,
    tour=(Stop("anatomy-l8", "Anatomy l=8", {"l": 8}, ahead=1),),
    examples=(Example({"l": 2}, "safe"), Example({"l": 3}, "safe"), Example({"l": 100}, "unreachable")),
)
