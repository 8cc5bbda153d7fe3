import json
import re

import pytest
from scipy.special import stdtrit

from undercover.pages.experiment import coinciding, experiment_chart, experiment_html, figure_tables
from undercover.pages.looks import looks
from undercover.pages.svg import svg
from undercover.studies.experiments.experiment import LEAST_FOR_T, STUDENT, summarised
from undercover.studies.experiments.runner import NO_VERDICT, WHOLE


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
            "interval": [0.09 * (i + 1) * (j + 1), 0.12 * (i + 1) * (j + 1)] if count > 1 else None,
            "interval_is": None if count == 1 else "range" if count < 5 else "95%",
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
        "quick": False,
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
    assert [{key: row[key] for key in PLOTS[name]["points"][0]} for row in chart.values] == PLOTS[name]["points"]
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


def drawn_with(drawing, color):
    """How wide the lines of a colour are drawn."""
    lines = re.findall(r"<path[^>]*fill=\"none\"[^>]*>|<path[^>]*stroke=[^>]*>", drawing)
    return {
        float(found[1]) for line in lines if color in line and (found := re.search(r'stroke-width="([\d.]+)"', line))
    }


def test_lines_that_coincide_are_drawn_one_in_the_other_and_named():
    b, c = points(["a"], [1, 2, 3]), points(["x", "c"], [1, 2, 3])[3:]
    equal = [*b, *({**point, "series": "b"} for point in b), *c]
    known = looks(["a", "b", "c"])
    drawing = svg(experiment_chart(plot(points=equal), known))
    assert max(drawn_with(drawing, known["a"].color)) > max(drawn_with(drawing, known["b"].color))
    assert drawn_with(drawing, known["b"].color) == drawn_with(drawing, known["c"].color)
    page = experiment_html(results(plot(points=equal)))
    assert "“a” and “b” coincide." in page
    assert "“c” coincide" not in page
    apart = [*b, *({**point, "series": "b", "mean": point["mean"] * 1.2} for point in b)]
    assert "coincide" not in experiment_html(results(plot(points=apart)))


def test_a_reference_that_coincides_is_drawn_on_top_and_panels_are_named():
    one = points(["a"], [1, 2], "left")
    same = [*({**point, "series": "optimum"} for point in one), *one, *points(["a", "optimum"], [1, 2], "right")]
    assert coinciding(plot(points=same, reference=["optimum"]), "left") == [["a", "optimum"]]
    page = experiment_html(results(plot(points=same, reference=["optimum"])))
    assert "“a” and “optimum” coincide (left)." in page


def test_the_caption_says_what_bars_are():
    assert "Bars" not in experiment_html(results(PLOTS["lines"]))
    assert "the least and the greatest of 3 repetitions" in experiment_html(results(PLOTS["bars with spread"]))
    many = [*points(["a"], [1, 2], count=5), *points(["b"], [1, 2], count=10)]
    assert "95% intervals of the mean of 5 to 10 repetitions" in experiment_html(results(plot(points=many)))


def test_bars_are_drawn_along_the_interval():
    ends = svg(experiment_chart(PLOTS["lines with spread"])).count("<path"), svg(experiment_chart(PLOTS["lines"]))
    assert ends[0] > ends[1].count("<path")
    chart = experiment_chart(PLOTS["lines with spread"])
    assert [[row["low"], row["high"]] for row in chart.values] == [row["interval"] for row in chart.values]


def test_the_interval_of_a_mean_needs_five_repetitions():
    assert summarised([2.0])["interval"] is None
    few = summarised([1.0, 2.0, 6.0])
    assert (few["interval"], few["interval_is"], few["count"]) == ([1.0, 6.0], "range", 3)
    found = summarised([1.0, 2.0, 3.0, 4.0, 5.0])
    half = 2.7764451052 * 2.5**0.5 / 5**0.5  # Student's t with four degrees of freedom
    assert found["interval"] == pytest.approx([3 - half, 3 + half], rel=1e-3)
    exactly = [float(stdtrit(LEAST_FOR_T - 1 + place, 0.975)) for place in range(len(STUDENT))]
    assert all(0 <= ours - true < 1e-3 for ours, true in zip(STUDENT, exactly, strict=True))
    assert found["interval_is"] == "95%"
    assert summarised([0.0, 0.0, 0.0, 0.0, 1.0])["interval"][0] == 0.0  # no share is below none


def test_a_quick_run_is_no_verdict():
    claim = {"id": "c", "statement": "S.", "place": "P", "criterion": "C", "verdict": "held", "figures": "1"}
    whole = {**results(PLOTS["lines"]), "claims": [claim]}
    less = [{"what": "Table", "quick": "4,000 rows", "whole": "600,000 rows"}]
    quick = {**whole, "quick": True, "says": f"{NO_VERDICT} {WHOLE}", "shortened": less}
    said, marked = experiment_html(whole), experiment_html(quick)
    assert '<span class="badge good">held</span>' in said
    assert '<span class="badge ">held</span>' in marked
    for text in (NO_VERDICT, WHOLE, "4,000 rows", "600,000 rows", "Held in this quick run"):
        assert text in marked
        assert text not in said
