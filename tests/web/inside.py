"""A program at a desk of a server in this process, where jobs are done in this process, too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from calling import Caller
from serving import desk_of, service_of
from starlette.testclient import TestClient

from undercover.waiting import no_progress
from undercover.web.desks.store import read_json, write_json
from undercover.web.jobs.job import kind_of, set_state
from undercover.web.jobs.kinds import KINDS


class Inside(Caller):
    """Somebody who does a job himself where others wait for it; the server of ``client`` runs none."""

    def __init__(self, client: TestClient) -> None:
        key = client.cookies.get(service_of(client).cookie)
        self.client, self.http = client, TestClient(client.app, base_url=client.base_url)  # type: ignore[arg-type]
        self.http.headers["authorization"] = f"Bearer {key}"

    def over(self, key: str, job: str, seconds: float = 600) -> Mapping[str, Any]:
        """What comes of a job."""
        project = desk_of(self.client).project(key)
        folder = project.folder / "jobs" / job
        result = KINDS[kind_of(folder)](project, read_json(folder / "request.json"), no_progress)
        write_json(folder / "result.json", result)
        set_state(folder, "done")
        return super().over(key, job, seconds)
