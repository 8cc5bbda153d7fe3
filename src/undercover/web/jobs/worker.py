"""``python -m undercover.web.jobs.worker FOLDER``: one job, in a process of its own.

It ends when whoever started it goes away: its stdin is a pipe that closes then.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

from undercover.errors import InternalError, UndercoverError, UnreachableError
from undercover.waiting import Moment, Watch
from undercover.web.desks.project import Project
from undercover.web.desks.store import read_json, write_json
from undercover.web.jobs.kinds import KINDS

_BETWEEN = 0.2  # seconds between two moments that are written down


def main() -> None:
    """Do the job of a folder, and write down what came of it."""
    folder = Path(sys.argv[1])
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    try:
        facts = read_json(folder / "job.json")
        work = KINDS[facts["kind"]]
        watch = Watch(_Written(folder / "moment.json"))
        result = work(Project(folder.parent.parent), read_json(folder / "request.json"), watch)
        write_json(folder / "result.json", result)
    except Exception as error:
        write_json(folder / "error.json", told(error))
        sys.exit(1)


def told(error: Exception) -> dict[str, Any]:
    """What went wrong, for people; of a bug of ours nothing that may hold a value of the table."""
    if isinstance(error, UndercoverError) and not isinstance(error, InternalError):
        problems = list(getattr(error, "problems", ())) or [str(error)]
        kind = "unreachable" if isinstance(error, UnreachableError) else "refused"
        return {"message": str(error), "kind": kind, "problems": problems}
    if isinstance(error, MemoryError):
        return {"message": "Not enough memory for this table on this machine.", "kind": "memory"}
    return {"message": f"This is a bug of undercover, not of your data ({type(error).__name__}).", "kind": "bug"}


class _Written:
    """Moments as a file, at most five a second; a new stage at once."""

    def __init__(self, path: Path) -> None:
        self._path, self._stage, self._last = path, "", 0.0

    def __call__(self, moment: Moment) -> None:
        now = time.monotonic()
        if moment.stage == self._stage and now - self._last < _BETWEEN:
            return
        self._stage, self._last = moment.stage, now
        write_json(self._path, {key: getattr(moment, key) for key in ("stage", "part", "share", "seconds", "left")})


def _leave_with_parent() -> None:
    while os.read(0, 1024):
        pass
    os._exit(130)


if __name__ == "__main__":
    main()
