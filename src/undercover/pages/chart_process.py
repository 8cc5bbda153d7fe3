"""Charts are drawn by a child process: the library that draws aborts its process on what it does not expect.

One child serves all charts of this process. It is started by the first chart, or ahead by :func:`start_drawing`, since
loading the library takes a third of a second that other work can use. Specifications and drawings go through pipes; the
child inherits no other open file, writes nothing to the disk and ends with this process. A child that crashes or does
not answer in time is replaced; a chart that two children fail to draw is a :exc:`DrawingError`, which pages show in the
place of the picture.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

SECONDS: Final = 30.0
"""Within which a chart is drawn, or given up; the slowest of a report takes a tenth of a second."""
_FAILURES: Final = 3
_REST: Final = 20.0
"""After so many failures in a row nothing is tried for so many seconds, so that a report waits for few charts only."""
_CHILD: Final = Path(__file__).with_name("chart_child.py")


class DrawingError(Exception):
    """A chart could not be drawn; the message says why, and quotes nothing of the chart."""


class ChartProcess:
    """The child process that draws charts, started again where it has ended."""

    def __init__(self, *, seconds: float = SECONDS, child: Path = _CHILD) -> None:
        self._seconds, self._script = seconds, child
        self._lock = threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None
        self._owner = 0  # the process that started it: a fork has no child of its own
        self._failures, self._resting = 0, 0.0

    def start(self) -> None:
        """Start the child now; where that fails, the first chart says so."""
        with suppress(OSError, ValueError, RuntimeError), self._lock:
            self._running()

    def draw(self, spec: Mapping[str, Any]) -> str:
        """The SVG of a Vega-Lite specification; a :exc:`DrawingError` where there is none."""
        message = json.dumps(spec, allow_nan=False).encode()
        with self._lock:
            if time.monotonic() < self._resting:
                raise DrawingError("charts before it could not be drawn either")
            for attempt in (1, 2):
                try:
                    status, text = self._asked(message)
                except _TooLongError:
                    why = f"it was not drawn within {self._seconds:g} seconds"
                    break
                except (OSError, EOFError, ValueError, RuntimeError, MemoryError) as error:
                    why = _reason(error)
                    if attempt == 2 or not isinstance(error, EOFError | BrokenPipeError):
                        break
                else:
                    self._failures = 0
                    if status:
                        raise DrawingError(text)
                    return text
            self._failures += 1
            if self._failures >= _FAILURES:
                self._failures, self._resting = 0, time.monotonic() + _REST
            raise DrawingError(why)

    def stop(self) -> None:
        """End the child."""
        with self._lock:
            self._discard()

    def _running(self) -> subprocess.Popen[bytes]:
        """The child of this process, which is started if there is none."""
        if self._child is not None and self._child.poll() is not None:
            self._discard()
        if self._child is None:
            if not sys.executable:
                raise OSError("this program has no Python interpreter of its own")
            flags: dict[str, Any] = {"start_new_session": True} if os.name == "posix" else {}
            self._child = subprocess.Popen(
                [sys.executable, "-I", "-S", "-B", str(self._script)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,  # what it complains of may quote cells
                **flags,
            )
            self._owner = os.getpid()
            told = {
                "path": [os.path.abspath(place) for place in sys.path],
                "parent": os.getpid(),
                "in_main_thread": threading.current_thread() is threading.main_thread(),
            }
            try:
                self._send(json.dumps(told).encode())
            except BaseException:
                self._discard()
                raise
        return self._child

    def _asked(self, message: bytes) -> tuple[int, str]:
        """What the child answers; it is ended where it does not answer in time, or anybody interrupts."""
        child = self._running()
        late = threading.Event()

        def give_up() -> None:
            late.set()
            child.kill()

        timer = threading.Timer(self._seconds, give_up)
        timer.daemon = True
        try:
            timer.start()
            self._send(message)
            status = self._receive(1)[0]
            length = int.from_bytes(self._receive(4), "big")
            text = self._receive(length).decode()
        except BaseException as error:
            self._discard()
            if late.is_set() and isinstance(error, Exception):
                raise _TooLongError from None
            raise
        finally:
            timer.cancel()
        return status, text

    def _send(self, message: bytes) -> None:
        assert self._child is not None
        assert self._child.stdin is not None
        self._child.stdin.write(len(message).to_bytes(4, "big") + message)
        self._child.stdin.flush()

    def _receive(self, length: int) -> bytes:
        assert self._child is not None
        assert self._child.stdout is not None
        found = self._child.stdout.read(length)
        if len(found) < length:
            raise EOFError
        return found

    def _discard(self) -> None:
        """End the child and close its pipes."""
        child, self._child = self._child, None
        if child is None or self._owner != os.getpid():
            return
        with suppress(OSError):
            child.kill()
        for pipe in (child.stdin, child.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
        with suppress(OSError):
            child.wait()

    def forget(self) -> None:
        """In a fork: close what was inherited of the parent's child, and leave the child alone."""
        self._lock = threading.Lock()  # another thread may have held it
        child, self._child = self._child, None
        if child is not None:
            child.returncode = 0  # nobody waits for it here
            for pipe in (child.stdin, child.stdout):
                if pipe is not None:
                    with suppress(OSError):
                        os.close(pipe.fileno())
                    with suppress(OSError):
                        pipe.close()


class _TooLongError(Exception):
    """The child did not answer in time."""


def _reason(error: BaseException) -> str:
    if isinstance(error, EOFError | BrokenPipeError):
        return "the process that draws ended unexpectedly"
    if isinstance(error, OSError):
        return f"no process could be started to draw it: {error.strerror or error}"
    return "no process could be started to draw it"


_process = ChartProcess()
atexit.register(_process.stop)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_process.forget)


def start_drawing() -> None:
    """Load what draws charts while something else is done."""
    _process.start()


def draw_chart(spec: Mapping[str, Any]) -> str:
    """The SVG of a Vega-Lite specification; a :exc:`DrawingError` where it cannot be drawn."""
    return _process.draw(spec)
