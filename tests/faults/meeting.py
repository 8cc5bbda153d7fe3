"""Faults at every step that changes the disk: what a step is, and an operation that meets a fault at one of them.

A step is a call that makes, opens for writing, renames, removes or syncs something; Python's audit events tell of all
but syncing and the exchange of two folders, which are watched by name. The operation runs in a forked child, so that
hundreds of faults take seconds, and so that a kill is a kill.

*Deviations*: what compiled writers (Arrow) do between opening and closing a file is no step; a limit on the size of
files (``too_long``) makes them fail in the middle.
"""

from __future__ import annotations

import errno
import os
import resource
import signal
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from undercover import whole
from undercover.errors import UndercoverError

KINDS = ("kill", "full", "read-only", "error", "interrupted")
"""What happens: kill -9; no room, or nothing can be changed, from this step on; an error, or EINTR, of this step."""
_NUMBERS = {"full": errno.ENOSPC, "read-only": errno.EROFS, "error": errno.EIO, "interrupted": errno.EINTR}
_LASTING = ("full", "read-only")
_NEEDS_ROOM = ("open", "os.mkdir", "os.link", "sync")
_CHANGES = ("os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.chmod", "os.link", "os.truncate")
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_DONE, _REFUSED, _BUG = 0, 3, 4


@dataclass(frozen=True)
class Met:
    """What became of an operation."""

    met: bool  # whether it came as far as the step
    ended: str  # done, refused, bug, killed
    said: str  # the error


def meet(operation: Callable[[], Any], home: Path, kind: str, at: int) -> Met:
    """Run an operation on files of ``home`` in a child; the fault comes at the step with this number, from 1 on."""
    return _run(operation, _Watch(home, kind, at).arm)


def too_long(operation: Callable[[], Any], most: int) -> Met:
    """The same, where no file can have more bytes than this; nobody tries beforehand whether there is room."""

    def limit() -> Callable[[], bool]:
        whole._TRIED = 0
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
        return lambda: True

    return _run(operation, limit)


def _run(operation: Callable[[], Any], arm: Callable[[], Callable[[], bool]]) -> Met:
    listen, tell = os.pipe()
    child = os.fork()
    if child == 0:
        _in_child(operation, tell, arm)
    os.close(tell)
    with open(listen, encoding="utf-8") as stream:
        met, _, said = stream.read().partition("\n")
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        return Met(True, "killed" if os.WTERMSIG(status) == signal.SIGKILL else "bug", str(os.WTERMSIG(status)))
    return Met(met == "met", {_DONE: "done", _REFUSED: "refused"}.get(os.WEXITSTATUS(status), "bug"), said)


def _in_child(operation: Callable[[], Any], tell: int, arm: Callable[[], Callable[[], bool]]) -> None:
    code, said = _DONE, ""
    met = arm()
    try:
        operation()
    except UndercoverError as error:
        code, said = _REFUSED, f"{type(error).__name__}: {error}"
    except BaseException:
        code, said = _BUG, traceback.format_exc()
    finally:
        os.write(tell, f"{'met' if met() else ''}\n{said}".encode())
        os._exit(code)


class _Watch:
    """Counts steps, and lets the fault happen."""

    def __init__(self, home: Path, kind: str, at: int) -> None:
        self.home, self.kind, self.at, self.seen = f"{home}{os.sep}", kind, at, 0
        self.running = True

    def arm(self) -> Callable[[], bool]:
        """From now on; only a process that ends soon may do so, for an audit hook cannot be taken back."""
        sync, exchange = os.fsync, whole._exchange
        os.fsync = self._before("sync", sync)
        whole._exchange = self._before("os.rename", exchange)
        sys.addaudithook(self._audit)
        return self._stop

    def _stop(self) -> bool:
        self.running = False
        return self.seen >= self.at

    def _before(self, event: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def step(*given: Any) -> Any:
            self._step(event)
            return call(*given)

        return step

    def _audit(self, event: str, given: tuple[Any, ...]) -> None:
        if not self.running or (event not in _CHANGES and event != "open"):
            return
        if event == "open" and (not isinstance(given[2], int) or not given[2] & _WRITES):
            return
        name = os.fsdecode(given[0]) if isinstance(given[0], str | bytes | os.PathLike) else ""
        if name.startswith(self.home) or not name.startswith("/"):  # a name in an open folder
            self._step(event)

    def _step(self, event: str) -> None:
        if not self.running:
            return
        self.seen += 1
        if self.seen == self.at and self.kind == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        lasting = self.seen > self.at and self.kind in _LASTING
        if self.seen == self.at or lasting:
            if self.kind == "full" and event not in _NEEDS_ROOM:
                return
            number = _NUMBERS[self.kind]
            raise OSError(number, os.strerror(number))
