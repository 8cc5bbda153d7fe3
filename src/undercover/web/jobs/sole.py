"""One server on a workspace: a lock that it holds, and each of its workers with it until the last of them is gone."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Final

from undercover.errors import OutputError
from undercover.system import alive, lock

_PATIENCE: Final = 10.0  # seconds that workers of a server that was killed have to leave


class Sole:
    """The lock of a workspace."""

    def __init__(self, workspace: Path) -> None:
        self._workspace = workspace
        self.number: int | None = None  # of the open file, which workers inherit

    def hold(self, patience: float = _PATIENCE) -> None:
        """Take it, or say who has it; whoever has it already keeps it."""
        if self.number is not None:
            return
        number = os.open(self._workspace / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        until = time.monotonic() + patience
        while True:
            try:
                lock(number, wait=False)
                break
            except BlockingIOError as error:
                os.lseek(number, 0, os.SEEK_SET)
                holder = os.read(number, 20).decode()
                if not _runs(holder) and time.monotonic() < until:
                    time.sleep(0.05)
                    continue
                os.close(number)
                raise OutputError(self._taken(holder)) from error
        os.ftruncate(number, 0)
        os.lseek(number, 0, os.SEEK_SET)
        os.write(number, str(os.getpid()).encode())
        self.number = number

    def release(self) -> None:
        """Let go of it."""
        if self.number is not None:
            os.close(self.number)
            self.number = None

    def _taken(self, holder: str) -> str:
        if _runs(holder):
            return (
                f"Another server (process {holder}) has the folder `{self._workspace}` open. Use that one, stop it "
                "first, or take another folder: --workspace FOLDER."
            )
        return (
            f"Jobs of a server that is gone still hold the folder `{self._workspace}`. Try again in a minute, or take "
            "another folder: --workspace FOLDER."
        )


def _runs(process: str) -> bool:
    """Whether a process is there."""
    return process.isdigit() and alive(int(process))
