"""Somebody who visits the web application: a window, its complaints, and what he would complain about himself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from opening import DESK, PHONE, photographed
from playwright.sync_api import Browser, BrowserContext, Page

LOOKING = Path(__file__).with_name("looking.js").read_text("utf-8")
OPEN = "document.querySelectorAll('main details').forEach((fold) => { fold.open = true; })"
SERIOUS = ("serious", "critical")
_REFUSED = re.compile(
    r"Failed to load resource: the server responded with a status of (4\d\d)|Response Status Error Code 4"
)


class Visitor:
    """A window, and what the browser complained about; an answer of 400 to 499 is what some tests are about."""

    def __init__(self, context: BrowserContext, base: str) -> None:
        self.context, self.base = context, base
        self.complaints: list[str] = []
        context.on("page", self._watched)
        self.page = context.new_page()

    def _watched(self, page: Page) -> None:
        page.on("console", lambda said: self._said(said.text))
        page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        page.on("request", lambda asked: self._asked(asked.url))

    def _said(self, text: str) -> None:
        if not _REFUSED.search(text):
            self.complaints.append(f"console: {text}")

    def _asked(self, url: str) -> None:
        if not url.startswith((f"{self.base}/", "data:", "blob:")):
            self.complaints.append(f"request: {url}")

    def goto(self, path: str) -> Page:
        self.page.goto(self.base + path)
        return self.page

    def post(self, path: str, **fields: Any) -> Any:
        """Send a form without clicking it together: as fast as a page of this session could."""
        token = self.page.locator("input[name=csrf]").first.get_attribute("value")
        return self.context.request.post(
            self.base + path, headers={"x-csrf": str(token)}, multipart=fields, max_redirects=0
        )

    def faults(self, shots: Path | None = None, *, unfold: bool = True) -> list[str]:
        """What is wrong with a page at each width, in light and in dark, fold-outs open: text that is hard to read and
        what is wider than the window; and axe's serious findings, at a desk in light and on a phone in the dark."""
        page = self.page
        if unfold:
            page.evaluate(OPEN)
        found = []
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            for window in (DESK, PHONE):
                page.set_viewport_size(window)  # type: ignore[arg-type]
                where = f"{window['width']}-{scheme}"
                faults = [f"{where}: {fault}" for fault in page.evaluate(LOOKING, True)]
                if (window is DESK) == (scheme == "light"):
                    faults += [f"{where}: {fault}" for fault in _axe(page, contrast=scheme == "light")]
                if shots is not None:
                    photographed(page, f"{shots}-{where}.jpg", faults)
                found += faults
        page.emulate_media(color_scheme="light")
        page.set_viewport_size(DESK)  # type: ignore[arg-type]
        return found


def _axe(page: Page, *, contrast: bool) -> list[str]:
    """Axe's findings; with ``contrast`` also by its own measure, which takes longer than all other rules together."""
    rules = {"color-contrast": {"enabled": contrast}}
    found = Axe().run(page, options={"resultTypes": ["violations"], "rules": rules}).response["violations"]
    return [
        f"{one['id']} ({one['impact']}): {'; '.join(node['html'][:160] for node in one['nodes'][:3])}"
        for one in found
        if one["impact"] in SERIOUS
    ]


@contextmanager
def visiting(browser: Browser, base: str, cookies: dict[str, str] | None = None, **options: Any) -> Iterator[Visitor]:
    """A window of its own; the browser has nothing to complain about at the end."""
    context = browser.new_context(viewport=DESK, locale="en-GB", **options)  # type: ignore[arg-type]
    context.add_cookies([{"name": name, "value": value, "url": base} for name, value in (cookies or {}).items()])
    visitor = Visitor(context, base)
    yield visitor
    context.close()
    assert not visitor.complaints, visitor.complaints
