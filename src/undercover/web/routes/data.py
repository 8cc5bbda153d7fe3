"""Step 1, the data: a table is uploaded, opened in a folder or a database, or an example; then it is profiled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, Final

from fastapi import APIRouter
from starlette.datastructures import UploadFile
from starlette.responses import HTMLResponse, RedirectResponse, Response

from undercover.errors import DataError
from undercover.io.database import without_password
from undercover.io.files import CSV, KNOWN, STATISTICS, ZIP
from undercover.memory import size_in_words
from undercover.model.view import View
from undercover.web.access.asking import Asking, Form, Of, Who, field, revision
from undercover.web.desks.file_kinds import suffix_of
from undercover.web.desks.folders import listed_in
from undercover.web.desks.project import Project
from undercover.web.desks.sources import (
    CENSUS,
    begin_table,
    examples,
    from_database,
    from_example,
    from_folder,
    from_upload,
    read_again,
    replace_file,
    start_profile,
    with_password,
)
from undercover.web.desks.store import read_json
from undercover.web.looks import is_part, page

SEPARATORS: Final = {"comma": ",", "semicolon": ";", "tab": "\t", "bar": "|"}
ENCODINGS: Final = ("utf-8", "cp1252", "iso-8859-15", "iso-8859-2", "utf-16", "mac-roman")

router = APIRouter()


@router.get("/new")
def new(asked: Who) -> HTMLResponse:
    """Where a table comes from."""
    return _new(asked)


def _new(asked: Asking, opened: str = "") -> HTMLResponse:
    settings = asked.service.settings
    return page(
        asked,
        "new.html.j2",
        part=is_part(asked.request),
        kinds=", ".join(KNOWN),
        most=size_in_words(settings.most_bytes),
        entries=listed_in(settings, opened),
        opened=opened,
        databases=settings.databases,
        census=CENSUS,
        papers={name: source for name, source in examples().items() if name not in CENSUS},
    )


@router.post("/new")
def upload(asked: Who, form: Form) -> Response:
    """Take a file that is sent."""
    name, file = _file(form)
    return _begin(asked, lambda: from_upload(asked.desk, asked.service.settings, name, file))


@router.post("/new/folder")
def open_folder(asked: Who, form: Form) -> Response:
    """Look into a folder, or take a file of it."""
    if "file" in form:
        return _begin(asked, lambda: from_folder(asked.desk, asked.service.settings, field(form, "file")))
    return _new(asked, field(form, "open"))


@router.post("/new/database")
def ask_database(asked: Who, form: Form) -> Response:
    """Take a table of a database."""
    url = with_password(field(form, "url"), field(form, "password"))
    return _begin(asked, lambda: from_database(asked.desk, asked.service.settings, url))


@router.post("/new/example")
def take_example(asked: Who, form: Form) -> Response:
    """Take a built-in table."""
    return _begin(asked, lambda: from_example(asked.desk, asked.service.settings, field(form, "example")))


def _begin(asked: Asking, make: Callable[[], Project]) -> Response:
    """Make a table, start its profile, and go there."""
    return _there(asked, begin_table(asked.desk, asked.queue, asked.service.settings, make))


def begun(asked: Asking, project: Project) -> Response:
    """Start the profile of a table, and go there."""
    start_profile(asked.queue, project, asked.service.settings)
    return _there(asked, project)


def _there(asked: Asking, project: Project) -> Response:
    there = f"/tables/{project.id}/data"
    return Response(headers={"HX-Redirect": there}) if is_part(asked.request) else RedirectResponse(there, 303)


def _file(form: Form) -> tuple[str, Any]:
    given = form.get("file")
    if not isinstance(given, UploadFile) or not given.filename:
        raise DataError("Choose a file first.")
    return given.filename, given.file


@router.get("/tables/{key}/data")
def show(project: Of, asked: Who, page: str = "1") -> HTMLResponse:
    """The profile, or how far it is; a page of rows where only that is asked for."""
    return _show(project, asked, "data_rows.html.j2" if is_part(asked.request) else "data.html.j2", page)


def _show(project: Project, asked: Asking, template: str, wanted: str) -> HTMLResponse:
    job = next(iter(asked.queue.jobs(project, "profile")), None)
    profile = project.profile
    values: dict[str, Any] = {"job": job, "profile": profile, "failed": job is not None and job.state == "failed"}
    values |= {"how": _how(project, job), "source": _shown_source(project)}
    if profile is not None:
        found = profile["inspection"]
        number = min(max(int(wanted), 1), profile["pages"]) if wanted.isdecimal() and len(wanted) < 6 else 1
        values |= {
            "inspection": found,
            "risks": View.of(profile["risks"]),
            "page": number,
            "first": (number - 1) * profile["rows_shown"],
            "rows": _rows(project, number - 1),
            "marks": {mark: name for name, mark in SEPARATORS.items()},
            "markers": _markers(found),
            "alone": found["class_sizes"][0]["rows"] if found["class_sizes"] else None,
            "missing": sum(column["missing"] for column in found["columns"]),
        }
    return page(asked, template, project=project, step="data", **values)


def _rows(project: Project, number: int) -> list[Any]:
    """A page of rows; none where another profile takes the place of this one at this very moment."""
    place = project.folder / "profile" / "rows" / f"{number}.json"
    return list(read_json(place)["rows"]) if place.is_file() else []


def _how(project: Project, job: Any) -> dict[str, Any]:
    """What the form of reading options says: what was tried last, what is decided, and what was found."""
    tried = job.request if job is not None and job.state == "failed" else {}
    said = tried.get("how", project.spec.get("data", {}))
    source = project.source
    suffix = suffix_of(str(source.get("path", "")))
    marks = {mark: name for name, mark in SEPARATORS.items()}
    found = (project.profile or {}).get("read", {})
    encoding = said.get("encoding", "")
    return {
        "plain": suffix in (*CSV, *ZIP),
        "encoded": suffix in (*CSV, *ZIP, *STATISTICS),
        "separator": marks.get(said.get("separator", ""), ""),
        "separators": list(SEPARATORS),
        "decimal": said.get("decimal", ""),
        "encoding": encoding,
        "encodings": [*ENCODINGS, *([encoding] if encoding and encoding not in ENCODINGS else [])],
        "nulls": list(said.get("nulls", ())),
        "sheets": list(source.get("sheets", ())),
        "sheet": tried.get("sheet") or found.get("sheet"),
    }


def _shown_source(project: Project) -> str:
    """Where a table came from, without a password."""
    source = project.source
    return without_password(source["url"]) if source["kind"] == "database" else str(source.get("shown", project.name))


def _markers(found: dict[str, Any]) -> list[dict[str, Any]]:
    """Values that may mean missing, each with the columns and cells it stands in."""
    cells: Counter[str] = Counter()
    columns: dict[str, list[str]] = {}
    for column in found["columns"]:
        for marker, count in column["null_markers"].items():
            cells[marker] += count
            columns.setdefault(marker, []).append(column["name"])
    return [{"marker": marker, "cells": count, "columns": columns[marker]} for marker, count in cells.most_common()]


@router.post("/tables/{key}/data/read")
def read_differently(project: Of, asked: Who, form: Form) -> Response:
    """Read the table in another way."""
    nulls = [line.strip() for line in field(form, "nulls").splitlines() if line.strip()]
    how = {
        "separator": SEPARATORS.get(field(form, "separator")),
        "decimal": field(form, "decimal"),
        "encoding": field(form, "encoding"),
        "nulls": nulls,
    }
    settings, sheet = asked.service.settings, field(form, "sheet") or None
    read_again(asked.queue, project, settings, how, sheet=sheet, revision=revision(form))
    return _there(asked, project)


@router.post("/tables/{key}/data/missing")
def mean_missing(project: Of, asked: Who, form: Form) -> Response:
    """Read the table with these values as missing ones, and otherwise as it is read."""
    said = {
        key: value for key, value in project.spec.get("data", {}).items() if key in ("separator", "decimal", "encoding")
    }
    more = [marker for marker in form.getlist("marker") if isinstance(marker, str)]
    nulls = list(dict.fromkeys([*project.spec.get("data", {}).get("nulls", ()), *more]))
    read_again(asked.queue, project, asked.service.settings, {**said, "nulls": nulls}, revision=revision(form))
    return _there(asked, project)


@router.post("/tables/{key}/data/file")
def another_file(project: Of, asked: Who, form: Form) -> Response:
    """Take another file in place of one that could not be read."""
    name, file = _file(form)
    asked.queue.require_room(asked.desk.name)
    return begun(asked, replace_file(project, name, file))


@router.post("/tables/{key}/data/again")
def again(project: Of, asked: Who, form: Form) -> Response:
    """Profile it again, as before: after it was cancelled, or a file was mended where it lies."""
    return begun(asked, project)
