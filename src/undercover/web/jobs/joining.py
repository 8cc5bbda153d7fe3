"""The joint check: what the tables of others say together, and with the newest release of this one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from undercover.errors import SchemaError
from undercover.io.release.contents import PUBLIC
from undercover.pages.jinja import environment
from undercover.verbs.joint import joint_risk
from undercover.waiting import Progress
from undercover.web.desks.progress import releases
from undercover.web.desks.project import Project
from undercover.web.protecting.others import others_of


def join(project: Project, request: Mapping[str, Any], progress: Progress) -> Mapping[str, Any]:
    """Join the tables, and show what is left to whoever has all of them."""
    schema = project.loaded().schema
    if len(schema.sensitive) != 1:
        raise SchemaError("Tables are joined by the one sensitive column that they have in common. Choose one.")
    places = [project.folder / one["path"] for one in others_of(project)]
    made = (project.folder / "releases" / str(number) / PUBLIC for number in releases(project))
    own = next((place for place in made if place.is_dir()), None)
    progress("joining", 0.0)
    found = joint_risk([*places, *([] if own is None else [own])], sensitive=schema.sensitive[0])
    shown: Any = environment().get_template("view.html.j2").module
    reached = '<div class="wide" tabindex="0" role="group" aria-label="Tables together">'  # by keyboard, too
    html = str(shown.section(found.view(), 4, "joint")).replace('<div class="wide">', reached)
    return {"html": html, "l": found.l, "own": own is not None}
