"""How kernels are compiled: without the interpreter's lock, so that threads run side by side, and once per machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Compile a function that is called from Python; the result is cached on disk."""
    return cast(F, njit(nogil=True, cache=True)(function))


def internal(function: F) -> F:
    """Compile a function that only kernels call: it needs no entry point of its own."""
    return cast(F, njit(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)(function))


def arithmetic(function: F) -> F:
    """Compile floating-point loops that only kernels call: sums may be reordered, a division by zero gives infinity."""
    options = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "error_model": "numpy"}
    return cast(F, njit(nogil=True, fastmath={"reassoc", "contract", "nsz", "arcp"}, **options)(function))
