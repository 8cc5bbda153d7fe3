"""What the script of the pages does, by pointer and by keyboard."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from made_pages import Pages
from opening import PHONE, opened
from playwright.sync_api import Browser, Page, expect

from undercover.pages.jinja import environment

TABLE = """<main><table><thead>
<tr><th rowspan="2">Name</th><th colspan="2">Both</th><th rowspan="2">Size</th><th rowspan="2"></th></tr>
<tr><th class="n">mean</th><th class="n">worst</th></tr></thead>
<tbody>
<tr><th>b10</th><td class="n"><data value="0.0999">10%</data></td><td class="n">–</td>
    <td><data value="1000">1,000</data></td><td></td></tr>
<tr><th>b9</th><td class="n"><data value="0.5">50%</data></td><td class="n"><data value="inf">∞</data></td>
    <td><data value="200">200</data></td><td></td></tr>
<tr><th>a</th><td class="n">below <data value="0.02">2%</data></td><td class="n"><data value="3">3</data></td>
    <td>none</td><td></td></tr>
</tbody><tbody><tr><th>guessing</th><td></td><td></td><td></td><td></td></tr></tbody></table>
<table><thead><tr><th>Joined</th><th>x</th></tr></thead><tbody>
<tr><td colspan="2">1</td></tr><tr><td>2</td><td>3</td></tr><tr><td>4</td><td>5</td></tr></tbody></table></main>"""


@pytest.fixture(scope="module")
def table(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    path = tmp_path_factory.mktemp("script") / "table.html"
    path.write_text(f"<!DOCTYPE html>{TABLE}<script>{environment().globals['script']}</script>", "utf-8")
    with opened(browser, path) as (page, complaints):
        yield page
        assert complaints == []


@pytest.fixture
def report(browser: Browser, pages: Pages) -> Iterator[Page]:
    with opened(browser, pages["report generalized"].path) as (page, complaints):
        yield page
        assert complaints == []


def order(page: Page) -> str:
    return " ".join(page.locator("tbody th").all_text_contents())


@pytest.mark.parametrize(
    ("heading", "up", "down"),
    [
        ("Name", "a b9 b10", "b10 b9 a"),
        ("mean", "a b10 b9", "b9 b10 a"),  # by the exact value, not by what is written
        ("worst", "a b9 b10", "b9 a b10"),  # what there is none of is last, either way
        ("Size", "b9 b10 a", "b10 b9 a"),  # words after numbers
    ],
)
def test_a_heading_sorts_up_down_and_back(heading: str, up: str, down: str, table: Page) -> None:
    button, cell = table.get_by_role("button", name=heading), table.locator("th", has_text=heading).last
    for shown, sort in ((up, "ascending"), (down, "descending"), ("b10 b9 a", None)):
        button.press("Enter")
        assert order(table) == f"{shown} guessing"
        assert cell.get_attribute("aria-sort") == sort
    button.click()
    assert table.locator("[aria-sort]").count() == 1
    button.click()
    button.click()


def test_headings_that_cannot_sort_are_left_alone(table: Page) -> None:
    assert table.locator("th button").all_text_contents() == ["Name", "Size", "mean", "worst"]


def test_one_button_opens_and_closes_every_fold_out(report: Page) -> None:
    folds, button = report.locator("main details"), report.locator("button.all")
    expect(button).to_have_text("Open all fold-outs")
    button.click()
    expect(report.locator("main details[open]")).to_have_count(folds.count())
    expect(button).to_have_text("Close all fold-outs")
    folds.first.locator("summary").click()
    expect(button).to_have_text("Open all fold-outs")
    button.press("Enter")
    button.press("Enter")
    expect(report.locator("main details[open]")).to_have_count(0)


def test_a_mark_says_what_it_stands_for_under_the_pointer(report: Page) -> None:
    mark, tip = report.locator("#class-sizes svg.chart:visible [data-tip]").first, report.locator(".tip")
    assert not tip.is_visible()
    mark.hover()
    assert tip.inner_text() == str(mark.get_attribute("data-tip")).replace("; ", "\n")
    assert "rows published: " in tip.inner_text()
    assert "at" in str(mark.get_attribute("class"))
    report.locator("h1").hover()
    assert not tip.is_visible()


@pytest.mark.parametrize("phone", [False, True])
def test_marks_are_gone_through_by_the_arrow_keys(phone: bool, report: Page) -> None:
    if phone:
        report.set_viewport_size(PHONE)
    chart, tip = report.locator("#class-sizes svg.chart:visible"), report.locator(".tip")
    marks = chart.locator("[data-tip]")
    for key, place in ((None, 0), ("ArrowRight", 1), ("ArrowDown", 2), ("ArrowLeft", 1), ("Home", 1)):
        chart.focus() if key is None else report.keyboard.press(key)
        assert tip.inner_text() == str(marks.nth(place).get_attribute("data-tip")).replace("; ", "\n")
        box = tip.bounding_box()
        assert box is not None
        assert 0 <= box["x"] <= box["x"] + box["width"] <= report.viewport_size["width"]
    report.keyboard.press("Escape")
    assert not tip.is_visible()
    assert str(chart.get_attribute("aria-label")).endswith("Arrow keys go from mark to mark.")


def test_tabs_of_the_datasheet_are_chosen_by_keyboard_without_script(browser: Browser, pages: Pages) -> None:
    with opened(browser, pages["datasheet generalized"].path, script=False) as (page, _):
        page.locator("#tab-1").focus()
        page.keyboard.press("ArrowRight")
        assert page.locator("#code-2").is_visible()
        assert not page.locator("#code-1").is_visible()
        page.emulate_media(media="print")
        assert page.locator("#code-1").is_visible()
