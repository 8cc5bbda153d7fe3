"""Tables: list them, and look at one."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import BaseModel

from undercover.web.access.asking import Of, Who
from undercover.web.desks.progress import done
from undercover.web.desks.project import Project

router = APIRouter(tags=["tables"])


class TableFacts(BaseModel):
    """A table somebody works on."""

    id: str
    name: str
    created: str
    done: dict[str, bool]


def facts(project: Project) -> TableFacts:
    """What is told of a table."""
    return TableFacts(id=project.id, name=project.name, created=project.created, done=done(project))


@router.get("/tables")
def tables(asked: Who) -> list[TableFacts]:
    """All tables of whoever asks, the newest first."""
    return [facts(project) for project in asked.desk.projects()]


@router.get("/tables/{key}")
def table(project: Of) -> TableFacts:
    """One table."""
    return facts(project)
