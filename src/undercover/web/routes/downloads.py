"""Downloads of a release: every file is looked up by a fixed name, and the public part is only that."""

from __future__ import annotations

import re
from typing import Final

from fastapi import APIRouter
from starlette.responses import FileResponse, Response, StreamingResponse

from undercover.io.release.contents import MANIFEST, PRIVATE, PUBLIC
from undercover.pages.jinja import environment
from undercover.web.access.asking import Of, Who
from undercover.web.desks.desk import Missing
from undercover.web.desks.outcomes import outcome
from undercover.web.released.packed import command, file_name, public_files, python, source_name, spec_files, zipped

router = APIRouter()
AT: Final = "/tables/{key}/releases/{number}"


@router.get(f"{AT}/public.zip")
def public(project: Of, number: int, asked: Who) -> StreamingResponse:
    """The public part as a zip: what may leave the house, and nothing else."""
    found = outcome(project, number)
    if found.withheld:
        raise Missing("There is no public part: the tables are withheld until somebody accepts the release.")
    files = public_files(found)
    asked.record("download", project, release=number, file="public.zip")
    return StreamingResponse(zipped(files), media_type="application/zip", headers=_named(file_name(found, ".zip")))


@router.get(f"{AT}/release.json")
def manifest(project: Of, number: int, asked: Who) -> Response:
    """What the release says of itself."""
    found = outcome(project, number)
    if found.withheld:
        raise Missing("There is no public part: the tables are withheld until somebody accepts the release.")
    public_files(found)
    asked.record("download", project, release=number, file=MANIFEST)
    headers = _named(file_name(found, ".json"))
    return FileResponse(found.folder / PUBLIC / MANIFEST, media_type="application/json", headers=headers)


@router.get(f"{AT}/spec")
def spec(project: Of, number: int, asked: Who) -> Response:
    """The spec as TOML; with its hierarchies as a zip where it names any. Private: it may hold values of the table."""
    found = outcome(project, number)
    files = spec_files(found)
    asked.record("download", project, release=number, file="spec")
    if len(files) > 1:
        return StreamingResponse(zipped(files), media_type="application/zip", headers=_named("spec.zip"))
    return FileResponse(files[0], media_type="application/toml", headers=_named("spec.toml"))


@router.get(f"{AT}/command")
def shell(project: Of, number: int) -> Response:
    """The equivalent command line."""
    text = f"#!/bin/sh\n{command(outcome(project, number))}\n"
    return Response(text, media_type="application/x-sh", headers=_named("release.sh"))


@router.get(f"{AT}/python")
def script(project: Of, number: int) -> Response:
    """The equivalent in Python."""
    text = python(outcome(project, number))
    return Response(text, media_type="text/x-python", headers=_named("release.py"))


@router.get(f"{AT}/example")
def example(project: Of, number: int, asked: Who) -> FileResponse:
    """The table itself where it is a built-in example, which nobody has as a file."""
    found = outcome(project, number)
    if project.source["kind"] != "example":
        raise Missing("Only the table of a built-in example can be downloaded: you have the others.")
    asked.record("download", project, release=number, file="example")
    return FileResponse(project.whence, media_type="text/csv", headers=_named(source_name(found)))


@router.get(f"{AT}/report")
def report(project: Of, number: int, asked: Who) -> FileResponse:
    """The whole report as a page of its own, which runs its own script and no other."""
    digest = environment().globals["script_digest"]
    policy = (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src '{digest}'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    )
    place = outcome(project, number).folder / PRIVATE / "report.html"
    asked.record("download", project, release=number, file="report.html")
    return FileResponse(place, media_type="text/html", headers={"content-security-policy": policy})


@router.get(f"{AT}/report.html")
def report_file(project: Of, number: int, asked: Who) -> FileResponse:
    """The same as a file."""
    found = outcome(project, number)
    headers = _named(file_name(found, "-private-report.html"))
    asked.record("download", project, release=number, file="report.html")
    return FileResponse(found.folder / PRIVATE / "report.html", media_type="text/html", headers=headers)


def _named(name: str) -> dict[str, str]:
    plain = re.sub(r"[^\w .()-]", "-", name, flags=re.ASCII)
    return {"content-disposition": f'attachment; filename="{plain}"'}
