"""A browser, started once for the tests of this folder, and the pages they open."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from made_pages import Pages
from playwright.sync_api import Browser, sync_playwright
from running import Running, running

NAMES = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Closed before tests of other folders run: as long as Playwright is there, nobody else may start an event loop."""
    found = next((place for name in NAMES if (place := shutil.which(name))), None)
    if found is None:
        pytest.skip("no browser to open pages in; `make browser` (or apt-get install chromium) installs one")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=list(ARGUMENTS))
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Pages:
    return Pages(tmp_path_factory.mktemp("pages"))


@pytest.fixture(scope="session")
def screenshots(pytestconfig: pytest.Config) -> Path:
    """Where they are kept for whoever wants to look; git ignores it, and ``opening.py`` says which are taken."""
    place = pytestconfig.rootpath / "build" / "screenshots"
    place.mkdir(parents=True, exist_ok=True)
    return place


DESKS = ("own", "second", "third")


@pytest.fixture(scope="package")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the web application."""
    return tmp_path_factory.mktemp("web")


@pytest.fixture(scope="package")
def server(workspace: Path) -> Iterator[Running]:
    """The web application in a process of its own, as ``framed_server.py`` starts it."""
    desks = [word for desk in DESKS for word in ("--desk", desk)]
    with running(workspace, *desks, "--workers", "2", desks=len(DESKS), framed=True) as server:
        yield server


@pytest.fixture(scope="package")
def sessions(server: Running) -> dict[str, dict[str, str]]:
    """Whoever sits at each desk: the cookies of his session."""
    found = {}
    for desk, line in zip(DESKS, server.addresses, strict=True):
        answer = httpx.get(line.removeprefix(f"{desk}: "))
        found[desk] = dict(answer.cookies)
    return found
