"""The way from a file to a verified download as somebody clicks it, with or without scripts."""

from __future__ import annotations

import zipfile
from pathlib import Path

from playwright.sync_api import Page
from visiting import Visitor

import undercover as uc

SECONDS = 180_000.0  # as Playwright counts: a machine may be busy


def uploaded(visitor: Visitor, file: Path) -> str:
    """Send a file, and wait for its profile; the address of the table."""
    page = visitor.goto("/new")
    page.set_input_files("#file", file)
    page.get_by_role("button", name="Upload", exact=True).click()
    page.get_by_role("link", name="Decide on columns").first.wait_for(timeout=SECONDS)
    return page.url.rpartition("/")[0]


def decided(page: Page) -> None:
    """Say that the suggested roles are right."""
    page.get_by_role("link", name="Decide on columns").first.click()
    page.get_by_role("button", name="This is right").click()
    page.wait_for_url("**/protect")


def chosen(page: Page, title: str) -> None:
    """Take a method with the parameters that are proposed."""
    page.get_by_role("link", name="Choose a method").click()
    page.get_by_role("link", name=title).click()
    page.get_by_role("button", name="Take this method").click()
    page.wait_for_url("**/protect")


def made(page: Page, table: str) -> None:
    """Make the release, and wait for it."""
    page.goto(f"{table}/run")
    page.get_by_role("button", name="Make the release").click()
    page.get_by_role("link", name="Go to: Result").click(timeout=SECONDS)


def downloaded(page: Page, place: Path) -> bool:
    """Whether the public part that is downloaded holds what it promises, by its files alone."""
    with page.expect_download() as coming:
        page.get_by_role("link", name="Download the release (zip)").click()
    with zipfile.ZipFile(coming.value.path()) as packed:
        packed.extractall(place)
    manifest = next(place.rglob("release.json"))
    assert not [file for file in place.rglob("*") if "private" in file.name]
    return bool(uc.verify(manifest.parent).holds)
