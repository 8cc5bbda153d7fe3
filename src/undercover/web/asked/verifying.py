"""Verify a release that somebody received: in a process of its own, since its files may be anything."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from undercover.errors import InputError, UndercoverError, UnknownFormError
from undercover.io.release.contents import PACKAGE, read_json
from undercover.io.release.manifest import read_public
from undercover.io.release.package import said_in
from undercover.io.release.tables import format_of
from undercover.model.hierarchy import Hierarchy
from undercover.model.release import Release
from undercover.pages.datasheet import datasheet_summary, promised
from undercover.pages.render import datasheet_html
from undercover.verbs.verify import verify as verify_folder
from undercover.waiting import Progress
from undercover.web.asked.answering import Answering, cells
from undercover.web.asked.opened import Opened
from undercover.web.asked.telling import domains_of
from undercover.web.desks.project import Project
from undercover.web.desks.store import write_json

MISFIT: Final = "Files and words of this release do not fit together, so what it says of itself is not repeated here."


def verify(project: Project, request: Mapping[str, Any], progress: Progress) -> Mapping[str, Any]:
    """Recompute every promise, make the datasheet anew, and find out which columns can be asked about."""
    one = Opened(project.folder)
    progress("verifying", 0.0)
    try:
        found = verify_folder(one.public, trusted_by=one.key, allow_old=True)
        release = read_public(one.public).release
    except UndercoverError as error:
        outcome: dict[str, Any] = {"outcome": "unreadable", "problems": _sentences(one, error)}
        write_json(one.folder / "found.json", outcome)
        return {"outcome": "unreadable"}
    outcome = {
        "outcome": _outcome(found.holds, [finding.holds for finding in found.findings]),
        "problems": list(found.problems),
        "verification": found.to_dict(),
        "promises": [promised(finding.manifest_entry()) for finding in found.findings],
        "notes": [*found.spellings, *found.notes],
        "signed_by": found.signed_by,
        "trusted": one.key is not None,
    }
    progress("datasheet", 0.5)
    outcome |= {"datasheet": None, "datasheet_why": MISFIT} if found.problems else _datasheet(one, release)
    progress("columns", 0.8)
    outcome |= _questions(release, domains_of(one.folder))
    write_json(one.folder / "found.json", outcome)
    return {"outcome": outcome["outcome"]}


def _sentences(one: Opened, error: UndercoverError) -> list[str]:
    """What went wrong, with files named as they are in the release and not by where they lie here."""
    problems = list(getattr(error, "problems", None) or [str(error)])
    return [problem.replace(f"{one.public}/", "").replace(str(one.public), "the release") for problem in problems]


def _outcome(holds: bool | None, findings: list[bool | None]) -> str:
    """The last word of ``undercover verify``."""
    if holds is None:
        return "nothing"
    if not holds:
        return "fails"
    return "holds" if any(one is not None for one in findings) else "private"


def _datasheet(one: Opened, release: Release) -> dict[str, Any]:
    try:
        package = one.public / PACKAGE
        said = said_in(read_json(package)) if package.is_file() else None
        facts = datasheet_summary(release, said, file_format=format_of(one.public))
        (one.folder / "datasheet.html").write_text(datasheet_html(facts), encoding="utf-8")
    except (InputError, UnknownFormError) as error:
        return {"datasheet": None, "datasheet_why": " ".join(_sentences(one, error))}
    kept = (
        "title",
        "name",
        "description",
        "imprint",
        "version",
        "method",
        "suppressed_rows",
        "suppressed_fewer_than",
        "tables",
        "warnings",
        "limits",
    )
    return {"datasheet": {name: facts[name] for name in kept}}


def _questions(release: Release, told: Mapping[str, Hierarchy]) -> dict[str, Any]:
    """What can be asked; of tables that are not what the release says nothing can."""
    asked = Answering(release, told)
    try:
        columns, why = asked.columns(), asked.uncounted()
    except InputError as error:
        columns, why = [], " ".join(error.problems)
    return {"columns": columns, "uncounted": why, "drawn": asked.drawn, "cells": cells(release), "told": list(told)}
