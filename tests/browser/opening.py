"""A page, opened in a window of its own, and a photograph of it where somebody will look at that."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page

ASKED = bool(os.environ.get("UNDERCOVER_TEST_SCREENSHOTS"))
"""Whether every page is photographed; otherwise one that has a fault is."""
DESK, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}


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


def photographed(page: Page, path: str, faults: list[str]) -> None:
    """Keep what a page looks like where it has faults, or where it was asked for: it takes longer than all else."""
    if faults or ASKED:
        page.screenshot(path=path, type="jpeg", quality=60, full_page=True)
