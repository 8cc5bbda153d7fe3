"""What is decided about a release: accept it, decide what is open, remove it, try another value, make it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter
from starlette.datastructures import FormData
from starlette.responses import RedirectResponse, Response

from undercover.errors import DataError, ParameterError
from undercover.web.access.asking import Form, Of, Who, field, revision
from undercover.web.desks.desk import Missing
from undercover.web.desks.outcomes import Outcome, outcome, remove
from undercover.web.routes.downloads import AT

router = APIRouter()


@router.post(f"{AT}/accept")
def accept(project: Of, number: int, asked: Who, form: Form) -> Response:
    """Publish a withheld release, by somebody's decision and with a reason."""
    found = outcome(project, number)
    because = _short(form, "because", 2000)
    if not found.withheld:
        raise DataError("This release is not withheld, so there is nothing to accept.")
    if not because or field(form, "sure") != "yes":
        raise ParameterError("Say why, and tick that you publish it against the verdict.")
    asked.record("accept", project, release=number, because=because)
    asked.queue.add(project, "accept", {"release": number, "by": asked.user, "because": because})
    return _back(found)


@router.post(f"{AT}/decide")
def decide(project: Of, number: int, asked: Who, form: Form) -> Response:
    """Note that what the verdict leaves open is decided, by whoever is signed in."""
    found = outcome(project, number)
    found.decide(asked.user, sure=field(form, "sure") == "yes")
    asked.record("decide", project, release=number)
    return _back(found)


@router.post(f"{AT}/remove")
def take_away(project: Of, number: int, asked: Who, form: Form) -> Response:
    """Remove a release, and draw the frontier without it."""
    if field(form, "sure") != "yes":
        raise ParameterError("Tick that the release is to be removed.")
    found = outcome(project, number)
    asked.record("remove release", project, release=number)
    remove(found)
    asked.queue.add(project, "frontier", {})
    return RedirectResponse(f"/tables/{project.id}/result", 303)


@router.post(f"{AT}/whatif")
def whatif(project: Of, number: int, asked: Who, form: Form) -> Response:
    """Try other values of the parameters of a release."""
    found = outcome(project, number)
    parameters, changed = _changed(found, form)
    request = {"method": found.facts["asked"]["method"]["name"], "parameters": parameters, "changed": changed}
    asked.queue.add(project, "whatif", request)
    return _back(found, "/compare")


@router.post(f"{AT}/make")
def make(project: Of, number: int, asked: Who, form: Form) -> Response:
    """Take what was tried last into the spec; the next step is to run it."""
    job = asked.queue.job(project, field(form, "job"))
    if job.kind != "whatif" or job.result is None:
        raise Missing("Nothing of this kind was tried, or it is not done.")
    method = {"name": job.request["method"], **job.request["parameters"]}
    spec = {**project.spec, "method": method, "choice": {"basis": "looked"}}  # by what it reached when it was tried
    project.change(spec=spec, revision=revision(form))
    return RedirectResponse(f"/tables/{project.id}/run", 303)


def _short(form: FormData, name: str, most: int) -> str:
    text = field(form, name)
    if len(text) > most:
        raise ParameterError(f"That is too long: at most {most:,} characters.")
    return text


def _back(found: Outcome, part: str = "") -> RedirectResponse:
    return RedirectResponse(f"/tables/{found.project.id}/releases/{found.number}{part}", 303)


def _changed(found: Outcome, form: FormData) -> tuple[dict[str, Any], str]:
    """The parameters with what a form says, and what is new in words."""
    parameters, changed = dict(found.facts["recipe"]), []
    for one in found.facts["parameters"]:
        name = one["name"]
        given = field(form, f"parameter-{name}")
        if given != _shown(one["value"]):
            changed.append(f"{name}={given or 'none'}")
            parameters.pop(name, None)
            if given:
                parameters[name] = _typed(one, given)
    if not changed:
        raise ParameterError("Change a parameter first: everything is as it is in this release.")
    return parameters, " ".join(changed)


def _shown(value: Any) -> str:
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _typed(parameter: Mapping[str, Any], text: str) -> Any:
    """As a spec has it: truths and whole numbers as such; the rest is read as text is."""
    if parameter["kind"] == "bool":
        return text == "true"
    return int(text) if parameter["kind"] == "int" and text.lstrip("-").isdecimal() else text
