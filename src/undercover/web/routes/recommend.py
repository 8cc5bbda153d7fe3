"""A recommendation: what the release is for, how far the search is, what came of it, and taking one of the tried."""

from __future__ import annotations

import math
from typing import Any

from fastapi import APIRouter
from markupsafe import Markup
from starlette.responses import HTMLResponse, RedirectResponse, Response

from undercover.errors import DataError, ParameterError
from undercover.studies.recommend.purpose import purpose_of
from undercover.studies.recommend.search import BASIS
from undercover.web.access.asking import Asking, Form, Of, Who, field, revision
from undercover.web.desks.project import Project
from undercover.web.jobs.job import Job
from undercover.web.looks import page
from undercover.web.protecting.feasible import holding_of, policy_asked
from undercover.web.protecting.fields import number_of
from undercover.web.protecting.methods import cards

router = APIRouter()
SECONDS = 60
MOST_SECONDS = 24 * 3600


@router.get("/tables/{key}/recommend")
def show(project: Of, asked: Who) -> HTMLResponse:
    """The form, and the newest recommendation."""
    job = _newest(project, asked)
    holding, policy = holding_of(project), policy_asked(project)
    before = project.choices.get("recommend", {})
    fitting = [one for one in cards(holding, policy) if one.fits]
    values = {
        "purposes": _purposes(holding.schema.sensitive),
        "purpose": before.get("purpose", "looking"),
        "seconds": before.get("time", SECONDS),
        "methods": fitting,
        "considered": before.get("methods") or [one.name for one in fitting],
        "judges": policy.judges,
        **_about(project, job),
    }
    return page(asked, "recommend.html.j2", project=project, step="protect", **values)


@router.post("/tables/{key}/recommend")
def begin(project: Of, asked: Who, form: Form) -> Response:
    """Look for a release that satisfies the policy and is good for a purpose."""
    holding, policy = holding_of(project), policy_asked(project)
    if not policy.judges:
        raise ParameterError(asked.texts("recommend.none_policy"))
    purpose, seconds = field(form, "purpose", "looking"), number_of(field(form, "time") or str(SECONDS))
    purpose_of(purpose, holding.schema)
    if isinstance(seconds, str) or not (math.isfinite(seconds) and 0 < seconds <= MOST_SECONDS):
        raise ParameterError(f"The time is a number of seconds, up to {MOST_SECONDS:,}. Got {seconds!r} instead.")
    wanted = [name for name in form.getlist("method") if isinstance(name, str)]
    methods = [one.name for one in cards(holding, policy) if one.fits and (not wanted or one.name in wanted)]
    choice = {"purpose": purpose, "time": seconds, "methods": methods}
    changed = project.change(choices={**project.choices, "recommend": choice})
    for job in asked.queue.jobs(project, "recommend"):
        if not job.over:
            asked.queue.cancel(project, job.id)
    asked.queue.add(changed, "recommend", {**choice, "asked": asked_of(changed)})
    return RedirectResponse(f"/tables/{project.id}/recommend", 303)


@router.post("/tables/{key}/recommend/take")
def take(project: Of, asked: Who, form: Form) -> Response:
    """Take one of those that were tried."""
    job, place = _newest(project, asked), field(form, "place")
    tried = (job.result or {}).get("tried", []) if job is not None else []
    if not place.isdecimal() or int(place) >= len(tried):
        raise DataError("There is no such release among those that were tried. Look at the page again.")
    chosen = tried[int(place)]
    method = {"name": chosen["method"], **chosen["parameters"]}
    spec = {**project.spec, "method": method, "choice": {"basis": BASIS}}
    project.change(spec=spec, revision=revision(form))
    return RedirectResponse(f"/tables/{project.id}/protect", 303)


def asked_of(project: Project) -> dict[str, Any]:
    """What a recommendation rests on: it is stale once that changed."""
    return {name: part for name, part in project.spec.items() if name not in ("method", "choice", "require", "about")}


def _newest(project: Project, asked: Asking) -> Job | None:
    return next(iter(asked.queue.jobs(project, "recommend")), None)


def _about(project: Project, job: Job | None) -> dict[str, Any]:
    """A recommendation for a page, its pictures read from their files."""
    result = None if job is None else job.result
    pictures = [
        {"title": one["title"], "svg": Markup((project.folder / one["file"]).read_text("utf-8"))}
        for one in (result or {}).get("pictures", [])
        if (project.folder / one["file"]).is_file()
    ]
    stale = job is not None and job.request.get("asked") != asked_of(project)
    return {"job": job, "result": result, "pictures": pictures, "stale": stale}


def _purposes(sensitive: tuple[str, ...]) -> list[tuple[str, str, str]]:
    """What a release may be for: the purpose, its text, and the column it is about."""
    learning = [(f"learning:{name}", "learning", f"`{name}`") for name in sensitive]
    return [("looking", "looking", ""), *([("queries", "queries", "")] if sensitive else []), *learning]
