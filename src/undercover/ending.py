"""How a command ends that is told to end: it clears away what is half-written, says so, and keeps nobody waiting.

Ctrl-C, SIGTERM and SIGHUP are raised in the main thread, so that everything is undone on the way out. The main thread
may be unable to: it compiles, or waits for another thread that computes, or that waits for an import which was
interrupted. So a thread of its own, which the operating system wakes at once, ends the process a few seconds later, and
at once when it is told a second time. Whatever must not be left behind is registered by :func:`unfinished`.

What somebody else chose to ignore stays ignored (``nohup``, a job in the background). Windows has no SIGHUP.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final

HEEDED: Final = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
_GRACE: Final = 2.0  # seconds in which the main thread may clear away what is half-written

_undo: list[Callable[[], None]] = []
_said = threading.Event()
_allowed = [_GRACE]
MADE: list[str] = []
"""What this command has written whole, by the names it was given."""


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


def say(error: BaseException | None, what: str = "") -> None:
    """Tell whoever ended a command what became of it, once."""
    how = f"ended by {error.name}" if isinstance(error, Told) else "interrupted"
    made = f"{MADE[-1]} was written before, and stays" if MADE else "nothing was written"
    if not _said.is_set():
        _said.set()
        with suppress(OSError, ValueError):  # nobody listens
            print(what or f"{how}; {made}", file=sys.stderr, flush=True)


def begin() -> None:
    """A command begins, of which nothing was said or made yet."""
    MADE.clear()
    _said.clear()


def allow(seconds: float) -> None:
    """Leave the main thread more or less time than usual."""
    _allowed[0] = seconds


def heed() -> None:
    """End this process when it is told to; once, for the whole process, from its main thread."""
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
