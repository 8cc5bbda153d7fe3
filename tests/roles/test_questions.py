"""What only the holder can answer, in what is returned, printed, written to the spec, and on the page."""

from __future__ import annotations

import json
import re
import tomllib

import pyarrow as pa
import pytest
from markupsafe import escape

from undercover.model.schema import Schema
from undercover.pages.jinja import environment
from undercover.pages.render import inspection_html
from undercover.studies.inspect.inspection import inspect
from undercover.studies.inspect.spec import write_spec

SPOKEN = {"quasi_identifiers": ["age", "sex"], "sensitive": "disease"}


def visits() -> pa.Table:
    """Eight visits by five people; `shade` and `code` are of nobody knows what."""
    return pa.table(
        {
            "patient_id": [1, 1, 2, 3, 3, 4, 5, 5],
            "visit_key": [f"v{row}" for row in range(8)],
            "age": [30, 30, 30, 30, 40, 40, 50, 50],
            "sex": ["f", "f", "f", "f", "m", "m", "f", "m"],
            "disease": ["a", "b", "a", "b", "c", "a", "b", "c"],
            "shade": ["p", "p", "q", "q", "p", "p", "p", "p"],
            "code": ["k", "l", "k", "l", "k", "l", "k", "k"],
        }
    )


def test_every_column_without_a_role_is_asked_about():
    found = inspect(visits())
    asked = {question.column: question for question in found.questions}
    assert set(asked) == set(found.named("none")) == {"visit_key", "shade", "code"}
    # Alone in age and sex are (50, f) and (50, m). With the code (40, m, k) and (40, m, l) are, too; with shade nobody.
    assert [asked[name].more for name in ("shade", "code", "visit_key")] == [0, 2, 6]
    assert [asked[name].alone for name in ("shade", "code", "visit_key")] == [0, 0, 8]
    content = json.loads(json.dumps(found.to_dict()))
    assert content["questions"][-1]["question"] == "`code`: publish, drop, or may somebody know it?"


def test_what_was_decided_is_not_asked():
    def asked(**more: object) -> list[str]:
        return [question.column for question in inspect(visits(), schema=Schema(**SPOKEN, **more)).questions]

    assert asked() == ["patient_id", "visit_key", "shade", "code"]
    assert asked(identifiers="patient_id", insensitive="shade", drop=["code"]) == ["visit_key"]
    assert asked(drop="*") == []
    assert asked(weight="code", unit="patient_id", drop=["shade", "visit_key"]) == []


def test_an_undecided_column_keeps_its_hint():
    column = inspect(visits(), schema=Schema(quasi_identifiers="sex")).column("disease")
    assert column.reason.startswith("The schema gives it no role")
    assert "speaks of an illness" in column.reason


def test_what_is_published_unchanged_is_known():
    plain = inspect(visits(), schema=Schema(**SPOKEN))
    known = inspect(visits(), schema=Schema(**SPOKEN, insensitive="code"))
    assert plain.class_sizes[0]["rows"] == 2
    assert known.class_sizes[0]["rows"] == 4
    assert known.to_dict()["quasi_identifiers"] == ["age", "sex"]
    assert known.to_dict()["known"] == ["age", "sex", "code"]


def test_the_risk_of_everything():
    published = inspect(visits(), schema=Schema(**SPOKEN)).to_dict()["published"]
    assert [(step["what"], step["unique_rows"]) for step in published] == [
        ("what others may know", 2),
        ("and what is sensitive", 4),
        ("and what nobody has decided on", 8),
    ]


def test_the_unit_is_proposed_where_a_key_repeats():
    found = inspect(visits())
    assert found.unit == found.to_dict()["unit"] == "patient_id"
    assert 'unit="patient_id"' in found.warnings[0]
    assert inspect(visits(), schema=Schema(**SPOKEN, unit="visit_key")).unit == "visit_key"
    assert "Counted in rows." in str(found.view().parts)
    once = visits().slice(1, 3)
    assert inspect(once).unit is None
    assert "Counted in rows." not in str(inspect(once).view().parts)
    holes = pa.table({"patient_id": [1, 1, None, 2], "age": [1, 2, 3, 4]})
    assert inspect(holes).unit is None
    households = pa.table({"household_id": [1, 1, 1, 2], "person_id": [7, 7, 8, 9], "age": [1, 2, 3, 4]})
    assert inspect(households).unit == "person_id"


def test_the_spec_asks_and_names_the_unit():
    text = write_spec(inspect(visits()))
    roles = tomllib.loads(text)["roles"]
    assert roles["unit"] == "patient_id"
    assert "drop" not in roles
    assert '#   "code": publish, drop, or may somebody know it?' in text
    assert "Published unchanged it would single out 2 more." in text
    assert Schema(**roles).unit == "patient_id"
    decided = text.replace("# drop = [", "drop = [")
    assert inspect(visits(), schema=Schema(**tomllib.loads(decided)["roles"])).questions == ()


@pytest.mark.parametrize("nasty", ['<script>alert("x")</script>', "a`b", "{{ 7 * 7 }}"])
def test_the_page_stands_alone(nasty):
    found = inspect(visits().rename_columns([*visits().column_names[:-1], nasty]))
    page = inspection_html(found.to_dict(), found.risks(), nasty)
    page = page.replace(f"<script>{environment().globals['script']}</script>", "", 1)  # that of every page
    assert not re.findall(r"(?:https?:)?//[\w.]+|@import|url\((?!#)|javascript:|<script|<img|<link", page)
    assert "publish it unchanged" in page
    assert page.count("to decide") >= 3
    assert str(escape(nasty)) in page


def test_the_page_shows_no_value_of_an_identifier():
    table = pa.table({"name": [f"Zaphod{row}" for row in range(30)], "age": [row % 4 for row in range(30)]})
    found = inspect(table)
    assert "Zaphod" not in inspection_html(found.to_dict(), found.risks(), "people.csv")


def test_a_page_of_a_table_of_which_nothing_is_known():
    found = inspect(pa.table({"foo": [1, 1, 2]}))
    page = inspection_html(found.to_dict(), found.risks(), "foo.csv")
    assert "nobody said what others may know" in page
