"""Routes that are loaded while the first page is shown: whoever asks for one of them meanwhile waits.

What the other pages need takes most of a second to import; the first one needs none of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

FIRST: Final = ("/", "/enter", "/language", "/leave", "/link")
"""Addresses that are there from the beginning; so is everything that looks."""
_LOOKS: Final = ("/static/", "/looks/")


class Loading:
    """Loads once, in a thread of its own; a bug in what is loaded is everybody's who waits."""

    def __init__(self, load: Callable[[], None]) -> None:
        self._load = load
        self._done: Future[None] | None = None

    def begin(self) -> None:
        """Begin, unless it is done."""
        if self._done is None:
            pool = ThreadPoolExecutor(1, "loading")
            self._done = pool.submit(self._load)
            pool.shutdown(wait=False)

    async def wait(self) -> None:
        """Until it is done."""
        self.begin()
        assert self._done is not None
        if not self._done.done():
            await asyncio.shield(asyncio.wrap_future(self._done))
        self._done.result()


class Later:
    """Lets requests for routes that are not loaded wait."""

    def __init__(self, app: ASGIApp, *, loading: Loading) -> None:
        self._app, self._loading = app, loading

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] == "http" and scope["path"] not in FIRST and not scope["path"].startswith(_LOOKS):
            await self._loading.wait()
        await self._app(scope, receive, send)
