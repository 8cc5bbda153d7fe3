"""Compiling ahead: other processes compile what is needed later while this one begins with what it needs first.

Compiled kernels are kept on the disk, and no process compiles what another one is compiling, so what others compiled
is only loaded here. They name every release of the tour that they are done with; before the tour makes that release, it
waits for its name. If another one ends or fails, this one compiles for itself.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import Any

from undercover.ending import unfinished
from undercover.errors import InternalError
from undercover.memory import cores
from undercover.waiting import Progress, no_progress

_ROWS = 600
_GRACE = 3.0  # seconds in which a process that compiles may end by itself


def _begun(folders: Sequence[str], said: int = subprocess.DEVNULL) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "undercover.studies.warm_up", *folders]
    pipes: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": said}
    return subprocess.Popen(command, text=True, **pipes)


def _ended(other: subprocess.Popen[str]) -> None:
    """End a process that compiles, also one that inherited to ignore SIGTERM; what it has stored is whole."""
    other.terminate()
    try:
        other.wait(_GRACE)
    except subprocess.TimeoutExpired:
        other.kill()
        other.wait()


@contextmanager
def compiling_ahead(folders: Sequence[str]) -> Iterator[Callable[[str], None]]:
    """Compile for some releases of the tour in the background, where there is something left to compile at all.

    Yields a function that waits until a release, by its folder, is compiled; at once for those of this process.
    """
    if not folders or not _new():
        yield lambda folder: None
        return
    other = _begun(folders)
    waiting = set(folders)

    def wait(folder: str) -> None:
        while folder in waiting:
            line = other.stdout.readline() if other.stdout else ""
            if not line:
                waiting.clear()
            waiting.discard(line.strip())

    try:
        with unfinished(other.kill):
            yield wait
    finally:
        _ended(other)
        if other.stdout:
            other.stdout.close()


def compiling_beside(method: str) -> AbstractContextManager[object]:
    """On a new machine with a second core: compile the attacks while a method compiles the large kernel of its own.

    The attacks come with the first release of the tour that is compiled ahead, which has no such kernel. Where the
    method has none either, there is nothing to gain.
    """
    from undercover.model.about import about_of

    if cores() == 1 or all(stop.ahead == 1 for stop in about_of(method).tour) or not _new():
        return nullcontext()
    from undercover.studies.tour import compiled_ahead

    return compiling_ahead(compiled_ahead()[:1])


def _new() -> bool:
    """Whether the largest kernel is still to be compiled on this machine."""
    from undercover.compiled import jit
    from undercover.steps.cutting.splits import refine

    return jit.needs_compiling(refine)


def warm_up(progress: Progress = no_progress) -> None:
    """Compile whatever the releases of the tour need, in as many processes as there are cores."""
    from undercover.studies.tour import stops

    alike = [stop.folder for _, stop in stops() if stop.ahead != 1]
    others = [stop.folder for _, stop in stops() if stop.ahead == 1]
    beside = max(1, min(cores() - 1, len(others)))
    shares = [alike, *(others[first::beside] for first in range(beside))]
    running = [_begun(share, subprocess.PIPE) for share in (shares if cores() > 1 else [[*alike, *others]])]
    done = 0
    try:
        for one in running:
            with unfinished(one.kill):
                for _ in one.stdout or ():
                    done += 1
                    progress("compiling", done / len([*alike, *others]))
                if one.wait():
                    said = one.stderr.read() if one.stderr else ""
                    raise InternalError(f"The kernels could not be compiled: {said.strip()[-1000:]}")
    finally:
        for one in running:
            _ended(one)
            one.communicate()


def compile_for(folders: Sequence[str]) -> Iterator[str]:
    """Make some releases of the tour, of a few people, and name each by its folder when it is done."""
    from undercover.datasets import census
    from undercover.errors import UndercoverError
    from undercover.parameters import make
    from undercover.studies.tour import schema_of, stops
    from undercover.verbs.publish import publish
    from undercover.verbs.report import summarize

    people = census(_ROWS)
    tour = {stop.folder: (name, stop) for name, stop in stops()}
    for folder in folders:
        name, stop = tour[folder]
        with suppress(UndercoverError):  # so few people cannot be protected by every method; what it got to is compiled
            summarize(publish(people, schema_of(stop), make("methods", name, stop.parameters)))
        yield folder


if __name__ == "__main__":
    for done in compile_for(sys.argv[1:]):
        sys.stdout.write(f"{done}\n")
        sys.stdout.flush()
