"""Step 3, protect: the policy, what else must hold, and what others publish about the same people."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter
from starlette.datastructures import UploadFile
from starlette.responses import HTMLResponse, RedirectResponse, Response

from undercover.errors import DataError, ParameterError, UndercoverError
from undercover.guarantees.requirements import (
    entries_from_requirements,
    guarantees_from_entries,
    requirement_keys,
)
from undercover.model.about import Holding, about_of
from undercover.model.policy import POLICIES, policy_of
from undercover.web.access.asking import Asking, Form, Of, Who, field, revision
from undercover.web.desks.project import Project
from undercover.web.looks import page
from undercover.web.protecting import others
from undercover.web.protecting.feasible import holding_of, policy_asked
from undercover.web.protecting.fields import placed, written
from undercover.web.protecting.policies import OWN, fields_of, limits, meaning, spec_of

router = APIRouter()


def asked_for(project: Project, required: Sequence[Any]) -> dict[str, Any]:
    """What is asked for so far, in words."""
    spec = project.spec
    method = dict(spec.get("method", {}))
    name = method.pop("name", None)
    told = [f"{key}={written(value)}" for key, value in method.items()]
    return {
        "method": name and ", ".join([about_of(name).title, *told]),
        "name": name,
        "policy": spec.get("policy", {}).get("name"),
        "require": [one.title() for one in required],
    }


@router.get("/tables/{key}/protect")
def show(project: Of, asked: Who) -> HTMLResponse:
    """The page."""
    return _shown(project, asked)


def _shown(project: Project, asked: Asking, status: int = 200, **values: Any) -> HTMLResponse:
    try:
        holding = holding_of(project)
    except UndercoverError as error:
        problems = getattr(error, "problems", None) or [str(error)]
        return page(asked, "protect_wait.html.j2", project=project, step="protect", problems=problems)
    chosen, language = policy_asked(project), asked.texts.language
    assert project.profile is not None
    columns = {name: holding.schema.column(name) for name in holding.schema.sensitive}
    required = guarantees_from_entries(project.spec.get("require", ()), columns)
    own = values.pop("own", None) or (chosen if chosen.name not in POLICIES else POLICIES["standard"])
    about: dict[str, Any] = {
        "asks": asked_for(project, required),
        "policies": {name: meaning(policy, holding, project.profile, language) for name, policy in POLICIES.items()},
        "chosen": None if "policy" not in project.spec else chosen.name if chosen.name in POLICIES else OWN,
        "limits": fields_of(own),
        "own": own,
        "own_means": meaning(own, holding, project.profile, language),
        "harmful": _harmful(project, holding),
        "problems": [],
        "beside": {},
        "required": required,
        "keys": requirement_keys(),
        "others": others.others_of(project),
        "releases": others.own_releases(asked.desk),
        "job": next(iter(asked.queue.jobs(project, "join")), None),
    }
    return page(asked, "protect.html.j2", project=project, step="protect", status=status, **{**about, **values})


def _harmful(project: Project, holding: Holding) -> dict[str, list[str] | None]:
    """The values of every sensitive column, the most frequent first; ``None`` where they are too many."""
    assert project.profile is not None
    found: dict[str, list[str] | None] = {}
    for column in holding.schema.sensitive:
        known = project.profile["values"].get(column, {})
        counts = known.get("counts", [])
        order = sorted(range(len(counts)), key=lambda place: -counts[place])
        declared = holding.schema.column(column).domain
        found[column] = list(declared) if declared else [known["values"][place] for place in order] or None
    return found


@router.post("/tables/{key}/protect/policy")
def choose(project: Of, asked: Who, form: Form) -> Response:
    """Take a policy: a built-in one, or one's own."""
    try:
        chosen = spec_of(form, holding_of(project).schema.sensitive)
    except ParameterError as error:
        beside, rest = placed(error.problems, [each.name for each in limits()])
        return _shown(project, asked, 400, problems=rest, beside=beside)
    project.change(spec={**project.spec, "policy": chosen}, revision=revision(form))
    return RedirectResponse(f"/tables/{project.id}/protect", 303)


@router.get("/tables/{key}/protect/policy")
def back(project: Of) -> Response:
    """Where somebody lands who asks for the answer to a form again."""
    return RedirectResponse(f"/tables/{project.id}/protect", 303)


@router.post("/tables/{key}/protect/policy/look")
def look(project: Of, asked: Who, form: Form) -> HTMLResponse:
    """What limits would mean for the table, before anybody takes them."""
    holding = holding_of(project)
    assert project.profile is not None
    found: dict[str, Any] = {"means": [], "problems": []}
    try:
        policy = policy_of(spec_of(form, holding.schema.sensitive))
        found["means"] = meaning(policy, holding, project.profile, asked.texts.language)
    except ParameterError as error:
        found["problems"] = error.problems
    return page(asked, "protect_means.html.j2", project=project, **found)


@router.post("/tables/{key}/protect/require")
def require(project: Of, asked: Who, form: Form) -> Response:
    """Add a requirement, or remove one."""
    entries = list(project.spec.get("require", ()))
    gone = field(form, "remove")
    if gone:
        if not gone.isdecimal() or int(gone) >= len(entries):
            raise DataError("There is no such requirement. Look at the page again.")
        del entries[int(gone)]
    else:
        said, number = field(form, "key"), field(form, "value").replace(" ", "")
        schema = holding_of(project).schema
        columns = {name: schema.column(name) for name in schema.sensitive}
        number = re.sub(r"^(\d+),(\d+)$", r"\1.\2", number)  # as decimals are written elsewhere
        more = entries_from_requirements([f"{said}={number}"])
        guarantees_from_entries(more, columns)
        entries += [one for one in more if one not in entries]
    project.change(spec={**project.spec, "require": entries}, revision=revision(form))
    return RedirectResponse(f"/tables/{project.id}/protect#require", 303)


@router.post("/tables/{key}/protect/others")
def other(project: Of, asked: Who, form: Form) -> Response:
    """Add a table of somebody else, or a release of this desk, or remove one."""
    gone, release, file = field(form, "remove"), field(form, "release"), form.get("file")
    if gone:
        others.remove(project, gone)
    elif release:
        others.add_release(project, asked.desk, release)
    elif isinstance(file, UploadFile) and file.filename:
        others.add_file(project, file.filename, file.file, asked.service.settings.most_bytes)
    else:
        raise DataError("Choose a file first.")
    return RedirectResponse(f"/tables/{project.id}/protect#others", 303)


@router.post("/tables/{key}/protect/join")
def join(project: Of, asked: Who, form: Form) -> Response:
    """Check what the tables say together."""
    if not others.others_of(project):
        raise DataError("Add a table of somebody else first.")
    asked.queue.add(project, "join", {})
    return RedirectResponse(f"/tables/{project.id}/protect#others", 303)
