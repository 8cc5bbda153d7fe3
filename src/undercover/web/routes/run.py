"""Step 4, run: what will be done, the jobs of a table, and how far each is."""

from __future__ import annotations

import time
from asyncio import sleep
from collections.abc import AsyncIterator
from typing import Any, Final

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.responses import HTMLResponse, RedirectResponse, Response, StreamingResponse

from undercover.errors import ParameterError
from undercover.model.formats import SPREADSHEETS
from undercover.web.access.asking import Asking, Form, Of, Who, field, revision
from undercover.web.desks.desk import Missing
from undercover.web.desks.plan import files_of, formats, plan_of, publish_request
from undercover.web.desks.project import Project
from undercover.web.jobs.job import Job
from undercover.web.looks import environment, page
from undercover.web.protecting.feasible import holding_of
from undercover.web.protecting.policies import meaning

router = APIRouter()

_LOOK: Final = 0.25  # seconds between two looks for news
_BEAT: Final = 15.0  # seconds after which a stream without news says that it is still there


@router.get("/tables/{key}/run")
def show(project: Of, asked: Who) -> HTMLResponse:
    """What will be done, and what was."""
    jobs, plan = asked.queue.jobs(project), plan_of(project)
    job = next((job for job in jobs if job.kind == "publish" and not job.over), None)
    values: dict[str, Any] = {"plan": plan, "formats": formats(), "jobs": jobs, "job": job, "means": []}
    if plan.ready and project.profile is not None:
        values["means"] = meaning(plan.policy, holding_of(project), project.profile, asked.texts.language)
    return page(asked, "run.html.j2", project=project, step="run", **values)


@router.post("/tables/{key}/run")
def begin(project: Of, asked: Who, form: Form) -> Response:
    """Make a release; where the very same is being made already, show that."""
    plan = plan_of(project)
    if not plan.ready:
        open_steps = [asked.texts(f"run.open_{step}") for step in plan.undecided]
        raise ParameterError([*open_steps, *(problem for _, problem in plan.problems)])
    rows = field(form, "rows_per_file").replace(",", "").replace(".", "")
    if rows and not rows.isdecimal():
        raise ParameterError(asked.texts("run.rows_wrong"))
    chosen: dict[str, Any] = {"format": field(form, "format") or "csv", "rows_per_file": int(rows) if rows else None}
    chosen["safe_for_spreadsheets"] = field(form, "safe_for_spreadsheets") == "yes" and chosen["format"] in SPREADSHEETS
    files_of(chosen)
    if any(project.choices.get(name) != value for name, value in chosen.items()):
        project = project.change(choices={**project.choices, **chosen}, revision=revision(form))
    request = publish_request(project)
    same = (job for job in asked.queue.jobs(project, "publish") if not job.over and job.request == request)
    job = next(same, None) or asked.queue.add(project, "publish", request)
    return RedirectResponse(f"/tables/{project.id}/jobs/{job.id}", 303)


@router.get("/tables/{key}/jobs/{job}")
def one(project: Of, asked: Who, job: str) -> HTMLResponse:
    """How far a job is, or what came of it."""
    return page(asked, "run_job.html.j2", project=project, step="run", job=asked.queue.job(project, job))


@router.post("/tables/{key}/jobs/{job}/cancel")
def cancel(project: Of, asked: Who, form: Form, job: str) -> Response:
    """End a job, and go back to the page that showed it."""
    asked.queue.cancel(project, job)
    back = field(form, "back")
    here = back.startswith(f"/tables/{project.id}/")
    return RedirectResponse(back if here else f"/tables/{project.id}/jobs/{job}", 303)


@router.get("/tables/{key}/jobs/{job}/events")
async def events(project: Of, asked: Who, job: str) -> Response:
    """News of a job as they come, until it is over."""
    asked.queue.stamp(project, job)
    return StreamingResponse(_news(project, asked, job), media_type="text/event-stream")


async def _news(project: Project, asked: Asking, key: str) -> AsyncIterator[str]:
    seen: tuple[int, ...] = ()
    stage, told = "", time.monotonic()
    queue, request = asked.queue, asked.request
    while not queue.leaving and not await request.is_disconnected():
        try:
            stamp = queue.stamp(project, key)
            job = await run_in_threadpool(queue.job, project, key) if stamp != seen else None
        except Missing:
            yield _event("over", "")
            return
        if job is not None:
            seen, told = stamp, time.monotonic()
            if job.over:
                yield _event("over", job.state)
                return
            if stage != (stage := _stage(job)):
                yield _event("stage", _shown("job_stage", job, asked))
            yield _event("moment", _shown("job_moment", job, asked))
        elif time.monotonic() - told > _BEAT:
            told = time.monotonic()
            yield ": still here\n\n"
        await sleep(_LOOK)


def _stage(job: Job) -> str:
    return f"{job.state} {job.moment['stage'] if job.moment else ''}"


def _shown(macro: str, job: Job, asked: Asking) -> str:
    module = environment().get_template("job.html.j2").make_module({"t": asked.texts})
    return str(getattr(module, macro)(job, asked.texts))


def _event(name: str, content: str) -> str:
    lines = "".join(f"data: {line}\n" for line in content.splitlines() if line.strip()) or "data:\n"
    return f"event: {name}\n{lines}\n"
