"""The first page, and the language."""

from __future__ import annotations

from importlib.resources import files

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from undercover.web.access.asking import Form, Of, Who, asking, field
from undercover.web.desks.progress import following
from undercover.web.looks import page
from undercover.web.routes.enter import came
from undercover.web.texts import LANGUAGES

router = APIRouter()


@router.get("/")
def home(request: Request, token: str | None = None) -> Response:
    """The tables of a desk; with a token, the way in."""
    if token is not None:
        return came(request, token)
    asked = asking(request)
    return page(asked, "home.html.j2", projects=[(one, following(one)) for one in asked.desk.projects()])


@router.post("/language")
def language(form: Form) -> Response:
    """Choose a language."""
    wanted, back = field(form, "language"), field(form, "path")
    local = back.startswith("/") and not back.startswith(("//", "/\\"))
    answer = RedirectResponse(back if local else "/", 303)
    if wanted in LANGUAGES:
        answer.set_cookie("language", wanted, max_age=365 * 86400, httponly=True, samesite="strict")
    return answer


@router.get("/tables/{key}")
def table(project: Of) -> Response:
    """A table, at the step that comes next."""
    return RedirectResponse(f"/tables/{project.id}/{following(project)}", 303)


@router.post("/tables/{key}/remove")
def remove(project: Of, asked: Who, form: Form) -> Response:
    """Remove a table and everything made of it."""
    for job in asked.queue.jobs(project):
        asked.queue.cancel(project, job.id)
    asked.record("remove table", project)
    asked.desk.remove(project)
    return RedirectResponse("/", 303)


@router.get("/looks/report.css")
def style() -> Response:
    """The style sheet of the report, which pages share."""
    text = files("undercover.pages").joinpath("templates/style.css").read_text("utf-8")
    return Response(text, media_type="text/css", headers={"cache-control": "max-age=3600"})


@router.get("/looks/report.js")
def script() -> Response:
    """The script of the report, which only adds: sorting, tips, fold-outs."""
    text = files("undercover.pages").joinpath("templates/page.js").read_text("utf-8")
    return Response(text, media_type="text/javascript", headers={"cache-control": "max-age=3600"})
