"""What is to be known of mutual cover beyond its class: words, stages, figures beside delta, output tables drawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from undercover.methods.mutual_cover.picture import output_table_chart, shown_tables
from undercover.model.about import About, Drawing, Example, Stop, Sweep
from undercover.model.figures import number, rows
from undercover.model.release import Release
from undercover.model.run import Run

DONE = (
    "Similar rows were put into groups in which the sensitive values differ. For every group and quasi-identifier a "
    "table was computed that says with which probability each person releases which value: as near to the own value as "
    "can be, while nobody has more than a fixed share of any value. From these the published values were drawn. "
    "Sensitive values were not changed. The published table looks like an original one."
)
_UNCHANGED = {
    "resample": "Rows all of whose values came through were drawn again.",
    "paper": "In rows all of whose values came through some values were replaced.",
    "off": "Rows all of whose values came through were left as they are.",
}


def did(release: Release) -> str:
    """What was done, in words.

    >>> did(Release("mutual-cover", {"unchanged": "off"}, (), False)).endswith("left as they are.")
    True
    """
    said = [DONE, _UNCHANGED.get(str(release.parameters.get("unchanged")), "")]
    if release.parameters.get("tables") == "uniform":
        said.append("The tables make every value of a group equally likely.")
    return " ".join(filter(None, said))


def stages(run: Run) -> list[tuple[str, str]]:
    """How the output tables came about, and what was drawn from them."""
    found = run.diagnostics
    made = found.get("tables_by_origin")
    if made is None:
        return []
    return [
        (
            "Output tables",
            f"{number(sum(made.values()))} random output tables, one for each group and quasi-identifier: "
            f"{number(made['kept'])} need not change anything, {number(made['shared'])} follow from a formula, "
            f"{number(made['interior'] + made['highs'])} were optimised, {number(made['uniform'])} are uniform.",
        ),
        (
            "Drawn",
            f"All values of {rows(found['rows_that_came_through'])} came through the first draw unchanged; they "
            f"were drawn again, and {rows(found['rows_left_unchanged'])} still look as they did.",
        ),
    ]


def beside(run: Run) -> list[dict[str, Any]]:
    """The figures that stand beside δ in the holder's report, each with what it means."""
    found: list[dict[str, Any]] = []
    shares = run.diagnostics.get("effective_share")
    if shares:
        words = (
            f"The same share in the values as they were released, after unchanged rows were dealt with; above δ in "
            f"{shares['tables_above_delta']:.0%} of the tables."
        )
        found.append({"title": "Effective share", **_ends(shares), "words": words})
    near = run.diagnostics.get("reidentification_by_one_value")
    if near:
        words = "Somebody knows one value of a person, looks for it among the rows of the group and picks one."
        found.append({"title": "Found by one value, within the group", **_ends(near), "words": words})
        if "over_all_rows" in near:
            words = "The same among all published rows that show the value."
            found.append({"title": "Found by one value, over all rows", **_ends(near["over_all_rows"]), "words": words})
    return found


def _ends(figures: Mapping[str, Any]) -> dict[str, float]:
    return {"mean": float(figures["mean"]), "max": float(figures["max"])}


ABOUT = About(
    title="Mutual cover",
    did=did,
    stages=stages,
    beside=beside,
    pictures=(
        Drawing(
            "output_tables",
            shown_tables,
            lambda tables: [output_table_chart(table, f"output-table-{place}") for place, table in enumerate(tables)],
        ),
    ),
    attacks=("informed",),
    sweeps=(Sweep("Mutual cover", "delta", ("1/2", "1/5", "1/10"), {"l": 4, "k": 10}),),
    tour=(Stop("mutual-cover-5-l10", "Mutual cover δ=1/5, l=10", {"delta": "1/5", "l": 10}, place=1, ahead=True),),
    examples=(Example({"delta": "1/2", "l": 2}, "unsafe"), Example({"delta": "1/2", "l": 100}, "unreachable")),
)
