"""How kernels are compiled: without the interpreter's lock, so that threads run side by side, and once per machine.

Whether a kernel still has to be compiled on this machine, so that somebody can be told to wait.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from typing import Any, TypeVar, cast

from numba import njit, types, version_info

from undercover.compiled.kept import KernelCache, remember_source

F = TypeVar("F", bound=Callable[..., Any])

_FIRST, _LAST = (0, 61), (0, 68)  # the versions of Numba whose insides ``parts.py`` knows


def kernel(function: F) -> F:
    """Compile a function that is called from Python; the result is cached on disk."""
    made = njit(nogil=True, _nrt=True)(function)
    made._cache = KernelCache(function)
    made.compile = _without_collecting(made.compile)
    _look_at(function)
    return cast(F, _once_for_all_values(made))


def _without_collecting(compile_: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Compile without looking for garbage meanwhile: of very many objects that are made, nearly all are still needed."""

    @wraps(compile_)
    def compiled(signature: Any) -> Any:
        collects = gc.isenabled()
        gc.disable()
        try:
            return compile_(signature)
        finally:
            if collects:
                gc.enable()

    return compiled


def _look_at(function: F) -> None:
    """Remember the source as it is now; what has none, or none that can be read, is compiled in every process."""
    with suppress(OSError):
        remember_source(function)


def _once_for_all_values(made: Any) -> Any:
    """Compile for whole numbers and truth values, never for one of them.

    A counter that begins with 0 is taken for the constant at first, and for a number when its loop has been seen: Numba
    then compiles all that it was handed to a second time.
    """
    ask = made.get_call_template

    def get_call_template(given: Any, named: Any) -> Any:
        return ask([_kind(one) for one in given], {name: _kind(one) for name, one in named.items()})

    made.get_call_template = get_call_template
    return made


def _kind(given: Any) -> Any:
    return types.unliteral(given) if isinstance(given, types.IntegerLiteral | types.BooleanLiteral) else given


def internal(function: F) -> F:
    """Compile a function that only kernels call: it needs no entry point of its own."""
    return _part(function)


def borrowing(function: F) -> F:
    """The same for one that neither makes arrays nor hands any back: whoever calls it holds those that it looks at.

    Nobody has to count then who holds them. Numba counts wherever an array is taken out of a tuple, in a way that is
    safe among threads, and a kernel that looks at a few rows at a time can spend half of its time on that.
    """
    return _part(function, counts=False)


def inlined(function: F) -> F:
    """Compile a function that borrows into the kernels that call it: a small one, or a part of one long kernel.

    At any other call every array of every tuple it takes is copied, seven words each.
    """
    return _part(function, counts=False, forceinline=True)


def arithmetic(function: F) -> F:
    """Compile floating-point loops that only kernels call: sums may be reordered, a division by zero gives infinity."""
    return _part(function, fastmath={"reassoc", "contract", "nsz", "arcp"}, error_model="numpy")


def _part(function: F, *, counts: bool = True, **options: Any) -> F:
    """Compile a function that Python never calls; whether it counts who holds an array, or else borrows them all.

    It is said of every part, for a part of which nothing is said does as the one that calls it.
    """
    _look_at(function)
    options = {"_nrt": counts, "no_cpython_wrapper": True, "no_cfunc_wrapper": True, **_pipeline(), **options}
    made = njit(nogil=True, **options)(function)
    return cast(F, _once_for_all_values(made))


def _pipeline() -> dict[str, Any]:
    """How parts are compiled: once, by the versions of Numba that this was tried with; by others as Numba does."""
    if not _FIRST <= version_info.short <= _LAST:
        return {}
    from undercover.compiled.parts import PartCompiler

    return {"pipeline_class": PartCompiler}


def needs_compiling(dispatcher: Any) -> bool:
    """Whether the first call of a kernel will compile it (some ten seconds) rather than load it."""
    return not dispatcher.overloads and not dispatcher._cache.holds(dispatcher.targetctx)
