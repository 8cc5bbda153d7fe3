"""Compiling ahead: what the tour needs last, in a process that ends with it."""

import subprocess
import sys
from typing import Any

import pytest

from undercover.compiled import jit as compilation
from undercover.errors import InternalError
from undercover.studies import warm_up
from undercover.studies.tour import compiled_ahead, stops

HONEST = "print('a', flush=True); print('b', flush=True); import time; time.sleep(600)"
BROKEN = "print('a', flush=True)"


@pytest.fixture
def other(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run a program of the test's own instead of the compiling one, and keep hold of it."""
    started: list[Any] = []
    real = subprocess.Popen

    def prepare(program: str) -> list[Any]:
        def start(command: list[str], **given: Any) -> Any:
            assert command[1:3] == ["-m", "undercover.studies.warm_up"]
            started.append(real([sys.executable, "-c", program], **given))
            return started[0]

        monkeypatch.setattr(compilation, "needs_compiling", lambda kernel: True)
        monkeypatch.setattr(subprocess, "Popen", start)
        return started

    return prepare


def test_every_release_it_is_asked_for_is_compiled() -> None:
    ahead = compiled_ahead()
    assert ahead
    assert set(ahead) < {stop.folder for _, stop in stops()}
    some = (ahead[0], ahead[-1])
    assert tuple(warm_up.compile_for(some)) == some


def test_it_is_waited_for_and_ends_with_the_tour(other: Any) -> None:
    started = other(HONEST)
    with warm_up.compiling_ahead(["a", "b"]) as compiled:
        compiled("somebody else's")
        compiled("b")
        compiled("a")
        assert started[0].poll() is None
    assert started[0].poll() is not None


def test_nobody_waits_for_one_that_failed(other: Any) -> None:
    other(BROKEN)
    with warm_up.compiling_ahead(["a", "b"]) as compiled:
        compiled("b")
        compiled("a")


def test_nothing_is_started_where_all_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compilation, "needs_compiling", lambda kernel: False)
    monkeypatch.setattr(subprocess, "Popen", lambda *given, **more: pytest.fail("started"))
    with warm_up.compiling_ahead(compiled_ahead()) as compiled:
        compiled(compiled_ahead()[0])


def test_attacks_are_compiled_beside_a_large_kernel_only(other: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    started = other(HONEST)
    monkeypatch.setattr(warm_up, "cores", lambda: 2)
    with warm_up.compiling_beside("anatomy"):
        assert started == []
    with warm_up.compiling_beside("mondrian"):
        assert started[0].poll() is None
    assert started[0].poll() is not None
    started.clear()
    monkeypatch.setattr(warm_up, "cores", lambda: 1)
    with warm_up.compiling_beside("mondrian"):
        assert started == []


@pytest.mark.parametrize("some", [1, 2, 5])
def test_everything_is_compiled_once_by_so_many(some: int, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []
    real = subprocess.Popen

    def start(command: list[str], **given: Any) -> Any:
        asked.append(command[3:])
        return real([sys.executable, "-c", "import sys; print(*sys.argv[1:], sep='\\n')", *command[3:]], **given)

    monkeypatch.setattr(subprocess, "Popen", start)
    monkeypatch.setattr(warm_up, "cores", lambda: some)
    told: list[float] = []
    warm_up.warm_up(lambda stage, share: told.append(share))
    assert len(asked) == some
    assert sorted(folder for share in asked for folder in share) == sorted(stop.folder for _, stop in stops())
    assert told[-1] == 1.0


def test_what_cannot_be_compiled_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    real = subprocess.Popen
    program = [sys.executable, "-c", "raise SystemExit('no compiler')"]
    monkeypatch.setattr(subprocess, "Popen", lambda command, **given: real(program, **given))
    with pytest.raises(InternalError, match="could not be compiled: no compiler"):
        warm_up.warm_up()
