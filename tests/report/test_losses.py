"""Every loss has one name and one value wherever it is shown: numbers that are unlike each other are planted."""

from __future__ import annotations

import re
from typing import Any

import pytest

import undercover as uc
from undercover.cli.demo import _line
from undercover.forms.loss import Loss
from undercover.model.figures import LOSSES, cost
from undercover.model.view import Figure, FigureTable
from undercover.pages.render import comparison_chart, overview_html, report_html
from undercover.studies.tour import Made
from undercover.utility.measures import Measures
from undercover.utility.views import by_column, loss_chart, measures_view
from undercover.verbs.report import summarize

MEANS = ("arithmetic", "weighted", "geometric")
KEYS = {name: key for key, name in LOSSES.items()} | {"ILoss of moving": "iloss"}
Shown = list[tuple[str, float]]


@pytest.fixture(scope="module", params=["joined", "moved"])
def summary(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Of a release whose cells were joined, by levels, or moved; every loss in it is a number of its own."""
    method = uc.Incognito(k=3) if request.param == "joined" else uc.MutualCover(delta="1/2", l=2)
    schema = uc.datasets.census_schema(["age", "sex"])
    found = summarize(uc.publish(uc.datasets.census(120), schema, method, policy="none", seed=1))
    place = 0
    for loss in found["cost"]["loss"].values():
        for mean in MEANS:
            place += 1
            loss[mean] = 0.5 + place / 997
        for name in loss["per_column"]:
            place += 1
            loss["per_column"][name] = 0.5 + place / 997
    found["cost"]["columns"] = by_column(found["cost"])
    if found["pictures"]["lattice"]:
        found["pictures"]["lattice"]["loss"] = found["cost"]["loss"]["arx"]["geometric"]
    cost_view = measures_view(found["cost"])
    found["sections"] = [cost_view if view.kind == "cost" else view for view in found["sections"]]
    return found


def planted(summary: dict[str, Any]) -> dict[float, str]:
    """Which loss each of the planted numbers is."""
    return {
        value: key
        for key, loss in summary["cost"]["loss"].items()
        for value in (*(loss[mean] for mean in MEANS), *loss["per_column"].values())
    }


def in_tables(part: Any) -> Shown:
    """The figures of every table of a view with the names of their columns."""
    if isinstance(part, FigureTable):
        return [
            (name, cell.value)
            for row in part.rows
            for name, cell in zip(part.columns, row, strict=False)
            if isinstance(cell, Figure) and isinstance(cell.value, float)
        ]
    return [pair for one in getattr(part, "parts", ()) for pair in in_tables(one)]


def in_words(page: str) -> Shown:
    """Cards of a page, and figures that follow the name of a loss."""
    cards = re.findall(r'<h3>([^<]+)</h3>\s*<div class="big"><data value="([\d.]+)">', page)
    told = re.findall(r'(loss of detail) of <data value="([\d.]+)">', page)
    return [(name[0].lower() + name[1:], float(value)) for name, value in cards + told]


def everywhere(summary: dict[str, Any]) -> Shown:
    """Every loss that pages show, with its name there."""
    entry = {"title": "Ours", "headline": summary["headline"], "cost": summary["cost"], "verdict": "Ready"}
    sections = [pair for view in summary["sections"] for pair in in_tables(view)]
    pictures = [(row["measure"], row["loss"]) for row in loss_chart(summary["cost"]["columns"]).values]
    compared = [(row["measure"], row["value"]) for row in comparison_chart([entry]).values]
    return sections + pictures + compared + in_words(report_html(summary))


def test_every_loss_has_one_name(summary: dict[str, Any]) -> None:
    known = planted(summary)
    shown = [(name, value) for name, value in everywhere(summary) if value in known or name in KEYS]
    values = {value for _, value in shown}
    assert values <= set(known), "another number is called a loss"
    assert {loss["arithmetic"] for loss in summary["cost"]["loss"].values()} <= values, "some loss is shown nowhere"
    assert [(name, known[value]) for name, value in shown if KEYS.get(name) != known[value]] == []
    first = next(key for key in ("arx", "shift") if key in summary["cost"]["loss"])
    assert sum(value == summary["cost"]["loss"][first]["arithmetic"] for _, value in shown) == 3  # card, table, picture


def test_a_second_name_is_found_out(summary: dict[str, Any]) -> None:
    known, losses = planted(summary), summary["cost"]["loss"]
    wrong = measures_view({**summary["cost"], "loss": {**losses, "ncp": next(iter(losses.values()))}})
    assert [name for name, value in in_tables(wrong) if value in known and KEYS.get(name) != known[value]]


def test_terminal_and_overview_show_the_same_to_the_same_digits(summary: dict[str, Any]) -> None:
    losses = summary["cost"]["loss"]
    key = "arx" if "arx" in losses else "shift"
    shown = cost(losses[key]["arithmetic"])
    assert _line(Made("ours", "Ours", 0.0, summary))[-1] == shown + (" moved" if key == "shift" else "")
    cell = f">{shown}</data>" + ("<small>moved</small>" if key == "shift" else "")
    assert cell in overview_html([{"summary": summary}])
    classes = None if key == "shift" else 2
    measures = Measures(None, classes, classes, 4, {key: Loss(**losses[key])}, 0)
    assert f"{LOSSES[key]} {'by ' if key == 'shift' else ''}{shown}" in repr(measures)
