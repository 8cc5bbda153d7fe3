"""What every answer carries, and which requests are turned away before anybody looks at them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from undercover.wording import asked_by

# Bars and drawings carry style attributes, which can neither run nor fetch anything; nothing else is inline.
POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
HEADERS: Final[Mapping[str, str]] = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",  # with none at all, browsers post forms with `Origin: null`
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}
SAFE: Final = ("GET", "HEAD", "OPTIONS")
"""Methods that change nothing."""
STRANGER_BYTES: Final = 16 << 10
"""That somebody may send who is not signed in: a token and a passphrase."""
HELD_BYTES: Final = 32 << 20
"""Of a body that is held in memory."""
UPLOADS: Final = ("multipart/form-data", "application/octet-stream")
"""Kinds of bodies that go to a file as they come."""
PATIENCE: Final = 60.0
"""Seconds that somebody may take for the next piece of a body."""


class TooLarge(HTTPException):
    """A body of more bytes than are allowed."""

    def __init__(self) -> None:
        super().__init__(413, "That is too large.")


class TooSlow(HTTPException):
    """Somebody who does not go on sending."""

    def __init__(self) -> None:
        super().__init__(408, "That took too long.")


class Guarded:
    """Adds headers, refuses other hosts' names and other origins' posts, and counts the bytes of a body.

    Parameters
    ----------
    hosts
        The names by which this server is asked for; any other is a page elsewhere that made its own name point here.
    origins
        Other origins of this server's own pages: that of a proxy which ends TLS in front of it.
    most_bytes
        Of what somebody uploads who is ``known``; of anything that is held in memory, and of what others send, less.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        hosts: tuple[str, ...],
        most_bytes: int,
        known: Callable[[HTTPConnection], bool],
        origins: tuple[str, ...] = (),
    ) -> None:
        self._app, self._hosts, self._most, self._known, self._origins = app, hosts, most_bytes, known, origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":  # nobody here speaks anything else
            return

        async def answered(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                if scope["path"].startswith("/static/"):
                    headers.setdefault("cache-control", "no-cache")  # kept, and asked whether it is still the same
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        most = self._allowed(scope)
        refused = self._refused(scope, most)
        if refused is not None:
            status, why = refused
            told: Response = PlainTextResponse(why, status)
            if scope["path"].startswith("/api/"):
                told = JSONResponse({"problems": [why]}, status)
            await told(scope, receive, answered)
            return
        with asked_by("page"):
            await self._app(scope, _counted(receive, most), answered)

    def _allowed(self, scope: Scope) -> int:
        """How many bytes somebody may send."""
        if scope["method"] in SAFE:
            return STRANGER_BYTES
        connection = HTTPConnection(scope)
        if not self._known(connection):
            return STRANGER_BYTES
        kind = connection.headers.get("content-type", "").partition(";")[0].strip().lower()
        return self._most if kind in UPLOADS else min(self._most, HELD_BYTES)

    def _refused(self, scope: Scope, most: int) -> tuple[int, str] | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if _name(host) not in self._hosts:
            return 421, "This server is not asked for by that name."
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > most:
            if most == STRANGER_BYTES:
                return 401, "Sign in first, with the address that `undercover serve` printed."
            return 413, f"That is too large: at most {most >> 20:,} MB can be sent at once."
        if scope["method"] in SAFE:
            return None
        origin, site = headers.get("origin"), headers.get("sec-fetch-site", "same-origin")
        own = (f"{scope['scheme']}://{host}", *self._origins)
        if site not in ("same-origin", "none") or (origin is not None and origin not in own):
            return 403, "Another site cannot post here."
        return None


def _name(host: str) -> str | None:
    try:
        return urlsplit(f"//{host}").hostname
    except ValueError:  # no name at all
        return None


def _counted(receive: Receive, most: int) -> Receive:
    seen, whole = 0, False

    async def counted() -> Message:
        nonlocal seen, whole
        if whole:  # what comes now is that somebody went away, however late
            return await receive()
        try:
            message: dict[str, Any] = dict(await asyncio.wait_for(receive(), PATIENCE))
        except TimeoutError:
            raise TooSlow from None
        seen += len(message.get("body", b""))
        whole = not message.get("more_body", False)
        if seen > most:
            raise TooLarge
        return message

    return counted
