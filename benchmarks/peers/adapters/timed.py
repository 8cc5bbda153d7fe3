"""What every adapter shares: settings in, one timed call, a table and its times out.

An adapter runs in the environment of one package, by its own interpreter: ``python with_NAME.py settings.json``. Here
is the standard library alone, and pandas where a package brings it. The time is that of the call: the table is in
memory before, and what is written afterwards does not count.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any


def settings() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path(sys.argv[1]).read_text())
    return found


def frame(asked: dict[str, Any], *, categories: bool = False) -> Any:
    """The table as pandas reads it; with ``categories`` text is made categorical, as some packages want it."""
    import pandas as pd

    data = pd.read_csv(asked["table"])
    for name in asked["quasi_identifiers"]:
        if categories and name not in asked["numbers"]:
            data[name] = data[name].astype("category")
    return data


def measured(package: str, asked: dict[str, Any], call: Callable[[], Any]) -> Any:
    """What the last of ``repeats`` calls gave; the times of all of them are written down."""
    calls = []
    for _ in range(asked.get("repeats", 1)):
        wall, processor = time.perf_counter(), time.process_time()
        found = call()
        calls.append({"wall": time.perf_counter() - wall, "processor": time.process_time() - processor})
    told = found if asked["task"] == "verify" else None
    Path(asked["times"]).write_text(json.dumps({"version": version(package), "calls": calls, "told": told}))
    return found
