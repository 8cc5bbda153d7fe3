"""Compiling ahead of the tests: every recipe is among the pieces, and nobody compiles what another is compiling."""

import importlib
import multiprocessing
import time
from pathlib import Path

import pytest

import compile_ahead
from undercover import plugins


def inside(folder: str, name: str) -> None:
    """Stay alone for a moment, and write down when that began and ended."""
    compile_ahead.LOCKS = folder
    with compile_ahead.alone("kernel"):
        begun = time.monotonic_ns()
        time.sleep(0.05)
        Path(folder, name).write_text(f"{begun} {time.monotonic_ns()}")


def test_every_method_is_among_the_pieces() -> None:
    pieces = compile_ahead.pieces()
    assert set(compile_ahead.LONGEST) < set(pieces)
    for method in plugins.BUILT_IN["methods"]:
        assert any(name.startswith(method.partition("-generalization")[0]) for name in pieces), method


def test_two_processes_are_never_at_the_same_kernel(tmp_path: Path) -> None:
    started = [multiprocessing.get_context("spawn").Process(target=inside, args=(str(tmp_path), name)) for name in "ab"]
    for process in started:
        process.start()
    for process in started:
        process.join(60)
    first, second = sorted(tuple(map(int, (tmp_path / name).read_text().split())) for name in "ab")
    assert first[1] <= second[0]


def test_a_kernel_is_compiled_and_written_down_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from numba.core.caching import Cache
    from numba.core.dispatcher import Dispatcher

    (tmp_path / "locks").mkdir()
    (tmp_path / "tiny.py").write_text(
        "from undercover.compiled.jit import kernel\n\n\n@kernel\ndef twice(x):\n    return 2 * x\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(compile_ahead, "LOCKS", str(tmp_path / "locks"))
    monkeypatch.setattr(compile_ahead, "TOOK", [])
    monkeypatch.setattr(Dispatcher, "compile", Dispatcher.compile)
    monkeypatch.setattr(Cache, "save_overload", Cache.save_overload)
    compile_ahead.one_at_a_time()
    assert importlib.import_module("tiny").twice(21) == 42
    assert [name for name, _ in compile_ahead.TOOK] == ["tiny.twice"]
    locks = sorted(path.name.split("-")[-2:] for path in (tmp_path / "locks").iterdir())
    assert [name[0] for name in locks if "tiny.twice" in name[0]] == ["tiny.twice"]
    assert any(name[-1] == "saving" for name in locks)
