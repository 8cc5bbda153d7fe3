"""Parts of kernels: compiled into them and nowhere else, and right there."""

from __future__ import annotations

import gc
import sys
from typing import Any

import numpy as np
import pytest
from numba import types
from numba.core.errors import NumbaError
from numba.core.runtime import _nrt_python as counted
from numba.core.runtime import rtsys

from undercover.compiled import jit
from undercover.compiled.jit import arithmetic, borrowing, inlined, internal, kernel
from undercover.errors import InternalError


@internal
def _longer(values: Any, by: int) -> Any:
    found = np.zeros(len(values) + by, values.dtype)
    found[: len(values)] = values
    return found


@inlined
def _last(values: Any) -> Any:
    if len(values) == 0:
        raise ValueError("nothing is last")
    return values[len(values) - 1]


@arithmetic
def _halved(total: float, n: int) -> float:
    return total / n


@internal
def _grown(values: Any, times: int) -> Any:
    for _ in range(times):
        values = _longer(values, 1)
        values[len(values) - 1] = 2 * values[len(values) - 2]
    return values


@kernel
def powers(first: Any, times: int) -> Any:
    values = _grown(first, times)
    return values, _last(values), _halved(float(_last(values)), 2)


def plain(first: list[int], times: int) -> list[int]:
    return [*first, *(first[-1] * 2 ** (step + 1) for step in range(times))]


@pytest.mark.parametrize("kind", [np.int64, np.float64])
def test_a_kernel_of_parts_of_parts_is_right(kind: type) -> None:
    for times in range(20):
        values, last, half = powers(np.array([1, 3], kind), times)
        assert values.tolist() == plain([1, 3], times)
        assert last == 2 * half == plain([1, 3], times)[-1]


def test_what_a_part_raises_is_raised() -> None:
    with pytest.raises(ValueError, match="nothing is last"):
        powers(np.empty(0, np.int64), 0)


def test_arrays_that_parts_make_are_given_back() -> None:
    powers(np.ones(1), 3)
    counted.memsys_enable_stats()
    try:
        before = rtsys.get_allocation_stats()
        for _ in range(100):
            powers(np.ones(1), 50)
        after = rtsys.get_allocation_stats()
    finally:
        counted.memsys_disable_stats()
    assert after.alloc - before.alloc == after.free - before.free >= 5_000


@borrowing
def _total(values: Any) -> float:
    found = 0.0
    for value in values[1:]:
        found += value
    return found


@inlined
def _first_and_total(values: Any) -> Any:
    return values[0], _total(values)


@kernel
def added_up(pair: Any, times: int) -> float:
    longer = _grown(pair[0], times)
    first, rest = _first_and_total((longer, pair[1])[0])
    return float(first + rest + _total(pair[1]))


def test_parts_that_borrow_arrays_leave_them_to_whoever_holds_them() -> None:
    one, other = np.ones(1), np.arange(5.0)
    before = sys.getrefcount(one), sys.getrefcount(other)
    for _ in range(100):
        assert added_up((one, other), 3) == 1 + 2 + 4 + 8 + 10
    assert (sys.getrefcount(one), sys.getrefcount(other)) == before
    assert one.tolist() == [1.0]
    assert other.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]


def _itself(values: Any) -> Any:
    return values


def _of_a_longer_one(values: Any) -> float:
    return float(_longer(values, 1)[0])


def _of_zeros(values: Any) -> float:
    return float(np.zeros(3)[0] + values[0])


@pytest.mark.parametrize("part", [_itself, _of_a_longer_one, _of_zeros])
@pytest.mark.parametrize("decorator", [borrowing, inlined])
def test_a_part_that_borrows_neither_makes_arrays_nor_hands_them_back(decorator: Any, part: Any) -> None:
    with pytest.raises((InternalError, NumbaError)):
        decorator(part).compile((types.float64[::1],))
    internal(part).compile((types.float64[::1],))


def test_a_part_has_no_machine_code_of_its_own() -> None:
    for compiled, expected in ((internal(_thrice), False), (kernel(_thrice), True)):
        compiled.compile((types.int64,))
        (found,) = compiled.overloads.values()
        engine = found.library.codegen._engine
        assert engine.is_symbol_defined(found.fndesc.mangled_name) is expected


def test_a_version_that_nobody_tried_compiles_parts_in_its_own_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jit, "_LAST", (0, 60))
    compiled = internal(_thrice)
    compiled.compile((types.int64,))
    (found,) = compiled.overloads.values()
    assert found.library.codegen._engine.is_symbol_defined(found.fndesc.mangled_name)


def _thrice(x: int) -> int:
    return 3 * x


def test_garbage_is_looked_for_again_after_compiling() -> None:
    assert gc.isenabled()

    @kernel
    def one_more(x: int) -> int:
        return x + 1

    assert one_more(1) == 2
    assert gc.isenabled()
    gc.disable()
    try:
        assert one_more(1.0) == 2.0
        assert not gc.isenabled()
    finally:
        gc.enable()
