"""How far somebody is with a table: which steps are done, and which comes next."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from undercover.web.desks.clearing import mark
from undercover.web.desks.project import Project
from undercover.web.desks.store import write_text

STEPS: Final = ("data", "columns", "protect", "run", "result")
"""The steps of a table, in their order."""


def done(project: Project) -> dict[str, bool]:
    """Which steps are done."""
    spec = project.spec
    return {
        "data": project.profile is not None,
        "columns": bool(project.choices.get("columns_decided")),
        "protect": bool(spec.get("method")),
        "run": bool(releases(project)),
        "result": False,
    }


def following(project: Project) -> str:
    """The step that comes next."""
    return next(step for step, over in done(project).items() if not over)


def releases(project: Project) -> list[int]:
    """The numbers of the releases made, the newest first."""
    places = (project.folder / "releases").iterdir()
    return sorted(int(place.name) for place in places if place.name.isdecimal() and not mark(place).exists())[::-1]


def next_number(project: Project) -> int:
    """A number that no release of a table ever had: pages and jobs of one that was removed lead to no other."""
    last = _last(project)
    return max([int(last.read_text(encoding="utf-8")) if last.is_file() else 0, *releases(project)]) + 1


def made(project: Project, number: int) -> None:
    """Remember that a release of this number is there."""
    write_text(_last(project), str(number))


def _last(project: Project) -> Path:
    return project.folder / "releases" / "last"
