"""What is to be known of Mondrian beyond its class."""

from __future__ import annotations

from undercover.model.about import About, Example, Stop, Sweep

DONE = (
    "The table was cut in two along one quasi-identifier after another for as long as both halves kept the promise. "
    "The rows of a final piece form a class: they all show the same quasi-identifier cells, which cover everybody in "
    "the class. Sensitive values were not changed."
)

ABOUT = About(
    title="Mondrian",
    did=lambda release: DONE,
    attacks=("minimality",),
    sweeps=(Sweep("Mondrian", "k", (5, 10, 20)), Sweep("Mondrian, k=5", "l", (2, 4, 8), {"k": 5})),
    tour=(
        Stop("mondrian-k10", "Mondrian k=10", {"k": 10}),
        Stop("mondrian-k10-hierarchies", "Mondrian k=10, hierarchies", {"k": 10}, hierarchies=True, ahead=2),
        Stop("mondrian-k5-l5", "Mondrian k=5, l=5", {"k": 5, "l": 5}),
    ),
    examples=(
        Example({"k": 2}, "safe"),
        Example({"k": 2, "cut": "median"}, "safe"),
        Example({"k": 3}, "safe"),
        Example({"k": 2, "l": 2}, "unsafe"),
        Example({"k": 2, "l": 2, "cut": "median"}, "unsafe"),
        Example({"k": 2, "t": 0.4}, "unsafe"),
        Example({"k": 100}, "unreachable"),
    ),
)
