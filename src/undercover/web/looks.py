"""Pages: templates of the web application and of the report, filled in for whoever asks."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any

from fastapi import Request
from starlette.responses import HTMLResponse

from undercover import plugins
from undercover.pages.jinja import environment as report_environment
from undercover.version import VERSION
from undercover.waiting import duration
from undercover.web.access.asking import Asking, texts_of
from undercover.web.desks.progress import STEPS, done
from undercover.web.desks.project import Project
from undercover.web.texts import LANGUAGES

if TYPE_CHECKING:
    from jinja2 import Environment


@cache
def environment() -> Environment:
    """The templates of pages, before those of reports, whose macros and filters they share."""
    from jinja2 import ChoiceLoader, PackageLoader

    reports = report_environment()
    found = reports.overlay(loader=ChoiceLoader([PackageLoader("undercover.web"), PackageLoader("undercover.pages")]))
    found.filters.update(duration=duration, moment=_moment)
    found.globals.update(languages=LANGUAGES, version=VERSION, steps=STEPS)
    return found


def _moment(seconds: float) -> str:
    """A moment in UTC, to the minute."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M")


def prepare() -> None:
    """Load what the pages about methods need, and compile templates: most of a second that nobody should wait for."""
    from undercover.model.about import about_of

    for name in plugins.BUILT_IN["guarantees"]:
        plugins.load("guarantees", name)
    for name in plugins.BUILT_IN["methods"]:
        about_of(name)
    for name in environment().list_templates(extensions=["j2"]):
        environment().get_template(name)


def page(
    asked: Asking, template: str, *, project: Project | None = None, step: str = "", status: int = 200, **values: Any
) -> HTMLResponse:
    """A page, or a part of one for HTMX, for somebody who is signed in.

    Every template has ``t`` (texts), ``csrf``, ``project``, ``step``, ``steps_done``, ``desk`` and ``user``.
    """
    about: dict[str, Any] = {
        "t": asked.texts,
        "csrf": asked.session.csrf,
        "desk": asked.session.desk,
        "user": asked.user,
        "project": project,
        "step": step,
        "steps_done": done(project) if project else {},
        "path": asked.request.url.path,
    }
    return HTMLResponse(environment().get_template(template).render(**about, **values), status)


def plain_page(request: Request, template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """A page for somebody who is not signed in."""
    about: dict[str, Any] = {
        "t": texts_of(request),
        "csrf": "",
        "desk": None,
        "project": None,
        "step": "",
        "steps_done": {},
        "path": request.url.path,
    }
    return HTMLResponse(environment().get_template(template).render(**about, **values), status)


def is_part(request: Request) -> bool:
    """Whether HTMX asks for a part of a page."""
    return request.headers.get("hx-request") == "true" and request.headers.get("hx-boosted") != "true"
