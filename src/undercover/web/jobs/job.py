"""A job: what was asked, how far it is, and what came of it, as files in its folder.

``request.json`` is written once by the server, ``moment.json`` by the worker as it goes, and ``job.json`` (state and
times) by whoever changes the state. ``result.json`` is there where it is done, ``error.json`` where it failed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
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
    moment: Mapping[str, Any] | None = None  # stage, part, share, seconds, left: of undercover.waiting.Moment
    error: Mapping[str, Any] | None = None  # message, kind: unreachable, refused, memory, bug
    result: Mapping[str, Any] | None = None
    before: int = 0  # jobs that wait before this one

    @property
    def over(self) -> bool:
        """Whether nothing more will come of it."""
        return self.state in ENDED

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return asdict(self)


def read_job(folder: Path, before: int = 0) -> Job:
    """The job of a folder."""
    facts = read_json(folder / "job.json")
    more: dict[str, Any] = {
        name: read_json(folder / f"{name}.json")
        for name in ("moment", "error", "result")
        if (folder / f"{name}.json").is_file()
    }
    return Job(id=folder.name, request=read_json(folder / "request.json"), before=before, **facts, **more)


def set_state(folder: Path, state: State, **more: Any) -> None:
    """Write down what state a job is in."""
    write_json(folder / "job.json", {**read_json(folder / "job.json"), "state": state, **more})
