"""Clocks that are put forward, put back or elsewhere: no order, no name and no leftover rests on them.

Sessions are in `tests/web/test_web_access.py`.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

import undercover as uc
from undercover.io.ledger.book import Ledger
from undercover.io.release import folder
from undercover.web.desks.desk import Desk
from undercover.web.jobs import queue as queues
from undercover.web.jobs.queue import Queue

YEAR = 365 * 86400


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine on the other side of the world."""
    monkeypatch.setenv("TZ", "Pacific/Auckland")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def test_jobs_are_begun_in_the_order_in_which_they_came(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = time.time()
    monkeypatch.setattr(queues.time, "time", lambda: now)
    desk, queue = Desk(tmp_path, "own"), Queue(tmp_path, 0)
    projects = [desk.add(f"{number}.csv", {"kind": "example"}) for number in range(4)]
    came = []
    for project, years in zip(projects, (0, 30, -20, -1), strict=True):
        now = 1.8e9 + years * YEAR
        came.append(queue.add(project, "profile", {}).id)
    assert [folder.name for folder in queue._in_turn()] == came
    now = 1.8e9
    later = Queue(tmp_path, 0)
    later.start()
    came.append(later.add(projects[0], "profile", {}).id)
    assert [folder.name for folder in later._in_turn()] == came
    assert [job.id for job in later.jobs(projects[0])] == [came[-1], came[0]], "the newest first"
    later.stop()


def test_files_of_the_future_and_of_the_past_are_cleared_away(run: uc.Run, tmp_path: Path) -> None:
    for number, when in enumerate((0, 9e9)):
        left = tmp_path / f".out.tmp-{os.getpid()}-{number}a"
        left.mkdir()
        os.utime(left, (when, when))
    out = folder.save(run, tmp_path / "out")
    for path in (out, *out.rglob("*")):
        os.utime(path, (9e9, 9e9))
    folder.save(run, out, force=True)
    assert folder.load_both(out)[1].problems == []
    assert os.listdir(tmp_path) == ["out"]


@pytest.mark.usefixtures("elsewhere")
def test_times_are_utc_wherever_the_machine_stands(run: uc.Run, tmp_path: Path) -> None:
    again = uc.publish(run.source["path"], run.schema, uc.Mondrian(k=3))
    ledger = Ledger(tmp_path / "ledger")
    facts = {"method": "m", "parameters": {}, "guarantees": [], "sensitive": [], "domain": None, "people": 0}
    entry = ledger.enter({**facts, "likelihood_ratio": None, "exact": True, "state": "published"}, {})
    for said in (again.made, entry.made):
        assert said.endswith("+00:00")
        assert abs((datetime.fromisoformat(said) - datetime.now(UTC)).total_seconds()) < 60
