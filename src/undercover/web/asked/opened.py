"""Releases that somebody received and opened: a public folder, what a worker found in it, and what was asked.

The folder of one, beside the tables of a desk and never among them::

    opened.json         name, where it came from, when
    public/             the files, as they were received
    key.pub             the public key it must be signed by, where one was given
    found.json          what the job "verify" found: the verification, the datasheet, the columns to ask about
    datasheet.html      made here from the release; the one that was received is never shown
    questions.json      what was asked and answered, the newest first
    jobs/ID/            as of a table
"""

from __future__ import annotations

import re
import secrets
import shutil
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import IO, Any, Final

from undercover.errors import DataError, listed
from undercover.io.release.contents import MANIFEST, PUBLIC, WITHHELD
from undercover.web.access.unpack import may_hold, take, unpack
from undercover.web.desks.desk import Desk, Missing
from undercover.web.desks.progress import releases
from undercover.web.desks.project import Project
from undercover.web.desks.store import private_folder, read_json, write_json
from undercover.web.settings import Settings

FILE: Final = "opened.json"
MOST_QUESTIONS: Final = 30
MOST_LISTED: Final = 200
_BEFORE: Final = "asked-"
_ID: Final = re.compile(r"[0-9a-f]{12}")
_WRITING = threading.Lock()


class Opened:
    """One release that was opened, as it is on disk at this moment."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def id(self) -> str:
        """By which it is asked for."""
        return self.folder.name.removeprefix(_BEFORE)

    @cached_property
    def facts(self) -> dict[str, Any]:
        """Name, where it came from, when."""
        return read_json(self.folder / FILE)

    @property
    def public(self) -> Path:
        """The files as they were received."""
        return self.folder / PUBLIC

    @property
    def key(self) -> Path | None:
        """The public key it must be signed by, where one was given."""
        place = self.folder / "key.pub"
        return place if place.is_file() else None

    @property
    def work(self) -> Project:
        """As whoever runs jobs takes it."""
        return Project(self.folder)

    @cached_property
    def found(self) -> dict[str, Any] | None:
        """What verifying it found; ``None`` until it is done."""
        place = self.folder / "found.json"
        return read_json(place) if place.is_file() else None

    @property
    def questions(self) -> list[dict[str, Any]]:
        """What was asked and answered, the newest first."""
        place = self.folder / "questions.json"
        return list(read_json(place)["questions"]) if place.is_file() else []

    def remember(self, question: Mapping[str, Any]) -> None:
        """Keep a question with its answer."""
        with _WRITING:
            kept = [dict(question), *self.questions][:MOST_QUESTIONS]
            write_json(self.folder / "questions.json", {"questions": kept})


def opened_of(desk: Desk) -> list[Opened]:
    """All that a desk opened, the newest first."""
    found = [Opened(place) for place in desk.folder.glob(f"{_BEFORE}*") if (place / FILE).is_file()]
    return sorted(found, key=lambda one: str(one.facts["created"]), reverse=True)


def opened(desk: Desk, key: str) -> Opened:
    """One of them; an id of another desk is as unknown as one of none."""
    place = desk.folder / f"{_BEFORE}{key}"
    if not _ID.fullmatch(key) or not (place / FILE).is_file():
        raise Missing("There is no such release here. It may have been removed.")
    return Opened(place)


def open_files(desk: Desk, files: list[tuple[str, IO[bytes]]], most_bytes: int) -> Opened:
    """What somebody sent: one zip, or the files of a public folder."""
    if not files:
        raise DataError("Choose a zip of a public folder, or all files that are in one.")
    name = files[0][0].replace("\\", "/").rpartition("/")[2][:100]
    if len(files) == 1 and name != MANIFEST:
        with _new(desk, name, "upload") as made:
            unpack(files[0][1], made.public, most_bytes)
            return made
    with _new(desk, MANIFEST, "upload") as made:
        take(files, made.public, most_bytes)
        return made


def published(project: Project) -> list[int]:
    """The releases of a table whose public part recipients may have, the newest first."""
    return [number for number in releases(project) if (project.folder / "releases" / str(number) / PUBLIC).is_dir()]


def open_release(desk: Desk, project: Project, number: int) -> Opened:
    """The public part of a release made at this desk, as its recipients get it."""
    place = project.folder / "releases" / str(number)
    if number not in releases(project):
        raise Missing("There is no such release of this table.")
    if number not in published(project):
        raise DataError(f"Release {number} is {WITHHELD}: recipients do not get it. Accept it first, with a reason.")
    return _copied(desk, place / PUBLIC, f"{project.name}, {number}", "release")


def open_folder(desk: Desk, settings: Settings, name: str) -> Opened:
    """A public folder in one of the folders that may be opened, by the name it is listed under."""
    place = public_folders(settings).get(name)
    if place is None:
        raise Missing("There is no such release in the folders that this server may open.")
    return _copied(desk, place, name, "folder")


def public_folders(settings: Settings) -> dict[str, Path]:
    """Public folders of releases in the folders that may be opened, at most two levels down, by name."""
    found: dict[str, Path] = {}
    for folder in (place.resolve() for place in settings.folders):
        for depth in ("", "*/", "*/*/"):
            for manifest in sorted(folder.glob(f"{depth}{MANIFEST}")):
                place = manifest.resolve().parent
                outside = not place.is_relative_to(folder) or place.is_relative_to(settings.workspace.resolve())
                if not outside and place.name != WITHHELD and len(found) < MOST_LISTED:
                    found[str(place.relative_to(folder.parent))] = place
    return found


def remove(one: Opened) -> None:
    """A release that was opened, and everything that was asked of it."""
    gone = one.folder.with_name(f".gone-{one.id}")
    one.folder.rename(gone)
    shutil.rmtree(gone)


def _copied(desk: Desk, place: Path, name: str, origin: str) -> Opened:
    files = sorted(place.iterdir())
    strange = [file.name for file in files if file.is_symlink() or not file.is_file() or not may_hold(file.name)]
    if strange:
        raise DataError(f"The folder holds what no release has: {listed(strange, limit=5)}.")
    with _new(desk, name, origin) as made:
        for file in files:
            shutil.copyfile(file, made.public / file.name)
        return made


@contextmanager
def _new(desk: Desk, name: str, origin: str) -> Iterator[Opened]:
    """A folder that appears when its files are there, or not at all."""
    place = private_folder(desk.folder / f"{_BEFORE}{secrets.token_hex(6)}")
    try:
        for room in (PUBLIC, "jobs"):
            private_folder(place / room)
        yield Opened(place)
        created = datetime.now(UTC).isoformat(timespec="milliseconds")
        write_json(place / FILE, {"name": name, "origin": origin, "created": created})
    except BaseException:
        shutil.rmtree(place)
        raise
