"""The queue: jobs of all desks in the order in which they came, so many at a time, each in a process of its own."""

from __future__ import annotations

import contextlib
import secrets
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from undercover.web.desks.desk import Missing
from undercover.web.desks.project import Project
from undercover.web.desks.store import private_folder, write_json
from undercover.web.jobs.job import Job, read_job, set_state

_GRACE: Final = 5.0  # seconds a job has to clear away what is half-written


class Queue:
    """Runs jobs; what was waiting or running when the server went away is begun again."""

    def __init__(self, workspace: Path, workers: int = 1) -> None:
        self._workspace, self._workers = workspace, workers
        self._changed = threading.Condition()
        self._waiting: list[Path] = []
        self._running: dict[Path, subprocess.Popen[bytes]] = {}
        self._cancelled: set[Path] = set()
        self._stopped = False
        self._threads: list[threading.Thread] = []

    def start(self) -> None:
        """Begin, with what was left."""
        left = [place.parent for place in self._workspace.glob("desks/*/*/jobs/*/job.json")]
        jobs = sorted((read_job(place) for place in left), key=lambda job: job.created)
        places = {place.name: place for place in left}
        for job in jobs:
            if not job.over:
                again = job.restarts + (job.state == "running")
                set_state(places[job.id], "waiting", started=None, restarts=again)
                self._waiting.append(places[job.id])
        for _ in range(self._workers):
            thread = threading.Thread(target=self._work, daemon=True, name="jobs")
            thread.start()
            self._threads.append(thread)

    def stop(self) -> None:
        """End all workers; what they did not finish waits for the next start."""
        with self._changed:
            self._stopped = True
            for process in self._running.values():
                process.kill()
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()

    def add(self, project: Project, kind: str, request: Mapping[str, Any]) -> Job:
        """Put a job at the end."""
        now = time.time()
        folder = private_folder(project.folder / "jobs" / f"{int(now * 1000):013d}-{secrets.token_hex(3)}")
        write_json(folder / "request.json", request)
        write_json(folder / "job.json", {"kind": kind, "state": "waiting", "created": now})
        with self._changed:
            self._waiting.append(folder)
            self._changed.notify_all()
        return self.job(project, folder.name)

    def job(self, project: Project, key: str) -> Job:
        """A job as it is at this moment."""
        folder = project.folder / "jobs" / key
        if "/" in key or "\\" in key or not (folder / "job.json").is_file():
            raise Missing("There is no such job here. It may have been removed.")
        with self._changed:
            before = self._waiting.index(folder) + len(self._running) if folder in self._waiting else 0
        return read_job(folder, before)

    def jobs(self, project: Project, kind: str | None = None) -> list[Job]:
        """All jobs of a table, the newest first."""
        keys = sorted((place.parent.name for place in (project.folder / "jobs").glob("*/job.json")), reverse=True)
        return [job for job in (self.job(project, key) for key in keys) if kind in (None, job.kind)]

    def cancel(self, project: Project, key: str) -> Job:
        """End a job; what is over stays as it is."""
        folder = project.folder / "jobs" / self.job(project, key).id
        with self._changed:
            if folder in self._waiting:
                self._waiting.remove(folder)
                set_state(folder, "cancelled", ended=time.time())
            process = self._running.get(folder)
            if process is not None:
                self._cancelled.add(folder)
                process.terminate()
        if process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_GRACE)
            process.kill()
            with self._changed:
                self._changed.wait_for(lambda: folder not in self._running, _GRACE)
        return self.job(project, key)

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._stopped)
                if self._stopped:
                    return
                folder = self._waiting.pop(0)
                set_state(folder, "running", started=time.time())
                process = _begun(folder)
                self._running[folder] = process
            with process:  # closes its stdin, too
                process.wait()
            with self._changed:
                del self._running[folder]
                if not self._stopped:
                    self._end(folder, process.returncode)
                self._changed.notify_all()

    def _end(self, folder: Path, code: int) -> None:
        """Write down what came of a job."""
        if folder in self._cancelled:
            self._cancelled.discard(folder)
            set_state(folder, "cancelled", ended=time.time())
        elif code == 0:
            set_state(folder, "done", ended=time.time())
        else:
            if not (folder / "error.json").is_file():
                message = "The process that did this was ended from outside; often there was not enough memory."
                write_json(folder / "error.json", {"message": message, "kind": "memory"})
            set_state(folder, "failed", ended=time.time())


def _begun(folder: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "undercover.web.jobs.worker", str(folder)]
    quiet = subprocess.DEVNULL
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=quiet, stderr=quiet)
