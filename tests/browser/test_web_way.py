"""The whole way in a browser, from a file to a verified download: clicks, no scripts, keys, every method, mishaps."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from calling import Caller
from clicking import SECONDS, chosen, decided, downloaded, made, uploaded
from every_method import released
from playwright.sync_api import Browser, Page
from running import Running, running
from some_people import published, write_people
from visiting import visiting

from pictures import drawing
from undercover import plugins

pytestmark = pytest.mark.long
Sessions = dict[str, dict[str, str]]


@pytest.fixture(scope="module")
def people_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_people(tmp_path_factory.mktemp("people") / "people.csv")


class Desk(Caller):
    """A program at a desk whose cookies a browser has, too."""

    def __init__(self, base: str, cookies: dict[str, str]) -> None:
        (key,) = cookies.values()
        super().__init__(base, key=key)


@pytest.fixture(scope="module")
def table(server: Running, sessions: Sessions, workspace: Path, people_file: Path) -> tuple[str, int]:
    """A table at the desk "second" of which a release is made: its id and the release's number."""
    with drawing():
        key = published(workspace, "second", people_file).id
    with Desk(server.base, sessions["second"]) as caller:
        caller.freed(key, 1)
    return key, 1


# With scripts, a withheld release goes the same way and further.
@pytest.mark.parametrize("script", [pytest.param(True, marks=pytest.mark.soak), False], ids=["scripts", "no scripts"])
def test_by_clicking(
    script: bool, browser: Browser, server: Running, sessions: Sessions, people_file: Path, tmp_path: Path
) -> None:
    with visiting(browser, server.base, sessions["own"], java_script_enabled=script) as visitor:
        table, page = uploaded(visitor, people_file), visitor.page
        decided(page)
        chosen(page, "Mondrian")
        made(page, table)
        assert "Ready" in page.locator("main").inner_text()
        assert downloaded(page, tmp_path / "release")


def test_a_withheld_release_is_accepted(
    browser: Browser, server: Running, sessions: Sessions, people_file: Path, tmp_path: Path, screenshots: Path
) -> None:
    with visiting(browser, server.base, sessions["own"]) as visitor:
        table, page = uploaded(visitor, people_file), visitor.page
        decided(page)
        chosen(page, "Anatomy")
        made(page, table)
        assert page.get_by_role("heading", name="The tables are withheld").count() == 1
        assert page.get_by_role("link", name="Download the release (zip)").count() == 0
        assert page.request.get(f"{table}/releases/1/public.zip").status == 404
        assert visitor.faults(screenshots / "web-withheld", unfold=False) == []
        page.get_by_text("Publish it against the verdict", exact=True).click()
        assert page.get_by_text("You decide as own").count() == 1
        page.get_by_label("Why it may be published").fill("Nobody in it exists.")
        page.get_by_label("I have read the reasons").check()
        page.get_by_role("button", name="Accept and publish").click()
        page.get_by_role("link", name="Download the release (zip)").wait_for(timeout=SECONDS)
        assert downloaded(page, tmp_path / "release")


def tabbed(page: Page, wanted: str) -> None:
    """Go on by the tabulator until something of that name has the focus."""
    name = "() => { const e = document.activeElement; return (e.labels?.[0] ?? e).textContent.trim(); }"
    for _ in range(150):
        page.keyboard.press("Tab")
        if re.match(wanted, page.evaluate(name)):
            assert page.evaluate("() => document.activeElement.matches(':focus-visible')")
            return
    raise AssertionError(f"Nothing called {wanted} can be reached: {page.url}")


def test_by_keys(browser: Browser, server: Running, sessions: Sessions) -> None:
    with visiting(browser, server.base, sessions["own"]) as visitor:
        page = visitor.goto("/")
        page.keyboard.press("Tab")
        assert page.evaluate("() => document.activeElement.className") == "skip"
        tabbed(page, "New table")
        page.keyboard.press("Enter")
        page.wait_for_url("**/new")
        tabbed(page, "Example")
        page.keyboard.press("Home")
        tabbed(page, "Take this one")
        page.keyboard.press("Enter")
        page.get_by_role("link", name="Decide on columns").first.wait_for(timeout=SECONDS)
        tabbed(page, "Decide on columns")
        page.keyboard.press("Enter")
        page.wait_for_url("**/columns")
        for number in range(page.locator("fieldset.question").count()):
            page.locator("fieldset.question input[value=drop]").nth(number).press("Space")
        tabbed(page, "This is right")
        page.keyboard.press("Enter")
        page.wait_for_url("**/protect")
        tabbed(page, "Choose a method")
        page.keyboard.press("Enter")
        page.wait_for_url("**/method")
        tabbed(page, ".*Mondrian")
        page.keyboard.press("Enter")
        page.wait_for_url("**/method/mondrian")
        tabbed(page, "Take this method")
        page.keyboard.press("Enter")
        page.wait_for_url("**/protect")


# Every method does so in this process, in ``tests/web/test_web_every_method.py``.
@pytest.mark.parametrize(
    "names", [("swap",), pytest.param(tuple(plugins.names("methods")), marks=pytest.mark.soak)], ids=["one", "all"]
)
def test_every_method_that_fits(
    names: tuple[str, ...], browser: Browser, server: Running, sessions: Sessions, tmp_path: Path
) -> None:
    with Desk(server.base, sessions["third"]) as caller:
        found, pages = released(caller, names, tmp_path)
    assert {name: holds for name, holds in found.items() if not holds} == {"swap": None}, "which promises nothing"
    with visiting(browser, server.base, sessions["third"]) as visitor:
        for path in pages:
            assert visitor.goto(path).locator("h1").count() == 1


