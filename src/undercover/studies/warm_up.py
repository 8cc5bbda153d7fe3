"""Compiling ahead: a second process compiles what the tour needs later while this one begins with what it needs first.

Compiled kernels are cached on the disk, so what the other process compiled is only loaded here. It names every release
it is done with; before this process makes that release, it waits for its name, lest both compile the same. If the other
one ends or fails, this one compiles for itself.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

_ROWS = 600


@contextmanager
def compiling_ahead(folders: Sequence[str]) -> Iterator[Callable[[str], None]]:
    """Compile for some releases of the tour in the background, where there is something left to compile at all.

    Yields a function that waits until a release, by its folder, is compiled; at once for those of this process.
    """
    from undercover.compiled.jit import needs_compiling
    from undercover.steps.cutting.splits import refine

    if not folders or not needs_compiling(refine):
        yield lambda folder: None
        return
    other = subprocess.Popen(
        [sys.executable, "-m", "undercover.studies.warm_up", *folders],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    waiting = set(folders)

    def wait(folder: str) -> None:
        while folder in waiting:
            line = other.stdout.readline() if other.stdout else ""
            if not line:
                waiting.clear()
            waiting.discard(line.strip())

    try:
        yield wait
    finally:
        other.terminate()
        other.wait()
        if other.stdout:
            other.stdout.close()


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
