"""Jobs: what takes long is started, watched and cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from pydantic import BaseModel, Field
from starlette.responses import StreamingResponse

from undercover.web.access.asking import Of, Who
from undercover.web.api.said import router as part
from undercover.web.jobs.job import Job, State

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
    responses={
        200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}, "description": "One event a change."}
    },
)
def events(project: Of, job: str, asked: Who) -> StreamingResponse:
    """The job after every change, as server-sent events, until it is over."""
    asked.queue.job(project, job)

    async def stream() -> AsyncIterator[str]:
        last = ""
        while True:
            now = await asyncio.to_thread(asked.queue.job, project, job)
            text = told(now).model_dump_json()
            if text != last:
                last = text
                yield f"data: {text}\n\n"
            if now.over:
                return
            await asyncio.sleep(_BETWEEN)

    return StreamingResponse(stream(), media_type="text/event-stream")
