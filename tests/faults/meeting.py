"""Faults at every step that changes the disk: what a step is, and an operation that meets a fault at one of them.

A step is a call that makes, opens for writing, renames, removes or syncs something; Python's audit events tell of all
but syncing and the exchange of two folders, which are watched by name. A kill comes in a forked child; whatever else
goes wrong is raised where it happens.

*Deviations*: what compiled writers (Arrow) do between opening and closing a file is no step; a limit on the size of
files (:func:`too_long`) makes them fail in the middle.
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
from typing import Any, ClassVar

from undercover import whole
from undercover.errors import UndercoverError

KINDS = ("kill", "full", "read-only", "error", "interrupted")
"""What happens: kill -9; no room, or nothing can be changed, from this step on; an error, or EINTR, of this step."""
_NUMBERS = {"full": errno.ENOSPC, "read-only": errno.EROFS, "error": errno.EIO, "interrupted": errno.EINTR}
_LASTING = ("full", "read-only")
_NEEDS_ROOM = ("open", "os.mkdir", "os.link", "sync")
_CHANGES = ("os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.chmod", "os.link", "os.truncate")
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC


@dataclass(frozen=True)
class Met:
    """What became of an operation."""

    met: bool  # whether it came as far as the step
    ended: str  # done, refused, bug, killed
    said: str  # the error


def meet(operation: Callable[[], Any], home: Path, kind: str, at: int) -> Met:
    """Run an operation on files of ``home``; the fault comes at the step with this number, from 1 on."""
    watch = _Watch(f"{home}{os.sep}", kind, at)
    if kind != "kill":
        ended, said = _run(operation, watch)
        return Met(watch.seen >= at, ended, said)
    listen, tell = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            ended, said = _run(operation, watch)
            os.write(tell, f"{ended}\n{said}".encode())
        finally:
            os._exit(0)
    os.close(tell)
    with open(listen, encoding="utf-8") as stream:
        ended, _, said = stream.read().partition("\n")
    killed = os.waitpid(child, 0)[1] == signal.SIGKILL
    return Met(killed, "killed" if killed else ended, said)


def too_long(operation: Callable[[], Any], most: int) -> Met:
    """The same, where no file can have more bytes than this; nobody tries beforehand whether there is room."""
    usual, tried = resource.getrlimit(resource.RLIMIT_FSIZE), whole._TRIED
    whole._TRIED = 0
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, usual[1]))
    try:
        return Met(True, *_run(operation))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, usual)
        whole._TRIED = tried


def _run(operation: Callable[[], Any], watch: _Watch | None = None) -> tuple[str, str]:
    """How an operation ended, and what it said."""
    _Watch.now = watch
    try:
        operation()
    except UndercoverError as error:
        return "refused", f"{type(error).__name__}: {error}"
    except BaseException:
        return "bug", traceback.format_exc()
    finally:
        _Watch.now = None
    return "done", ""


@dataclass
class _Watch:
    """Counts steps, and lets the fault happen."""

    home: str
    kind: str
    at: int
    seen: int = 0
    now: ClassVar[_Watch | None] = None  # the one that watches

    def step(self, event: str) -> None:
        """Before a step is taken."""
        self.seen += 1
        if self.seen == self.at and self.kind == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if self.seen == self.at or (self.seen > self.at and self.kind in _LASTING):
            if self.kind == "full" and event not in _NEEDS_ROOM:
                return
            raise OSError(_NUMBERS[self.kind], os.strerror(_NUMBERS[self.kind]))


def _heard(event: str, given: tuple[Any, ...]) -> None:
    watch = _Watch.now
    if watch is None or (event not in _CHANGES and event != "open"):
        return
    if event == "open" and (not isinstance(given[2], int) or not given[2] & _WRITES):
        return
    if isinstance(given[0], int):  # it is open already
        return
    name = os.fsdecode(given[0])
    if name.startswith(watch.home) or not name.startswith("/"):  # a name in an open folder
        watch.step(event)


def _watched(event: str, call: Callable[..., Any]) -> Callable[..., Any]:
    def step(*given: Any) -> Any:
        if _Watch.now is not None:
            _Watch.now.step(event)
        return call(*given)

    return step


def listen() -> None:
    """From now on; only a process of its own may do so, for an audit hook cannot be taken back.

    Nothing is really synced: a kill loses nothing that is not, and hundreds of faults would wait for the disk.
    """
    os.fsync = _watched("sync", lambda handle: None)
    whole._exchange = _watched("os.rename", whole._exchange)
    sys.addaudithook(_heard)
