"""The child process that draws charts, run as a script: one Vega-Lite specification in, one SVG out, until stdin ends.

A message is its length in four bytes, then so many bytes of JSON. The first message is the parent's ``sys.path`` and
its process number; every other one is a specification. An answer is one byte (0 for a drawing, 1 for a reason why there
is none), the length, and the text.

The process may crash: the library that draws aborts on what it does not expect. It holds cells of private tables, so it
writes no file and leaves no core dump. It ends with its parent. Nothing of undercover is imported here.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from typing import Any, BinaryIO

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE = 1, 4  # of prctl(2)
_LOOK = 0.5  # seconds between looks for the parent
_FIRST = {"data": {"values": [{"x": "x"}]}, "mark": "bar", "encoding": {"x": {"field": "x", "type": "nominal"}}}
"""Drawn before anything is asked for: the first drawing loads most of the library."""


def main() -> None:
    """Draw what is asked for until nobody asks any more."""
    _reset_signals()
    _write_no_files()
    reading, writing = sys.stdin.buffer, sys.stdout.buffer
    told = _read(reading)
    if told is None:
        return
    sys.path[:] = told["path"]
    _leave_with(told["parent"], told["in_main_thread"])
    try:
        from vl_convert import vegalite_to_svg
    except ImportError as error:
        missing = f"the library `{error.name}` cannot be loaded"
        while _read(reading) is not None:
            _answer(writing, 1, missing)
        return
    vegalite_to_svg(_FIRST)
    while (spec := _read(reading)) is not None:
        try:
            drawn: str = vegalite_to_svg(spec)
        except Exception:
            _answer(writing, 1, "the library that draws refused it")  # its message may quote cells
        else:
            _answer(writing, 0, drawn)


def _read(stream: BinaryIO) -> Any:
    """The next message, or nothing where whoever asks is gone."""
    head = stream.read(4)
    if len(head) < 4:
        return None
    length = int.from_bytes(head, "big")
    body = stream.read(length)
    return json.loads(body) if len(body) == length else None


def _answer(stream: BinaryIO, status: int, text: str) -> None:
    body = text.encode()
    stream.write(bytes([status]) + len(body).to_bytes(4, "big") + body)
    stream.flush()


def _reset_signals() -> None:
    """Whatever signals the parent ignores or blocks, this process ends by them."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGPIPE", "SIGCHLD"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_DFL)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_SETMASK, ())


def _write_no_files() -> None:
    """No file grows by a byte, and an abort leaves no core dump: both could hold private cells."""
    if sys.platform == "win32":
        return
    import resource

    if hasattr(signal, "SIGXFSZ"):
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a write then fails with EFBIG
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def _leave_with(parent: int, in_main_thread: bool) -> None:
    """End when the parent does, also when another process has inherited its end of stdin."""
    if sys.platform == "linux":
        import ctypes

        prctl = ctypes.CDLL(None).prctl
        prctl(_PR_SET_DUMPABLE, 0)
        if in_main_thread:  # the kernel watches the thread that started this process, not the whole parent
            prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if hasattr(os, "getppid"):
        threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_LOOK)
    os._exit(1)


if __name__ == "__main__":
    main()
