"""Jobs for tests of the queue: they sleep, hang, fail and leave things behind, and never read a table."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Mapping
from typing import Any

from undercover.errors import UnreachableError
from undercover.waiting import Progress
from undercover.web.desks.clearing import whole
from undercover.web.desks.project import Project
from undercover.web.jobs.kinds import Work

SECRET = "Ann has the flu"
"""What stands in a table."""


def nap(project: Project, request: Mapping[str, Any], progress: Progress) -> Mapping[str, Any]:
    """Sleep."""
    seconds = float(request["seconds"])
    progress("napping", 0.0)
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        time.sleep(0.01)
        progress("napping: softly", 1 - (until - time.monotonic()) / seconds)
    return {"slept": seconds, "process": os.getpid()}


def hang(project: Project, request: Mapping[str, Any], progress: Progress) -> Mapping[str, Any]:
    """Listen to nobody, in the middle of a release."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    with whole(project.folder / "releases" / "1"):
        (project.folder / "releases" / "1").mkdir()
        (project.folder / "releases" / ".1.tmp-99").mkdir()
        progress("hanging", 0.0)
        time.sleep(60)
    return {}


def begin_release(project: Project, request: Mapping[str, Any], progress: Progress) -> Mapping[str, Any]:
    """A release whose job never gets to its end by itself."""
    with whole(project.folder / "releases" / "1"):
        (project.folder / "releases" / "1").mkdir()
        progress("making", 0.0)
        time.sleep(60)
    return {}


def fail(project: Project, request: Mapping[str, Any], progress: Progress) -> Mapping[str, Any]:
    """Go wrong as asked."""
    if request["how"] == "unreachable":
        raise UnreachableError("l=10 cannot be reached: the largest feasible l is 3.")
    if request["how"] == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    raise ValueError(SECRET)


KINDS: Mapping[str, Work] = {"nap": nap, "hang": hang, "begin": begin_release, "fail": fail}
