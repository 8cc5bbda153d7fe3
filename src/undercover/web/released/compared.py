"""Releases of a table, and what else was tried, as points of one frontier: what an attacker learns, and what is lost.

A point is written beside the release it is of, or into ``whatif`` where nothing was saved; jobs draw the frontier
(:mod:`undercover.web.jobs.frontier`).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from undercover.pages.looks import SIGNS
from undercover.web.desks.outcomes import Outcome, outcomes
from undercover.web.desks.progress import releases
from undercover.web.desks.project import Project
from undercover.web.desks.store import private_folder, read_json

FRONTIER: Final = "frontier.html"
MOST_TRIED: Final = 12  # points of what was tried, the newest


def points(project: Project, newest: int | None = None) -> list[dict[str, Any]]:
    """The points of all releases, the newest first, then of what was tried; each says what it is called.

    ``newest`` is one that is being made and does not count among the others yet.
    """
    being_made = [Outcome(project, newest)] if newest is not None and newest not in releases(project) else []
    made = [
        {**found, "number": one.number, "label": _signed(found, str(one.number))}
        for one in [*being_made, *outcomes(project)]
        if (found := one.part("point")) is not None
    ]
    tried = [read_json(place) for place in sorted(tries(project).glob("*.json"), reverse=True)[:MOST_TRIED]]
    return made + [{**found, "number": None, "label": _signed(found, f"{found['changed']}?")} for found in tried]


def tries(project: Project) -> Path:
    """Where points are kept of which no release was saved."""
    return private_folder(project.folder / "whatif")


def _signed(found: Mapping[str, Any], text: str) -> str:
    return f"{SIGNS.get(found['verdict'], '')} {text}".strip()


def frontier_of(project: Project) -> str:
    """The frontier as it was last drawn."""
    place = tries(project) / FRONTIER
    return place.read_text(encoding="utf-8") if place.is_file() else ""
