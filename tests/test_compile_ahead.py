"""Compiling ahead of the tests: every recipe is among the pieces, and what each of them compiled is written down."""

import importlib
from pathlib import Path

import pytest

import compile_ahead
from undercover import plugins


def test_every_method_is_among_the_pieces() -> None:
    pieces = compile_ahead.pieces()
    assert set(compile_ahead.LONGEST) < set(pieces)
    for method in plugins.BUILT_IN["methods"]:
        assert any(name.startswith(method.partition("-generalization")[0]) for name in pieces), method


def test_what_is_compiled_is_written_down(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from numba.core.dispatcher import Dispatcher

    (tmp_path / "tiny.py").write_text(
        "from undercover.compiled.jit import kernel\n\n\n@kernel\ndef twice(x):\n    return 2 * x\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(compile_ahead, "TOOK", [])
    monkeypatch.setattr(Dispatcher, "compile", Dispatcher.compile)
    compile_ahead.noting()
    assert importlib.import_module("tiny").twice(21) == 42
    assert [name for name, _ in compile_ahead.TOOK] == ["tiny.twice"]
