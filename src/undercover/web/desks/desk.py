"""A desk: the tables of one person, in a folder that no other desk sees."""

from __future__ import annotations

import re
import secrets
import shutil
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from undercover.errors import DataError
from undercover.web.desks.project import Project
from undercover.web.desks.store import private_folder

_ID = re.compile(r"[0-9a-f]{12}")


class Missing(DataError):  # noqa: N818
    """There is no such table, job or release on this desk."""


class Desk:
    """Tables by their ids, which nobody can guess.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     desk = Desk(Path(folder), "own")
    ...     made = desk.add("people.csv", {"kind": "example"})
    ...     [project.name for project in desk.projects()]
    ['people.csv']
    """

    def __init__(self, workspace: Path, name: str) -> None:
        self.name = name
        self.folder = private_folder(private_folder(private_folder(workspace) / "desks") / name)

    def projects(self) -> list[Project]:
        """All tables, the newest first."""
        found = [Project(place) for place in self.folder.iterdir() if (place / Project.FILE).is_file()]
        return sorted(found, key=lambda project: project.created, reverse=True)

    def project(self, key: str) -> Project:
        """One table; an id of another desk is as unknown as one of none."""
        place = self.folder / key
        if not _ID.fullmatch(key) or not (place / Project.FILE).is_file():
            raise Missing("There is no such table here. It may have been removed.")
        return Project(place)

    def add(self, name: str, source: Mapping[str, Any]) -> Project:
        """A new table, of which only the source is known."""
        place = private_folder(self.folder / secrets.token_hex(6))
        return Project.begin(place, name, source, datetime.now(UTC).isoformat(timespec="seconds"))

    def remove(self, project: Project) -> None:
        """A table and everything made of it."""
        gone = self.folder / f".gone-{project.id}"
        project.folder.rename(gone)
        shutil.rmtree(gone)
