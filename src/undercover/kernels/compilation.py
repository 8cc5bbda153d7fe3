"""Whether a kernel still has to be compiled on this machine, so that somebody can be told to wait."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any


def needs_compiling(dispatcher: Any) -> bool:
    """Whether the first call of a cached kernel will compile it (some ten seconds) rather than load it.

    What another Python compiled, or an earlier version of the file, is not loaded.
    """
    if dispatcher.signatures:
        return False
    function = dispatcher.py_func
    module = function.__module__.rpartition(".")[2]
    line, python = function.__code__.co_firstlineno, f"py{sys.version_info[0]}{sys.version_info[1]}"
    written = Path(function.__code__.co_filename).stat().st_mtime
    found = Path(dispatcher.stats.cache_path).glob(f"{module}.{function.__name__}-{line}.{python}*.nbi")
    return not any(index.stat().st_mtime >= written for index in found)
