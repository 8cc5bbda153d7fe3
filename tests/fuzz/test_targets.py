"""Files changed at random, thousands of them: whoever reads one refuses it in words, in time and in little memory."""

from __future__ import annotations

import resource
import time
from collections.abc import Iterator
from random import Random

import pytest
from hypothesis import HealthCheck, Phase, given
from hypothesis import strategies as st
from targets import TARGETS, Target, seeds_of, typed, work

from effort import examples

CHANCE = st.randoms(use_true_random=False)
USUAL = {"phases": [Phase.generate, Phase.shrink], "suppress_health_check": list(HealthCheck), "database": None}
QUICK = [name for name, target in TARGETS.items() if target.quick]
WHOLE = [name for name, target in TARGETS.items() if not target.quick]
LONGEST = 20.0
"""Seconds that anybody may take over a small file."""
LARGEST = 2 << 20
"""Kilobytes, too."""


@pytest.fixture(autouse=True)
def in_little_memory() -> Iterator[None]:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    yield
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < LARGEST


def tried(target: Target, chance: Random) -> None:
    """A good file, changed up to three times over, is read or refused."""
    data = chance.choice(seeds_of(target))
    for _ in range(chance.choice((1, 1, 2, 3))):
        data = target.way(chance, data)
    started = time.perf_counter()
    typed(target, work(), data)
    assert time.perf_counter() - started < LONGEST


@pytest.mark.parametrize("name", TARGETS)
def test_a_good_file_is_read(name: str) -> None:
    for seed in seeds_of(TARGETS[name]):
        assert typed(TARGETS[name], work(), seed) is None


@pytest.mark.parametrize("name", QUICK)
@examples(100, **USUAL)
@given(chance=CHANCE)
def test_a_changed_file_is_read_or_refused(name: str, chance: Random) -> None:
    tried(TARGETS[name], chance)


@pytest.mark.parametrize("name", WHOLE)
@examples(12, **USUAL)
@given(chance=CHANCE)
def test_what_is_made_of_a_changed_file_is_whole_or_refused(name: str, chance: Random) -> None:
    tried(TARGETS[name], chance)


def test_a_planted_fault_is_found() -> None:
    def careless(folder: object, data: bytes) -> None:
        if b"\x00" in data:
            raise KeyError("planted")

    target = Target(lambda: [b"a,b\n1,2\n"], TARGETS["csv"].way, careless)
    with pytest.raises(KeyError, match="planted"):
        _all_tried(target)


def _all_tried(target: Target) -> None:
    for seed in range(2000):
        tried(target, Random(seed))
