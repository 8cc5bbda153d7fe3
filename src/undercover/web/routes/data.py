"""Step 1, the data: a file is uploaded, opened in a folder or a database, or an example; its profile is made."""

from __future__ import annotations

import shutil

from fastapi import APIRouter
from starlette.datastructures import UploadFile
from starlette.responses import HTMLResponse, RedirectResponse, Response

from undercover.errors import DataError
from undercover.web.access.asking import Form, Of, Who
from undercover.web.looks import page

router = APIRouter()


@router.get("/new")
def new(asked: Who) -> HTMLResponse:
    """Where a table comes from."""
    return page(asked, "new.html.j2")


@router.post("/new")
def add(asked: Who, form: Form) -> Response:
    """Take an uploaded file, and profile it."""
    given = form.get("file")
    if not isinstance(given, UploadFile) or not given.filename:
        raise DataError("Choose a file first.")
    name = given.filename.replace("\\", "/").rpartition("/")[2]
    project = asked.desk.add(name, {"kind": "upload", "path": f"table{_suffix(name)}"})
    with open(project.whence, "xb") as target:
        shutil.copyfileobj(given.file, target, 1 << 20)
    asked.queue.add(project, "profile", {"most_rows": asked.service.settings.most_rows})
    return RedirectResponse(f"/tables/{project.id}/data", 303)


def _suffix(name: str) -> str:
    suffix = name.rpartition(".")[2].lower()
    return f".{suffix}" if suffix.isalnum() and len(suffix) <= 8 else ""


@router.get("/tables/{key}/data")
def show(project: Of, asked: Who) -> HTMLResponse:
    """The profile, or how far it is."""
    job = next(iter(asked.queue.jobs(project, "profile")), None)
    return page(asked, "data.html.j2", project=project, step="data", job=job)
