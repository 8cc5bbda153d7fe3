"""Step 2, the columns: what others may know, what nobody may learn, who is a person; and what that does, live.

The page shows what is suggested until somebody says that it is right. Its form can be posted as a whole; while it is
filled in, ``figures`` answers what the choice on the page would do, and writes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from heapq import nlargest
from typing import Any, Final

from fastapi import APIRouter
from starlette.datastructures import FormData
from starlette.responses import HTMLResponse, RedirectResponse, Response

from undercover.errors import UndercoverError
from undercover.io.spec.load import WHO
from undercover.model.kinds.dates import FORMATS
from undercover.model.schema import ABOUT, KINDS, MISSING, ONE_ROW, SPELLINGS
from undercover.web.access.asking import Asking, Form, Of, Who, revision
from undercover.web.desks.columns.editing import (
    ANSWERS,
    begun,
    filled,
    named,
    placed,
    problems_of,
    role_of,
    suggested,
    undecided,
    with_roles,
)
from undercover.web.desks.columns.profiled import Profiled
from undercover.web.desks.project import Project
from undercover.web.looks import page
from undercover.web.protecting.policies import percent

router = APIRouter()
_BARS: Final = 5
_SETTINGS: Final = ("kind", "format", "bins", "description", "unit", "names_nobody", "spellings")
_ASKS: Final = {
    "answers": ANSWERS,
    "kinds": KINDS,
    "formats": FORMATS,
    "missing": MISSING,
    "one": ONE_ROW,
    "spellings": SPELLINGS,
    "about": ABOUT,
}
_ORDER_SHOWN: Final = 60  # values that are listed for somebody to put them in order


@router.get("/tables/{key}/columns")
def show(project: Of, asked: Who) -> HTMLResponse:
    """The page; before the table was looked at, where to wait for it."""
    if project.profile is None:
        return page(asked, "columns_waiting.html.j2", project=project, step="columns")
    table = Profiled(project)
    return _shown(project, asked, table, begun(project.spec, table.inspection))


@router.post("/tables/{key}/columns/figures")
def figures(project: Of, asked: Who, form: Form) -> HTMLResponse:
    """What the choice on the page does to people; nothing is written."""
    table = Profiled(project)
    spec, _ = filled(begun(project.spec, table.inspection), table.names, texts_in(form))
    shown = _figures(table, spec, asked.texts.language)
    unsaved = spec != begun(project.spec, table.inspection)
    return page(asked, "columns_figures.html.j2", part=True, unsaved=unsaved, **shown)


@router.post("/tables/{key}/columns")
def decide(project: Of, asked: Who, form: Form) -> Response:
    """Take over what the page says; with ``right``, it is decided."""
    table, fields = Profiled(project), texts_in(form)
    spec, wrong = filled(begun(project.spec, table.inspection), table.names, fields)
    wish, _, number = fields.get("do", "save").partition("-")
    if wish == "rest":
        spec = with_roles(spec, dict.fromkeys(undecided(spec, table.names), "drop"), table.names)
    left = undecided(spec, table.names)
    found = problems_of(spec, table.inspection, project.folder) or _unfit(table, spec)
    if wish == "right" and spec.get("data", {}).get("missing", "error") == "error" and table.holes(spec) is not None:
        wrong["missing"] = asked.texts("columns.missing_must")
    if wrong or found or (wish == "right" and left):
        asking = left if wish == "right" else []
        return _shown(project, asked, table, spec, status=400, wrong=wrong, problems=found, open_ones=asking)
    decided = not left and (wish == "right" or bool(project.choices.get("columns_decided")))
    choices = {**project.choices, "columns_decided": decided}
    project.change(spec=spec, choices=choices, revision=revision(form))
    onward = {"right": "protect", "levels": f"columns/{number}"}.get(wish, "columns")
    return RedirectResponse(f"/tables/{project.id}/{onward}", 303)


def texts_in(form: FormData) -> dict[str, str]:
    """The fields of a form that are no files."""
    return {name: value.strip() for name, value in form.multi_items() if isinstance(value, str)}


def _unfit(table: Profiled, spec: Mapping[str, Any]) -> list[str]:
    """What speaks against levels, formats and orders of quasi-identifiers, by their values."""
    problems: list[str] = []
    for name in named(spec, "quasi_identifiers"):
        settings = spec.get("columns", {}).get(name)
        try:
            if settings:
                table.levels(name, settings)
        except UndercoverError as error:
            said = getattr(error, "problems", (str(error),))
            problems += [text if f"`{name}`" in text else f"Column `{name}`: {text}" for text in said]
    return problems


def _figures(table: Profiled, spec: Mapping[str, Any], language: str) -> dict[str, Any]:
    """The live figures: whom the choice singles out, what each column adds, what holes and units mean."""
    found = table.singled_out(spec)
    without = sorted((found[1] if found else {}).items(), key=lambda one: one[1].alone)
    holes = table.holes(spec)
    return {
        "people": found[0] if found else None,
        "without": without,
        "holes": 0 if holes is None else int(holes.sum()),
        "rows": table.inspection["rows"],
        "unit": spec.get("roles", {}).get("unit"),
        "whose": table.people(spec),
        "again": table.people_again(spec),
        "left": len(undecided(spec, table.names)),
        "sensitive": len(named(spec, "sensitive")),
        "percent": partial(percent, language=language),
    }


def _shown(
    project: Project,
    asked: Asking,
    table: Profiled,
    spec: Mapping[str, Any],
    *,
    status: int = 200,
    wrong: Mapping[str, str] | None = None,
    problems: Sequence[str] = (),
    open_ones: Sequence[str] = (),
) -> HTMLResponse:
    about, others = placed(problems, table.names)
    guessed = suggested(table.inspection)
    questions = {one["column"]: one for one in table.inspection["questions"]}
    columns = []
    for number, name in enumerate(table.names):
        own = _column(table, spec, number, name)
        own |= {
            "suggested": role_of(guessed, name),
            "question": questions.get(name),
            "problems": about.get(name, []),
            "unanswered": name in open_ones,
        }
        columns.append(own)
    columns.sort(key=lambda one: not (one["open"] or one["problems"]))
    return page(
        asked,
        "columns.html.j2",
        project=project,
        step="columns",
        status=status,
        columns=columns,
        names=table.names,
        said={key: spec.get("roles", {}).get(key) for key in WHO},
        about={key: spec.get("about", {}).get(key) for key in ABOUT},
        missing=spec.get("data", {}).get("missing", "error"),
        decided=bool(project.choices.get("columns_decided")),
        wrong=wrong or {},
        problems=others,
        asks=_ASKS,
        part=False,
        unsaved=status != 200,
        **_figures(table, spec, asked.texts.language),
    )


def _column(table: Profiled, spec: Mapping[str, Any], number: int, name: str) -> dict[str, Any]:
    """What is shown of one column; no value of what names people."""
    found, settings, role = table.columns[name], spec.get("columns", {}).get(name, {}), role_of(spec, name)
    values, kind = [] if found["role"] == "identifier" else table.counted(name), settings.get("kind")
    return {
        **{key: found[key] for key in ("kind", "distinct", "missing", "reason", "summary")},
        "number": number,
        "name": name,
        "role": role,
        "open": not role and name != spec.get("roles", {}).get("weight"),
        "settings": {key: settings.get(key) for key in _SETTINGS},
        "spread": table.spread(name),
        "bars": nlargest(_BARS, values, key=lambda one: one[1]),
        "order": settings.get("domain") or _order(values, found["kind"] == "categorical" or kind == "ordinal"),
        "levels": _way(settings.get("hierarchy")),
    }


def _order(values: Sequence[tuple[str, int]], asked: bool) -> list[str]:
    """Values for somebody to put them in order, where this may be asked and they are not too many."""
    return sorted(value for value, _ in values) if asked and len(values) <= _ORDER_SHOWN else []


def _way(hierarchy: Any) -> str:
    """Where the levels of a column come from."""
    return "automatic" if hierarchy is None else "file" if isinstance(hierarchy, str) else "recipe"
