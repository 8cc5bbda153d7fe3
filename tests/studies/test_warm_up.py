"""Compiling ahead: everything the tour needs, in a process that ends with it."""

import subprocess
import sys
from typing import Any

import pytest

from undercover.kernels import compilation
from undercover.studies import warm_up
from undercover.studies.demo import TOUR


def test_every_release_of_the_tour_is_compiled() -> None:
    assert warm_up.compile_tour() == len(TOUR)


def test_the_other_process_ends_with_the_tour(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Any] = []

    def waiting(command: list[str], **given: Any) -> Any:
        assert command[1:] == ["-m", "undercover.studies.warm_up"]
        started.append(real([sys.executable, "-c", "import time; time.sleep(600)"], **given))
        return started[0]

    real = subprocess.Popen
    monkeypatch.setattr(compilation, "needs_compiling", lambda kernel: True)
    monkeypatch.setattr(subprocess, "Popen", waiting)
    with warm_up.compiling_ahead():
        assert started[0].poll() is None
    assert started[0].poll() is not None


def test_nothing_is_started_where_all_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compilation, "needs_compiling", lambda kernel: False)
    monkeypatch.setattr(subprocess, "Popen", lambda *given, **more: pytest.fail("started"))
    with warm_up.compiling_ahead():
        pass
