"""Step 5, the result: all releases of a table, and the pages of one."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.responses import HTMLResponse

from undercover.web.access.asking import Asking, Of, Who
from undercover.web.desks.desk import Missing
from undercover.web.desks.outcomes import PARTS, Outcome, outcome, outcomes
from undercover.web.looks import page
from undercover.web.released.compared import frontier_of, points
from undercover.web.released.packed import command, python, spec_files

router = APIRouter()


@router.get("/tables/{key}/result")
def result(project: Of, asked: Who) -> HTMLResponse:
    """All releases of a table, and the newest of them."""
    found = outcomes(project)
    if found:
        return _first(asked, found[0])
    return page(asked, "result_none.html.j2", project=project, step="result")


@router.get("/tables/{key}/releases/{number}")
def release(project: Of, number: int, asked: Who) -> HTMLResponse:
    """The first page of a release: verdict, what to decide, downloads, warnings, times."""
    return _first(asked, outcome(project, number))


@router.get("/tables/{key}/releases/{number}/{part}")
def part(project: Of, number: int, part: str, asked: Who) -> HTMLResponse:
    """Another page of a release."""
    found = outcome(project, number)
    if part not in PARTS:
        raise Missing("There is no such page of a release.")
    return _page(asked, found, part, **_PARTS[part](asked, found))


def _first(asked: Asking, found: Outcome) -> HTMLResponse:
    project = found.project
    mine = (job for job in asked.queue.jobs(project, "accept") if job.request["release"] == found.number)
    recipe = {"command": command(found), "python": python(found), "files": [one.name for one in spec_files(found)]}
    return _page(asked, found, "", job=next(mine, None), recipe=recipe, all=outcomes(project))


def _page(asked: Asking, found: Outcome, part: str, **more: Any) -> HTMLResponse:
    template = f"result_{part}.html.j2" if part else "result.html.j2"
    return page(asked, template, project=found.project, step="result", one=found, parts_of=PARTS, part=part, **more)


def _rows(asked: Asking, found: Outcome) -> dict[str, Any]:
    return {"shown": found.part("rows")}


def _drawn(name: str) -> Any:
    return lambda asked, found: {"fragment": found.fragment(name)}


def _people(asked: Asking, found: Outcome) -> dict[str, Any]:
    return {"shown": found.part("people")}


def _compare(asked: Asking, found: Outcome) -> dict[str, Any]:
    project = found.project
    job = next(iter(asked.queue.jobs(project, "whatif")), None)
    return {"points": points(project), "fragment": frontier_of(project), "job": job}


_PARTS = {
    "rows": _rows,
    "attacks": _drawn("attacks"),
    "utility": _drawn("utility"),
    "people": _people,
    "compare": _compare,
}
