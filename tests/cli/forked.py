"""The command in a process that is forked where everything is loaded, which takes most of the time of a new one.

It is the command as it is, but that it announces one of its steps, dawdles until a signal comes, and draws no pictures.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import altair  # noqa: F401
import pandas  # noqa: F401
import scipy.linalg  # noqa: F401

import undercover.cli.publish  # noqa: F401
from undercover.cli import run
from undercover.compiled import jit  # noqa: F401
from undercover.io.release import tables
from undercover.methods.mondrian import method  # noqa: F401
from undercover.pages import jinja
from undercover.verbs import publish, store  # noqa: F401

FORKED = multiprocessing.get_context("forkserver")
FORKED.set_forkserver_preload([__name__])


def started(step: str, arguments: list[str], told: Path, said: Path) -> Any:
    """The process, whose stdout is the named pipe ``told`` and whose stderr the file ``said``."""
    process = FORKED.Process(target=_command, args=(step, arguments, told, said))
    with mock.patch.dict(os.environ, PYTHONPATH=str(Path(__file__).parent)):  # where it finds what it loads
        process.start()
    return process


def _command(step: str, arguments: list[str], told: Path, said: Path) -> None:
    os.dup2(os.open(told, os.O_WRONLY), 1)
    os.dup2(os.open(said, os.O_WRONLY | os.O_CREAT, 0o600), 2)
    sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w")
    sys.argv = ["undercover", *arguments]
    jinja.drawings = lambda picture, name="": "<svg></svg>"  # type: ignore[assignment]
    if step == "writing":
        tables.write_csv = _dawdling(tables.write_csv)
    else:
        publish.verify_release = _dawdling(publish.verify_release)
    run()


def _dawdling(function: Callable[..., Any]) -> Callable[..., Any]:
    def wrapped(*arguments: Any, **options: Any) -> Any:
        result = function(*arguments, **options)
        print("ready", flush=True)
        time.sleep(60)
        return result

    return wrapped
