"""Ask a release, the recipient's side: open a public folder, verify it, read its datasheet, ask it."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends
from starlette.background import BackgroundTask
from starlette.datastructures import FormData, UploadFile
from starlette.responses import HTMLResponse, RedirectResponse, Response

from undercover.errors import DataError, ParameterError
from undercover.model.queries import Between, NoneOf, OneOf, Predicate
from undercover.web.access.asking import Asking, Form, Of, Who, field
from undercover.web.asked import opened as shelf
from undercover.web.asked.opened import Opened
from undercover.web.asked.questions import ask, ready
from undercover.web.asked.starting import begin
from undercover.web.asked.telling import hierarchy_in, tell
from undercover.web.desks.desk import Missing
from undercover.web.looks import environment, is_part, page

router = APIRouter()


def opened_of(key: str, asked: Who) -> Opened:
    """The release a route is about: one that whoever asks has opened."""
    return shelf.opened(asked.desk, key)


Release = Annotated[Opened, Depends(opened_of)]


@router.get("/ask")
def show(asked: Who) -> HTMLResponse:
    """What was opened, and how to open another."""
    own = [(project, shelf.published(project)) for project in asked.desk.projects()]
    places = shelf.public_folders(asked.service.settings)
    return page(
        asked, "ask.html.j2", opened=shelf.opened_of(asked.desk), own=[one for one in own if one[1]], places=places
    )


@router.post("/ask")
def upload(asked: Who, form: Form) -> Response:
    """Take a zip, or the files of a public folder, and the key it must be signed by."""
    files = _files(form, "files")
    one = shelf.open_files(asked.desk, [(str(file.filename), file.file) for file in files], _most(asked))
    return _begun(asked, one, form)


@router.post("/ask/folder")
def from_folder(asked: Who, form: Form) -> Response:
    """Open a public folder of a folder that may be opened."""
    return _begun(asked, shelf.open_folder(asked.desk, asked.service.settings, field(form, "place")), form)


@router.post("/ask/from/{key}/{number}")
def from_release(project: Of, number: int, asked: Who, form: Form) -> Response:
    """Open the public part of a release made here, as its recipients get it."""
    return _begun(asked, shelf.open_release(asked.desk, project, number), form)


@router.get("/ask/{opened}")
def look(opened: str, asked: Who) -> HTMLResponse:
    """Whether it holds, what it says of itself, and the form to ask it."""
    return _shown(asked, shelf.opened(asked.desk, opened))


@router.get("/ask/{key}/datasheet")
def datasheet(one: Release) -> Response:
    """The datasheet, made here from the release; what was received as one is never shown."""
    place = one.folder / "datasheet.html"
    if not place.is_file():
        raise Missing("There is no datasheet of this release.")
    # A page of its own, which brings its style and the one script that it may run.
    policy = (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src '{environment().globals['script_digest']}'; "
        "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox allow-scripts"
    )
    return HTMLResponse(place.read_text("utf-8"), headers={"content-security-policy": policy})


@router.post("/ask/{key}/key")
def trust(one: Release, asked: Who, form: Form) -> Response:
    """Verify it again, with the key it must be signed by."""
    if not _files(form, "key"):
        raise DataError("Choose the file of a public key first: it ends in `.pub`.")
    return _begun(asked, one, form)


@router.post("/ask/{key}/question")
def question(one: Release, asked: Who, form: Form) -> Response:
    """Answer a question, and remember it."""
    column = field(form, "column") if field(form, "what") == "sum" else None
    if column == "":
        raise ParameterError("Choose the column to add up first.")
    ask(one, column, conditions(one, form))
    if is_part(asked.request):
        return _shown(asked, one, "ask_answers.html.j2")
    return RedirectResponse(f"/ask/{one.id}#answer", 303)


@router.post("/ask/{key}/values")
def values(one: Release, asked: Who, form: Form) -> Response:
    """Say which values lie under the nodes of a column, by the hierarchy its holder used."""
    files = _files(form, "hierarchy")
    if not files:
        raise DataError("Choose the file of a hierarchy first.")
    tell(one, field(form, "column"), hierarchy_in(one, str(files[0].filename), files[0].file))
    return _begun(asked, one, form)


@router.post("/ask/{key}/remove")
def remove(one: Release, asked: Who, form: Form) -> Response:
    """Remove what was received, and what was asked."""
    for job in asked.queue.jobs(one.work):
        asked.queue.cancel(one.work, job.id)
    shelf.remove(one)
    return RedirectResponse("/ask", 303)


def conditions(one: Opened, form: FormData) -> dict[str, Predicate]:
    """The conditions of a filled-in form: what is empty is none."""
    found: dict[str, Predicate] = {}
    problems = []
    for number, column in enumerate((one.found or {}).get("columns", ())):
        numeric = column["kind"] == "numeric"
        low, high = (_value(field(form, f"{end}-{number}"), numeric) for end in ("low", "high"))
        written = field(form, f"text-{number}").replace("\r", "\n").replace(";", "\n").split("\n")
        ticked = [value for value in form.getlist(f"value-{number}") if isinstance(value, str)]
        chosen: list[Any] = [_value(value.strip(), numeric) for value in (*ticked, *written) if value.strip()]
        chosen += [None] if field(form, f"missing-{number}") else []
        if chosen and (low is not None or high is not None):
            problems.append(f"Column `{column['name']}`: give a range or single values, not both.")
        elif low is not None or high is not None:
            found[column["name"]] = Between(low, high)
        elif chosen:
            found[column["name"]] = (NoneOf if field(form, f"how-{number}") == "none" else OneOf)(chosen)
    if problems:
        raise ParameterError(problems)
    return found


def _begun(asked: Asking, one: Opened, form: FormData) -> Response:
    key = next((file.file for file in _files(form, "key")), None)
    begin(asked.queue, one, key)
    return RedirectResponse(f"/ask/{one.id}", 303)


def _shown(asked: Asking, one: Opened, template: str = "ask_release.html.j2") -> HTMLResponse:
    job = next(iter(asked.queue.jobs(one.work, "verify")), None)
    waiting = one.found is None and job is not None and not job.over
    if is_part(asked.request) and waiting:
        template = "ask_waiting.html.j2"
    answer = page(asked, template, one=one, found=one.found, job=job, waiting=waiting, questions=one.questions)
    if is_part(asked.request) and not waiting and template == "ask_release.html.j2":
        answer.headers["hx-refresh"] = "true"
    elif not waiting:
        answer.background = BackgroundTask(ready, one)
    return answer


def _files(form: FormData, name: str) -> list[UploadFile]:
    return [file for file in form.getlist(name) if isinstance(file, UploadFile) and file.filename]


def _most(asked: Asking) -> int:
    return asked.service.settings.most_bytes


def _value(text: str, numeric: bool) -> str | int | float | None:
    """What somebody wrote into a field: of a column of numbers a number where it is one."""
    if not text:
        return None
    for kind in (int, float) if numeric else ():
        try:
            return kind(text)
        except ValueError:
            continue
    return text
