"""By how much the process grows at its peak while something runs (Linux; elsewhere nothing is measured)."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pyarrow as pa

T = TypeVar("T")

_CLEAR = Path("/proc/self/clear_refs")
_STATUS = Path("/proc/self/status")
_RESET_PEAK = "5"


def peak_growth(call: Callable[[], T]) -> tuple[T, int | None]:
    """The result of a call, and the bytes by which the process grew at its peak during it.

    What the allocator keeps of earlier calls is given back first, lest it be used again unseen. The figure is ``None``
    where the system does not tell.
    """
    gc.collect()
    pa.default_memory_pool().release_unused()
    try:
        ctypes.CDLL(None).malloc_trim(0)
        _CLEAR.write_text(_RESET_PEAK)
        before = _status("VmRSS")
    except (OSError, AttributeError, TypeError):  # no such file, no such function, no C library
        return call(), None
    result = call()
    return result, max(0, _status("VmHWM") - before)


def _status(field: str) -> int:
    for line in _STATUS.read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise OSError(f"`{_STATUS}` has no {field}.")
