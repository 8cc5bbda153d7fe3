"""How kernels are compiled: without the interpreter's lock, so that threads run side by side, and once per machine.

Whether a kernel still has to be compiled on this machine, so that somebody can be told to wait.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

from numba import njit, types

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Compile a function that is called from Python; the result is cached on disk."""
    made = njit(nogil=True, cache=True)(function)
    _without_what_moved(made._cache._cache_file)
    return cast(F, _once_for_all_values(made))


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


def _without_what_moved(file: Any) -> None:
    """Let a cache on disk that names a class which has moved since be no cache, rather than an error.

    Numba looks whether the source has changed only after it has read the types a kernel was compiled for, and a type
    that an earlier version of this program had elsewhere cannot be read.
    """
    load = file._load_index

    def load_index() -> Any:
        try:
            return load()
        except (ImportError, AttributeError):
            return {}

    file._load_index = load_index


def internal(function: F) -> F:
    """Compile a function that only kernels call: it needs no entry point of its own."""
    return _part(function)


def inlined(function: F) -> F:
    """Compile a function into the kernels that call it: a small one, or a part of one long kernel.

    At any other call every array of every tuple it takes is copied, seven words each.
    """
    return _part(function, forceinline=True)


def arithmetic(function: F) -> F:
    """Compile floating-point loops that only kernels call: sums may be reordered, a division by zero gives infinity."""
    return _part(function, fastmath={"reassoc", "contract", "nsz", "arcp"}, error_model="numpy")


def _part(function: F, **options: Any) -> F:
    """Compile a function that Python never calls."""
    made = njit(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, **options)(function)
    return cast(F, _once_for_all_values(made))


def needs_compiling(dispatcher: Any) -> bool:
    """Whether the first call of a cached kernel will compile it (some ten seconds) rather than load it.

    What another Python compiled, or an earlier version of the file, is not loaded.
    """
    if dispatcher.overloads:
        return False
    function = dispatcher.py_func
    module = function.__module__.rpartition(".")[2]
    line, python = function.__code__.co_firstlineno, f"py{sys.version_info[0]}{sys.version_info[1]}"
    written = Path(function.__code__.co_filename).stat().st_mtime
    found = Path(dispatcher.stats.cache_path).glob(f"{module}.{function.__name__}-{line}.{python}*.nbi")
    return not any(index.stat().st_mtime >= written for index in found)
