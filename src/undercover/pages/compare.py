"""The page of a comparison: pictures of privacy against utility, a table that can be sorted, and what could not run.

One self-contained file. The table is whole without its script, which only makes the headings sort.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from undercover.pages.charts.compare import frontier_charts, looks, sweep_chart
from undercover.pages.jinja import drawn, render

ATTACKS = {
    "linkage": "linkage: the attacker knows every quasi-identifier of a person and looks for the rows that fit",
    "partial-linkage": "partial linkage: he matches on some of the quasi-identifiers only, which helps where values "
    "were drawn at random; the best of several strengths",
    "informed": "informed: he also knows the groups, the output tables and which rows are those of a person's group, "
    "and not what was drawn. Nobody outside knows as much, so this is an upper bound",
}

MEASURES = (
    ("safe", "Algorithm-safe", "Whether somebody who knows the algorithm, everybody's quasi-identifiers and all "
     "sensitive values, but not whose they are, learns no more than the release alone says."),
    ("identity", "Finding the row", "Probability of picking a person's own row, by the strongest attack that applies: "
     "the mean over everybody, and the worst row."),
    ("attribute", "Learning the value", "Probability the strongest attack gives to a person's true sensitive value: "
     "mean and worst row. Guessing knows how frequent values are overall."),
    ("corruption", "All others known", "The same where the attacker has learnt everybody else's sensitive value. A "
     "release that shows true values gives away the last one, however they are grouped."),
    ("iloss", "ILoss", "Mean share of a column's values that a cell stands for beyond one: 0 as it was, near 1 nothing "
     "left."),
    ("count", "COUNT", "Mean relative error of random COUNT queries on one to three quasi-identifiers and a sensitive "
     "value; answers below 0.5% of the rows count as 0.5%."),
    ("sum", "SUM", "Median relative error of random sums of a sensitive column."),
    ("marginal", "Columns", "Mean total variation distance between the true distribution of a column and the one a "
     "recipient estimates."),
    ("pairwise", "Pairs", "The same for pairs of columns."),
    ("classification", "Learning", "Share of the original rows a decision tree gets wrong that was trained on the "
     "release to tell the sensitive value (below or above the median, or which category) from quasi-identifiers."),
    ("seconds", "Time", "Seconds to anonymise, compiled beforehand."),
    ("memory", "Memory", "By how much the process grew at its peak while publishing."),
)  # fmt: skip
"""Key, heading and explanation of every column of the table."""


def compare_html(results: Mapping[str, Any]) -> str:
    """One self-contained page; takes the content of ``compare.json``."""
    series = list(dict.fromkeys(release["series"] for release in results["releases"]))
    charts = [
        {"title": picture["title"], "svg": drawn(chart)}
        for picture, chart in zip(results["frontiers"], frontier_charts(results["frontiers"], series), strict=True)
    ]
    swept = sweep_chart(results["releases"], results["guessing"])
    used = {
        part["attack"]
        for release in results["releases"]
        for part in (release["privacy"]["identity"], release["privacy"]["attribute"])
        if part is not None
    }
    return render(
        "compare.html.j2",
        results=results,
        charts=charts,
        sweeps=drawn(swept) if swept else None,
        marks=[{"series": name, "color": color, "shape": shape} for name, (color, shape) in looks(series).items()],
        outlines=OUTLINES,
        measures=MEASURES,
        attacks=[text for name, text in ATTACKS.items() if name in used],
        reasons=_reasons(results),
    )


OUTLINES = {
    "circle": "M 0 -5 A 5 5 0 1 1 0 5 A 5 5 0 1 1 0 -5 Z",
    "square": "M -4.5 -4.5 H 4.5 V 4.5 H -4.5 Z",
    "triangle-up": "M 0 -5.5 L 5.5 4.5 L -5.5 4.5 Z",
    "diamond": "M 0 -6 L 5 0 L 0 6 L -5 0 Z",
    "cross": "M -1.8 -5.5 H 1.8 V -1.8 H 5.5 V 1.8 H 1.8 V 5.5 H -1.8 V 1.8 H -5.5 V -1.8 H -1.8 Z",
    "triangle-down": "M 0 5.5 L 5.5 -4.5 L -5.5 -4.5 Z",
}
"""The marks of the pictures, for the key beside them."""


def _reasons(results: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What was not measured and why, each reason once with the releases it is about."""
    titles = {key: heading for key, heading, _ in MEASURES}
    found: dict[tuple[str, str], list[str]] = {}
    for release in results["releases"]:
        for measure, why in release["notes"].items():
            found.setdefault((titles.get(measure, measure), why), []).append(release["title"])
    everywhere = len(results["releases"])
    return [
        {"measure": measure, "why": why, "titles": [] if len(releases) == everywhere else releases}
        for (measure, why), releases in found.items()
    ]
