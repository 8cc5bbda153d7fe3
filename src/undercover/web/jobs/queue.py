"""The queue: jobs of all desks in turn, so many at a time and one of a table, each in a process of its own."""

from __future__ import annotations

import logging
import os
import re
import secrets
import shutil
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from undercover.errors import UndercoverError
from undercover.web.desks.clearing import clear_table
from undercover.web.desks.desk import Missing
from undercover.web.desks.project import Project
from undercover.web.desks.store import NO_DISK, read_json, write_json
from undercover.web.jobs.job import Job, job_folders, kind_of, new_job, read_job, set_state
from undercover.web.jobs.process import GRACE, Worker, Workers
from undercover.web.jobs.sole import Sole

MOST_WAITING: Final = 20
"""Jobs of one desk that may wait at the same time."""

_KEY: Final = re.compile(r"\d{13,15}-[0-9a-f]{6}")  # of a job
_MOST_KEPT: Final = 20  # jobs of a kind that are over, of one table
_BETWEEN: Final = 1.0  # seconds from one try to write to a full disk to the next
_MOST_BEGUN: Final = 3  # times a job is begun that the server did not survive

_ENDED = "The process that did this was ended from outside. Often there was not enough memory: close other programs."
_AGAIN = (
    "The server went away three times while this was running, so it is not begun once more. If the machine ran out of "
    "memory, publish fewer columns or rows, or take a machine with more."
)
_log = logging.getLogger(__name__)


class Full(UndercoverError):  # noqa: N818
    """Too many jobs of one desk wait."""


