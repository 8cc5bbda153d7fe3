"""Compiling ahead: a second process compiles what the tour needs last while this one begins with what it needs first.

Compiled kernels are cached on the disk, so what the other process compiled is only loaded here. Nothing else passes
between the two; if the other one fails, this one compiles for itself.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_ROWS = 600


@contextmanager
def compiling_ahead() -> Iterator[None]:
    """Compile in the background as long as the block runs; only where there is something left to compile."""
    from undercover.kernels.compilation import needs_compiling
    from undercover.kernels.splits import refine

    if not needs_compiling(refine):
        yield
        return
    other = subprocess.Popen(
        [sys.executable, "-m", "undercover.studies.warm_up"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield
    finally:
        other.terminate()
        other.wait()


def compile_tour() -> int:
    """Make every release of the tour of a few people, the last one first; returns how many could be made."""
    from undercover import api
    from undercover.datasets import census, census_schema
    from undercover.errors import UndercoverError
    from undercover.studies.demo import TOUR

    people = census(_ROWS)
    made = 0
    for planned in reversed(TOUR):
        schema = census_schema(hierarchies=planned.hierarchies)
        try:
            api.summarize(api.publish(people, schema, planned.method))
        except UndercoverError:
            continue  # so few people cannot be protected by this one; what it got to is compiled
        made += 1
    return made


if __name__ == "__main__":
    compile_tour()
