"""Start the server: bind, say where it is, and run until somebody stops it."""

from __future__ import annotations

import os
import signal
import socket
import ssl
import tempfile
from collections.abc import Callable
from dataclasses import replace
from types import FrameType
from typing import Any, Final

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from undercover import ending
from undercover.errors import OutputError, ParameterError
from undercover.web.app import create_app
from undercover.web.desks.clearing import TEMPORARY
from undercover.web.desks.store import private_folder, write_json
from undercover.web.jobs.queue import Queue
from undercover.web.logs import logged
from undercover.web.settings import Settings

MOST_CONNECTIONS: Final = 500
"""At the same time; further ones are told to come again."""
PATIENCE: Final = 20.0
"""Seconds in which whoever connects must have asked for something."""
_GRACE: Final = 2  # seconds that open pages have when the server is stopped


class _Patient(H11Protocol):
    """Hangs up on whoever connects and asks for nothing, or ever so slowly."""

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self.loop.call_later(PATIENCE, self._hang_up)

    def _hang_up(self) -> None:
        if self.cycle is None:
            self.transport.close()


def bound(settings: Settings) -> socket.socket:
    """The socket the server listens on; port 0 takes any that is free."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # said, or answers are held back 40 ms
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((settings.host, settings.port))
        listening.listen()  # whoever opens the address at once waits until somebody answers
    except (OSError, OverflowError) as error:
        listening.close()
        why = getattr(error, "strerror", None) or error
        raise OutputError(
            f"Nothing can listen on {settings.host}:{settings.port}: {why}. Take another port: "
            "--port 0 takes any that is free."
        ) from error
    return listening


class _Server(uvicorn.Server):
    """Tells pages that wait for news that there will be none, instead of waiting for them to go."""

    queue: Queue
    told: int | None = None

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Remember the signal; raised once more, as uvicorn would, it would be taken for a second one."""
        self.queue.leaving = True
        self.force_exit = self.should_exit and sig == signal.SIGINT
        self.should_exit = True
        self.told = sig


def serve(settings: Settings, tell: Callable[[str, str], None], warn: Callable[[str], None]) -> None:
    """Run until somebody stops it.

    ``tell`` is called with each desk and the address it is opened by, ``warn`` with what the terminal should say of
    bugs. All that is written meanwhile, here and by jobs, is readable for nobody else.
    """
    tls = _tls(settings)
    os.umask(0o077)
    try:
        workspace = private_folder(settings.workspace).resolve()
        write_json(workspace / "tried.json", {})
        (workspace / "tried.json").unlink()
    except OSError as error:
        raise OutputError(
            f"`{settings.workspace}` cannot be written: {error.strerror or error}. Take another folder: "
            "--workspace FOLDER."
        ) from error
    with bound(settings) as listening, logged(workspace, warn):
        os.environ["TMPDIR"] = tempfile.tempdir = str(workspace / TEMPORARY)
        settings = replace(settings, workspace=workspace, port=listening.getsockname()[1])
        app = create_app(settings, later=True)
        queue: Queue = app.state.service.queue
        queue.hold()
        queue.warm = True
        server = _Server(
            uvicorn.Config(
                app,
                http=_Patient,
                ws="none",
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                limit_concurrency=MOST_CONNECTIONS,
                timeout_graceful_shutdown=_GRACE,
                **tls,
            )
        )
        server.queue = queue
        for desk in settings.desks:
            tell(desk, f"{settings.address}/?token={app.state.service.sessions.token(desk)}")
        server.run(sockets=[listening])
        if server.told is not None:
            raise KeyboardInterrupt if server.told == signal.SIGINT else ending.Told(server.told)


def _tls(settings: Settings) -> dict[str, Any]:
    if settings.certificate is None:
        return {}
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(settings.certificate, settings.key)
    except OSError as error:
        raise ParameterError(
            f"`{settings.certificate}` and `{settings.key}` are no certificate with its key, both as PEM files: "
            f"{error.strerror or error}."
        ) from error
    return {"ssl_certfile": settings.certificate, "ssl_keyfile": settings.key}
