"""What a server that was interrupted left half-done is removed: everything whose name begins with a dot."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Final

from undercover.web.desks.making import unmake
from undercover.web.desks.store import private_folder

TEMPORARY: Final = "temporary"
"""The folder of a workspace for uploads that are still on their way."""
_ROOMS: Final = ("desks/*", "desks/*/*", "desks/*/*/*", "desks/*/*/*/*")


def clear(workspace: Path) -> None:
    """Remove it; nothing may be under way.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     half = private_folder(Path(folder) / "desks" / "own" / "1" / ".profile")
    ...     clear(Path(folder))
    ...     half.exists(), half.parent.exists()
    (False, True)
    """
    shutil.rmtree(workspace / TEMPORARY, ignore_errors=True)
    private_folder(workspace / TEMPORARY)
    for table in workspace.glob("desks/*/*"):
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
