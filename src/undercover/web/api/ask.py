"""Ask a release: open a public folder, look at what verifying it found, and ask how many and how much."""

from __future__ import annotations

from typing import IO, Annotated, Any, Literal

from fastapi import Depends, File, UploadFile
from pydantic import BaseModel, Field, model_validator

from undercover.model.hierarchy import Hierarchy
from undercover.model.queries import Predicate
from undercover.web.access.asking import Who
from undercover.web.api.said import Strict
from undercover.web.api.said import router as part
from undercover.web.asked import opened as shelf
from undercover.web.asked.opened import Opened
from undercover.web.asked.questions import ask
from undercover.web.asked.starting import begin
from undercover.web.asked.telling import tell

router = part("ask")
Value = str | int | float | bool | None
Outcome = Literal["holds", "fails", "private", "nothing", "unreadable"]


class OpenedFacts(BaseModel):
    """A release that was opened."""

    id: str = Field(examples=["0123456789ab"])
    name: str
    created: str
    origin: Literal["upload", "folder", "release"]
    state: Literal["waiting", "running", "done", "failed", "cancelled"] = Field(description="Of its verification.")
    outcome: Outcome | None = Field(description="holds, fails, private (only the holder can tell), nothing, unreadable")
    found: dict[str, Any] | None = Field(description="The verification, the datasheet in short, and the columns.")


class Given(Strict):
    """A release made here, by `table` and `release`; or one in a folder that may be opened, by `folder`."""

    table: str | None = Field(None, examples=["0123456789ab"])
    release: int | None = Field(None, ge=1, le=10**9)
    folder: str | None = None

    @model_validator(mode="after")
    def _one(self) -> Given:
        if (self.folder is None) == (self.table is None) or (self.table is None) != (self.release is None):
            raise ValueError("say `table` and `release`, or `folder`")
        return self


class Condition(Strict):
    """What must hold of a column: `between`, `one_of` or `none_of`."""

    between: tuple[Value, Value] | None = Field(None, examples=[[30, 40]], description="null leaves an end open")
    closed: Literal["both", "left", "right", "neither"] = "both"
    one_of: list[Value] | None = Field(None, min_length=1, max_length=10_000)
    none_of: list[Value] | None = Field(None, min_length=1, max_length=10_000)

    @model_validator(mode="after")
    def _one(self) -> Condition:
        if sum(one is not None for one in (self.between, self.one_of, self.none_of)) != 1:
            raise ValueError("say one of `between`, `one_of` and `none_of`")
        return self

    def predicate(self) -> Predicate:
        """As the library asks."""
        from undercover.web.asked.answering import predicate

        return predicate(self.model_dump())


class Count(Strict):
    """How many rows satisfy every condition."""

    where: dict[str, Condition] = Field({}, examples=[{"age": {"between": [30, 40]}, "sex": {"one_of": ["F"]}}])


class Sum(Count):
    """The sum of a column over them."""

    column: str = Field(examples=["salary"])


class Answered(BaseModel):
    """About so many; the truth lies between `lower` and `upper`: `surely`, or `likely` (95 times in 100)."""

    estimate: float
    lower: float | None
    upper: float | None
    sure: Literal["surely", "likely", "unbounded"]
    python: str = Field(description="The same question in Python.")


def _opened(opened: str, asked: Who) -> Opened:
    return shelf.opened(asked.desk, opened)


One = Annotated[Opened, Depends(_opened)]


def told(one: Opened, asked: Who) -> OpenedFacts:
    """What is told of a release that was opened."""
    job = next(iter(asked.queue.jobs(one.work, "verify")), None)
    return OpenedFacts(
        id=one.id,
        **one.facts,
        state="done" if one.found else job.state if job else "failed",
        outcome=one.found["outcome"] if one.found else None,
        found=one.found,
    )


@router.get("/asked")
def list_all(asked: Who) -> list[OpenedFacts]:
    """All releases that this desk opened, the newest first."""
    return [told(one, asked) for one in shelf.opened_of(asked.desk)]


@router.post("/asked", status_code=201)
def upload(
    asked: Who,
    files: Annotated[list[UploadFile], File(description="One zip of a public folder, or all of its files.")],
    key: Annotated[UploadFile | None, File(description="The public key it must be signed by.")] = None,
) -> OpenedFacts:
    """Open a public folder that was received; it is verified at once, in a process of its own."""
    given: list[tuple[str, IO[bytes]]] = [(str(file.filename), file.file) for file in files]
    one = shelf.open_files(asked.desk, given, asked.service.settings.most_bytes)
    begin(asked.queue, one, None if key is None else key.file)
    return told(one, asked)


@router.post("/asked/from", status_code=201)
def open_given(asked: Who, given: Given) -> OpenedFacts:
    """Open the public part of a release made here, or a public folder that may be opened."""
    if given.folder is not None:
        one = shelf.open_folder(asked.desk, asked.service.settings, given.folder)
    else:
        one = shelf.open_release(asked.desk, asked.desk.project(str(given.table)), given.release or 0)
    begin(asked.queue, one)
    return told(one, asked)


@router.get("/asked/{opened}")
def show(one: One, asked: Who) -> OpenedFacts:
    """A release that was opened, and what verifying it found."""
    return told(one, asked)


class Told(Strict):
    """The hierarchy of a column: for each value its groups, from narrow to wide; or the values alone, in order."""

    rows: list[Annotated[list[str], Field(min_length=1, max_length=50)]] = Field(
        min_length=1, max_length=100_000, examples=[[["Bonn", "DE"], ["Lyon", "FR"]]]
    )


@router.put("/asked/{opened}/values/{column}", status_code=202)
def values(one: One, column: str, said: Told, asked: Who) -> OpenedFacts:
    """Say which values lie under the nodes of a column, so that it can be asked about; it is verified again."""
    tell(one, column, Hierarchy([tuple(row) for row in said.rows]))
    begin(asked.queue, one)
    return told(Opened(one.folder), asked)


@router.delete("/asked/{opened}", status_code=204)
def remove(one: One, asked: Who) -> None:
    """Remove what was received, and what was asked."""
    for job in asked.queue.jobs(one.work):
        asked.queue.cancel(one.work, job.id)
    shelf.remove(one)


@router.post("/asked/{opened}/count")
def count(one: One, question: Count) -> Answered:
    """How many rows satisfy every condition, with the ends between which the truth lies."""
    return Answered(**ask(one, None, {name: said.predicate() for name, said in question.where.items()}))


@router.post("/asked/{opened}/sum")
def total(one: One, question: Sum) -> Answered:
    """The sum of a column over the rows that satisfy every condition."""
    where = {name: said.predicate() for name, said in question.where.items()}
    return Answered(**ask(one, question.column, where))
