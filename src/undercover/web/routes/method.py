"""A method by hand: which there are for this table, the form of one, and what its parameters lead to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter
from starlette.datastructures import FormData
from starlette.responses import HTMLResponse, RedirectResponse, Response

from undercover import plugins
from undercover.web.access.asking import Asking, Form, Of, Who, field, revision
from undercover.web.desks.desk import Missing
from undercover.web.desks.project import Project
from undercover.web.looks import page
from undercover.web.protecting.feasible import holding_of, policy_asked
from undercover.web.protecting.fields import given
from undercover.web.protecting.methods import card, cards, expected, form_of, parameters_of, paths_of, start_of
from undercover.web.protecting.others import located, others_of

router = APIRouter()


@router.get("/tables/{key}/method")
def show(project: Of, asked: Who) -> HTMLResponse:
    """Every method."""
    found = cards(holding_of(project), policy_asked(project))
    chosen = project.spec.get("method", {}).get("name")
    return page(asked, "method.html.j2", project=project, step="protect", cards=found, chosen=chosen)


@router.get("/tables/{key}/method/{name}")
def one(project: Of, name: str, asked: Who) -> HTMLResponse:
    """The form of a method: with what was chosen, or with what may satisfy the policy."""
    known = _known(name)
    chosen = dict(project.spec.get("method", {}))
    first = card(known, holding_of(project), policy_asked(project)).first
    values = chosen if chosen.pop("name", None) == known else start_of(known, first)
    return _shown(project, asked, known, values, "method_form.html.j2")


@router.post("/tables/{key}/method/{name}")
def take(project: Of, name: str, asked: Who, form: Form) -> Response:
    """Take a method with these parameters, or only look at them; what is wrong with them stands beside them."""
    known, holding = _known(name), holding_of(project)
    values = _given(project, known, form)
    if field(form, "look"):
        return _shown(project, asked, known, values, "method_form.html.j2")
    fits = card(known, holding, policy_asked(project)).fits
    if not fits or expected(known, values, holding).wrong:
        return _shown(project, asked, known, values, "method_form.html.j2", 400)
    project.change(spec={**project.spec, "method": {"name": known, **values}}, revision=revision(form))
    return RedirectResponse(f"/tables/{project.id}/protect", 303)


@router.post("/tables/{key}/method/{name}/look")
def look(project: Of, name: str, asked: Who, form: Form) -> HTMLResponse:
    """What parameters would lead to, before anybody takes them: a part of the page."""
    known = _known(name)
    return _shown(project, asked, known, _given(project, known, form), "method_expected.html.j2")


def _shown(
    project: Project, asked: Asking, name: str, values: Mapping[str, Any], template: str, status: int = 200
) -> HTMLResponse:
    holding, policy = holding_of(project), policy_asked(project)
    found = expected(name, values, holding)
    files = {path: others_of(project) for path in paths_of(name)}
    about = {
        "card": card(name, holding, policy),
        "form": form_of(name, values, files, holding, found),
        "found": found,
        "policy": policy,
    }
    return page(asked, template, project=project, step="protect", status=status, **about)


def _given(project: Project, name: str, form: FormData) -> dict[str, Any]:
    """What a form says; of files only those that are kept with the table."""
    found = given(parameters_of(name), form, paths_of(name))
    located(project.folder, name, found)
    return found


def _known(name: str) -> str:
    if name not in plugins.names("methods"):
        raise Missing("There is no such method here.")
    return name