def test_wrong_files(browser: Browser, server: Running, sessions: Sessions, tmp_path: Path, screenshots: Path) -> None:
    wrong = {
        "ragged.csv": (b"name,age\nAnn,30\nBob,31,32,33\n", "line 3|row 2|Row 2|Line 3"),
        "empty.csv": (b"", "empty|no rows|nothing"),
        "program.parquet": (b"\x7fELF" + bytes(200), "Parquet|parquet"),
    }
    with visiting(browser, server.base, sessions["own"]) as visitor:
        for name, (content, said) in wrong.items():
            file = tmp_path / name
            file.write_bytes(content)
            page = visitor.goto("/new")
            page.set_input_files("#file", file)
            page.get_by_role("button", name="Upload", exact=True).click()
            alert = page.get_by_role("alert").filter(has_text=re.compile(said))
            alert.first.wait_for(timeout=SECONDS)
        assert visitor.faults(screenshots / "web-wrong") == []


def test_reload_and_cancel(browser: Browser, server: Running, sessions: Sessions, table: tuple[str, int]) -> None:
    with visiting(browser, server.base, sessions["second"]) as visitor:
        page = visitor.goto(f"/tables/{table[0]}/recommend")
        page.get_by_label("How many seconds").fill("600")
        page.get_by_role("button", name=re.compile("^Recommend")).click()
        cancel = page.get_by_role("button", name="Cancel")
        cancel.wait_for(timeout=SECONDS)
        page.reload()
        cancel.wait_for(timeout=SECONDS)
        cancel.click()
        page.get_by_role("button", name=re.compile("^Recommend")).wait_for(timeout=SECONDS)


def test_two_tabs(browser: Browser, server: Running, sessions: Sessions, table: tuple[str, int]) -> None:
    with visiting(browser, server.base, sessions["second"]) as visitor:
        one, other = visitor.goto(f"/tables/{table[0]}/columns"), visitor.context.new_page()
        other.goto(one.url)
        for page in (one, other):
            page.get_by_role("button", name="Save", exact=True).click()
        assert "changed in another tab" in other.get_by_role("alert").first.inner_text()
        other.get_by_role("link", name="Back to the page before").click()
        other.get_by_role("button", name="Save", exact=True).click()
        assert other.get_by_role("alert").count() == 0


def test_a_restart_loses_nothing(browser: Browser, tmp_path: Path, people_file: Path) -> None:
    workspace = tmp_path / "w"
    key = published(workspace, "own", people_file).id
    with running(workspace) as first:
        port = first.base.rpartition(":")[2]
        with visiting(browser, first.base) as visitor:
            visitor.page.goto(first.addresses[0])
            visitor.goto(f"/tables/{key}/run").get_by_role("button", name="Make the release").click()
            visitor.page.wait_for_url("**/jobs/*")
            job = visitor.page.url.removeprefix(first.base)
            visitor.page.goto("about:blank")
            first.process.kill()
            first.process.wait()
            with running(workspace, "--port", port):
                page = visitor.goto(f"/tables/{key}/releases/1")
                assert downloaded(page, tmp_path / "release")
                visitor.goto(job)
                page.get_by_role("link", name="Go to: Result").wait_for(timeout=SECONDS)
                visitor.page.goto("about:blank")


PAGES = {
    "data": "data",
    "columns": "columns",
    "levels": "columns/1",
    "protect": "protect",
    "recommend": "recommend",
    "methods": "method",
    "method": "method/mondrian",
    "run": "run",
    "result": "releases/{number}",
    "rows": "releases/{number}/rows",
    "attacks": "releases/{number}/attacks",
    "utility": "releases/{number}/utility",
    "people": "releases/{number}/people",
    "compare": "releases/{number}/compare",
}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_of_a_table(
    name: str, browser: Browser, server: Running, sessions: Sessions, table: tuple[str, int], screenshots: Path
) -> None:
    language = "de" if len(name) % 2 else "en"
    with visiting(browser, server.base, {**sessions["second"], "language": language}) as visitor:
        page = visitor.goto(f"/tables/{table[0]}/{PAGES[name].format(number=table[1])}")
        assert page.locator("html").get_attribute("lang") == language
        assert page.locator("h1").count() == 1
        assert visitor.faults(screenshots / f"web-{name}") == []


def test_the_recipient_asks(
    browser: Browser, server: Running, sessions: Sessions, table: tuple[str, int], screenshots: Path
) -> None:
    with visiting(browser, server.base, sessions["second"]) as visitor:
        page = visitor.goto(f"/tables/{table[0]}/releases/{table[1]}")
        page.get_by_role("button", name="Ask it questions").click()
        page.get_by_role("heading", name="Every promise holds").wait_for(timeout=SECONDS)
        page.get_by_role("button", name="Ask", exact=True).click()
        page.locator("#answer .big").wait_for(timeout=SECONDS)
        assert "320" in page.locator("#answer .big").inner_text()
        assert visitor.faults(screenshots / "web-asked", unfold=False) == []
