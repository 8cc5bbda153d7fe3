import json
import re

import pytest

from undercover import plugins
from undercover.pages.experiment import experiment_chart, experiment_html, figure_tables
from undercover.pages.looks import COLORS, looks
from undercover.pages.svg import svg


def points(series, xs, panel="", count=1):
    return [
        {
            "panel": panel,
            "series": name,
            "x": x,
            "mean": 0.1 * (i + 1) * (j + 1),
            "min": 0.09 * (i + 1) * (j + 1),
            "max": 0.12 * (i + 1) * (j + 1),
            "count": count,
        }
        for i, name in enumerate(series)
        for j, x in enumerate(xs)
    ]


def plot(**change):
    base = {
        "id": "p",
        "title": "A plot",
        "caption": "See `this`.",
        "points": points(["a", "b"], [1, 2, 3]),
        "x_title": "l",
        "y_title": "error",
        "unit": "share",
        "mark": "line",
        "reference": [],
        "note": "",
    }
    return {**base, **change}


PLOTS = {
    "lines": plot(),
    "lines with spread": plot(points=points(["a", "b"], [1, 2, 3], count=3)),
    "lines with a reference": plot(reference=["b"]),
    "panels": plot(points=[*points(["a"], [1, 2], "one"), *points(["a"], [1, 2], "two")]),
    "bars": plot(mark="bar", points=points(["a", "b"], ["Age", "Gender"])),
    "bars with spread": plot(mark="bar", points=points(["a", "b"], ["Age", "Gender"], count=3)),
    "many series": plot(points=points(list("abcdefgh"), [1, 2])),
    "one point": plot(points=points(["a"], [5])),
    "large numbers": plot(points=points(["a"], [600_000, 6_000_000]), unit="number"),
    "fractions": plot(points=points(["a"], [0.15, 0.3]), unit="seconds"),
}


def results(*plots):
    return {
        "experiment": "toy",
        "title": "Toy",
        "paper": "",
        "private": False,
        "data": {},
        "about": [],
        "parameters": {},
        "claims": [],
        "plots": list(plots),
        "rows": [],
        "refused": [],
        "timings": {"cells": 0, "reused": 0, "seconds": 0.0, "by_figure": {}},
        "made_with": {},
    }


@pytest.mark.parametrize("name", PLOTS)
def test_every_kind_of_plot_is_drawn(name):
    chart = experiment_chart(PLOTS[name])
    drawing = svg(chart)
    assert chart.values == PLOTS[name]["points"]
    for series in {point["series"] for point in chart.values}:
        assert f">{series}</text>" in drawing, series
    assert "1e+" not in drawing
    for panel in {point["panel"] for point in chart.values} - {""}:
        assert f">{panel}</text>" in drawing


@pytest.mark.parametrize("name", PLOTS)
def test_every_figure_of_the_page_is_in_the_results(name):
    page = experiment_html(results(PLOTS[name]))
    shown = set(re.findall(r'<data value="([^"]+)">', page))
    known = {repr(value) for point in PLOTS[name]["points"] for value in point.values()} | {"0", "0.0"}
    assert shown <= known
    assert {repr(point["mean"]) for point in PLOTS[name]["points"]} <= shown


def test_spread_is_shown_only_where_something_was_repeated():
    assert " to <data" not in experiment_html(results(PLOTS["lines"]))
    assert " to <data" in experiment_html(results(PLOTS["lines with spread"]))


def test_a_hole_in_a_series_is_a_dash():
    holed = plot(points=[point for point in points(["a", "b"], [1, 2]) if (point["series"], point["x"]) != ("b", 2)])
    (table,) = figure_tables(holed)
    assert table["lines"][1]["cells"][1] is None
    assert '<td class="n">–</td>' in experiment_html(results(holed))


def test_text_is_escaped():
    nasty = "<script>alert(1)</script>"
    found = results(plot(title=nasty, points=points([nasty], [1, 2])))
    found["claims"] = [
        {"id": "c", "statement": nasty, "place": nasty, "criterion": nasty, "verdict": "held", "figures": nasty}
    ]
    page = experiment_html(json.loads(json.dumps(found)))
    assert page.count("<script>") == 1  # that of every page
    assert page.count("&lt;script&gt;") >= 5


def colors_of(chart):
    """The colour of every series of a picture, read off its scale."""
    found = {}
    for layer in chart.spec["concat"][0]["layer"]:
        scale = layer["encoding"].get("color", {}).get("scale", {})
        found |= dict(zip(scale.get("domain", ()), scale.get("range", ()), strict=True))
    return found


def test_a_method_keeps_its_colour_from_plot_to_plot_and_page_to_page():
    names = ["mondrian", "anatomy", "mutual cover", "mutual cover, layers"]
    every, some = (experiment_chart(plot(points=points(kept, [1, 2]))) for kept in (names, names[:1:-1]))
    assert colors_of(some).items() <= colors_of(every).items()
    assert len(set(colors_of(every).values())) == 3
    compared = looks(["Anatomy", "Mutual cover", "Mondrian, k=5"])
    assert compared["Mondrian, k=5"].color == colors_of(every)["mondrian"]
    assert compared["Mutual cover"].color == colors_of(every)["mutual cover, layers"]


def test_a_series_keeps_its_colour_on_a_page(monkeypatch):
    drawn = []
    monkeypatch.setattr("undercover.pages.experiment.drawn", lambda picture: drawn.append(colors_of(picture)) or "")
    first, second = points(["l = 4", "l = 8"], [1, 2]), points(["l = 8", "mondrian"], [1, 2])
    experiment_html(results(plot(id="a", points=first), plot(id="b", points=second)))
    assert drawn[0]["l = 8"] == drawn[1]["l = 8"] != drawn[1]["mondrian"] != drawn[0]["l = 4"]


def test_variants_of_a_method_differ_by_mark_and_dash():
    found = looks(["mutual cover", "mutual cover, layers", "mutual cover, blocks", "mutual cover, groups", "mondrian"])
    assert len({(look.shape, *look.dash) for look in found.values()}) == 5
    everybody = looks(plugins.names("methods"))
    assert len({look.color for look in everybody.values()}) == min(len(everybody), len(COLORS))
    many = looks([f"l = {l}" for l in range(30)])  # noqa: E741
    assert len({(look.color, look.shape, *look.dash) for look in many.values()}) == 30
