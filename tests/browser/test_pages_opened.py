"""Every kind of page in a browser: as wide as its window, readable in light and dark, alone, and true to its JSON."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from made_pages import MAKERS, Made, Pages
from playwright.sync_api import Browser, Page

LOOKING = Path(__file__).with_name("looking.js").read_text("utf-8")
DESK, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
OPEN = "document.querySelectorAll('details').forEach((fold) => { fold.open = true; })"
FIGURES = "[...document.querySelectorAll('data')].map((figure) => figure.value)"
FOLDED = """[...document.querySelectorAll("details")].map((fold) =>
  [...fold.children].some((part) => !part.getBoundingClientRect().height) && fold.textContent)"""
"""What stays folded; nothing on paper."""
READ = """() => {
  document.querySelectorAll("svg > title, button.all").forEach((each) => each.remove());
  return [...document.querySelectorAll("header, main, footer")].map((part) => part.textContent.trim().split(/\\s+/).join(" "));
}"""
"""All text of a page, whether it is seen or not; a picture's title is its label, too."""


@contextmanager
def opened(browser: Browser, path: Path, *, script: bool = True) -> Iterator[tuple[Page, list[str]]]:
    """A page in a window of its own, and the complaints of the browser so far."""
    context = browser.new_context(viewport=DESK, java_script_enabled=script)
    page, complaints = context.new_page(), []
    page.on("console", lambda said: complaints.append(f"console: {said.text}"))
    page.on("pageerror", lambda error: complaints.append(f"error: {error}"))
    page.on("request", lambda asked: complaints.append(f"request: {asked.url}") if asked.url != path.as_uri() else None)
    page.goto(path.as_uri())
    yield page, complaints
    context.close()


def wrong(page: Page, shots: Path | None = None) -> list[str]:
    """What is wrong with the look of a page at each width, in light and in dark, fold-outs open."""
    page.evaluate(OPEN)
    found = []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        for window in (DESK, PHONE):
            page.set_viewport_size(window)
            where = f"{window['width']}-{scheme}"
            found += [f"{where}: {fault}" for fault in page.evaluate(LOOKING, window is PHONE)]
            if shots is not None and (window is DESK) == (scheme == "light"):
                page.screenshot(path=f"{shots}-{where}.jpg", type="jpeg", quality=60, full_page=True)
    return found


@pytest.mark.parametrize("name", MAKERS)
def test_a_page(name: str, browser: Browser, pages: Pages, screenshots: Path) -> None:
    made = pages[name]
    with opened(browser, made.path) as (page, complaints):
        shown = page.evaluate(FIGURES)
        assert set(shown) - made.numbers == set()
        assert shown or name == "guarantee"
        assert wrong(page, screenshots / name.replace(" ", "-")) == []
        text = page.evaluate(READ)
        assert complaints == []
    with opened(browser, made.path, script=False) as (page, complaints):
        assert page.locator("button").count() == 0
        page.emulate_media(media="print")
        assert [fold for fold in page.evaluate(FOLDED) if fold] == []
        assert page.evaluate(READ) == text
        assert complaints == []
