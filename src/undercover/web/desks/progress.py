"""How far somebody is with a table: which steps are done, and which comes next."""

from __future__ import annotations

from typing import Final

from undercover.web.desks.clearing import mark
from undercover.web.desks.project import Project

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
