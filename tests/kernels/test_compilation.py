"""Whether a kernel has to be compiled: never seen, seen, and seen in an earlier version of its file; and how often."""

import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType

import pytest

from undercover.compiled.jit import needs_compiling

KERNEL = """
from undercover.compiled.jit import kernel

@kernel
def doubled(x):
    return 2 * x
"""


def loaded(place: Path) -> ModuleType:
    """The module as a new process would have it."""
    spec = importlib.util.spec_from_file_location("doubling", place)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_before_and_after_the_first_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    place = tmp_path / "doubling.py"
    place.write_text(KERNEL)
    first = loaded(place)
    assert needs_compiling(first.doubled)
    assert first.doubled(2) == 4
    assert not needs_compiling(first.doubled)
    again = loaded(place)
    assert not needs_compiling(again.doubled)
    assert again.doubled(2) == 4
    assert again.doubled.stats.cache_hits


@pytest.mark.parametrize("text", [KERNEL.replace("2 * x", "x + x"), "\n" + KERNEL])
def test_a_file_that_was_written_since(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    place = tmp_path / "doubling.py"
    place.write_text(KERNEL)
    loaded(place).doubled(2)
    place.write_text(text)
    later = place.stat().st_mtime + 10
    os.utime(place, (later, later))
    changed = loaded(place)
    assert needs_compiling(changed.doubled)
    assert changed.doubled(2) == 4
    assert not changed.doubled.stats.cache_hits  # it was compiled once more


COUNTERS = """
from undercover.compiled.jit import arithmetic, borrowing, inlined, internal, kernel

@DECORATOR
def one_more(found, i, last):
    return found + i if last else found + 1

@kernel
def counted(n):
    found, last = 0, False
    for i in range(n):
        found = one_more(found, i, last)
        last = i == 2
    return one_more(0, i=found, last=True)
"""


@pytest.mark.parametrize("decorator", ["kernel", "internal", "borrowing", "inlined", "arithmetic"])
def test_a_counter_that_begins_with_a_constant_is_compiled_for_once(tmp_path: Path, decorator: str) -> None:
    place = tmp_path / "counting.py"
    place.write_text(COUNTERS.replace("DECORATOR", decorator))
    module = loaded(place)
    assert module.counted(4) == 1 + 1 + 1 + 3
    assert len(module.one_more.signatures) == 1
