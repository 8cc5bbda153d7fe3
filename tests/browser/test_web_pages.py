"""Pages of the web application that are there before any table is: readable for everybody, on a phone, in the dark."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser
from running import Running
from visiting import Visitor, visiting

PAGES = {
    "home": "/",
    "new": "/new",
    "ask": "/ask",
    "interface": "/api",
    "nowhere": "/nowhere",
    "gone": "/tables/000000000000/data",
}


@pytest.mark.parametrize(("name", "language"), [*((name, "en") for name in PAGES), ("home", "de"), ("new", "de")])
def test_a_page(
    name: str,
    language: str,
    browser: Browser,
    server: Running,
    sessions: dict[str, dict[str, str]],
    screenshots: Path,
) -> None:
    with visiting(browser, server.base, {**sessions["third"], "language": language}) as visitor:
        page = visitor.goto(PAGES[name])
        assert page.locator("html").get_attribute("lang") == language
        assert page.locator("h1").count() == 1
        assert visitor.faults(screenshots / f"web-{name}-{language}") == []


def test_somebody_comes_in_makes_an_address_and_goes(
    browser: Browser, server: Running, sessions: dict[str, dict[str, str]], screenshots: Path
) -> None:
    with visiting(browser, server.base) as stranger:
        page = stranger.goto("/tables/000000000000/columns")
        assert page.url == f"{server.base}/enter"
        assert stranger.faults(screenshots / "web-enter") == []
        with visiting(browser, server.base, sessions["third"]) as visitor:
            visitor.goto("/").get_by_role("button", name="Make an address").click()
            address = visitor.page.get_by_label("Open this address there").input_value()
            assert visitor.faults(screenshots / "web-link") == []
        page.goto(address)
        assert page.url == f"{server.base}/", "the token is in no address that a browser keeps"
        page.get_by_role("button", name="Deutsch").click()
        page.get_by_role("button", name="Abmelden").click()
        assert page.url == f"{server.base}/enter"
        page.goto(address)
        assert "schon verwendet" in page.locator("main").inner_text()


def faulty(visitor: Visitor, html: str) -> list[str]:
    visitor.page.evaluate("(html) => { document.querySelector('main').innerHTML += html; }", html)
    return visitor.faults()


def test_planted_faults_are_seen(browser: Browser, server: Running, sessions: dict[str, dict[str, str]]) -> None:
    with visiting(browser, server.base, sessions["third"]) as visitor:
        visitor.goto("/new")
        found = "\n".join(
            faulty(visitor, "<input name='x'><img src='data:,'><p style='color:#999;background:#fff'>pale</p>")
        )
        for where in ("1280-light", "1280-dark", "390-light", "390-dark"):
            assert f"{where}: contrast" in found
        for where in ("1280-light", "390-dark"):
            assert f"{where}: label (critical)" in found
            assert f"{where}: image-alt (critical)" in found
        assert "1280-light: color-contrast (serious)" in found
    with (
        pytest.raises(AssertionError, match=r"request: https://example\.org"),
        visiting(browser, server.base) as visitor,
    ):
        visitor.page.goto("data:text/html,<img src='https://example.org/a.png'>")
