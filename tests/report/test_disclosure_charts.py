"""Disclosure against what an attacker knows: the figures drawn are those of the attack."""

import html
import json
import re
from xml.etree import ElementTree

import pytest

import undercover as uc
from undercover.attacks.views import confidence_chart, growth_chart, ordinary_corruption_chart, p_match_chart
from undercover.io.plain import as_json
from undercover.pages.compare import sweep_chart
from undercover.pages.render import report_html
from undercover.pages.svg import svg
from undercover.verbs.report import summarize

NASTY = "<script>alert('x')</script> & \"y\""


@pytest.fixture(scope="module")
def people():
    return uc.datasets.census(800, seed=2), uc.datasets.census_schema(["age", "sex", "education"])


@pytest.fixture(scope="module")
def attacks(people):
    """The attacks of two reports, by name."""
    ordinary = uc.publish(*people, uc.Mondrian(k=10, l=3), seed=1)
    perturbed = uc.publish(*people, uc.PerturbedGeneralization(k=6, p=0.3), seed=1)
    found = summarize(ordinary)["attacks"] + summarize(perturbed)["attacks"]
    return {attack["attack"]: attack for attack in found}


def test_partial_knowledge_is_drawn_as_it_was_found(attacks):
    attack = attacks["p-match"]
    chart = p_match_chart(attack)
    assert len(chart.values) == 2 * 2 * 2 * len(attack["sweep"])
    for row in chart.values:
        sweep = attack["sweep" if row["side"] == "release" else "sweep_before"]
        (entry,) = (entry for entry in sweep if entry["p"] == row["x"])
        figures = entry["identity"] if row["panel"] == "finding the row" else entry["attribute"]["income"]
        assert row["y"] == figures["mean" if row["of"] == "mean" else "max"]
    assert {row["guess"] for row in chart.values if row["panel"] == "finding the row"} == {1 / 800}
    ElementTree.fromstring(svg(chart))


def test_corruption_of_an_ordinary_release_is_drawn_as_it_was_found(attacks):
    attack = attacks["ordinary-corruption"]
    drawn = {(row["x"], row["of"]): row["y"] for row in ordinary_corruption_chart(attack).values}
    for entry in attack["sweep"]:
        assert drawn[entry["share"], "mean"] == entry["attribute"]["income"]["mean"]
        assert drawn[entry["share"], "worst"] == entry["attribute"]["income"]["max"]
    assert drawn[1.0, "mean"] == 1.0


def test_growth_stays_below_the_rule_and_is_that_of_the_attack(attacks):
    attack = attacks["corruption"]
    rows = growth_chart(attack).values
    assert [(row["x"], row["y"], row["guess"]) for row in rows] == [
        (entry["share"], entry["growth"]["max"], entry["bound"]) for entry in attack["sweep"]
    ]
    assert all(row["y"] <= row["guess"] * (1 + 1e-9) for row in rows)


def test_confidence_stands_beside_that_of_the_same_cells_in_full(attacks):
    attack = attacks["corruption"]
    rows = confidence_chart(attack).values
    assert [row["y"] for row in rows if row["side"] != "this release"] == [
        entry["confidence"]["mean"] for entry in attack["plain"]
    ]
    assert rows[-1]["y"] == 1.0


def test_nasty_column_names_stay_text():
    def entry(p):
        return {"p": p, "identity": {"mean": p, "max": p}, "attribute": {NASTY: {"mean": p, "max": p}}}

    sides = {name: [entry(0.5), entry(1.0)] for name in ("sweep", "sweep_before")}
    guess = {"identity": 0.1, "attribute": {NASTY: {"mean": 0.2}}}
    drawing = svg(p_match_chart({**sides, "baseline": guess}))
    ElementTree.fromstring(drawing)
    assert "<script" not in drawing


METHODS = {
    "Matching on some of the values": uc.MutualCover(variant="paper", delta="1/5", l=5),
    "Which generalisations keep the promise": uc.Incognito(k=5),
    "What other k and p would promise": uc.PerturbedGeneralization(k=6, p=0.3),
    "Knowing other people's values": uc.Anatomy(l=3),
}


def numbers(content):
    if isinstance(content, dict):
        return {number for value in content.values() for number in numbers(value)}
    if isinstance(content, list | tuple):
        return {number for value in content for number in numbers(value)}
    return {repr(content)} if isinstance(content, int | float) and not isinstance(content, bool) else set()


@pytest.mark.parametrize("heading", METHODS)
def test_the_report_shows_only_figures_of_its_summary_and_stays_small(people, heading):
    summary = summarize(uc.publish(*people, METHODS[heading], seed=1))
    page = report_html(summary)
    assert heading in html.unescape(page)
    shown = set(re.findall(r'<data value="([^"]+)">', page)) - {"0.0"}
    assert shown <= numbers(json.loads(as_json(summary)))
    assert "np." not in page
    assert not shown <= numbers({**summary, "attacks": [], "sections": []})  # the check can fail
    assert len(page.encode()) < 2_000_000


def test_sweeps_of_a_comparison_hold_its_figures():
    def release(series, value, mean):
        part = {"mean": mean, "worst": min(1.0, 3 * mean)}
        return {
            "series": series,
            "parameter": "l",
            "value": value,
            "privacy": {"identity": part, "attribute": None if series == NASTY else part},
        }

    made = [release("A", 2, 0.3), release("A", 4, 0.1), release(NASTY, 2, 0.2), release(NASTY, 4, 0.0)]
    chart = sweep_chart([*made, release("alone", 2, 0.1)], {"identity": 0.01, "attribute": {"mean": 0.05}})
    assert {row["series"] for row in chart.values} == {"A", NASTY}
    risks = {(row["series"], row["value"], row["of"]): row["risk"] for row in chart.values}
    assert risks["A", "4", "worst"] == pytest.approx(0.3)
    assert risks[NASTY, "4", "mean"] == 0.0
    drawing = svg(chart)
    ElementTree.fromstring(drawing)
    assert "<script" not in drawing
    assert sweep_chart([release("alone", 2, 0.1)], {"identity": 0.01}) is None
