"""The columns of a table in a browser: figures that follow every choice, levels that are tried, and no script."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from running import Running
from serving import profiled
from visiting import visiting

from undercover.web.desks.desk import Desk

TOWNS = ("Bonn", "Köln", "Lyon", "Nice")
COLUMNS = ("age", "sex", "town", "illness", *(f"item_{number:02d}" for number in range(10)))
ROWS = [
    (20 + row * 7 % 41, "fm"[row % 2], TOWNS[row * 3 % 4], ("flu", "gout")[row % 2], *(row % 3 for _ in range(10)))
    for row in range(120)
]


@pytest.fixture(scope="module")
def table(server: Running, workspace: Path) -> str:
    """A table that was looked at: the address of its pages."""
    text = "".join(f"{','.join(map(str, row))}\n" for row in (COLUMNS, *ROWS))
    return f"/tables/{profiled(Desk(workspace, 'second'), text).id}"


PAGES = {"columns": "columns", "levels-numbers": "columns/0", "levels-groups": "columns/2"}


@pytest.mark.parametrize(("name", "language"), [("columns", "de"), ("levels-numbers", "en"), ("levels-groups", "de")])
def test_pages_of_columns_can_be_read(
    browser: Browser,
    server: Running,
    sessions: dict[str, dict[str, str]],
    screenshots: Path,
    table: str,
    name: str,
    language: str,
) -> None:
    with visiting(browser, server.base, {**sessions["second"], "language": language}) as visitor:
        assert visitor.goto(f"{table}/{PAGES[name]}").locator("html").get_attribute("lang") == language
        assert visitor.faults(screenshots / f"web-{name}-{language}") == []


def test_figures_follow_every_choice(
    browser: Browser, server: Running, sessions: dict[str, dict[str, str]], table: str
) -> None:
    with visiting(browser, server.base, sessions["second"]) as visitor:
        page = visitor.goto(f"{table}/columns")
        figures = page.locator("#figures")
        before = figures.locator(".alone").inner_text()
        figures.locator("summary").click()
        begin = time.perf_counter()
        page.locator("#role-0").select_option("drop")
        expect(figures).to_contain_text("not saved yet")
        print(f"a choice was answered within {1000 * (time.perf_counter() - begin):.0f} ms")
        assert figures.locator(".alone").inner_text() != before
        expect(figures.locator("details")).to_have_attribute("open", "")
        page.get_by_label("Whose row it is").select_option("sex")
        expect(page.locator("#whose")).to_contain_text("2 people have 120 rows")
        page.get_by_label("Find a column").fill("item_03")
        expect(page.locator("li.column:visible")).to_have_count(1)
        page.get_by_label("Find a column").fill("nothing")
        expect(page.locator(".filter [role=status]")).to_contain_text("No column")
        page = visitor.goto(f"{table}/columns")
        assert figures.locator(".alone").inner_text() == before, "nothing was written"


def test_levels_are_tried_before_they_are_taken(
    browser: Browser, server: Running, sessions: dict[str, dict[str, str]], table: str
) -> None:
    with visiting(browser, server.base, sessions["second"]) as visitor:
        page = visitor.goto(f"{table}/columns/0")
        page.get_by_text("Intervals of the same width").click()
        page.get_by_label("Widths").fill("10, 20")
        page.get_by_label("Widths").press("Tab")
        expect(page.locator("#levels")).to_contain_text("nothing is saved yet")
        expect(page.locator("#levels")).to_contain_text("[20, 29]")
        page.get_by_label("Widths").fill("10, 25")
        page.get_by_label("Widths").press("Tab")
        expect(page.locator("#levels [role=alert]")).to_contain_text("multiple")
        assert "automatic" in visitor.goto(f"{table}/columns/0").locator("main .note").first.inner_text()


def test_without_scripts_columns_are_decided_and_values_grouped(
    browser: Browser, server: Running, sessions: dict[str, dict[str, str]], table: str
) -> None:
    with visiting(browser, server.base, sessions["second"], java_script_enabled=False) as visitor:
        page = visitor.goto(f"{table}/columns/2")
        page.get_by_role("button", name="Add a coarser level").click()
        for town in ("Bonn", "Köln"):
            page.get_by_role("checkbox", name=town).check()
        page.get_by_label("Put the chosen ones").fill("Rhine")
        page.get_by_role("button", name="Put", exact=True).click()
        expect(page.locator("legend", has_text="Rhine")).to_be_visible()
        page = visitor.goto(f"{table}/columns")
        if page.get_by_role("button", name="Publish none").count():
            page.get_by_role("button", name="Publish none").click()
        page.get_by_role("button", name="This is right").click()
        assert page.url == f"{server.base}{table}/protect"
