"""Who asks: what every route depends on, for pages and for the JSON interface alike."""

from __future__ import annotations

import hmac
from collections.abc import AsyncIterator
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

from fastapi import Depends, Request
from starlette.datastructures import FormData
from starlette.requests import HTTPConnection

from undercover.errors import UndercoverError
from undercover.web.access.audit_log import AuditLog, Event
from undercover.web.access.headers import SAFE
from undercover.web.access.sessions import Session, Sessions
from undercover.web.desks.desk import Desk
from undercover.web.desks.project import Project
from undercover.web.jobs.queue import Queue
from undercover.web.settings import Settings
from undercover.web.texts import Texts, chosen

MOST_FIELDS = 5000
MOST_FIELD_BYTES = 4 << 20  # of one field that is no file


_FORGED = "This form is not from a page of this session. Open the page again, then send it."


class NotIn(UndercoverError):  # noqa: N818
    """Nobody is signed in."""


class Forged(UndercoverError):  # noqa: N818
    """A form that no page of this session made."""


@dataclass(frozen=True)
class Service:
    """What a server consists of; ``app.state.service``."""

    settings: Settings
    sessions: Sessions
    queue: Queue
    audit: AuditLog

    @property
    def cookie(self) -> str:
        """Of the session; servers on other ports of a machine share its cookies."""
        return f"{'__Host-' if self.settings.is_encrypted else ''}undercover-{self.settings.port}"

    def session(self, connection: HTTPConnection) -> Session | None:
        """Whoever is signed in, by a cookie or as a program by the header that carries the same, at a desk of today."""
        scheme, _, bearer = connection.headers.get("authorization", "").partition(" ")
        given = bearer if scheme.lower() == "bearer" else connection.cookies.get(self.cookie)
        session = self.sessions.session(given)
        return session if session is not None and session.desk in self.settings.desks else None


@dataclass(frozen=True)
class Asking:
    """One request of somebody who is signed in."""

    request: Request
    service: Service
    session: Session

    @cached_property
    def desk(self) -> Desk:
        """Whose tables these are."""
        return Desk(self.service.settings.workspace, self.session.desk)

    @property
    def queue(self) -> Queue:
        """Where jobs go."""
        return self.service.queue

    @property
    def user(self) -> str:
        """Who is signed in, as decisions and the audit log name them."""
        return self.service.settings.user(self.session.desk)

    def record(self, event: Event, project: Project | None = None, **about: str | int) -> None:
        """Write to the audit log what somebody who is signed in does."""
        table = {} if project is None else {"table": project.id}
        self.service.audit.record(event, self.user, **table, **about)

    @cached_property
    def texts(self) -> Texts:
        """The catalogue of the language that was asked for."""
        return texts_of(self.request)


def texts_of(request: Request) -> Texts:
    """The catalogue of the language that a request asks for."""
    return Texts(chosen(request.cookies.get("language"), request.headers.get("accept-language", "")))


def service_of(request: Request) -> Service:
    """The server a request came to."""
    service: Service = request.app.state.service
    return service


def asking(request: Request) -> Asking:
    """Whoever is signed in; others are sent to sign in."""
    service = service_of(request)
    session = service.session(request)
    if session is None:
        raise NotIn("Sign in with the address that `undercover serve` printed.")
    return Asking(request, service, session)


async def posted(request: Request, asked: Who) -> AsyncIterator[FormData]:
    """The fields of a form that a page of this very session made; nobody else's body is read at all."""
    said = request.headers.get("x-csrf")
    if said is not None and not _same(said, asked.session.csrf):
        raise Forged(_FORGED)
    async with request.form(max_files=20, max_fields=MOST_FIELDS, max_part_size=MOST_FIELD_BYTES) as form:
        if said is None and not _same(form.get("csrf"), asked.session.csrf):
            raise Forged(_FORGED)
        yield form


def unforged(request: Request, asked: Who) -> None:
    """A program says who it is in a header, which no other site can set; a cookie alone changes nothing."""
    by_header = request.headers.get("authorization", "").partition(" ")[0].lower() == "bearer"
    if request.scope["method"] in SAFE or by_header or _same(request.headers.get("x-csrf"), asked.session.csrf):
        return
    raise Forged("Send the header X-CSRF with a cookie, or a bearer key instead of the cookie.")


def _same(given: Any, wanted: str) -> bool:
    return isinstance(given, str) and hmac.compare_digest(given.encode(), wanted.encode())


def project_of(key: str, asked: Who) -> Project:
    """The table a route is about: one of whoever asks."""
    return asked.desk.project(key)


Who = Annotated[Asking, Depends(asking)]
Form = Annotated[FormData, Depends(posted)]
Of = Annotated[Project, Depends(project_of)]


def field(form: FormData, name: str, default: str = "") -> str:
    """One field of a form, as text."""
    value: Any = form.get(name)
    return value.strip() if isinstance(value, str) else default


def revision(form: FormData) -> int | None:
    """The revision of the table that a form was made from."""
    text = field(form, "revision")
    return int(text) if text.isdecimal() else None
