"""What a server writes down of its bugs: where, and of what kind, in a private file; never a value of a table.

Messages of exceptions hold values, so only the places in the code and the kind are written.
"""

from __future__ import annotations

import logging
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any, Final

from undercover.web.desks.store import private_folder

_MOST_BYTES: Final = 1 << 20
_OURS: Final = "uvicorn"  # whose messages say nothing of anybody


class Places(logging.Formatter):
    """A record without what could be somebody's value.

    >>> record = logging.LogRecord("asyncio", logging.ERROR, "", 0, "Task failed: 'Ann, flu'", None, None)
    >>> Places("%(levelname)s %(name)s: %(message)s").format(record)
    'ERROR asyncio: (not written down)'
    """

    def format(self, record: logging.LogRecord) -> str:
        """As text."""
        said = record.getMessage() if record.name.startswith(_OURS) else "(not written down)"
        told = logging.LogRecord(record.name, record.levelno, "", 0, said, None, record.exc_info)
        return super().format(told)

    def formatException(self, ei: Any) -> str:  # noqa: N802
        """Where, and of what kind."""
        kind, _, place = ei
        return "".join(traceback.format_tb(place)) + (kind.__qualname__ if kind else "")


class _Warning(logging.Handler):
    def __init__(self, warn: Callable[[], None]) -> None:
        super().__init__(logging.ERROR)
        self._warn = warn

    def emit(self, record: logging.LogRecord) -> None:
        self._warn()


@contextmanager
def logged(workspace: Path, warn: Callable[[str], None]) -> Iterator[None]:
    """While this lasts, bugs go to ``log/server.log``, and the terminal says so."""
    place = private_folder(workspace / "log") / "server.log"
    written = RotatingFileHandler(place, maxBytes=_MOST_BYTES, backupCount=1, delay=True, encoding="utf-8")
    written.setFormatter(Places("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    sentence = f"Something went wrong inside undercover. Where, but no value of a table, is written in {place}."
    handlers = (written, _Warning(lambda: warn(sentence)))
    root, before = logging.getLogger(), threading.excepthook
    threading.excepthook = lambda about: root.error(
        "thread", exc_info=(about.exc_type, about.exc_value or about.exc_type(), about.exc_traceback)
    )
    for handler in handlers:
        root.addHandler(handler)
    try:
        yield
    finally:
        threading.excepthook = before
        for handler in handlers:
            root.removeHandler(handler)
            handler.close()
