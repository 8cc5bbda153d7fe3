"""Drawing beside: reports are drawn by another process, all of them or none that was not begun."""

import os
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import undercover as uc
from undercover.pages.render import report_html
from undercover.studies.drawing import drawing_beside
from undercover.verbs.report import summarize


@pytest.fixture(scope="module")
def summary() -> Mapping[str, Any]:
    schema = uc.Schema(quasi_identifiers=["age"])
    return summarize(uc.publish(uc.datasets.census(40, seed=1), schema, uc.Mondrian(k=5), seed=1))


def test_at_the_end_every_report_is_drawn_by_another_process(summary: Mapping[str, Any], tmp_path: Path) -> None:
    pages = [tmp_path / name for name in ("one.html", "two.html")]
    with drawing_beside() as draw:
        for page in pages:
            draw(partial(report_html, summary), page)
    first, second = (page.read_text("utf-8") for page in pages)
    assert first == second
    assert "<path" in first  # here pictures are empty frames


def test_a_report_that_cannot_be_drawn_is_told(tmp_path: Path) -> None:
    with pytest.raises(KeyError, match="asked"), drawing_beside() as draw:
        draw(partial(report_html, {"private": True}), tmp_path / "page.html")
    assert os.listdir(tmp_path) == []


def test_whoever_stops_early_waits_for_nothing_that_is_not_begun(summary: Mapping[str, Any], tmp_path: Path) -> None:
    def interrupted() -> None:
        with drawing_beside() as draw:
            for number in range(30):
                draw(partial(report_html, summary), tmp_path / f"{number}.html")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert len(os.listdir(tmp_path)) < 10
