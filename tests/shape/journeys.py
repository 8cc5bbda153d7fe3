"""Two journeys through the house, traced: what `publish` and `attack` call on their way.

Each is a command as a user types it, run once so that everything is loaded and compiled, and then again under a tracer
in every thread. Only functions of the package count; bodies of classes and modules do not.
"""

from __future__ import annotations

import contextlib
import io
import json
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

ROWS = 3000
ROLES = ("--qi", "age,sex,education", "--sensitive", "income")
MUTUAL_COVER = ("--method", "mutual-cover", "--set", "l=5", "--set", "delta=1/2", "--allow-unsafe", "--seed", "1")
VERIFYING, WRITTEN, READ = "guarantees/verify.py", "forms/written.py", "io/source.py"
QUESTIONS = tuple(f"is_{form}" for form in ("generalized", "buckets", "drawn", "perturbed"))
_FUNCTION = 0x1  # of a code object: its variables are local, as in a function and not in the body of a class


class Tracer:
    """Counts calls of functions of a package, and who called them from another file."""

    def __init__(self, root: Path) -> None:
        self.root = f"{root}/"
        self.calls: Counter[tuple[str, str]] = Counter()
        self.entries: Counter[tuple[str, str]] = Counter()  # those from another file
        self.across: Counter[tuple[tuple[str, str], tuple[str, str]]] = Counter()
        self.inside: set[str] = set()  # files that `anonymize` calls
        self._names: dict[CodeType, tuple[str, str] | None] = {}

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        if event != "call" or (callee := self._name(frame.f_code)) is None:
            return
        self.calls[callee] += 1
        caller, anonymizing = None, False
        above = frame.f_back
        while above is not None:
            name = self._name(above.f_code)
            caller = caller or name
            if name is not None and name[1].endswith(".anonymize"):
                anonymizing = True
                break
            above = above.f_back
        if caller is not None and caller[0] != callee[0]:
            self.entries[callee] += 1
            self.across[caller, callee] += 1
        if anonymizing:
            self.inside.add(callee[0])

    def _name(self, code: CodeType) -> tuple[str, str] | None:
        if code not in self._names:
            ours = code.co_filename.startswith(self.root) and code.co_flags & _FUNCTION and code.co_name[0] != "<"
            file = code.co_filename.removeprefix(self.root)
            self._names[code] = (file, code.co_qualname) if ours else None
        return self._names[code]

    def count(self, file: str, *names: str) -> int:
        """How often some functions of a file were called."""
        return sum(self.calls[file, name] for name in names)

    def callers(self, file: str, name: str) -> dict[str, int]:
        """Who called a function from another file, and how often."""
        asked = {caller: n for (caller, callee), n in self.across.items() if callee == (file, name)}
        return {f"{where}: {who}": n for (where, who), n in sorted(asked.items())}


@contextlib.contextmanager
def traced(root: Path) -> Iterator[Tracer]:
    """Trace whatever is called here, in this thread and in those started here."""
    tracer = Tracer(root)
    threading.setprofile(tracer)
    sys.setprofile(tracer)
    try:
        yield tracer
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


def command(*words: str) -> None:
    """Run a command of `undercover` in this process, silently."""
    from undercover.cli.main import main

    before = sys.argv
    sys.argv = ["undercover", *words]
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            main()
    except SystemExit as ended:
        if ended.code:
            raise RuntimeError(f"`undercover {' '.join(words)}` ended with {ended.code}.") from ended
    finally:
        sys.argv = before


def people(folder: Path) -> Path:
    """A file of people to publish."""
    import pyarrow.csv

    from undercover.datasets import census

    path = folder / "people.csv"
    pyarrow.csv.write_csv(census(ROWS, seed=1).select(["age", "sex", "education", "income"]), path)
    return path


def publishing(folder: Path) -> dict[str, Any]:
    """Journey 1: a table of 3,000 people and four columns is published by mutual cover."""
    words = ("publish", str(people(folder)), *ROLES, *MUTUAL_COVER)
    command(*words, "--out", str(folder / "first"))
    with traced(_root()) as tracer:
        command(*words, "--out", str(folder / "second"))
    return {
        "verifications": sum(
            number
            for (file, name), number in tracer.entries.items()
            if file == VERIFYING and name.startswith("verify") and name != "verify_private"
        ),
        "columns": tracer.count(WRITTEN, "written"),
        "questions": sum(number for (_, name), number in tracer.calls.items() if name in QUESTIONS),
        "journey_files": len({file for file, _ in tracer.calls}),
        "journey_functions": len(tracer.calls),
        "journey_calls": len(tracer.across),
        "inside_files": len(tracer.inside),
        "who": {
            "verifies": tracer.callers(VERIFYING, "verify"),
            "turns cells into codes": tracer.callers(WRITTEN, "written"),
        },
    }


def attacking(folder: Path) -> dict[str, Any]:
    """Journey 2: a perturbed release of the same people is attacked from its folder."""
    import undercover as uc
    from undercover.forms.boxes import Boxes

    schema = uc.datasets.census_schema(["age", "sex", "education"])
    run = uc.publish(people(folder), schema, uc.PerturbedGeneralization(k=6, p=0.3), seed=1)
    out = uc.save(run, folder / "release")
    command("attack", str(out))
    with traced(_root()) as tracer, counted(Boxes) as boxes:
        command("attack", str(out))
    return {"originals": tracer.count(READ, "read"), "boxes": len(boxes)}


@contextlib.contextmanager
def counted(cls: Any) -> Iterator[list[Any]]:
    """Keep every instance of a class that is made here."""
    made: list[Any] = []
    make = cls.__init__

    def remember(self: Any, *given: Any, **named: Any) -> None:
        made.append(self)
        make(self, *given, **named)

    cls.__init__ = remember
    try:
        yield made
    finally:
        cls.__init__ = make


def loading(folder: Path) -> dict[str, Any]:
    """What attacking that release loads, in an interpreter that has done nothing else."""
    command("attack", str(folder / "release"))
    return {"modules": sum(name.split(".")[0] == "undercover" for name in sys.modules)}


def _root() -> Path:
    import undercover

    return Path(undercover.__file__).parent


JOURNEYS = {"publish": publishing, "attack": attacking, "load": loading}


def travelled() -> dict[str, Any]:
    """What all journeys found, each in an interpreter of its own."""
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in JOURNEYS:
            words = [sys.executable, __file__, name, folder]
            done = subprocess.run(words, capture_output=True, text=True, timeout=900)
            if done.returncode:
                raise RuntimeError(f"The journey `{name}` failed: {done.stderr}")
            found |= json.loads(done.stdout)
    return found


if __name__ == "__main__":
    sys.stdout.write(json.dumps(JOURNEYS[sys.argv[1]](Path(sys.argv[2]))))
