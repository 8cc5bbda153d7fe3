"""Tables: begin one from a file, list them, look at one, remove it."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from undercover.web.access.asking import Of, Who
from undercover.web.api.said import router as part
from undercover.web.desks.desk import Missing
from undercover.web.desks.progress import done, following, releases
from undercover.web.desks.project import Project

router = part("tables")


class TableFacts(BaseModel):
    """A table somebody works on."""

    id: str = Field(examples=["0123456789ab"])
    name: str = Field(examples=["survey.csv"])
    created: str
    source: str = Field(description="Where it came from: upload, folder, database or example.")
    revision: int = Field(description="Counts changes; send it with a change to be told of somebody else's.")
    done: dict[str, bool] = Field(description="Which steps are done.")
    next: str | None = Field(description="The step that comes next.")
    releases: list[int] = Field(description="Numbers of the releases made, the newest first.")


def facts(project: Project) -> TableFacts:
    """What is told of a table."""
    over = done(project)
    return TableFacts(
        id=project.id,
        name=project.name,
        created=project.created,
        source=str(project.source["kind"]),
        revision=project.revision,
        done=over,
        next=None if all(over.values()) else following(project),
        releases=releases(project),
    )


@router.get("/tables")
def list_all(asked: Who) -> list[TableFacts]:
    """All tables of this desk, the newest first."""
    return [facts(project) for project in asked.desk.projects()]


@router.get("/tables/{key}")
def show(project: Of) -> TableFacts:
    """One table."""
    return facts(project)


@router.delete("/tables/{key}", status_code=204)
def remove(project: Of, asked: Who) -> None:
    """Remove a table and everything made of it."""
    for job in asked.queue.jobs(project):
        asked.queue.cancel(project, job.id)
    asked.desk.remove(project)


@router.get("/tables/{key}/profile")
def profile(project: Of) -> dict[str, Any]:
    """What was found in it: how it was read, a preview, suggested roles with reasons, values. 404 until it is read."""
    found = project.profile
    if found is None:
        raise Missing("The table has not been read yet. Look at its jobs.")
    return found
