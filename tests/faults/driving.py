"""Every operation with every fault at every step, in one process that forks: ``python driving.py HOME STRIDE NAME…``.

Prints one JSON object: for every operation how many steps it has, and what went wrong, which is nothing. With a stride
of n each kind of fault but kills comes at every n-th step only, from another one on for each kind.
"""

from __future__ import annotations

import gc
import json
import os
import shutil
import sys
from pathlib import Path

from meeting import KINDS, Met, meet, too_long
from operations import Made, Operation, left_over, seen_by_others

LONGEST = 2_000  # steps of one operation


def faults(operation: Operation, home: Path, kind: str, first: int, stride: int) -> tuple[int, list[str]]:
    """How many steps there are, and what went wrong at each that was tried."""
    wrong: list[str] = []
    for at in range(first, LONGEST, stride):
        _begin(operation, home)
        met = meet(lambda: operation.act(home), home, kind, at)
        wrong += [f"{kind} at step {at}: {problem}" for problem in looked_at(operation, home, met)]
        if not met.met:
            return at - 1, wrong
    raise AssertionError("It never ends.")


def limits(operation: Operation, home: Path) -> list[str]:
    """What goes wrong where files cannot have more than some number of bytes."""
    wrong: list[str] = []
    for most in (0, 20, 300, 3_000):
        _begin(operation, home)
        met = too_long(lambda: operation.act(home), most)
        wrong += [f"no more than {most} bytes: {problem}" for problem in looked_at(operation, home, met)]
    return wrong


def looked_at(operation: Operation, home: Path, met: Met) -> list[str]:
    """What is wrong after a fault: a mixture, a lie, a bug, names for everybody, leftovers, no way on."""
    wrong = [f"a bug: {met.said}"] if met.ended == "bug" else []
    try:
        state = operation.state(home)
        if met.ended == "done" and state != "after":
            wrong.append("it says that it is done, and is not")
        wrong += [f"for everybody to read: {name}" for name in seen_by_others(home)]
        operation.again(home)
        if operation.state(home) != "after":
            wrong.append("it cannot be done again")
        wrong += [f"left over: {name}" for name in left_over(home)]
    except Exception as error:
        wrong.append(f"{met.ended} {met.said}, then {type(error).__name__}: {error}")
    return wrong


def _begin(operation: Operation, home: Path) -> None:
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir()
    operation.begin(home)


def main(place: Path, stride: int, names: list[str]) -> None:
    """All operations, or those that are named."""
    made = Made(place)
    gc.collect()
    gc.freeze()
    gc.disable()
    found = {}
    for name, operation in made.operations().items():
        if names and name not in names:
            continue
        home = place / "home"
        steps, wrong = faults(operation, home, "kill", 1, 1)
        for number, kind in enumerate(KINDS[1:]):
            wrong += faults(operation, home, kind, 1 + number % stride, stride)[1]
        found[name] = {"steps": steps, "wrong": wrong + limits(operation, home)}
    print(json.dumps(found))


if __name__ == "__main__":
    os.umask(0o022)
    os.fsync = lambda handle: (
        None
    )  # a kill loses nothing that is not synced, and hundreds of faults would wait for disks
    main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
