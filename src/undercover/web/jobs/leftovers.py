"""What a process leaves behind that was killed, and that nobody needs: whatever has a hidden name.

A release counts from the moment on at which its job is done with it. Until then a hidden mark lies beside it, and what
bears one is cleared away with it, for its job is begun again.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from undercover.web.desks.progress import mark
from undercover.web.desks.project import Project


@contextmanager
def whole(project: Project, number: int) -> Iterator[Path]:
    """The folder of a release that is there when all of this is done, or not at all."""
    place = project.folder / "releases" / str(number)
    mark(place).touch()
    try:
        yield place
    except BaseException:
        clear(project.folder)
        raise
    mark(place).unlink()


def clear(table: Path) -> None:
    """What a job of this table left behind."""
    for place in (table / "releases").iterdir():
        if mark(place).exists():
            shutil.rmtree(place)
    for place in [*table.iterdir(), *(table / "releases").iterdir()]:
        if place.name.startswith(".") and place.is_dir():
            shutil.rmtree(place)
    for place in (table / "releases").glob(".*"):
        place.unlink()


def clear_all(workspace: Path) -> None:
    """What a server and its jobs left behind; nobody else may be at work."""
    for table in workspace.glob("desks/*/*"):
        if table.name.startswith(".") or not (table / Project.FILE).is_file():
            shutil.rmtree(table)
            continue
        clear(table)
        for place in [*table.iterdir(), *(table / "jobs").iterdir(), *table.glob("jobs/*/*")]:
            if place.name.startswith("."):
                shutil.rmtree(place) if place.is_dir() else place.unlink()
