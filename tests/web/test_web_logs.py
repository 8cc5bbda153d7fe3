"""What a server writes down of its bugs: places and kinds, no value of a table."""

from __future__ import annotations

import logging
import threading
from pathlib import Path

import pytest

from undercover.web.logs import logged

SECRET = "Ann has the flu"


def broken() -> None:
    raise ValueError(SECRET)


def test_a_bug_is_written_down_without_its_message(tmp_path: Path) -> None:
    told: list[str] = []
    with logged(tmp_path, told.append):
        try:
            broken()
        except ValueError:
            logging.getLogger("uvicorn.error").exception("Exception in ASGI application\n")
        logging.getLogger("asyncio").error("Task failed: %s", SECRET)
    text = (tmp_path / "log" / "server.log").read_text("utf-8")
    assert SECRET not in text
    assert "in broken" in text
    assert "ValueError" in text
    assert "Exception in ASGI application" in text
    assert len(told) == 2
    assert SECRET not in "".join(told)
    assert str(tmp_path / "log" / "server.log") in told[0]


def test_a_bug_of_a_thread(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = threading.excepthook
    with logged(tmp_path, lambda said: None):
        thread = threading.Thread(target=broken)
        thread.start()
        thread.join()
    assert threading.excepthook is before
    assert "in broken" in (tmp_path / "log" / "server.log").read_text("utf-8")
    assert SECRET not in "".join(capsys.readouterr())


def test_no_bug_leaves_nothing(tmp_path: Path) -> None:
    with logged(tmp_path, lambda said: None):
        logging.getLogger("uvicorn.error").info("Started")
    assert not (tmp_path / "log" / "server.log").exists()
