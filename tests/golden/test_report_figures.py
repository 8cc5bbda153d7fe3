"""The figures of every recipe's private report are what they were, section by section."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from golden_values import REPORTS, differences_of_reports, released, report_figures
from recipes import RECIPES


def stored(name: str) -> Any:
    return json.loads((REPORTS / f"{name}.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", RECIPES)
def test_a_report_says_what_it_said_before(name: str, root: Path) -> None:
    assert differences_of_reports(stored(name), report_figures(released(name, root)), RECIPES[name].noise) == []


@pytest.mark.parametrize("section", ["headline/identity", "cost/loss", "attacks/0/after"])
def test_a_changed_figure_of_a_report_is_named_by_its_section(section: str, root: Path, tmp_path: Path) -> None:
    folder = released("mondrian-k", root)
    report = json.loads((folder / "private" / "report.json").read_text(encoding="utf-8"))
    first, *rest = section.split("/")
    part = report[first]
    for key in rest:
        part = part[int(key) if key.isdigit() else key]
    while isinstance(part, dict) and not isinstance(next(iter(part.values())), float):
        part = next(iter(part.values()))
    name = next(iter(part))
    part[name] *= 1.001
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "report.json").write_text(json.dumps(report), encoding="utf-8")
    before, after = report_figures(folder), report_figures(tmp_path)
    found = differences_of_reports(before, after)
    assert found
    assert {line.split(" (")[0] for line in found if "(sum" in line} == {f"report.json/{section}"}


def test_a_section_that_is_lost_or_new_is_named() -> None:
    before = stored("mondrian-k")
    after = copy.deepcopy(before)
    after["news/today"] = after.pop("headline/identity")
    assert differences_of_reports(before, after) == [
        "report.json/headline/identity: not found",
        "report.json/news/today: not stored",
    ]


def test_changed_texts_are_named() -> None:
    before = stored("mondrian-k")
    after = copy.deepcopy(before)
    after["promises/text"] = "0" * 16
    assert [line.split(":")[0] for line in differences_of_reports(before, after)] == [
        "report.json/promises/text (texts)"
    ]
