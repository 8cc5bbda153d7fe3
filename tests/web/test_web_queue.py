"""The queue: turns, limits, cancelling, and what is left when a worker or the server dies."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from small_kinds import SECRET

from undercover.errors import OutputError
from undercover.web.desks.clearing import clear
from undercover.web.desks.desk import Desk, Missing
from undercover.web.desks.progress import releases
from undercover.web.desks.project import Project
from undercover.web.jobs import queue as queue_module
from undercover.web.jobs.job import Job, set_state
from undercover.web.jobs.queue import Full, Queue
from undercover.web.jobs.sole import Sole

KINDS = "small_kinds:KINDS"
Begin = Callable[..., Queue]


@pytest.fixture
def begin(tmp_path: Path) -> Iterator[Begin]:
    """Starts a server's queue as often as asked, the last one stopped first."""
    begun: list[Queue] = []

    def start(workers: int = 1, *, warm: bool = False) -> Queue:
        for queue in begun:
            queue.stop()
        queue = Queue(tmp_path, workers, kinds=KINDS)
        queue.warm = warm
        begun[:] = [queue]
        queue.hold()
        clear(tmp_path)
        queue.start()
        return queue

    yield start
    for queue in begun:
        queue.stop()


def table(workspace: Path, desk: str = "own") -> Project:
    return Desk(workspace, desk).add("people.csv", {"kind": "example"})


def until(queue: Queue, project: Project, job: Job, *states: str, seconds: float = 20) -> Job:
    """A job once it is in one of these states, or over."""
    end = time.monotonic() + seconds
    while not (found := queue.job(project, job.id)).over and (found.state not in states or found.moment is None):
        assert time.monotonic() < end, found
        time.sleep(0.02)
    return found


def test_jobs_of_desks_take_turns_and_those_of_a_table_never_run_together(tmp_path: Path, begin: Begin) -> None:
    queue = Queue(tmp_path, 1, kinds=KINDS)
    own, other, same = table(tmp_path), table(tmp_path, "other"), table(tmp_path)
    for project, name in ((own, "own1"), (own, "own2"), (same, "own3"), (other, "other1"), (other, "other2")):
        last = queue.add(project, "nap", {"name": name})
        time.sleep(0.002)  # which came first is told by milliseconds
    assert [job.before for job in queue.jobs(own)] == [2, 0]
    assert last.before == 3
    queue = begin(1, warm=True)
    for job in queue.jobs(other) + queue.jobs(own) + queue.jobs(same):
        project = next(one for one in (own, other, same) if (one.folder / "jobs" / job.id).is_dir())
        assert until(queue, project, job).state == "done"
    assert (tmp_path / "naps").read_text().split() == ["own1", "other1", "own2", "other2", "own3"]

    queue = begin(2)
    first, second = (queue.add(own, "nap", {"seconds": 0.3}) for _ in range(2))
    until(queue, own, first, "running")
    assert queue.job(own, second.id).state == "waiting"
    done = until(queue, own, second)
    assert queue.job(own, first.id).ended <= done.started  # type: ignore[operator]


def test_what_is_known_of_a_job(tmp_path: Path, begin: Begin) -> None:
    queue, project = begin(), table(tmp_path)
    stranger = table(tmp_path, "other")
    job = queue.add(project, "nap", {"seconds": 0.6})
    seen = until(queue, project, job, "running")
    assert seen.moment is not None
    assert seen.moment["stage"] == "napping"
    before = queue.stamp(project, job.id)
    done = until(queue, project, job)
    assert (done.state, done.result) == ("done", {"slept": 0.6})
    assert queue.stamp(project, job.id) != before
    assert queue.cancel(project, job.id).state == "done"
    for key in (job.id, "../x", ".x", "nothing"):
        with pytest.raises(Missing, match="no such job"):
            queue.job(stranger, key)


def test_too_many_waiting_jobs_of_a_desk_are_refused_and_old_ones_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue, project = Queue(tmp_path, 1, kinds=KINDS), table(tmp_path)
    monkeypatch.setattr(queue_module, "MOST_WAITING", 3)
    jobs = [queue.add(project, "nap", {}) for _ in range(3)]
    with pytest.raises(Full, match="jobs of yours are waiting"):
        queue.add(project, "nap", {})
    queue.add(table(tmp_path, "other"), "nap", {})
    assert queue.cancel(project, jobs[0].id).state == "cancelled"
    queue.add(project, "nap", {})

    monkeypatch.setattr(queue_module, "_MOST_KEPT", 2)
    for job in jobs[1:]:
        queue.cancel(project, job.id)
    newest = queue.add(project, "nap", {})
    kept = [job.id for job in queue.jobs(project) if job.over]
    assert kept == [jobs[2].id]
    assert newest.id in [job.id for job in queue.jobs(project)]


