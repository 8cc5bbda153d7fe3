"""Charts are drawn without checking their specification; here each one is checked against Vega-Lite's schema."""

import altair as alt
import jsonschema
import pytest

import undercover as uc
from pictures import frame
from undercover.pages import jinja
from undercover.pages.render import report_html
from undercover.verbs.report import summarize

METHODS = {
    "one table": uc.Mondrian(k=5, l=2),
    "two tables": uc.CrossBucket(k=3, l=3),
    "drawn": uc.MutualCover(variant="paper", delta="1/3", l=3),
    "perturbed": uc.PerturbedGeneralization(k=4, p=0.4),
    "levels": uc.Incognito(k=5),
}


def check(spec):
    """Raise where a specification is none."""
    alt.Chart.from_dict(spec, validate=True)


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_every_chart_of_a_report_is_valid(method, monkeypatch):
    drawn = {}

    def kept(picture, name=""):
        drawn[name or picture.name] = picture.spec
        return frame(picture, name)  # tests/report/test_pages.py draws those of every method

    monkeypatch.setattr(jinja, "drawings", kept)
    schema = uc.datasets.census_schema(["age", "sex", "education"])
    report_html(summarize(uc.publish(uc.datasets.census(400), schema, method)))
    assert len(drawn) >= 6
    for spec in drawn.values():
        check(spec)


def test_a_wrong_chart_is_found_out():
    spec = {"data": {"values": []}, "mark": "bar", "encoding": {"x": {"field": "a", "type": "numbers"}}}
    with pytest.raises((alt.utils.schemapi.SchemaValidationError, jsonschema.ValidationError)):
        check(spec)
