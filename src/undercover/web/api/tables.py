"""Tables: begin one from a file, list them, look at one, remove it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import File, UploadFile
from pydantic import BaseModel, Field, model_validator

from undercover.web.access.asking import Asking, Of, Who
from undercover.web.api.said import Strict
from undercover.web.api.said import router as part
from undercover.web.desks.desk import Missing
from undercover.web.desks.progress import done, following, releases
from undercover.web.desks.project import Project
from undercover.web.desks.sources import begin_table, examples, from_database, from_example, from_folder, from_upload

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


class Source(Strict):
    """Where a table comes from: one of an example, a file in an allowed folder, or a database."""

    example: str | None = Field(None, examples=["census-1000"])
    folder: str | None = Field(None, description="The allowed folder's name and the path below it.")
    database: str | None = Field(None, description="A URL that begins with duckdb://, sqlite:// or postgres://.")

    @model_validator(mode="after")
    def _one(self) -> Source:
        if sum(one is not None for one in (self.example, self.folder, self.database)) != 1:
            raise ValueError("say one of `example`, `folder` and `database`")
        return self


@router.post("/tables", status_code=201)
def upload(
    asked: Who, file: Annotated[UploadFile, File(description="CSV, Parquet, Excel, SPSS or Stata.")]
) -> TableFacts:
    """Begin a table from a file; a job reads and profiles it."""
    named = file.filename or "table"
    return _begin(asked, lambda: from_upload(asked.desk, asked.service.settings, named, file.file))


@router.post("/tables/from", status_code=201)
def begin(asked: Who, source: Source) -> TableFacts:
    """Begin a table from an example, a file in an allowed folder, or a database; a job reads and profiles it."""
    settings = asked.service.settings
    if source.example is not None:
        example = source.example
        return _begin(asked, lambda: from_example(asked.desk, settings, example))
    if source.folder is not None:
        folder = source.folder
        return _begin(asked, lambda: from_folder(asked.desk, settings, folder))
    return _begin(asked, lambda: from_database(asked.desk, settings, str(source.database)))


def _begin(asked: Asking, make: Callable[[], Project]) -> TableFacts:
    return facts(begin_table(asked.desk, asked.queue, asked.service.settings, make))


@router.get("/examples")
def built_in() -> dict[str, str]:
    """The built-in tables by name, and where each is printed; of the invented census nothing."""
    return examples()


@router.get("/tables/{key}")
def show(project: Of) -> TableFacts:
    """One table."""
    return facts(project)


@router.delete("/tables/{key}", status_code=204)
def remove(project: Of, asked: Who) -> None:
    """Remove a table and everything made of it."""
    for job in asked.queue.jobs(project):
        asked.queue.cancel(project, job.id)
    asked.record("remove table", project)
    asked.desk.remove(project)


@router.get("/tables/{key}/profile")
def profile(project: Of) -> dict[str, Any]:
    """What was found in it: how it was read, a preview, suggested roles with reasons, values. 404 until it is read."""
    found = project.profile
    if found is None:
        raise Missing("The table has not been read yet. Look at its jobs.")
    return found
