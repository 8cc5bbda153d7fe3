"""How a table is read: try another way."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from undercover.web.access.asking import Of, Who
from undercover.web.api.jobs import JobFacts, told
from undercover.web.api.said import Strict
from undercover.web.api.said import router as part
from undercover.web.desks.sources import read_again

router = part("tables")


class Reading(Strict):
    """How the data is read; what is not said is found out from the file."""

    separator: str | None = Field(None, min_length=1, max_length=1)
    decimal: Literal[".", ","] | None = None
    encoding: str | None = Field(None, max_length=40, examples=["utf-8", "cp1252"])
    nulls: list[str] = Field([], max_length=100, description="What means missing beside an empty field.")
    sheet: str | None = Field(None, max_length=200, description="Of a workbook.")
    revision: int | None = Field(None, description="Of the table that was looked at; refused where it was changed.")


@router.post("/tables/{key}/read", status_code=201)
def read(project: Of, asked: Who, said: Reading) -> JobFacts:
    """Read a table in another way; only if this works it is kept, with the decisions that still fit."""
    how = said.model_dump(include={"separator", "decimal", "encoding", "nulls"})
    settings = asked.service.settings
    return told(read_again(asked.queue, project, settings, how, sheet=said.sheet, revision=said.revision))
