"""A table with releases made in this process: one that may be published, one to decide about, one that is withheld."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv

import undercover as uc
from undercover.model.run import Run
from undercover.waiting import no_progress
from undercover.web.desks.desk import Desk
from undercover.web.desks.project import Project
from undercover.web.jobs import publishing

ROLES = {"quasi_identifiers": ["age", "sex", "education"], "sensitive": ["work_class"], "drop": ["*"]}
READY, OPEN, WITHHELD = 1, 2, 3
METHODS = {
    READY: {"name": "mondrian", "k": 20},
    OPEN: {"name": "mondrian", "k": 40},
    WITHHELD: {"name": "mondrian", "k": 2},
}


@dataclass
class Released:
    """A table, its rows as they were uploaded, and the private run of each release."""

    project: Project
    table: pa.Table
    runs: dict[int, Run] = field(default_factory=dict)

    def at(self, number: int, part: str = "") -> str:
        return f"/tables/{self.project.id}/releases/{number}{f'/{part}' if part else ''}"


def released(desk: Desk, monkeypatch: Any) -> Released:
    """400 people of the built-in census, published three times by the work function of the job."""
    table = uc.datasets.census(400, seed=1)
    project = desk.add("people.csv", {"kind": "upload", "path": "table.csv"})
    pyarrow.csv.write_csv(table, project.whence)
    found = Released(project, table)
    shown = publishing.show

    def kept(project: Project, number: int, run: Run, *more: Any) -> None:
        found.runs[number] = run
        shown(project, number, run, *more)

    monkeypatch.setattr(publishing, "show", kept)
    for number, method in METHODS.items():
        found.project = found.project.change(spec={"roles": ROLES, "method": method}, choices={"columns_decided": True})
        assert publishing.publish(found.project, {}, no_progress)["release"] == number
    return found


def private_texts(found: Released, number: int) -> list[Path]:
    """Everything of a release that is nobody else's."""
    return sorted((found.project.folder / "releases" / str(number) / "private").iterdir())
