"""Jobs: what takes long is started, watched and cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool
from starlette.responses import StreamingResponse

from undercover.errors import DataError, ParameterError, unknown
from undercover.model.formats import Format
from undercover.web.access.asking import Of, Who
from undercover.web.api.said import Strict
from undercover.web.api.said import router as part
from undercover.web.desks.desk import Missing
from undercover.web.desks.plan import files_of, plan_of, publish_request
from undercover.web.jobs.job import Job, State
from undercover.web.protecting.feasible import holding_of, policy_asked
from undercover.web.protecting.methods import cards
from undercover.web.protecting.others import others_of
from undercover.web.routes.recommend import asked_of

router = part("jobs")
_BETWEEN = 0.3  # seconds between two looks
_EVENT = {"type": "object", "properties": {"data": {"type": "string", "description": "The job, as JSON."}}}
_STREAM: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/event-stream": {"schema": _EVENT}}, "description": "One event a change."}
}


class JobFacts(BaseModel):
    """A job as it is at this moment."""

    id: str
    kind: str
    state: State
    created: float
    started: float | None
    ended: float | None
    before: int = Field(description="Jobs that wait before it.")
    moment: dict[str, Any] | None = Field(description="stage, part, share, seconds, left")
    error: dict[str, Any] | None = Field(description="message and kind, where it failed")
    result: dict[str, Any] | None


def told(job: Job) -> JobFacts:
    """What is told of a job; what it was asked stays at the desk."""
    facts = job.to_dict()
    return JobFacts(**{name: facts[name] for name in JobFacts.model_fields})


class Publish(Strict):
    """In which files a release is written."""

    format: Format = "csv"
    rows_per_file: int | None = Field(None, ge=1, le=10**12)
    safe_for_spreadsheets: bool = False


class Recommend(Strict):
    """What a release is for, how long to look, and among which methods."""

    purpose: str = Field("looking", examples=["looking", "queries", "learning:disease"])
    seconds: float = Field(60, gt=0, le=86_400)
    methods: list[str] = Field([], max_length=100, description="None: all that fit.")


@router.post("/tables/{key}/publish", status_code=201)
def publish(project: Of, asked: Who, said: Publish) -> JobFacts:
    """Make a release as it is decided now: judged, attacked, measured and written."""
    plan = plan_of(project)
    if not plan.ready:
        undecided = [f"The step `{step}` is not decided yet." for step in plan.undecided]
        raise ParameterError([*undecided, *(problem for _, problem in plan.problems)])
    chosen = said.model_dump()
    files_of(chosen)
    changed = project.change(choices={**project.choices, **chosen})
    return told(asked.queue.add(changed, "publish", publish_request(changed)))


@router.post("/tables/{key}/recommend", status_code=201)
def recommend(project: Of, asked: Who, said: Recommend) -> JobFacts:
    """Look for the release that satisfies the policy and is best for a purpose."""
    from undercover.studies.recommend.purpose import purpose_of  # which the server's first page does not wait for

    holding, policy = holding_of(project), policy_asked(project)
    if not policy.judges:
        raise ParameterError("The policy `none` judges nothing, so nothing can be recommended. Choose another one.")
    purpose_of(said.purpose, holding.schema)
    fitting = [one.name for one in cards(holding, policy) if one.fits]
    problems = [unknown("Method", name, fitting) for name in said.methods if name not in fitting]
    if problems:
        raise ParameterError(problems)
    request: dict[str, Any] = {"purpose": said.purpose, "time": said.seconds, "methods": said.methods or fitting}
    request["asked"] = asked_of(project)  # on which it rests: the page says when that has changed
    return told(asked.queue.add(project, "recommend", request))


@router.post("/tables/{key}/join", status_code=201)
def join(project: Of, asked: Who) -> JobFacts:
    """Check what the newest release and the tables of others say together."""
    if not others_of(project):
        raise DataError("Add a table of somebody else first.")
    return told(asked.queue.add(project, "join", {}))


@router.get("/tables/{key}/jobs")
def list_all(project: Of, asked: Who) -> list[JobFacts]:
    """All jobs of a table, the newest first."""
    return [told(job) for job in asked.queue.jobs(project)]


@router.get("/tables/{key}/jobs/{job}")
def show(project: Of, job: str, asked: Who) -> JobFacts:
    """One job."""
    return told(asked.queue.job(project, job))


@router.delete("/tables/{key}/jobs/{job}")
def cancel(project: Of, job: str, asked: Who) -> JobFacts:
    """Cancel a job; what is over stays as it is."""
    return told(asked.queue.cancel(project, job))


@router.get(
    "/tables/{key}/jobs/{job}/events",
    response_class=StreamingResponse,
    responses=_STREAM,
)
def events(project: Of, job: str, asked: Who) -> StreamingResponse:
    """The job after every change, as server-sent events, until it is over."""
    asked.queue.job(project, job)

    async def stream() -> AsyncIterator[str]:
        seen: tuple[int, ...] = ()
        while not asked.queue.leaving and not await asked.request.is_disconnected():
            try:
                stamp = asked.queue.stamp(project, job)
                now = await run_in_threadpool(asked.queue.job, project, job)
            except Missing:
                return
            if stamp != seen:
                seen = stamp
                yield f"data: {told(now).model_dump_json()}\n\n"
            if now.over:
                return
            await asyncio.sleep(_BETWEEN)

    return StreamingResponse(stream(), media_type="text/event-stream")
