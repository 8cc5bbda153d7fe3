"""Faults at every write step: what stood before stands, or the new stands whole; whoever tries again gets there.

Releases (new, and one that replaces another and is entered in a ledger), acceptances, withdrawals from a ledger,
signatures, experiments, and what a server and its jobs write. Every other step meets one kind of fault in turn, which
and which kind being drawn for every run of the tests; `make soak` has every kind at every step.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

STRIDE = 10
STEPS = {"release": 30, "replaced": 45, "accepted": 20, "withdrawn": 4, "signed": 3, "experiment": 15, "desk": 40}
"""About as many as there are."""


def driven(place: Path, stride: int, *names: str) -> dict[str, Any]:
    """What came of it, of every operation."""
    first = random.randrange(stride)
    command = [sys.executable, str(Path(__file__).with_name("driving.py")), str(place), str(stride), str(first), *names]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.long
@pytest.mark.parametrize("stride", [STRIDE, pytest.param(1, marks=pytest.mark.soak)])
def test_never_a_mixture_and_always_a_way_on(tmp_path: Path, stride: int) -> None:
    found = driven(tmp_path, stride)
    assert {name: one["wrong"] for name, one in found.items()} == {name: [] for name in STEPS}
    few = {name: one["steps"] for name, one in found.items() if one["steps"] < STEPS[name] - stride}
    assert few == {}


def test_what_does_everything_wrong_is_found_out(tmp_path: Path) -> None:
    wrong = "\n".join(driven(tmp_path, 1, "planted")["planted"]["wrong"])
    for problem in ("a bug: Traceback", "a mixture", "for everybody to read: one", "left over: .left.tmp"):
        assert problem in wrong
    assert "kill at step 4" in wrong
