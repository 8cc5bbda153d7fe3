"""The JSON interface is asked whatever its own description allows: it never fails, and always answers as described.

Requests are made by schemathesis from ``/api/openapi.json``: with ids that nobody has, and with those of a table and a
release that are there. Nothing runs: jobs wait in a queue that nobody works on.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from fastapi import FastAPI, HTTPException
from hypothesis import HealthCheck, Phase, given, seed
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from serving import ADDRESS
from web_received import packed, public_files

from effort import examples
from undercover.web.app import create_app
from undercover.web.asked.opened import open_files
from undercover.web.asked.verifying import verify
from undercover.web.desks.desk import Desk
from undercover.web.desks.plan import publish_request
from undercover.web.desks.sources import from_upload
from undercover.web.jobs.profile import profile
from undercover.web.jobs.publishing import publish
from undercover.web.settings import Settings

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
ROLES = {"quasi_identifiers": ["age", "sex"], "sensitive": "education", "drop": "*"}
SOME = examples(4, phases=[Phase.generate], suppress_health_check=list(HealthCheck), database=None)


def server(workspace: Path) -> FastAPI:
    """A server on which nothing runs."""
    return create_app(Settings(workspace=workspace, port=1, workers=0))


def fuzzed(app: FastAPI, there: Mapping[str, Any], seen: dict[str, set[int]], only: str = "") -> list[str]:
    """What failed, one line each; `seen` gets the statuses. What removes nothing is asked with real ids, too."""
    schema = schemathesis.openapi.from_dict(app.openapi())
    schema.app = app
    schema.config.update(base_url=ADDRESS)
    failures = []
    for operation in (found.ok() for found in schema.get_all_operations()):
        if only not in operation.label:
            continue
        for known in _known(operation, there):
            try:
                _asked(app, operation, known, seen.setdefault(operation.label, set()))
            except (FailureGroup, Exception) as error:  # of the server, or what a check found
                failures.append(f"{operation.label} {sorted(known)}: {_why(error)}")
    return failures


def _known(operation: Any, there: Mapping[str, Any]) -> list[dict[str, Any]]:
    """With which ids an operation is asked: nobody's, those of what is there, and of its table alone."""
    wanted = {parameter.name for parameter in operation.path_parameters}
    if operation.method.upper() == "DELETE" or not wanted:
        return [{}]
    real = {name: there[name] for name in there if name in wanted}
    table = {name: real[name] for name in real if name == "key"}
    return [{}, real] if table in ({}, real) else [{}, table, real]


def _asked(app: FastAPI, operation: Any, known: Mapping[str, Any], seen: set[int]) -> None:
    @seed(1)
    @SOME
    @given(case=operation.as_strategy())
    def ask(case: Any) -> None:
        case.path_parameters = {**(case.path_parameters or {}), **known}
        key = app.state.service.sessions.cookie("own")  # a new one, since one of the operations is to sign out
        answer = case.call_and_validate(headers={"Authorization": f"Bearer {key}"}, checks=CHECKS)
        seen.add(answer.status_code)

    ask()


def _why(error: BaseException) -> str:
    inside = error.exceptions if isinstance(error, BaseExceptionGroup) else [error]
    return " ".join(f"{type(one).__name__}: {one!s:.1500}" for one in inside)


def made(app: FastAPI, workspace: Path, file: Path) -> dict[str, Any]:
    """The ids of a table with a profile, a spec, a release and a job that is over, and of a release that was opened."""
    desk, queue, quiet = Desk(workspace, "own"), app.state.service.queue, lambda *said, **more: None
    project = from_upload(desk, app.state.service.settings, file.name, io.BytesIO(file.read_bytes()))
    profile(project, {"most_rows": 10_000, "most_bytes": 1 << 24}, quiet)
    choices = {"columns_decided": True}
    project = project.change(spec={"roles": ROLES, "method": {"name": "mondrian", "k": 5}}, choices=choices)
    publish(project, publish_request(project), quiet)
    job = queue.add(project, "profile", {})
    queue.cancel(project, job.id)  # a stream of events ends
    one = open_files(desk, [("a.zip", io.BytesIO(packed(public_files())))], 1 << 24)
    verify(one.work, {}, quiet)
    return {"key": project.id, "job": job.id, "opened": one.id, "number": 1, "method": "mondrian"}


def test_nothing_fails_and_everything_is_answered_as_described(tmp_path: Path, census_file: Path) -> None:
    app = server(tmp_path)
    seen: dict[str, set[int]] = {}
    failures = fuzzed(app, made(app, tmp_path, census_file), seen)
    assert failures == [], "\n\n".join(failures)
    done = [label for label, statuses in seen.items() if statuses & {200, 201, 204}]
    assert len(done) > len(seen) / 2, f"Only {done} were ever done."


@pytest.mark.parametrize("fault", ["a bug", "another answer", "an undescribed status"])
def test_a_planted_fault_is_found(fault: str, tmp_path: Path) -> None:
    app = server(tmp_path)

    @app.get("/api/planted/{key}")
    def planted(key: str) -> dict[str, int]:
        if fault == "a bug":
            raise KeyError(key)
        if fault == "an undescribed status":
            raise HTTPException(418, "no")
        return {"answer": "none"}  # type: ignore[dict-item]

    assert fuzzed(app, {}, {}, only="/api/planted")
