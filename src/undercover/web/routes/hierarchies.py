"""The levels of one column: automatic, built by a rule, uploaded, or edited here, with what each level does to people.

Every change is a change of the spec: a rule stands in it, anything else is a file that it names. While a rule or cuts
are written down, ``preview`` shows the levels they would make, and writes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, NamedTuple

from fastapi import APIRouter
from starlette.datastructures import FormData, UploadFile
from starlette.responses import HTMLResponse, RedirectResponse, Response

from undercover.errors import HierarchyError, SchemaError, UndercoverError
from undercover.hierarchies.build import LEVELS, from_cuts
from undercover.hierarchies.file import hierarchy_text, read_hierarchy, write_hierarchy
from undercover.model.hierarchy import Hierarchy
from undercover.web.access.asking import Asking, Form, Of, Who, field, revision
from undercover.web.desks.columns.editing import begun, named, numbers, with_settings
from undercover.web.desks.columns.groups import Row, add_level, dissolve, members, put, remove_level, rename
from undercover.web.desks.columns.levels import MOST, MOST_EDITED, Levels
from undercover.web.desks.columns.profiled import Profiled
from undercover.web.desks.project import Changed, Project
from undercover.web.looks import page

router = APIRouter()
_MOST_BYTES: Final = 8 << 20  # of an uploaded hierarchy
_MOST_PROBLEMS: Final = 20  # that are shown of one
_RULES: Final = ("intervals", "prefixes", "dates")
_INTERVAL: Final = re.compile(r"\[([^,]+), ")


class Sheet(NamedTuple):
    """A column whose levels somebody looks at."""

    project: Project
    table: Profiled
    spec: dict[str, Any]
    name: str
    number: int

    @property
    def settings(self) -> dict[str, Any]:
        """What the spec says of it."""
        return dict(self.spec.get("columns", {}).get(self.name, {}))

    @property
    def known(self) -> bool:
        """Whether it is a column that others may know; no other has levels."""
        return self.name in named(self.spec, "quasi_identifiers")

    def levels(self) -> Levels | None:
        """As they are at this moment; ``None`` where there are too many values."""
        return self.table.levels(self.name, self.settings)

    @property
    def path(self) -> str:
        """Of the page."""
        return f"/tables/{self.project.id}/columns/{self.number}"


class Wish(NamedTuple):
    """What a form asks for: a rule that stands in the spec, a hierarchy that becomes a file, or neither."""

    rule: dict[str, Any] | None = None
    own: Hierarchy | None = None


def _sheet(project: Project, number: int) -> Sheet:
    table = Profiled(project)
    return Sheet(project, table, begun(project.spec, table.inspection), table.name(number), number)


@router.get("/tables/{key}/columns/{number}")
def show(project: Of, asked: Who, number: int) -> HTMLResponse:
    """The levels as they are, and the ways to change them."""
    return _shown(_sheet(project, number), asked)


@router.post("/tables/{key}/columns/{number}/preview")
def preview(project: Of, asked: Who, form: Form, number: int) -> HTMLResponse:
    """The levels that a rule or cuts would make; nothing is written."""
    sheet = _sheet(project, number)
    wish = _wish(sheet, form)
    settings = with_settings({"columns": {sheet.name: sheet.settings}}, sheet.name, {"hierarchy": wish.rule})
    found = sheet.table.levels(sheet.name, settings.get("columns", {}).get(sheet.name, {}), wish.own)
    return page(asked, "hierarchy_levels.html.j2", **_levels(sheet, found), draft=True)


@router.post("/tables/{key}/columns/{number}")
def change(project: Of, asked: Who, form: Form, number: int) -> Response:
    """Take other levels."""
    sheet = _sheet(project, number)
    do = field(form, "do")
    try:
        if not sheet.known:
            raise HierarchyError(asked.texts("hierarchy.no_role"))
        wish = _wish(sheet, form)
        _save(sheet, wish, revision(form))
    except Changed:
        raise
    except UndercoverError as error:
        problems = list(getattr(error, "problems", None) or [str(error)])
        return _shown(sheet, asked, status=400, wrong={do: problems[:_MOST_PROBLEMS]}, fields=form)
    level = field(form, "level")
    return RedirectResponse(sheet.path + (f"#level-{level}" if level.isdecimal() else ""), 303)


def _wish(sheet: Sheet, form: FormData) -> Wish:
    """What a form asks for."""
    do = field(form, "do")
    if do == "automatic":
        return Wish()
    if do in _RULES:
        return Wish(rule=_rule(do, form))
    if do == "upload":
        return Wish(own=_uploaded(sheet, form.get("file")))
    found = sheet.levels()
    if found is None or len(found.rows) > MOST_EDITED:
        raise HierarchyError(f"Columns of more than {MOST_EDITED:,} values have levels by a rule or from a file.")
    if do == "cuts":
        levels = [numbers(text) for text in form.getlist("cuts") if isinstance(text, str) and text.strip()]
        return Wish(own=from_cuts(_as_numbers(found), levels))
    if do not in _EDITS:
        raise HierarchyError("Choose one of the ways to make levels.")
    return Wish(own=Hierarchy(_EDITS[do](list(found.rows), form), observed=True))


def _level(form: FormData) -> int:
    text = field(form, "level")
    return int(text) if text.isdecimal() else 0


_EDITS: Final[Mapping[str, Callable[[Sequence[Row], FormData], Sequence[Row]]]] = {
    "keep": lambda rows, form: rows,
    "put": lambda rows, form: put(rows, _level(form), map(str, form.getlist("node")), field(form, "group")),
    "rename": lambda rows, form: rename(rows, _level(form), str(form.get("old", "")), field(form, "new")),
    "dissolve": lambda rows, form: dissolve(rows, _level(form), str(form.get("old", ""))),
    "add": lambda rows, form: add_level(rows),
    "remove": lambda rows, form: remove_level(rows, _level(form)),
}
"""What can be done to a tree."""


def _rule(way: str, form: FormData) -> dict[str, Any]:
    if way == "dates":
        return {"dates": [level for level in LEVELS if level in form.getlist("dates")]}
    steps = numbers(field(form, way))
    origin = numbers(field(form, "origin")) if way == "intervals" else []
    return {way: steps, **({"origin": origin[0]} if origin and origin[0] else {})}


def _uploaded(sheet: Sheet, given: Any) -> Hierarchy:
    """A hierarchy from a file; problems are told by its lines, under the name it has at home."""
    if not isinstance(given, UploadFile) or not given.filename:
        raise HierarchyError("Choose a file first.")
    content = given.file.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        raise HierarchyError(f"A hierarchy has at most {_MOST_BYTES >> 20} MB.")
    called = given.filename.replace("\\", "/").rpartition("/")[2]
    beside = sheet.project.folder / "hierarchies" / f".{sha256(content).hexdigest()[:16]}.csv"
    try:
        beside.write_bytes(content)
        return read_hierarchy(beside)
    except HierarchyError as error:
        raise HierarchyError([problem.replace(str(beside), called) for problem in error.problems]) from error
    finally:
        beside.unlink(missing_ok=True)


def _as_numbers(found: Levels) -> list[int | float]:
    labels = [row[0] for row in found.rows]
    return [int(label) if label.lstrip("-").isdecimal() else float(label) for label in labels]


def _save(sheet: Sheet, wish: Wish, last: int | None) -> None:
    """Check other levels against the values, then write them into the spec.

    A file that the spec no longer names stays: a release that waits for its turn may be made of it.
    """
    settings = {**sheet.settings, "hierarchy": wish.rule}
    checked = sheet.table.levels(sheet.name, {key: value for key, value in settings.items() if value}, wish.own)
    written: Path | None = None
    if wish.own is not None:
        settings["hierarchy"] = _file_name(sheet, wish.own)
        if checked is not None and checked.kind == "date":
            settings["kind"] = "date"
        place = sheet.project.folder / settings["hierarchy"]
        if not place.exists():
            write_hierarchy(wish.own, place)
            written = place
    try:
        sheet.project.change(spec=with_settings(sheet.spec, sheet.name, settings), revision=last)
    except Changed:
        if written is not None:
            written.unlink()
        raise


def _file_name(sheet: Sheet, own: Hierarchy) -> str:
    """A name that says which column it is of, and changes with what is in it."""
    kept = re.sub(r"[^A-Za-z0-9_-]+", "", sheet.name)[:40] or "column"
    return f"hierarchies/{kept}-{sheet.number}-{sha256(hierarchy_text(own).encode()).hexdigest()[:8]}.csv"


def _levels(sheet: Sheet, found: Levels | None) -> dict[str, Any]:
    looked = [] if found is None else sheet.table.looked_at(sheet.name, found, sheet.spec)
    known = len([name for name in sheet.table.known(sheet.spec) if name != sheet.name])
    return {"found": found, "levels": looked, "known": known, "most": MOST}


def _shown(
    sheet: Sheet,
    asked: Asking,
    *,
    status: int = 200,
    wrong: Mapping[str, Sequence[str]] | None = None,
    fields: FormData | None = None,
) -> HTMLResponse:
    wrong = dict(wrong or {})
    found: Levels | None = None
    try:
        found = sheet.levels()
    except (HierarchyError, SchemaError, UndercoverError) as error:
        wrong["now"] = list(getattr(error, "problems", None) or [str(error)])
    edited = sheet.known and found is not None and len(found.rows) <= MOST_EDITED and found.depth > 1
    said = sheet.settings.get("hierarchy")
    rule: dict[str, Any] = said if isinstance(said, dict) else {}
    asked_for = {way: ", ".join(map(str, rule.get(way, ()))) for way in ("intervals", "prefixes")}
    asked_for["origin"] = str(rule.get("origin", ""))
    if fields is not None:
        asked_for |= {way: field(fields, way) for way in asked_for if way in fields}
    return page(
        asked,
        "hierarchy.html.j2",
        project=sheet.project,
        step="columns",
        status=status,
        name=sheet.name,
        here=sheet.path,
        rule=next(iter(rule), ""),
        given=asked_for,
        dates=rule.get("dates", ("month", "year")),
        way="automatic" if said is None else "recipe" if rule else "file",
        wrong=wrong,
        role=sheet.known,
        kind=found.kind if found else sheet.settings.get("kind") or sheet.table.columns[sheet.name]["kind"],
        periods=list(LEVELS),
        groups=_groups(found) if found is not None and edited and found.kind != "numeric" else [],
        cuts=_cuts(found) if found is not None and edited and found.kind == "numeric" else None,
        edited=edited,
        most_edited=MOST_EDITED,
        draft=False,
        **_levels(sheet, found),
    )


def _groups(found: Levels) -> list[tuple[int, dict[str, list[str]]]]:
    """What lies in the groups of each level between the values and everything."""
    return [(level, members(found.rows, level)) for level in range(1, found.depth - 1)]


def _cuts(found: Levels) -> list[str]:
    """Where each level is cut at this moment."""
    levels = []
    for level in range(1, found.depth - 1):
        firsts: dict[str, str] = {}
        for row in found.rows:
            start = _INTERVAL.match(row[level])
            firsts.setdefault(row[level], start[1] if start else row[0])
        levels.append(", ".join(list(firsts.values())[1:]))
    return levels
