"""Releases of a table: what was judged and found, accepting one that is withheld, downloads."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Path
from pydantic import BaseModel, Field
from starlette.responses import Response, StreamingResponse

from undercover.errors import DataError
from undercover.io.release.contents import PRIVATE
from undercover.parameters import make
from undercover.web.access.asking import Of, Who
from undercover.web.api.jobs import JobFacts, told
from undercover.web.api.said import Strict
from undercover.web.api.said import router as part
from undercover.web.desks.outcomes import Outcome, outcome, outcomes
from undercover.web.desks.outcomes import remove as take_away
from undercover.web.desks.store import read_json
from undercover.web.routes import downloads

router = part("releases")
AT = "/tables/{key}/releases/{number}"
Number = Annotated[int, Path(ge=1, le=10**9, description="Of the release.")]
_FILES: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The file.",
        "content": {
            kind: {"schema": {"type": "string", "format": "binary"}} for kind in ("application/zip", "application/toml")
        },
    }
}


class ReleaseFacts(BaseModel):
    """A release."""

    number: int
    made: str
    verdict: str = Field(examples=["Ready"])
    reasons: list[dict[str, Any]]
    withheld: bool = Field(description="Whether its tables are kept back until somebody accepts them.")
    ready: bool = Field(description="Whether its public part may be downloaded.")
    accepted: dict[str, Any] | None = Field(description="Who published it against the verdict, and why.")


class Reason(Strict):
    """Why a release is published against its verdict. Who does is whoever is signed in."""

    by: str | None = Field(None, max_length=200, deprecated=True, description="Ignored: who is signed in is recorded.")
    because: str = Field(min_length=1, max_length=2000, examples=["Everybody in it consented."])


class Decider(Strict):
    """What a verdict leaves open is decided by whoever is signed in."""

    by: str | None = Field(None, max_length=200, deprecated=True, description="Ignored: who is signed in is recorded.")


def facts(found: Outcome) -> ReleaseFacts:
    """What is told of a release."""
    return ReleaseFacts(
        number=found.number,
        made=str(found.facts.get("made", "")),
        verdict=found.verdict,
        reasons=list(found.facts["reasons"]),
        withheld=found.withheld,
        ready=found.ready,
        accepted=None if found.accepted is None else found.accepted.to_dict(),
    )


@router.get("/tables/{key}/releases")
def list_all(project: Of) -> list[ReleaseFacts]:
    """All releases of a table, the newest first."""
    return [facts(found) for found in outcomes(project)]


@router.get(AT)
def show(project: Of, number: Number) -> ReleaseFacts:
    """One release."""
    return facts(outcome(project, number))


@router.get(f"{AT}/report")
def report(project: Of, number: Number, asked: Who) -> dict[str, Any]:
    """The whole report of its holder as JSON: verdict, promises, attacks, costs. Private."""
    found = read_json(outcome(project, number).folder / PRIVATE / "report.json")
    asked.record("download", project, release=number, file="report.json")
    return found


@router.post(f"{AT}/accept", status_code=201)
def accept(project: Of, number: Number, asked: Who, reason: Reason) -> JobFacts:
    """Publish a withheld release by somebody's decision; it is verified again first, by a job."""
    if not outcome(project, number).withheld:
        raise DataError("This release is not withheld, so there is nothing to accept.")
    asked.record("accept", project, release=number, because=reason.because)
    return told(asked.queue.add(project, "accept", {"release": number, "by": asked.user, "because": reason.because}))


@router.post(f"{AT}/decide")
def decide(project: Of, number: Number, asked: Who, said: Decider | None = None) -> ReleaseFacts:
    """Note that what the verdict leaves open was looked at and decided."""
    found = outcome(project, number)
    found.decide(asked.user, sure=True)
    asked.record("decide", project, release=number)
    return facts(outcome(project, number))


class Changed(Strict):
    """Other values of parameters of the method of a release; null leaves one out."""

    parameters: dict[str, Any] = Field(min_length=1, max_length=50, examples=[{"k": 10}])


@router.post(f"{AT}/whatif", status_code=201)
def whatif(project: Of, number: Number, asked: Who, said: Changed) -> JobFacts:
    """Try other values of the parameters of a release; a job says what would come of it, and writes no release."""
    known = outcome(project, number).facts
    method = str(known["asked"]["method"]["name"])
    values = {**known["recipe"], **said.parameters}
    parameters = {name: value for name, value in values.items() if value is not None}
    make("methods", method, parameters)  # what is wrong with one is said at once
    changed = " ".join(f"{name}={'none' if value is None else value}" for name, value in said.parameters.items())
    return told(asked.queue.add(project, "whatif", {"method": method, "parameters": parameters, "changed": changed}))


@router.delete(AT, status_code=204)
def remove(project: Of, number: Number, asked: Who) -> None:
    """Remove a release and all that is kept of it."""
    found = outcome(project, number)
    asked.record("remove release", project, release=number)
    take_away(found)
    asked.queue.add(project, "frontier", {})


@router.get(f"{AT}/public.zip", response_class=StreamingResponse, responses=_FILES)
def public(project: Of, number: Number, asked: Who) -> StreamingResponse:
    """The public part: what may leave the house, and nothing else."""
    return downloads.public(project, number, asked)


@router.get(f"{AT}/spec.toml", response_class=StreamingResponse, responses=_FILES)
def spec(project: Of, number: Number, asked: Who) -> Response:
    """The spec it was made by; with its hierarchies as a zip where it names any. Private."""
    return downloads.spec(project, number, asked)
