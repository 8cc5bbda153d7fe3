"""What a server or a job that was interrupted left half-done is removed: everything whose name begins with a dot.

A release counts from the moment on at which its job is done with it. Until then a hidden mark lies beside its folder; a
release that bears one when its job has ended is not whole, and is removed, for the job failed or is begun again.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from undercover.web.desks.store import private_folder

TEMPORARY: Final = "temporary"
"""The folder of a workspace for uploads that are still on their way."""
_FACTS: Final = ("project.json", "opened.json")
"""What is written last of a table, and of a release that was opened."""
_ROOMS: Final = ("desks/*", "desks/*/*", "desks/*/*/*", "desks/*/*/*/*")


def mark(release: Path) -> Path:
    """What lies beside the folder of a release as long as its job is not done with it."""
    return release.with_name(f".{release.name}.made")


@contextmanager
def whole(release: Path) -> Iterator[None]:
    """Make a release inside; it is there when all of it is done, or not at all.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     with whole(Path(folder) / "1"):
    ...         (Path(folder) / "1").mkdir()
    ...     [place.name for place in Path(folder).iterdir()]
    ['1']
    """
    mark(release).touch()
    try:
        yield
    except BaseException:
        unmake(release.parent)
        raise
    mark(release).unlink()


def unmake(releases: Path) -> None:
    """Remove what is not whole, and whatever else of it is hidden."""
    if not releases.is_dir():
        return
    for place in [*releases.iterdir()]:
        whose = place.with_name(place.name.partition(".")[0] or place.name)  # what lies beside 3 is called 3.page
        if mark(whose).exists() or (place.name.startswith(".") and place.is_dir()):
            shutil.rmtree(place)
    for place in releases.glob(".*"):
        place.unlink()


def clear(workspace: Path) -> None:
    """Remove it; nothing may be under way.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     whole, half = (private_folder(Path(folder) / "desks" / "own" / name) for name in "12")
    ...     (whole / "project.json").touch()
    ...     clear(Path(folder))
    ...     whole.exists(), half.exists()
    (True, False)
    """
    shutil.rmtree(workspace / TEMPORARY, ignore_errors=True)
    private_folder(workspace / TEMPORARY)
    for table in workspace.glob("desks/*/*"):
        if table.is_dir() and not any((table / name).is_file() for name in _FACTS):  # a table that never came to be
            shutil.rmtree(table)
        unmake(table / "releases")
    for room in _ROOMS:
        for place in workspace.glob(f"{room}/.*"):
            if place.is_dir() and not place.is_symlink():
                shutil.rmtree(place)
            else:
                place.unlink(missing_ok=True)


def clear_table(table: Path) -> None:
    """What a job left half-done that was killed; nothing of the server's own."""
    unmake(table / "releases")
    for place in table.glob(".*"):
        if place.is_dir():
            shutil.rmtree(place)
