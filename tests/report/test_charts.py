from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

import pytest

from undercover.attacks.views import attribute_chart, match_size_chart
from undercover.model.view import BROAD, Picture
from undercover.pages import svg as svg_module
from undercover.pages.render import comparison_chart
from undercover.pages.sections import class_size_chart
from undercover.pages.svg import drawings, phone_svg, svg
from undercover.utility.views import distribution_chart, loss_chart


@pytest.fixture(scope="module")
def summary(make_run, summary_of):
    return summary_of(make_run(group_size=7))


def test_class_sizes_draw_the_histogram(summary):
    drawn = class_size_chart(summary["class_sizes"]).values
    bins = summary["class_sizes"]["histogram"]
    assert [(row["rows"], row["classes"]) for row in drawn] == [(bin_["rows"], bin_["classes"]) for bin_ in bins]


def test_match_sizes_draw_both_sides(summary):
    (attack,) = summary["attacks"]
    drawn = match_size_chart(attack).values
    for side in ("before", "after"):
        counts = [row["rows"] for row in drawn if row["release"] == side]
        assert counts == [bin_["rows"] for bin_ in attack["match_sizes"][side]]
    assert drawn[2]["matches"] == "3–4"
    assert drawn[7]["matches"] == "100+"


def test_attribute_probabilities_draw_both_sides(summary):
    (attack,) = summary["attacks"]
    drawn = attribute_chart(attack, "income").values
    for side in ("before", "after"):
        counts = [row["rows"] for row in drawn if row["release"] == side]
        assert counts == attack["attribute_histogram"]["income"][side]
    assert drawn[0]["probability"] == "0–5%"
    assert drawn[-1]["probability"] == "95–100%"


def test_losses_are_drawn_largest_first(summary):
    drawn = loss_chart(summary["cost"]["columns"]).values
    by_name = {column["name"]: column for column in summary["cost"]["columns"]}
    for row in drawn:
        assert row["loss"] == by_name[row["column"]]["arx" if row["measure"] == "loss of detail" else "ncp"]
    losses = [row["loss"] for row in drawn if row["measure"] == "loss of detail"]
    assert losses == sorted(losses, reverse=True)


def test_comparison_draws_disclosure_guessing_and_loss(summary):
    entry = {"title": "Ours", "headline": summary["headline"], "cost": summary["cost"]}
    drawn = {row["measure"]: row for row in comparison_chart([entry]).values}
    identity, attribute = summary["headline"]["identity"], summary["headline"]["attribute"]
    assert drawn["finding the row"]["value"] == identity["after_mean"]
    assert drawn["finding the row"]["guess"] == identity["baseline"]
    assert drawn["learning the value"]["value"] == attribute["after_mean"]
    assert drawn["learning the value"]["guess"] == attribute["baseline_mean"]
    assert drawn["loss of detail"]["value"] == summary["cost"]["loss"]["arx"]["arithmetic"]


def test_comparison_leaves_out_what_was_not_measured(summary):
    entries = [
        {"title": "attacked", "headline": summary["headline"], "cost": None},
        {"title": "measured", "headline": None, "cost": summary["cost"]},
    ]
    chart = comparison_chart(entries)
    assert [(row["method"], row["measure"]) for row in chart.values] == [
        ("attacked", "finding the row"),
        ("attacked", "learning the value"),
        ("measured", "loss of detail"),
    ]
    ElementTree.fromstring(svg(chart))


def charts_of(summary):
    (attack,) = summary["attacks"]
    cost = summary["cost"]
    return [
        class_size_chart(summary["class_sizes"]),
        match_size_chart(attack),
        attribute_chart(attack, "income"),
        loss_chart(cost["columns"]),
        distribution_chart(cost["distributions"], cost["distances"]["columns"]["each"]),
        comparison_chart([{"title": "Ours", "headline": summary["headline"], "cost": cost}]),
    ]


def words_of(drawn: str) -> set[str]:
    """Every text of a drawing, lines that were broken together again."""
    texts = (element for element in ElementTree.fromstring(drawn).iter() if element.tag.endswith("text"))
    return {" ".join("".join(line.itertext()) for line in (text if len(text) else [text])) for text in texts}


