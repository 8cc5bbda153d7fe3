"""``python -m undercover.web.jobs.worker KINDS [ahead]``: one job, in a process of its own.

The folder of the job is the first line of stdin. The process ends when whoever started it goes away: at once where the
system can see to it, elsewhere because stdin is a pipe that closes then. Told to end, it clears away what is
half-written. With ``ahead`` it imports what any job may need while it waits. Nothing is imported before it is tied to
the server, since that takes a while.
"""

from __future__ import annotations

import ctypes
import faulthandler
import json
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

_GRACE = 3.0  # seconds to clear away what is half-written
_PR_SET_PDEATHSIG = 1  # of prctl(2); counts from the thread that began the process, which the queue keeps


def main() -> None:
    """Do the job that is told, and write down what came of it."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    faulthandler.enable()
    if hasattr(signal, "SIGCHLD"):  # a server that was started to ignore it would leave a job's children untold
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, _terminated)
    from undercover.web.jobs.working import do, prepare

    kinds = sys.argv[1]
    if "ahead" in sys.argv[2:]:
        prepare(kinds)
    told = sys.stdin.buffer.readline()
    if told:
        threading.Thread(target=_leave_with_parent, daemon=True).start()
        do(Path(json.loads(told)), kinds)


def _terminated(number: int, frame: Any) -> None:
    # Raised in the main thread, so that whatever is half-written is removed on the way out.
    raise SystemExit(128 + number)


def _leave_with_parent() -> None:
    while os.read(0, 1024):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_GRACE)
    os._exit(130)


if __name__ == "__main__":
    main()
