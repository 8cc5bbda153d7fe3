"""The processes that do jobs: begun with nothing of where the server was started, ended with what they have to say.

A spare one may wait, with everything imported, for the next job: importing takes longer than many a job.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import IO, Final

GRACE: Final = 3.0  # seconds a job has to clear away what is half-written
_MOST_SAID: Final = 1 << 20  # bytes of what it says at last


class Worker:
    """One process, which does one job."""

    def __init__(self, kinds: str, workspace: Path, held: int | None, *, ahead: bool = False) -> None:
        # What it says on stderr goes to a file without a name: it may hold values of the table.
        self._said: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115
        command = [sys.executable, "-P", "-m", "undercover.web.jobs.worker", kinds, *(["ahead"] if ahead else [])]
        path = os.pathsep.join(os.path.abspath(place) for place in sys.path)
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=self._said,
            env={**os.environ, "PYTHONPATH": path},
            cwd=workspace,
            pass_fds=() if held is None or os.name == "nt" else (held,),
        )

    def tell(self, folder: Path) -> None:
        """Say which job; whoever is gone already does not hear it."""
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(f"{json.dumps(str(folder))}\n".encode())
            self.process.stdin.flush()
        except BrokenPipeError:
            self.process.wait()

    def end(self, grace: float = GRACE) -> None:
        """End it; it may clear away what is half-written before."""
        self.process.terminate()
        try:
            self.process.wait(grace)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def close(self) -> bytes:
        """What it said on stderr, the last of it; nothing is kept."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        with self._said as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - _MOST_SAID))
            return file.read()


class Workers:
    """Begins workers, and keeps a spare one where that is asked for."""

    def __init__(self, kinds: str, workspace: Path) -> None:
        self._kinds, self._workspace = kinds, workspace.absolute()
        self._lock = threading.Lock()
        self._spare: Worker | None = None
        self._warm = False
        self.held: int | None = None  # an open file that every worker holds

    def begin(self, folder: Path) -> Worker:
        """A worker that does the job of a folder."""
        with self._lock:
            spare, self._spare = self._spare, None
        if spare is not None and spare.process.poll() is not None:
            spare.close()
            spare = None
        worker = spare or self._new()
        worker.tell(folder.absolute())
        if self._warm:
            self.warm()
        return worker

    def warm(self) -> None:
        """Keep a spare one from now on."""
        with self._lock:
            self._warm = True
            self._spare = self._spare or self._new(ahead=True)

    def stop(self) -> None:
        """End the spare one."""
        with self._lock:
            spare, self._spare, self._warm = self._spare, None, False
        if spare is not None:
            spare.end()
            spare.close()

    def _new(self, *, ahead: bool = False) -> Worker:
        return Worker(self._kinds, self._workspace, self.held, ahead=ahead)
