"""Releases of a table, as their holder looks at them: what was judged, what may be downloaded, what is decided.

Beside the folder of a release, whose contents are a contract, lies ``NUMBER.page``: what the publish job wrote down for
pages (:mod:`undercover.web.jobs.showing`), and ``decided.json`` where somebody decided what a verdict left open.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from undercover.errors import DataError, ParameterError
from undercover.io.release.contents import PRIVATE, is_withheld
from undercover.io.release.decision import Decision, decision_of
from undercover.model.verdict import LEAK, TITLES, Verdict
from undercover.web.desks.desk import Missing
from undercover.web.desks.progress import releases
from undercover.web.desks.project import Project
from undercover.web.desks.store import private_folder, read_json, write_json

PARTS: Final = ("rows", "attacks", "utility", "people", "compare")
"""Pages of a release beside its first one."""
SHOWN: Final = (
    *("title", "about", "version", "verdict", "meaning", "reasons", "policy", "promises", "headline", "cards"),
    *("sampling", "warnings", "limits", "not_published", "asked", "holds"),
)
"""What is taken over from the summary of a run."""
_DECIDED = "decided.json"


@dataclass(frozen=True)
class Outcome:
    """One release."""

    project: Project
    number: int

    @property
    def folder(self) -> Path:
        """The release folder: public or withheld, and private."""
        return self.project.folder / "releases" / str(self.number)

    @property
    def page(self) -> Path:
        """What is kept for pages."""
        return page_folder(self.project, self.number)

    @cached_property
    def facts(self) -> Mapping[str, Any]:
        """What the first page shows; where nothing was written down for pages, from the report."""
        place = self.page / "facts.json"
        if place.is_file():
            return read_json(place)
        run = read_json(self.folder / PRIVATE / "run.json")
        return facts_of(read_json(self.folder / PRIVATE / "report.json"), run.get("judged"), str(run.get("made", "")))

    @property
    def verdict(self) -> str:
        """Its title."""
        return str(self.facts["verdict"])

    @property
    def withheld(self) -> bool:
        """Whether its tables are kept back."""
        return is_withheld(self.folder)

    @cached_property
    def accepted(self) -> Decision | None:
        """Who published it although the verdict says not to, where somebody did."""
        return decision_of(self.folder)

    @cached_property
    def decided(self) -> Mapping[str, Any] | None:
        """Who decided what the verdict left open, where somebody did."""
        place = self.page / _DECIDED
        return read_json(place) if place.is_file() else None

    @property
    def leaks(self) -> bool:
        """Whether its files hold what must not be published, which nobody can accept."""
        return any(reason["kind"] == LEAK for reason in self.facts["reasons"])

    @property
    def open(self) -> bool:
        """Whether the verdict leaves something to decide that nobody has decided."""
        return self.verdict == TITLES["decide"] and self.decided is None

    @property
    def ready(self) -> bool:
        """Whether its public part may be downloaded."""
        return not self.withheld and not self.open

    @property
    def asks(self) -> Sequence[Mapping[str, Any]]:
        """What there is to decide."""
        return [reason for reason in self.facts["reasons"] if reason["weight"] == "ask"]

    def part(self, name: str) -> Mapping[str, Any] | None:
        """What was written down for one of :data:`PARTS`; ``None`` where nothing was."""
        place = self.page / f"{name}.json"
        return read_json(place) if place.is_file() else None

    def fragment(self, name: str) -> str:
        """A part of a page that the job has drawn; empty where there is none."""
        place = self.page / f"{name}.html"
        return place.read_text(encoding="utf-8") if place.is_file() else ""

    def decide(self, by: str, *, sure: bool) -> None:
        """Note that somebody looked at what the verdict leaves open and decided to publish."""
        if not self.open:
            raise DataError("There is nothing left to decide about this release.")
        if not by or not sure:
            raise ParameterError("Say who decides, and tick that what is listed was decided.")
        when = datetime.now(UTC).isoformat(timespec="seconds")
        private_folder(self.page)
        write_json(self.page / _DECIDED, {"by": by, "when": when, "reasons": [one["text"] for one in self.asks]})


def outcomes(project: Project) -> list[Outcome]:
    """All releases of a table, the newest first."""
    return [Outcome(project, number) for number in releases(project)]


def outcome(project: Project, number: int) -> Outcome:
    """One release of a table."""
    if number not in releases(project):
        raise Missing("There is no such release here. It may have been removed.")
    return Outcome(project, number)


def page_folder(project: Project, number: int) -> Path:
    """Where what pages show of a release is kept."""
    return project.folder / "releases" / f"{number}.page"


def facts_of(summary: Mapping[str, Any], judged: Mapping[str, Any] | None, made: str) -> dict[str, Any]:
    """What the first page of a release shows: from the summary of its run, with the verdict as it was saved."""
    cost, done = summary["cost"] or {}, summary["done"]
    found = {name: summary[name] for name in SHOWN}
    if judged is not None:
        found |= {**judged, "meaning": Verdict.of(judged).meaning}
    moved = cost.get("displacement") or {}
    return {
        **found,
        "made": made,
        "counts": done["counts"],
        "stages": done["stages"],
        "timings": done["timings"],
        "seconds": done["seconds"],
        "loss": {name: loss["arithmetic"] for name, loss in cost.get("loss", {}).items()},
        "changed_cells": moved.get("changed_cells"),
        **{name: summary[name] for name in ("scan",) if name in summary},
    }


def remove(found: Outcome) -> None:
    """A release and all that is kept of it."""
    gone = found.folder.with_name(f".gone-{found.number}")
    shutil.rmtree(gone, ignore_errors=True)
    found.folder.rename(gone)
    shutil.rmtree(gone)
    shutil.rmtree(found.page, ignore_errors=True)
