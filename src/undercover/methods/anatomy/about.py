"""What is to be known of Anatomy beyond its class."""

from __future__ import annotations

from undercover.model.about import About, Example, Stop, Sweep

DONE = (
    "The rows were dealt at random into buckets in which the sensitive values differ. One table shows the "
    "quasi-identifiers as they are with the number of the bucket, the other how often each sensitive value occurs in "
    "each bucket. Which value of a bucket belongs to which person is not published."
)

ABOUT = About(
    title="Anatomy",
    did=lambda release: DONE,
    sweeps=(Sweep("Anatomy", "l", (2, 4, 8)),),
    tour=(Stop("anatomy-l8", "Anatomy l=8", {"l": 8}, ahead=1),),
    examples=(Example({"l": 2}, "safe"), Example({"l": 3}, "safe"), Example({"l": 100}, "unreachable")),
)
