"""What is to be known of cross-bucket generalization beyond its class."""

from __future__ import annotations

from undercover.model.about import About, Example, Stop, Sweep

DONE = (
    "Rows that lie close together and differ in their sensitive values were taken together and divided twice: into "
    "equivalence groups, whose rows show the same quasi-identifier cells, and across these groups into buckets. One "
    "table shows the cells of every row with the number of its bucket, the other how often each sensitive value occurs "
    "in each bucket. Which value of a bucket belongs to which row is not published."
)

ABOUT = About(
    title="Cross-bucket generalization",
    did=lambda release: DONE,
    sweeps=(Sweep("Cross-bucket, k=5", "l", (2, 4, 8), {"k": 5}),),
    tour=(Stop("cross-bucket-k3-l8", "Cross-bucket k=3, l=8", {"k": 3, "l": 8}, ahead=2),),
    examples=(
        Example({"k": 2, "l": 2}, "unsafe"),
        Example({"k": 1, "l": 2}, "unsafe"),
        Example({"k": 2, "l": 100}, "unreachable"),
    ),
)
