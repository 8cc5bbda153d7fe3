"""Folders whose files may be opened without uploading them: what is in them, and nothing outside of them.

A file is named by the folder's own name and the path below it. Whatever is named is resolved, links included, and has
to lie below an allowed folder and outside of the workspace then.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from undercover.errors import DataError
from undercover.memory import size_in_words
from undercover.web.desks.file_kinds import suffix_of
from undercover.web.settings import Settings

MOST_SHOWN = 500
"""Files and folders of one folder."""


@dataclass(frozen=True)
class Entry:
    """A file or a folder that may be opened."""

    name: str
    path: str  # by which it is asked for
    folder: bool
    size: str = ""


def allowed(settings: Settings) -> dict[str, Path]:
    """The folders by the names they are shown under."""
    found: dict[str, Path] = {}
    for place in settings.folders:
        name, number = place.resolve().name or "files", 1
        while name in found:
            number += 1
            name = f"{place.resolve().name} ({number})"
        found[name] = place.resolve()
    return found


def listed_in(settings: Settings, relative: str) -> list[Entry]:
    """What may be opened in a folder; of the top the allowed folders themselves."""
    if not relative:
        return [Entry(name, name, True) for name in allowed(settings)]
    place = inside(settings, relative)
    if not place.is_dir():
        raise DataError("That is no folder.")
    found = sorted(_readable(settings, place, relative), key=lambda entry: (not entry.folder, entry.name.lower()))
    return found[:MOST_SHOWN]


def _readable(settings: Settings, place: Path, relative: str) -> Iterator[Entry]:
    for item in place.iterdir():
        path = f"{relative}/{item.name}"
        if (
            item.name.startswith(".")
            or not item.name.isprintable()
            or not _may(settings, item)
            or not os.access(item, os.R_OK)
        ):
            continue
        if item.is_dir():
            yield Entry(item.name, path, True)
        elif item.is_file() and suffix_of(item.name):
            yield Entry(item.name, path, False, size_in_words(item.stat().st_size))


def inside(settings: Settings, relative: str) -> Path:
    """What is named there, resolved; refused where it is not below an allowed folder."""
    name, _, below = relative.partition("/")
    root = allowed(settings).get(name)
    parts = below.split("/")
    odd = "\0" in relative or "\\" in relative or ".." in parts or below.startswith("/")
    if root is None or odd or not _may(settings, root / below):
        raise DataError("There is no such file in the folders that this server may open.")
    return (root / below).resolve()


def inside_absolute(settings: Settings, path: str) -> Path:
    """A file by its whole path, or by one below an allowed folder; refused where it is not below one."""
    tried = [Path(path)] if Path(path).is_absolute() else [root / path for root in allowed(settings).values()]
    found = next((place.resolve() for place in tried if "\0" not in path and _may(settings, place)), None)
    if found is None or not found.is_file():
        raise DataError("There is no such database file in the folders that this server may open.")
    return found


def _may(settings: Settings, place: Path) -> bool:
    """Whether something is there, below an allowed folder and outside of everybody's desks, links followed."""
    try:
        real = place.resolve(strict=True)
    except (OSError, RuntimeError, ValueError):
        return False
    below = any(real.is_relative_to(root) for root in allowed(settings).values())
    return below and not real.is_relative_to(settings.workspace.resolve())