class Queue:
    """Runs jobs; what was waiting or running when the server went away is begun again.

    Parameters
    ----------
    workspace
        The folder of all desks; one server at a time works on it.
    workers
        Jobs that run at the same time.
    kinds
        Where the mapping of what jobs there are is found.
    """

    def __init__(self, workspace: Path, workers: int = 1, *, kinds: str = "undercover.web.jobs.kinds:KINDS") -> None:
        self._workspace, self._slots = workspace, workers
        self._sole, self._workers = Sole(workspace), Workers(kinds, workspace)
        self._changed = threading.Condition()
        self._waiting: list[Path] = []
        self._running: dict[Path, Worker | None] = {}
        self._cancelled: set[Path] = set()
        self._served: dict[str, int] = {}  # which turn a desk had last
        self._turns = 0
        self._newest = 0  # number of the last job: the next one's is higher, whatever the clock says
        self._stopped = False
        self._threads: list[threading.Thread] = []
        self.warm = False  # whether a spare process is kept, so that a job begins at once
        self.leaving = False  # whether the server is about to stop: nobody should wait for news

    def hold(self) -> None:
        """Make sure that no other server works on this folder."""
        self._sole.hold()
        self._workers.held = self._sole.number

    def start(self) -> None:
        """Begin, with what was left."""
        self.hold()
        self._stopped = self.leaving = False
        self._waiting.clear()
        folders = [folder for jobs in self._workspace.glob("desks/*/*/jobs") for folder in job_folders(jobs.parent)]
        for folder in sorted(folders, key=lambda place: place.name):
            self._left(folder)
            if _KEY.fullmatch(folder.name):
                self._newest = max(self._newest, int(folder.name.split("-")[0]))
        for _ in range(self._slots):
            thread = threading.Thread(target=self._work, daemon=True, name="jobs")
            thread.start()
            self._threads.append(thread)
        if self.warm:
            self._workers.warm()

    def stop(self) -> None:
        """End all workers; what they did not finish waits for the next start."""
        with self._changed:
            self._stopped = self.leaving = True
            running = [worker for worker in self._running.values() if worker is not None]
            self._changed.notify_all()
        ending = [threading.Thread(target=worker.end) for worker in running]
        for thread in ending:
            thread.start()
        for thread in [*ending, *self._threads]:
            thread.join()
        self._threads.clear()
        self._workers.stop()
        self._sole.release()

    def add(self, project: Project, kind: str, request: Mapping[str, Any]) -> Job:
        """Put a job at the end of those of its desk."""
        now = time.time()
        with self._changed:
            self._newest = max(int(now * 1000), self._newest + 1)
            folder = project.folder / "jobs" / f"{self._newest:013d}-{secrets.token_hex(3)}"
            if not folder.parent.is_dir():
                raise Missing("This table was removed meanwhile.")
            self.require_room(_desk(folder))
            self._prune(project, kind)
            new_job(folder, kind, request, now)
            self._waiting.append(folder)
            self._changed.notify_all()
        return self.job(project, folder.name)

    def require_room(self, desk: str) -> None:
        """Raise where as many jobs of a desk wait as may."""
        with self._changed:
            if sum(_desk(other) == desk for other in self._waiting) >= MOST_WAITING:
                raise Full(f"{MOST_WAITING} jobs of yours are waiting. Wait for some to be done, or cancel them.")

    def job(self, project: Project, key: str) -> Job:
        """A job as it is at this moment."""
        folder = self._folder(project, key)
        return read_job(folder, self._before(folder))

    def jobs(self, project: Project, kind: str | None = None) -> list[Job]:
        """All jobs of a table, the newest first."""
        with self._changed:
            folders = (place for place in job_folders(project.folder) if kind is None or kind_of(place) == kind)
            return [read_job(folder, self._before(folder)) for folder in folders]

    def stamp(self, project: Project, key: str) -> tuple[int, ...]:
        """What is another one as soon as there is news of a job."""
        folder = self._folder(project, key)
        files = (folder / name for name in ("job.json", "moment.json"))
        return (self._before(folder), *(file.stat().st_mtime_ns if file.is_file() else 0 for file in files))

    def cancel(self, project: Project, key: str) -> Job:
        """End a job; what is over stays as it is."""
        folder = self._folder(project, key)
        with self._changed:
            if folder in self._waiting:
                self._waiting.remove(folder)
                set_state(folder, "cancelled", ended=time.time())
            elif folder in self._running:
                self._cancelled.add(folder)
                self._changed.wait_for(lambda: self._running.get(folder, ...) is not None)
            worker = self._running.get(folder)
        if worker is not None:
            worker.end()
            with self._changed:
                self._changed.wait_for(lambda: folder not in self._running, GRACE)
        return self.job(project, key)

    def _folder(self, project: Project, key: str) -> Path:
        folder = project.folder / "jobs" / key
        if not _KEY.fullmatch(key) or not (folder / "job.json").is_file():
            raise Missing("There is no such job here. It may have been removed.")
        return folder

    def _left(self, folder: Path) -> None:
        """A job as the last server left it."""
        try:
            job = read_job(folder)
        except (OSError, ValueError):  # the machine went down while it was written
            shutil.rmtree(folder)
            return
        if job.over:
            return
        again = job.restarts + (job.state == "running")
        if job.state == "running" and job.result is not None:
            set_state(folder, "done", ended=time.time())
        elif again >= _MOST_BEGUN:
            write_json(folder / "error.json", {"message": _AGAIN, "kind": "again"})
            set_state(folder, "failed", ended=time.time(), restarts=again)
        else:
            set_state(folder, "waiting", started=None, restarts=again)
            self._waiting.append(folder)

    def _prune(self, project: Project, kind: str) -> None:
        """Forget old jobs; what they made stays."""
        over = [job for job in self.jobs(project, kind) if job.over]
        for job in over[_MOST_KEPT - 1 :]:
            shutil.rmtree(project.folder / "jobs" / job.id)

    def _in_turn(self) -> list[Path]:
        """What waits, in the order in which it is begun: as few of a desk as possible before those of another one."""
        count: dict[str, int] = {}
        for folder in self._running:
            count[_desk(folder)] = count.get(_desk(folder), 0) + 1
        keyed = []
        for folder in self._waiting:
            desk = _desk(folder)
            keyed.append((count.get(desk, 0), self._served.get(desk, 0), folder.name, folder))
            count[desk] = count.get(desk, 0) + 1
        return [key[-1] for key in sorted(keyed)]

    def _before(self, folder: Path) -> int:
        with self._changed:
            if folder not in self._waiting:
                return 0
            return self._in_turn().index(folder) + max(0, len(self._running) - max(self._slots, 1) + 1)

    def _next(self) -> Path | None:
        busy = {_table(folder) for folder in self._running}
        return next((folder for folder in self._in_turn() if _table(folder) not in busy), None)

    def _work(self) -> None:
        """One job after the other, until the queue is stopped."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._stopped or self._next() is not None)
                folder = self._next()
                if self._stopped or folder is None:
                    return
                self._waiting.remove(folder)
                self._running[folder] = None
                self._turns += 1
                self._served[_desk(folder)] = self._turns
            try:
                self._run(folder)
            except (OSError, ValueError):  # such as a full disk, or a file that it cut off
                _log.exception("A job could not be begun or ended.")
                self._give_up(folder)
            finally:
                with self._changed:
                    del self._running[folder]
                    self._cancelled.discard(folder)
                    self._changed.notify_all()

    def _give_up(self, folder: Path) -> None:
        """Write down that a job failed as soon as the disk takes it; until then no other could be begun either."""
        while folder.is_dir():
            try:
                write_json(folder / "error.json", {"message": NO_DISK, "kind": "refused"})
                set_state(folder, "failed", ended=time.time())
                return
            except OSError:
                with self._changed:
                    if self._changed.wait_for(lambda: self._stopped, _BETWEEN):
                        return

    def _run(self, folder: Path) -> None:
        if not folder.is_dir():  # its table was removed meanwhile
            return
        (folder / "moment.json").unlink(missing_ok=True)
        set_state(folder, "running", started=time.time())
        worker = self._workers.begin(folder)
        with self._changed:
            self._running[folder] = worker
            self._changed.notify_all()
            late = self._stopped or folder in self._cancelled
        if late:
            worker.end()
        code = worker.process.wait()
        self._ended(folder, code, worker.close())

    def _ended(self, folder: Path, code: int, said: bytes) -> None:
        """Write down what came of a job."""
        if code == 0 and (folder / "result.json").is_file():
            set_state(folder, "done", ended=time.time())
            return
        clear_table(_table(folder))
        if folder in self._cancelled:
            set_state(folder, "cancelled", ended=time.time())
        elif self._stopped and not (folder / "error.json").is_file():
            set_state(folder, "waiting", started=None)
        else:
            self._failed(folder, said)

    def _failed(self, folder: Path, said: bytes) -> None:
        place = folder / "error.json"
        error = read_json(place) if place.is_file() else {"message": _ENDED, "kind": "ended"}
        if error["kind"] in ("bug", "ended") and said:
            trace = folder / "trace.txt"
            with open(os.open(trace, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
                file.write(said)
            error["trace"] = str(trace.relative_to(self._workspace))
        write_json(place, error)
        set_state(folder, "failed", ended=time.time())


def _table(folder: Path) -> Path:
    return folder.parent.parent


def _desk(folder: Path) -> str:
    return _table(folder).parent.name
