"""The web application in this process, and whoever is signed in to it.

``with serving(folder) as client:`` is somebody at the desk "own" while jobs run; a file that shares one server among
its tests makes a fixture of it with ``scope="module"``.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from undercover.waiting import no_progress
from undercover.web.access.asking import Service
from undercover.web.app import create_app
from undercover.web.desks.desk import Desk
from undercover.web.desks.project import Project
from undercover.web.jobs.job import Job
from undercover.web.jobs.profile import profile
from undercover.web.settings import Settings

ADDRESS = "http://127.0.0.1:1"


@contextmanager
def serving(workspace: Path, desk: str = "own", **settings: Any) -> Iterator[TestClient]:
    """Somebody at a desk of a server whose queue runs; redirections are followed."""
    app = create_app(Settings(workspace=workspace, port=1, **{"desks": ("own", "other"), **settings}))
    with TestClient(app, base_url=ADDRESS) as client:
        yield entered(client, desk)


def at(client: TestClient, desk: str) -> TestClient:
    """Somebody at another desk of the same server."""
    return entered(TestClient(client.app, base_url=ADDRESS), desk)


def entered(client: TestClient, desk: str) -> TestClient:
    """The same client, signed in."""
    assert client.get(f"/?token={service_of(client).sessions.token(desk)}").status_code == 200
    return client


def service_of(client: TestClient) -> Service:
    found: Service = client.app.state.service  # type: ignore[attr-defined]
    return found


def csrf_of(client: TestClient) -> str:
    """What every form of this session carries."""
    service = service_of(client)
    session = service.sessions.session(client.cookies.get(service.cookie))
    assert session is not None
    return session.csrf


def post(client: TestClient, where: str, /, *, files: Any = None, headers: Any = None, **fields: Any) -> Any:
    """Send a form as a page of this session would; ``follow_redirects=False`` shows where it leads."""
    follow = fields.pop("follow_redirects", True)
    return client.post(
        where, data={"csrf": csrf_of(client), **fields}, files=files, headers=headers, follow_redirects=follow
    )


def desk_of(client: TestClient, name: str = "own") -> Desk:
    """A desk as it is on disk."""
    return Desk(service_of(client).settings.workspace, name)


def uploaded(client: TestClient, file: Path, **fields: Any) -> Project:
    """The table of a file that was sent by the form; its profile is under way."""
    before = {project.id for project in desk_of(client).projects()}
    with file.open("rb") as content:
        answer = post(client, "/new", files={"file": (file.name, content)}, **fields)
    assert answer.status_code == 200, answer.text
    return next(project for project in desk_of(client).projects() if project.id not in before)


def over(client: TestClient, project: Project, key: str | None = None, seconds: float = 60) -> Job:
    """A job of a table, or the newest, once nothing more will come of it."""
    queue, until = service_of(client).queue, time.monotonic() + seconds
    while True:
        job = queue.job(project, key) if key else queue.jobs(project)[0]
        if job.over:
            return job
        assert time.monotonic() < until, f"{job.kind} is still {job.state} after {seconds} seconds."
        time.sleep(0.05)


def profiled(desk: Desk, text: str) -> Project:
    """A table of an uploaded text, profiled in this process."""
    made = desk.add("people.csv", {"kind": "upload", "path": "table.csv"})
    Path(made.whence).write_text(text, encoding="utf-8")
    profile(made, {"most_rows": 1000, "most_bytes": 1 << 20}, no_progress)
    return desk.project(made.id)


def beside(work: Any) -> Any:
    """What comes of a coroutine, in a thread: a browser of other tests may have a loop running in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()
