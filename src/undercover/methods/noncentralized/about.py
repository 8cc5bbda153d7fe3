"""What is to be known of non-centralized l-diversity beyond its class."""

from __future__ import annotations

from undercover.model.about import About, Example, Stop, Sweep
from undercover.model.form import Generalized
from undercover.steps.lattice.choice import searched, with_levels
from undercover.steps.reach import distinct, one_sensitive

DONE = (
    "Others have published tables about the same people with the same sensitive values. Every quasi-identifier was put "
    "on one level of its hierarchy, the same for all rows, such that whoever joins this table with theirs is still "
    "left with several values for everybody. Sensitive values were not changed."
)

ABOUT = About(
    unstated_form=lambda parameters: Generalized(one_level=True),
    title="Non-centralized l-diversity",
    idea="Columns are generalised until the table, joined with those of others, leaves l values of everybody.",
    when="Take it where somebody else publishes about the same people and the same sensitive column.",
    did=lambda release: with_levels(DONE, release),
    stages=searched,
    fits=one_sensitive,
    reach=distinct,
    sweeps=(Sweep("Non-centralized", "l", (2, 4, 8), distinct=True),),
    tour=(
        Stop(
            "office-census",
            "Census office, joint",
            {"l": 2, "choose": "loss", "others": ("revenue",)},
            hierarchies=True,
            quasi_identifiers=("education", "race", "sex"),
            beside="office-revenue",
            place=2,
        ),
    ),
    examples=(Example({"l": 2}, "unsafe"), Example({"l": 100}, "unreachable")),
)
