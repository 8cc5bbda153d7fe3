"""The shared fixtures themselves: somebody comes in, sends a form, uploads a table and waits for its profile."""

from __future__ import annotations

from pathlib import Path

from serving import csrf_of, desk_of, over, post, uploaded
from starlette.testclient import TestClient


def test_a_table_is_uploaded_and_profiled(client: TestClient, other: TestClient, census_file: Path) -> None:
    project = uploaded(client, census_file)
    assert over(client, project).state == "done"
    assert client.get(f"/tables/{project.id}/data").status_code == 200
    assert other.get(f"/tables/{project.id}/data").status_code == 404
    assert [one.id for one in desk_of(client).projects()] == [project.id]
    assert desk_of(client, "other").projects() == []
    assert post(client, f"/tables/{project.id}/remove").status_code == 200
    assert desk_of(client).projects() == []


def test_a_form_of_another_session_is_refused(client: TestClient, other: TestClient) -> None:
    assert csrf_of(client) != csrf_of(other)
    answer = client.post("/language", data={"csrf": csrf_of(other), "language": "de", "path": "/"})
    assert answer.status_code == 403
    assert post(client, "/language", language="de", path="/").text.count("Tabelle") >= 1
