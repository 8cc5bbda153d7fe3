"""A job: what was asked, how far it is, and what came of it, as files in its folder.

``request.json`` is written once by the server, ``moment.json`` by the worker as it goes, and ``job.json`` (state and
times) by whoever changes the state. ``result.json`` is there where it is done, ``error.json`` where it failed, and
beside it ``trace.txt`` where that is a bug: it may hold values of the table and is shown to nobody. A folder appears
whole: it is made under a hidden name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from undercover.web.desks.store import read_json, write_json

State = Literal["waiting", "running", "done", "failed", "cancelled"]
ENDED: tuple[State, ...] = ("done", "failed", "cancelled")


@dataclass(frozen=True, kw_only=True)
class Job:
    """A job as it is at this moment."""

    id: str
    kind: str
    state: State
    request: Mapping[str, Any]
    created: float
    started: float | None = None
    ended: float | None = None
    restarts: int = 0
    moment: Mapping[str, Any] | None = None  # stage, part, share, seconds, left (a waiting.Moment) and past stages
    error: Mapping[str, Any] | None = None  # message, kind (unreachable, refused, memory, ended, again, bug), step
    result: Mapping[str, Any] | None = None
    before: int = 0  # jobs that are run before this one, where it waits

    @property
    def over(self) -> bool:
        """Whether nothing more will come of it."""
        return self.state in ENDED

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return asdict(self)


def new_job(folder: Path, kind: str, request: Mapping[str, Any], created: float) -> None:
    """The folder of a job that waits."""
    begun = folder.with_name(f".{folder.name}")
    begun.mkdir(mode=0o700)
    write_json(begun / "request.json", request)
    write_json(begun / "job.json", {"kind": kind, "state": "waiting", "created": created})
    begun.rename(folder)


def job_folders(table: Path) -> list[Path]:
    """The jobs of a table's folder, the newest first."""
    found = (place for place in (table / "jobs").iterdir() if not place.name.startswith("."))
    return sorted(found, key=lambda place: place.name, reverse=True)


def kind_of(folder: Path) -> str:
    """What the job of a folder does."""
    return str(read_json(folder / "job.json")["kind"])


def read_job(folder: Path, before: int = 0) -> Job:
    """The job of a folder."""
    facts = read_json(folder / "job.json")
    places = {name: folder / f"{name}.json" for name in ("moment", "error", "result")}
    more: dict[str, Any] = {
        name: _once(place, place.stat().st_mtime_ns) for name, place in places.items() if place.is_file()
    }
    return Job(id=folder.name, request=read_json(folder / "request.json"), before=before, **facts, **more)


@lru_cache(maxsize=256)
def _once(place: Path, written: int) -> Mapping[str, Any]:
    """A file as it was written at that moment, read once: results can be large, and pages list many jobs."""
    return read_json(place)


def set_state(folder: Path, state: State, **more: Any) -> None:
    """Write down what state a job is in."""
    write_json(folder / "job.json", {**read_json(folder / "job.json"), "state": state, **more})
