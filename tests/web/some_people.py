"""People with a disease: their table, what its columns are, and a release of it at a desk, made in this process."""

from __future__ import annotations

import shutil
from pathlib import Path

from undercover.waiting import no_progress
from undercover.web.desks.desk import Desk
from undercover.web.desks.project import Project
from undercover.web.jobs.profile import profile
from undercover.web.jobs.publishing import publish

DISEASES = ("flu", "cold", "asthma", "ulcer", "gout", "angina", "fever", "rash")
SPEC = {
    "roles": {"identifiers": ["name"], "quasi_identifiers": ["age", "sex", "zip"], "sensitive": ["disease"]},
    "columns": {"disease": {"domain": sorted(DISEASES)}},
}
"""What the columns of the table are; perturbing asks for the domain."""


def write_people(path: Path, rows: int = 320) -> Path:
    """A CSV file of people with a name, three quasi-identifiers and a disease, every disease as often."""
    lines = ["name,age,sex,zip,disease"]
    for i in range(rows):
        age, sex, town = 20 + (i * 37) % 55, "MF"[(i // 3) % 2], 10000 + (i * 7919) % 90
        lines.append(f"Person-{i:04d},{age},{sex},{town},{DISEASES[(i * 5 + i // 8) % 8]}")
    path.write_text("\n".join(lines) + "\n")
    return path


def published(workspace: Path, desk: str, file: Path) -> Project:
    """The table of a file at a desk, decided on by ``SPEC``, and its first release, by Mondrian."""
    project = Desk(workspace, desk).add(file.name, {"kind": "upload", "path": "table.csv"})
    shutil.copyfile(file, project.whence)
    profile(project, {"most_rows": 10_000, "most_bytes": 1 << 20}, no_progress)
    spec = {**SPEC, "method": {"name": "mondrian", "k": 5}}
    project = project.change(spec=spec, choices={"columns_decided": True})
    assert publish(project, {}, no_progress)["release"] == 1
    return project