def test_a_job_that_listens_to_nobody_is_killed_and_leaves_nothing(
    tmp_path: Path, begin: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("undercover.web.jobs.process.Worker.end.__defaults__", (0.5,))
    queue, project = begin(), table(tmp_path)
    job = queue.add(project, "hang", {})
    until(queue, project, job, "running")
    assert (project.folder / "releases" / "1").is_dir()
    assert releases(project) == []
    started = time.monotonic()
    assert queue.cancel(project, job.id).state == "cancelled"
    assert time.monotonic() - started < 2
    assert list((project.folder / "releases").iterdir()) == []


def test_a_cancelled_job_clears_what_is_half_written_itself(tmp_path: Path, begin: Begin) -> None:
    queue, project = begin(), table(tmp_path)
    job = queue.add(project, "begin", {})
    until(queue, project, job, "running")
    started = time.monotonic()
    assert queue.cancel(project, job.id).state == "cancelled"
    assert time.monotonic() - started < 1.5
    assert list((project.folder / "releases").iterdir()) == []


def test_what_went_wrong_is_told_without_a_value_of_the_table(tmp_path: Path, begin: Begin) -> None:
    queue, project = begin(2), table(tmp_path)
    others = table(tmp_path)
    bug = queue.add(project, "fail", {"how": "bug"})
    killed = queue.add(others, "fail", {"how": "killed"})
    found = until(queue, project, bug)
    assert found.state == "failed"
    assert found.error is not None
    assert found.error["kind"] == "bug"
    assert "ValueError" in found.error["message"]
    assert SECRET not in str(found.to_dict())
    trace = tmp_path / found.error["trace"]
    assert SECRET in trace.read_text()
    assert stat.S_IMODE(trace.stat().st_mode) == 0o600
    ended = until(queue, others, killed)
    assert ended.error is not None
    assert ended.error["kind"] == "ended"
    assert "memory" in ended.error["message"]

    unreachable = queue.add(project, "fail", {"how": "unreachable"})
    told = until(queue, project, unreachable).error
    assert told == {
        "message": "l=10 cannot be reached: the largest feasible l is 3.",
        "kind": "unreachable",
        "problems": ["l=10 cannot be reached: the largest feasible l is 3."],
        "step": "protect",
    }


def test_a_stopped_server_goes_on_where_it_was(tmp_path: Path, begin: Begin) -> None:
    queue, project = begin(), table(tmp_path)
    running, waiting = queue.add(project, "begin", {}), queue.add(project, "nap", {})
    until(queue, project, running, "running")
    queue = begin()
    again = until(queue, project, running, "running")
    assert (again.state, again.restarts) == ("running", 0)
    assert releases(project) == []
    queue.cancel(project, running.id)
    assert until(queue, project, waiting).state == "done"


SERVER = """
import sys, time
from pathlib import Path
from undercover.web.jobs.queue import Queue
queue = Queue(Path(sys.argv[1]), 1, kinds="small_kinds:KINDS")
queue.start()
print("ready", flush=True)
time.sleep(60)
"""


def test_a_killed_server_takes_its_workers_along_and_the_next_one_begins_again(tmp_path: Path, begin: Begin) -> None:
    project = table(tmp_path)
    job = Queue(tmp_path, kinds=KINDS).add(project, "begin", {})
    path = os.pathsep.join([*sys.path, str(Path(__file__).parent)])
    command = [sys.executable, "-c", SERVER, str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": path}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as server:
        reading = Queue(tmp_path, kinds=KINDS)
        until(reading, project, job, "running")
        with pytest.raises(OutputError, match=f"process {server.pid}.*--workspace"):
            Sole(tmp_path).hold()
        server.send_signal(signal.SIGKILL)
    # The next server waits until the worker, which holds the lock as well, is gone.
    queue = begin()
    again = until(queue, project, job, "running")
    assert again.restarts == 1
    assert releases(project) == []
    folder = project.folder / "jobs" / job.id
    queue.cancel(project, job.id)
    queue.stop()
    set_state(folder, "running", restarts=2)
    (folder.parent / ".half").mkdir()
    (folder.parent / "0000000000000-torn").mkdir()
    queue = begin()
    given_up = queue.job(project, job.id)
    assert given_up.state == "failed"
    assert given_up.error is not None
    assert "three times" in given_up.error["message"]
    assert [place.name for place in folder.parent.iterdir()] == [job.id]
