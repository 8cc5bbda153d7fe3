"""What tests and the examples of pages and docstrings share."""

import re
import signal
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from tests.pictures import framed


def heed_signals() -> None:
    """Tests send signals to processes of their own, which would ignore what whoever started the suite ignores.

    `nohup` ignores SIGHUP, a shell SIGINT of what runs in the background, some supervisors SIGTERM or SIGCHLD. What
    Python ignores by itself (SIGPIPE) stays ignored; it is reset for every child.
    """
    usual = {"SIGHUP": signal.SIG_DFL, "SIGINT": signal.default_int_handler, "SIGTERM": signal.SIG_DFL}
    for name, handler in {**usual, "SIGCHLD": signal.SIG_DFL, "SIGQUIT": signal.SIG_DFL}.items():
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, handler)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_SETMASK, ())


heed_signals()

_FRAMES = ("pandas", "openpyxl", "pyspark")
"""What some tests hand over or compare with, and undercover itself must do without (`make alone`)."""


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave out the files that import what is not installed, where that is left out on purpose."""
    if collection_path.suffix not in (".py", ".md"):
        return None
    lacking = "|".join(name for name in _FRAMES if find_spec(name) is None)
    uses = lacking and re.search(rf"(?m)^[> ]*\s*(?:import|from) (?:{lacking})\b", collection_path.read_text("utf-8"))
    return True if uses else None


@pytest.fixture(scope="module", autouse=True)
def undrawn() -> Iterator[None]:
    """Pages have frames for pictures, unless a test or a file asks for what follows."""
    with framed():
        yield
