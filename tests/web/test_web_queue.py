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
from undercover.waiting import Moment
from undercover.web.desks.clearing import clear
from undercover.web.desks.desk import Desk, Missing
from undercover.web.desks.progress import releases
from undercover.web.desks.project import Project
from undercover.web.desks.store import read_json, write_json
from undercover.web.jobs import queue as queue_module
from undercover.web.jobs.job import Job, set_state
from undercover.web.jobs.process import Workers
from undercover.web.jobs.queue import Full, Queue
from undercover.web.jobs.sole import Sole
from undercover.web.jobs.working import Written

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


class Pretended:
    """A worker that is no process: its job takes a moment."""

    def __init__(self, folder: Path, begun: list[str], ended: Callable[[], object] = lambda: None) -> None:
        self._folder, self._ended, self.process = folder, ended, self
        begun.append(read_json(folder / "request.json")["name"])

    def wait(self) -> int:
        time.sleep(0.03)
        write_json(self._folder / "result.json", {})
        self._ended()
        return 0

    def end(self) -> None:
        """It ends by itself."""

    def close(self) -> bytes:
        return b""


def test_jobs_of_desks_take_turns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    queue = Queue(tmp_path, 1, kinds=KINDS)
    own, other, same = table(tmp_path), table(tmp_path, "other"), table(tmp_path)
    asked = [(own, "own1"), (own, "own2"), (same, "own3"), (other, "other1"), (other, "other2")]
    for project, name in asked:
        last = queue.add(project, "nap", {"name": name})
        time.sleep(0.002)  # which came first is told by milliseconds
    assert [job.before for job in queue.jobs(own)] == [2, 0]
    assert last.before == 3
    begun: list[str] = []
    monkeypatch.setattr(Workers, "begin", lambda self, folder: Pretended(folder, begun))
    queue = Queue(tmp_path, 1, kinds=KINDS)
    queue.start()
    until(queue, same, queue.jobs(same)[0])
    queue.stop()
    assert begun == ["own1", "other1", "own2", "other2", "own3"]


def test_as_many_as_may_run_together_but_one_of_a_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    running: list[Path] = []
    seen: list[list[Path]] = []

    def begin(self: Workers, folder: Path) -> Pretended:
        running.append(folder.parents[1])
        seen.append(list(running))
        return Pretended(folder, [], lambda: running.remove(folder.parents[1]))

    monkeypatch.setattr(Workers, "begin", begin)
    queue = Queue(tmp_path, 2, kinds=KINDS)
    tables = [table(tmp_path) for _ in range(2)]
    jobs = [(project, queue.add(project, "nap", {"name": ""})) for project in tables for _ in range(3)]
    queue.start()
    for project, job in jobs:
        assert until(queue, project, job).state == "done"
    queue.stop()
    assert max(map(len, seen)) == 2
    assert all(len(set(together)) == len(together) for together in seen)


def test_what_is_known_of_a_job(tmp_path: Path, begin: Begin) -> None:
    queue, project = begin(warm=True), table(tmp_path)
    spare = queue._workers._spare
    assert spare is not None
    stranger = table(tmp_path, "other")
    job = queue.add(project, "nap", {"seconds": 0.6})
    seen = until(queue, project, job, "running")
    assert seen.moment is not None
    assert seen.moment["stage"] == "napping"
    before = queue.stamp(project, job.id)
    done = until(queue, project, job)
    assert (done.state, done.result) == ("done", {"slept": 0.6, "process": spare.process.pid})
    assert queue.stamp(project, job.id) != before
    assert queue.cancel(project, job.id).state == "done"
    for key in (job.id, "../x", ".x", "nothing"):
        with pytest.raises(Missing, match="no such job"):
            queue.job(stranger, key)


def test_a_table_that_was_removed_has_no_jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    queue, gone, other = Queue(tmp_path, 1, kinds=KINDS), table(tmp_path), table(tmp_path)
    begun: list[str] = []
    monkeypatch.setattr(Workers, "begin", lambda self, folder: Pretended(folder, begun))
    monkeypatch.setattr(queue_module._log, "exception", lambda said: pytest.fail(said))
    queue.start()
    with queue._changed:  # nothing is begun as long as this is held
        queue.add(gone, "nap", {"name": "gone"})
        last = queue.add(other, "nap", {"name": "last"})
        Desk(tmp_path, "own").remove(gone)
    with pytest.raises(Missing, match="removed"):
        queue.add(gone, "nap", {})
    assert not gone.folder.exists()
    assert until(queue, other, last).state == "done"
    queue.stop()
    assert begun == ["last"]


def test_a_job_that_cannot_be_begun_does_not_end_the_queue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    queue, project = Queue(tmp_path, 1, kinds=KINDS), table(tmp_path)
    logged: list[str] = []

    def begin(self: Workers, folder: Path) -> Pretended:
        if not logged:
            raise OSError(28, "No space left on device")
        return Pretended(folder, [])

    monkeypatch.setattr(Workers, "begin", begin)
    monkeypatch.setattr(queue_module._log, "exception", logged.append)
    queue.start()
    queue.add(project, "nap", {"name": ""})
    last = queue.add(project, "nap", {"name": ""})
    assert until(queue, project, last).state == "done"
    queue.stop()
    assert len(logged) == 1


def test_stages_that_come_back_are_told_once(tmp_path: Path) -> None:
    written = Written(tmp_path / "moment.json")
    for stage in ("reading", "attacking", "measuring", "attacking", "measuring"):
        written(Moment(stage))
    told = read_json(tmp_path / "moment.json")
    assert (told["stage"], [one["stage"] for one in told["past"]]) == ("measuring", ["reading", "attacking"])


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
    assert told is not None
    assert (told["kind"], told["step"]) == ("unreachable", "protect")
    assert "largest feasible l is 3" in told["message"]


def test_a_stopped_server_goes_on_where_it_was(tmp_path: Path, begin: Begin) -> None:
    queue, project = begin(), table(tmp_path)
    running, waiting = queue.add(project, "begin", {}), queue.add(project, "nap", {})
    until(queue, project, running, "running")
    queue = begin()
    again = until(queue, project, running, "running")
    assert (again.state, again.restarts) == ("running", 0)
    assert releases(project) == []
    assert queue.job(project, waiting.id).before == 1


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
