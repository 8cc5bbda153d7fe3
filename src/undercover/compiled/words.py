"""Bit counting on 64-bit words, as the processor's own instructions.

Sorting a few values and looking one up in a sorted run, inside kernels.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from undercover.compiled.jit import borrowing, internal

_DEFINED_FOR_ZERO = ir.Constant(ir.IntType(1), 0)


@intrinsic
def lowest_bit(typing_context: Any, word: Any) -> Any:
    """Index of the lowest bit set; 64 for no bit."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], _DEFINED_FOR_ZERO)

    return types.int64(types.uint64), generate


@intrinsic
def leading_zeros(typing_context: Any, word: Any) -> Any:
    """Number of unset bits above the highest one set; 64 for no bit."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctlz(arguments[0], _DEFINED_FOR_ZERO)

    return types.int64(types.uint64), generate


@intrinsic
def count_bits(typing_context: Any, word: Any) -> Any:
    """Number of bits set."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), generate


@internal
def place_of(values: Any, start: int, end: int, wanted: Any) -> Any:
    """Where ``wanted`` stands in the ascending run ``values[start:end]``, or -1."""
    low, high = start, end
    while low < high:
        middle = (low + high) // 2
        if values[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low if low < end and values[low] == wanted else np.int64(-1)


@borrowing
def sort_few(values: Any, first: int, last: int) -> None:
    """Bring a few numbers into order where they lie: sorting at large takes longer to begin."""
    for i in range(first + 1, last):
        value, p = values[i], i
        while p > first and values[p - 1] > value:
            values[p] = values[p - 1]
            p -= 1
        values[p] = value
