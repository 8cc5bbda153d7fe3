"""Start the server: bind, say where it is, and run until somebody stops it."""

from __future__ import annotations

import socket
from collections.abc import Callable
from dataclasses import replace
from types import FrameType

import uvicorn

from undercover.errors import OutputError
from undercover.web.app import create_app
from undercover.web.jobs.queue import Queue
from undercover.web.settings import Settings


def bound(settings: Settings) -> socket.socket:
    """The socket the server listens on; port 0 takes any that is free."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listening = socket.socket(family)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((settings.host, settings.port))
    except OSError as error:
        listening.close()
        raise OutputError(
            f"Nothing can listen on {settings.host}:{settings.port}: {error.strerror or error}. Take another port: "
            "--port 0 takes any that is free."
        ) from error
    return listening


class _Server(uvicorn.Server):
    """Tells whoever waits for news that there will be none, instead of waiting for him to go."""

    queue: Queue

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.queue.leaving = True
        super().handle_exit(sig, frame)


def serve(settings: Settings, tell: Callable[[str, str], None]) -> None:
    """Run until somebody stops it; ``tell`` is called with each desk and the address it is opened by."""
    with bound(settings) as listening:
        settings = replace(settings, port=listening.getsockname()[1])
        app = create_app(settings)
        tls = {"ssl_certfile": settings.certificate, "ssl_keyfile": settings.key} if settings.certificate else {}
        queue = app.state.service.queue
        queue.hold()
        server = _Server(
            uvicorn.Config(app, log_level="error", access_log=False, server_header=False, **tls)  # type: ignore[arg-type]
        )
        server.queue = queue
        for desk in settings.desks:
            tell(desk, f"{settings.address}/?token={app.state.service.sessions.token(desk)}")
        queue.warm()
        server.run(sockets=[listening])
