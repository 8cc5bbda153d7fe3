"""One job, done in this process: how far it is and what came of it are written down in its folder."""

from __future__ import annotations

import sys
import threading
import time
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from undercover.errors import (
    DataError,
    HierarchyError,
    InternalError,
    OutputError,
    ParameterError,
    SchemaError,
    UndercoverError,
    UnreachableError,
)
from undercover.plugins import find
from undercover.waiting import Moment, Watch
from undercover.web.desks.project import Project
from undercover.web.desks.store import NO_DISK, is_disk, read_json, write_json
from undercover.web.jobs.kinds import Later, Work
from undercover.wording import asked_by

_BETWEEN = 0.2  # seconds between two moments that are written down
_TICK = 1.0  # seconds after which the clock is looked at, whatever is told
_STEPS = {
    DataError: "data",
    SchemaError: "columns",
    HierarchyError: "columns",
    ParameterError: "protect",
    OutputError: "run",
    UnreachableError: "protect",
}


def prepare(kinds: str) -> None:
    """Import what any job may need; of what cannot be imported whoever asks for it is told."""
    known: Mapping[str, Work] = find(kinds)
    for kind in known.values():
        try:
            if isinstance(kind, Later):
                kind.work  # noqa: B018
        except ImportError:
            traceback.print_exc()


def do(folder: Path, kinds: str) -> None:
    """The job of a folder."""
    written = Written(folder / "moment.json")
    watch = Watch(written)
    threading.Thread(target=_look, args=(watch, written), daemon=True).start()
    try:
        work = find(kinds)[read_json(folder / "job.json")["kind"]]
        with asked_by("page"):
            result = work(Project(folder.parent.parent), read_json(folder / "request.json"), watch)
        write_json(folder / "result.json", result)
    except Exception as error:
        said = told(error)
        write_json(folder / "error.json", said)
        if said["kind"] == "bug":
            traceback.print_exc()
        sys.exit(1)


def told(error: Exception) -> dict[str, Any]:
    """What went wrong, for people; of a bug of ours nothing that may hold a value of the table."""
    if isinstance(error, UndercoverError) and not isinstance(error, InternalError):
        kind = "unreachable" if isinstance(error, UnreachableError) else "refused"
        step = next((step for of, step in _STEPS.items() if isinstance(error, of)), "")
        problems = list(getattr(error, "problems", ())) or [str(error)]
        return {"message": str(error), "kind": kind, "problems": problems, **({"step": step} if step else {})}
    if isinstance(error, MemoryError):
        return {"message": "Not enough memory for this table on this machine.", "kind": "memory"}
    if is_disk(error):
        return {"message": NO_DISK, "kind": "refused"}
    return {"message": f"This is a bug of undercover, not of your data ({type(error).__name__}).", "kind": "bug"}


class Written:
    """Moments as a file, at most five a second; a new stage at once, after those that are past."""

    def __init__(self, path: Path) -> None:
        self._path, self._lock, self._last = path, threading.Lock(), 0.0
        self._stage, self._began = "", 0.0
        self._past: dict[str, float] = {}  # seconds of every stage; what comes back is told once

    def __call__(self, moment: Moment) -> None:
        """Write one down."""
        with self._lock:
            now, same = time.monotonic(), moment.stage == self._stage
            if same and now - self._last < _BETWEEN:
                return
            if not same:
                self._past[self._stage] = self._past.get(self._stage, 0.0) + now - self._began
                self._stage, self._began = moment.stage, now
            self._last = now
            facts = {key: getattr(moment, key) for key in ("stage", "part", "share", "seconds", "left")}
            past = [
                {"stage": name, "seconds": spent} for name, spent in self._past.items() if name not in ("", self._stage)
            ]
            write_json(self._path, {**facts, "past": past})


def _look(watch: Watch, written: Written) -> None:
    """Write down every second how long it takes, also while nothing is told."""
    while True:
        time.sleep(_TICK)
        moment = watch.now()
        if moment.stage:
            written(moment)
