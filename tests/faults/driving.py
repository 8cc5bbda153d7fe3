"""Every operation with faults at its steps, in a process of its own: ``python driving.py HOME STRIDE FIRST NAME…``.

Prints one JSON object: for every operation how many steps it has, and what went wrong, which is nothing. With a stride
of 1 every kind of fault comes at every step; with n each kind comes at every n-th step, from another one on.
"""

from __future__ import annotations

import gc
import json
import os
import shutil
import sys
from pathlib import Path

from meeting import KINDS, Met, listen, meet, too_long
from operations import PLANTED, Made, Operation, left_over, seen_by_others

LONGEST = 2_000  # steps of one operation


def faults(operation: Operation, home: Path, stride: int, first: int) -> tuple[int, list[str]]:
    """How many steps there are, and what went wrong."""
    steps, wrong = 0, []
    for number, kind in enumerate(KINDS):
        for at in range(1 + (first + number) % stride, LONGEST, stride):
            _begin(operation, home)
            met = meet(lambda: operation.act(home), home, kind, at)
            if not met.met:
                break
            steps = max(steps, at)
            wrong += [f"{kind} at step {at}: {problem}" for problem in looked_at(operation, home, met)]
    return steps, wrong


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


def main(place: Path, stride: int, first: int, names: list[str]) -> None:
    """All operations, or those that are named."""
    operations = {"planted": PLANTED} if names == ["planted"] else Made(place).operations()
    listen()
    gc.collect()
    gc.freeze()  # what a child does not touch need not be copied
    found = {}
    for name in names or operations:
        steps, wrong = faults(operations[name], place / "home", stride, first)
        found[name] = {"steps": steps, "wrong": wrong + limits(operations[name], place / "home")}
    print(json.dumps(found))


if __name__ == "__main__":
    os.umask(0o022)
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:])
