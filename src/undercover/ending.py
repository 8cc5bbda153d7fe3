"""How a command ends that is told to end: it clears away what is half-written, says so, and keeps nobody waiting.

Ctrl-C, SIGTERM and SIGHUP are raised in the main thread, so that everything is undone on the way out. The main thread
may be unable to: it compiles, or waits for another thread that computes, or that waits for an import which was
interrupted. So a thread of its own, which the operating system wakes at once, ends the process a few seconds later, and
at once when it is told a second time. Whatever must not be left behind is registered by :func:`unfinished`.

Whoever writes a file or a folder says so beforehand (:func:`changing`). What is said about it at the end is read off
the disk at that moment, since a signal may come between a rename and the next line of the program.

What somebody else chose to ignore stays ignored (``nohup``, a job in the background). Windows has no SIGHUP.
"""

from __future__ import annotations

import os
import signal
import stat
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final

from undercover.characters import visible

HEEDED: Final = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
_GRACE: Final = 2.0  # seconds in which the main thread may clear away what is half-written

_undo: list[Callable[[], None]] = []
_said = threading.Event()
_allowed = [_GRACE]
_before: dict[str, tuple[str, object]] = {}
"""What this command is about to change or has changed: by its place, what to call it and how it was before."""
_watching = [False]
_NAMED: Final = 3
"""Places that a message names; of more it says how many."""


class Told(SystemExit):
    """Told to end by a signal other than Ctrl-C."""

    code: int

    def __init__(self, number: int) -> None:
        super().__init__(128 + number)
        self.name = signal.Signals(number).name


@contextmanager
def unfinished(undo: Callable[[], None]) -> Iterator[None]:
    """Have something undone if the process must end before this block does."""
    begun(undo)
    try:
        yield
    finally:
        done(undo)


def begun(undo: Callable[[], None]) -> Callable[[], None]:
    """The same as a block, from here to :func:`done`."""
    _undo.append(undo)
    return undo


def done(undo: Callable[[], None]) -> None:
    """Whatever was begun is finished, or undone."""
    _undo.remove(undo)


def changing(place: str | os.PathLike[str], called: str = "") -> None:
    """Note that a file or folder is about to appear or change; only while a command runs, whose end is told."""
    path = os.path.abspath(place)
    if _watching[0] and path not in _before:
        _before[path] = (called or f"`{place}`", _state(path))


def changed() -> list[str]:
    """What this command has changed on the disk, as the disk is now."""
    return [called for path, (called, before) in list(_before.items()) if _state(path) != before]


def outcome() -> str:
    """What became of the files: that nothing was written, or what was."""
    made = changed()
    if not made:
        return "nothing was written"
    shown = made if len(made) <= _NAMED else [*made[: _NAMED - 1], f"{len(made) - _NAMED + 1} more"]
    names = shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
    return f"{names} {'was' if len(made) == 1 else 'were'} written before, and {'stays' if len(made) == 1 else 'stay'}"


def _state(path: str) -> object:
    """What tells a file or folder from another in its place: its content, or which folder it is."""
    import hashlib  # here, so that a program that is only being loaded can end at once

    try:
        found = os.lstat(path)
        if not stat.S_ISREG(found.st_mode):
            return (stat.S_IFMT(found.st_mode), found.st_dev, found.st_ino)
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").digest()
    except OSError as error:
        return None if isinstance(error, FileNotFoundError | NotADirectoryError) else error.errno


def say(error: BaseException | None, what: str = "") -> None:
    """Tell whoever ended a command what became of it, once."""
    how = f"ended by {error.name}" if isinstance(error, Told) else "interrupted"
    if not _said.is_set():
        _said.set()
        with suppress(OSError, ValueError):  # nobody listens
            print(visible(what or f"{how}; {outcome()}"), file=sys.stderr, flush=True)


def begin() -> None:
    """A command begins, of which nothing was said or made yet."""
    _before.clear()
    _watching[0] = True
    _said.clear()


def allow(seconds: float) -> None:
    """Leave the main thread more or less time than usual."""
    _allowed[0] = seconds


def heed() -> None:
    """End this process when it is told to; once, for the whole process, from its main thread."""
    if hasattr(signal, "SIGCHLD") and signal.getsignal(signal.SIGCHLD) == signal.SIG_IGN:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # otherwise nobody is told how a child ended
    for number in HEEDED:
        if number != signal.SIGINT and signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, _raise)
    reading, writing = os.pipe()
    if hasattr(os, "set_blocking"):
        os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    told: list[int] = []
    first, second = threading.Event(), threading.Event()

    def listen() -> None:
        while True:
            number = os.read(reading, 1)[0]
            if number in HEEDED:
                told.append(number)
                (first if len(told) == 1 else second).set()

    def end() -> None:
        first.wait()
        second.wait(_allowed[0])
        _end(told[0])

    for work in (listen, end):  # both now: a process that is ending starts no thread
        threading.Thread(target=work, name="ending", daemon=True).start()


def _raise(number: int, frame: Any) -> None:
    raise Told(number)


def _end(number: int) -> None:
    """End the process; nothing of it can be waited for any more."""
    for undo in reversed(_undo):
        with suppress(Exception):  # the main thread may be at it as well
            undo()
    if "multiprocessing" in sys.modules:
        import multiprocessing

        for child in multiprocessing.active_children():
            child.kill()
    say(None if number == signal.SIGINT else Told(number))
    os._exit(128 + number)
