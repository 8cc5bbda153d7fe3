"""Every kind of page in a browser: as wide as its window, readable in light and dark, alone, and true to its JSON."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from made_pages import MAKERS, Pages
from opening import DESK, PHONE, opened, photographed
from playwright.sync_api import Browser, Page

LOOKING = Path(__file__).with_name("looking.js").read_text("utf-8")
OPEN = "document.querySelectorAll('details').forEach((fold) => { fold.open = true; })"
FIGURES = "[...document.querySelectorAll('data')].map((figure) => figure.value)"
FOLDED = """[...document.querySelectorAll("details")].map((fold) =>
  [...fold.children].some((part) => !part.getBoundingClientRect().height) && fold.textContent)"""
"""What stays folded; nothing on paper."""
READ = """() => {
  document.querySelectorAll("svg > title, button.all").forEach((each) => each.remove());
  const parts = [...document.querySelectorAll("header, main, footer")];
  return parts.map((part) => part.textContent.trim().split(/\\s+/).join(" "));
}"""
"""All text of a page, whether it is seen or not; a picture's title is its label, too."""


def wrong(page: Page, shots: Path | None = None) -> list[str]:
    """What is wrong with the look of a page at each width, in light and in dark, fold-outs open."""
    page.evaluate(OPEN)
    found = []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        for window in (DESK, PHONE):
            page.set_viewport_size(window)
            where = f"{window['width']}-{scheme}"
            faults = [f"{where}: {fault}" for fault in page.evaluate(LOOKING, window is PHONE)]
            if shots is not None:
                photographed(page, f"{shots}-{where}.jpg", faults)
            found += faults
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


FAULTS = {
    '<div style="width:1400px">far</div>': "1280-light: the page is 1584 px wide",
    '<p style="position:absolute;left:-90px">out</p>': "390-dark: beyond the page: <p .* out",
    '<div class="wide"><div style="width:1500px">long</div></div>': "1280-light: scrolls by .* long",
    '<p style="color:#999;background:#fff">pale</p>': "1280-light: contrast 2.85: <p .* pale on 255,255,255",
    '<p style="color:#5a6675">dim</p>': "390-dark: contrast .* dim",
    '<p style="opacity:0.4"><b>thin</b></p>': "390-light: contrast .*<b .* thin",
    '<svg viewBox="0 0 90 30"><path d="M0 0H90V30H0Z" fill="#555"/><text x="9" y="20">eight</text></svg>': (
        "1280-light: contrast 2.82: <text .* eight on 85,85,85"
    ),
}
"""What is wrong, and how it is said."""


@pytest.fixture(scope="module")
def innocent(pages: Pages) -> str:
    return pages["inspection"].path.read_text("utf-8")


def test_planted_faults_are_seen(browser: Browser, innocent: str, tmp_path: Path) -> None:
    path = tmp_path / "planted.html"
    path.write_text(innocent.replace("</main>", f"{''.join(FAULTS)}</main>"), "utf-8")
    with opened(browser, path) as (page, _):
        found = "\n".join(wrong(page))
    assert [said for said in FAULTS.values() if not re.search(said, found)] == [], found


def test_a_page_lets_nobody_else_in(browser: Browser, innocent: str, tmp_path: Path) -> None:
    path = tmp_path / "planted.html"
    planted = (
        "<img src='https://example.org/a.png'><script>document.title = 'mine'</script>"
        "<p onclick='document.title = 1'>Here.</p>"
    )
    path.write_text(innocent.replace("</main>", f"{planted}</main>"), "utf-8")
    with opened(browser, path) as (page, complaints):
        page.get_by_text("Here.").click()
        refused = [said for said in complaints if "Content Security Policy" in said]
        assert len(refused) == 3
        assert page.title().startswith("Before publishing")


def test_complaints_are_heard(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "loud.html"
    path.write_text(
        "<link rel=stylesheet href=b.css><script>console.error('hm'); throw new Error('mine')</script>", "utf-8"
    )
    with opened(browser, path) as (_, complaints):
        assert {"console: hm", "error: mine", f"request: {path.with_name('b.css').as_uri()}"} <= set(complaints)


def test_on_paper_fold_outs_are_open_and_closed_again(browser: Browser, pages: Pages) -> None:
    with opened(browser, pages["report generalized"].path) as (page, _):
        closed = page.locator("main details:not([open])").count()
        page.evaluate(
            "addEventListener('beforeprint', () => { window.paper = document.querySelectorAll('[open]').length })"
        )
        assert page.pdf().startswith(b"%PDF")
        assert page.evaluate("window.paper") == page.locator("main details").count()
        assert page.locator("main details:not([open])").count() == closed > 1
