"""The frontier of a table, drawn: whenever a point is added or a release removed, so that a page only sends it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from undercover.model.about import about_of
from undercover.model.release import Release
from undercover.model.verdict import TITLES
from undercover.pages.compare import frontier_charts
from undercover.pages.jinja import drawn
from undercover.pages.words import release_title
from undercover.studies.compare.compare import frontiers
from undercover.waiting import Progress
from undercover.web.desks.project import Project
from undercover.web.desks.store import write_text
from undercover.web.released.compared import FRONTIER, points, tries


def point(release: Release, headline: Any, cost: float | None, verdict: str) -> dict[str, Any]:
    """A release as a point; ``headline`` is that of its summary."""
    found = headline or {}
    return {
        "method": release.method,
        "series": about_of(release.method).title,
        "called": release_title(release),
        "privacy": {kind: _mean_and_worst(found.get(kind)) for kind in ("identity", "attribute")},
        "guessing": {
            "identity": found["identity"]["baseline"] if found.get("identity") else None,
            "attribute": {"mean": found["attribute"]["baseline_mean"]} if found.get("attribute") else None,
        },
        "utility": {"pairwise": None if cost is None else {"mean": cost}},
        "verdict": verdict,
        "satisfies": verdict != TITLES["do not publish"],
    }


def _mean_and_worst(found: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return None if found is None else {"mean": found["after_mean"], "worst": found["after"]}


def redraw(project: Project, request: Mapping[str, Any], progress: Progress) -> Mapping[str, Any]:
    """Draw the frontier of a table as it is now, with the ``release`` that is being made where there is one."""
    progress("drawing the frontier", 0.0)
    found = points(project, request.get("release"))
    write_text(tries(project) / FRONTIER, drawings(found))
    return {"points": len(found)}


def drawings(found: list[dict[str, Any]]) -> str:
    """The frontiers of points as markup; empty where nothing is to be compared."""
    named = [{**one, "title": f"{one['series']}, {one['label']}", "value": one["label"]} for one in found]
    guessing: dict[str, Any] = next((one["guessing"] for one in named if one["guessing"]["identity"]), {})
    pictures = frontiers(named, guessing)
    for picture in pictures:
        for one in picture["points"]:
            one["labelled"] = True
    charts = frontier_charts({"releases": named, "frontiers": pictures, "recommended": None})
    return "".join(
        f"<figure><figcaption>{picture['title']}</figcaption>{drawn(chart, f'f{place}')}</figure>"
        for place, (picture, chart) in enumerate(zip(pictures, charts, strict=True))
    )
