"""What is to be known of Incognito beyond its class."""

from __future__ import annotations

from undercover.methods.incognito.picture import lattice_chart, lattice_facts
from undercover.model.about import About, Drawing, Example, Stop, Sweep
from undercover.steps.lattice.told import searched, with_levels

DONE = (
    "Every quasi-identifier was put on one level of its hierarchy, the same for all rows. All combinations of levels "
    "that keep the promise were found, and the best of them was taken. Rows with the same cells form a class. "
    "Sensitive values were not changed."
)
_TWO_DIVERSE = {"k": 1, "l": 2, "diversity": "distinct"}

ABOUT = About(
    title="Incognito",
    did=lambda release: with_levels(DONE, release),
    stages=searched,
    pictures=(Drawing("lattice", lattice_facts, lambda facts: [lattice_chart(facts)]),),
    sweeps=(Sweep("Incognito", "k", (5, 10, 20)),),
    tour=(
        Stop("incognito-k10", "Incognito k=10", {"k": 10}, hierarchies=True),
        Stop(
            "office-revenue",
            "Revenue office",
            _TWO_DIVERSE,
            hierarchies=True,
            quasi_identifiers=("age", "hours"),
            place=2,
        ),
        Stop(
            "office-census-alone",
            "Census office, alone",
            _TWO_DIVERSE,
            hierarchies=True,
            quasi_identifiers=("education", "race", "sex"),
            beside="office-revenue",
            place=2,
        ),
    ),
    examples=(
        Example({"k": 2}, "safe"),
        Example({"k": 2, "suppression": 0.5}, "safe"),
        Example({"k": 3, "choose": "dm"}, "safe"),
        Example({"k": 2, "l": 2}, "unsafe"),
        Example({"k": 2, "l": 2, "diversity": "distinct"}, "unsafe"),
        Example({"k": 2, "t": 0.5}, "unsafe"),
        Example({"k": 100}, "unreachable"),
    ),
)
