"""What every answer carries, and which requests are turned away before anybody looks at them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

# Bars and drawings carry style attributes, which can neither run nor fetch anything; nothing else is inline.
POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
HEADERS: Final[Mapping[str, str]] = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}
SAFE: Final = ("GET", "HEAD", "OPTIONS")
"""Methods that change nothing."""


class Guarded:
    """Adds headers, refuses other hosts' names and other origins' posts, and counts the bytes of a body."""

    def __init__(self, app: ASGIApp, *, hosts: tuple[str, ...], most_bytes: int) -> None:
        self._app, self._hosts, self._most = app, hosts, most_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def answered(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        refused = self._refused(scope)
        if refused is not None:
            status, why = refused
            await PlainTextResponse(why, status)(scope, receive, answered)
            return
        await self._app(scope, _counted(receive, self._most), answered)

    def _refused(self, scope: Scope) -> tuple[int, str] | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if urlsplit(f"//{host}").hostname not in self._hosts:
            return 421, "This server is not asked for by that name."
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > self._most:
            return 413, f"That is too large: at most {self._most >> 20:,} MB can be sent at once."
        if scope["method"] in SAFE:
            return None
        origin, site = headers.get("origin"), headers.get("sec-fetch-site", "same-origin")
        if site not in ("same-origin", "none") or (origin is not None and urlsplit(origin).netloc != host):
            return 403, "Another site cannot post here."
        return None


class TooLarge(Exception):  # noqa: N818
    """A body of more bytes than are allowed."""


def _counted(receive: Receive, most: int) -> Receive:
    seen = 0

    async def counted() -> Message:
        nonlocal seen
        message: dict[str, Any] = dict(await receive())
        seen += len(message.get("body", b""))
        if seen > most:
            raise TooLarge
        return message

    return counted