def unreadable(drawn: str) -> list[str]:
    """What somebody with a phone of 390 pixels cannot read: a drawing that is scaled down, small letters."""
    width = float(re.search(r'viewBox="0 0 ([\d.]+)', drawn)[1])
    sizes = [float(size) for size in re.findall(r'font-size="([\d.]+)px"', drawn)]
    return [f"{width} wide"] * (width > 358) + [f"letters of {size}" for size in sizes if size < 11]


def test_every_picture_is_drawn_for_a_phone_with_the_same_words(summary):
    for chart in charts_of(summary):
        broad, both = svg(chart), drawings(chart)
        assert both.startswith(broad), chart.name
        narrow = both.removeprefix(broad)
        assert unreadable(narrow) == unreadable(phone_svg(chart)) == [], chart.name
        assert unreadable(broad), chart.name
        assert {word for word in words_of(broad) - words_of(narrow) if not re.search(r"\d", word)} == set(), chart.name


def test_what_has_no_room_on_a_phone_is_left_out():
    x = {"field": "x", "type": "nominal", "sort": [f"value {place}" for place in range(9)], "axis": {"labelAngle": 0}}
    layers = [{"mark": "bar"}, {"mark": {"type": "text", "text": "dense"}, "name": BROAD}]
    spec = {"data": {"values": [{"x": "value 1"}]}, "encoding": {"x": x}, "width": 700, "layer": layers}
    broad, narrow = (draw(Picture("bars", spec, "")) for draw in (svg, phone_svg))
    assert "dense" in words_of(broad)
    assert "dense" not in words_of(narrow)
    assert unreadable(narrow) == []
    assert "rotate(315)" in narrow
    assert "rotate(315)" not in broad


def test_a_picture_is_drawn_again_for_a_phone_only_where_that_makes_it_narrower(monkeypatch):
    y = {"field": "y", "type": "nominal", "title": "a title"}
    spec = {"data": {"values": [{"y": "a label that is long, longer than any"}]}, "mark": "bar", "encoding": {"y": y}}
    widths, draw = [], svg_module.draw_chart
    monkeypatch.setattr(svg_module, "draw_chart", lambda given: (widths.append(given["width"]), draw(given))[1])
    assert unreadable(phone_svg(Picture("bars", {**spec, "width": 220}, ""), beside=40)) == []
    assert widths[0] == 220
    assert len(widths) == len(set(widths)) > 1


def test_drawings_are_xml_with_a_text_alternative_and_no_fixed_ink(summary):
    charts = charts_of(summary)
    for chart in charts:
        drawing = ElementTree.fromstring(svg(chart))
        assert drawing.get("role") == "img"
        assert drawing.get("aria-label") == chart.sentence
        assert drawing[0].tag.endswith("title")
        assert drawing[0].text == chart.sentence
        texts = [element for element in drawing.iter() if element.tag.endswith("text")]
        assert {element.get("fill") for element in texts} == {"currentColor"}
        painted = {element.get(key) for element in drawing.iter() for key in ("fill", "stroke")} - {None, "none"}
        assert all(colour == "currentColor" or colour.startswith(("var(--", "transparent")) for colour in painted)


def test_description_of_the_attack_speaks_of_the_figures(summary):
    (attack,) = summary["attacks"]
    described = match_size_chart(attack).sentence
    assert "17 people match exactly one row" in described
    assert "19%" in attribute_chart(attack, "income").sentence  # 0.211 * 0.9 = 0.1899, rounded up


def test_bars_of_a_comparison_stand_where_their_names_do(summary):
    """A panel that lacks a release leaves its place empty: the bar of another one must not move up to it."""
    headline = summary["headline"]
    entries = [
        {"title": "First", "headline": headline, "cost": summary["cost"]},
        {"title": "Moved", "headline": headline, "cost": {"loss": {"shift": {"arithmetic": 0.3}}}},
        {"title": "Last", "headline": headline, "cost": summary["cost"]},
    ]
    panels = comparison_chart(entries).spec["hconcat"]
    assert len(panels) == 4
    for panel in panels:
        for layer in panel.get("layer", [panel]):
            assert layer["encoding"]["y"]["scale"]["domain"] == ["First", "Moved", "Last"]
