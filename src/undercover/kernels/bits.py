"""Bit counting on 64-bit words, as the processor's own instructions."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

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
