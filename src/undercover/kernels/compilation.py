"""Whether a kernel still has to be compiled on this machine, so that somebody can be told to wait."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def needs_compiling(dispatcher: Any) -> bool:
    """Whether the first call of a cached kernel will compile it (some ten seconds) rather than load it."""
    if dispatcher.signatures:
        return False
    function = dispatcher.py_func
    module = function.__module__.rpartition(".")[2]
    folder = Path(dispatcher.stats.cache_path)
    return not any(folder.glob(f"{module}.{function.__name__}-*.nbi"))
