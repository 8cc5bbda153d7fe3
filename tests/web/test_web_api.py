"""The JSON interface: the whole way from a file to an answer, by a program; who may ask, and what is refused."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from serving import ADDRESS, csrf_of, desk_of, over, service_of, serving
from starlette.testclient import TestClient
from web_received import packed, public_files

from undercover.web.asked.opened import opened

SPEC = {
    "roles": {"quasi_identifiers": ["age", "sex"], "sensitive": "education", "drop": "*"},
    "method": {"name": "mondrian", "k": 5},
    "policy": {"name": "none"},
}


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """Somebody at the desk "own", with a cookie."""
    with serving(tmp_path_factory.mktemp("api")) as client:
        yield client


@pytest.fixture(scope="module")
def program(browser: TestClient) -> TestClient:
    """A program at the same desk, with a key and no cookie."""
    client = TestClient(browser.app, base_url=ADDRESS)
    answer = client.post("/api/session", json={"token": service_of(browser).sessions.token("own")})
    assert (answer.status_code, answer.json()["desk"]) == (200, "own")
    client.headers["authorization"] = f"Bearer {answer.json()['key']}"
    return client


@pytest.fixture(scope="module")
def table(program: TestClient, census_file: Path) -> str:
    """A table that was sent, read, decided on and published."""
    made = program.post("/api/tables", files={"file": ("census.csv", census_file.read_bytes())})
    assert (made.status_code, made.json()["name"]) == (201, "census.csv")
    project = desk_of(program).project(made.json()["id"])
    assert over(program, project).state == "done"
    changed = program.put(f"/api/tables/{project.id}/spec", json={"spec": SPEC, "revision": project.revision})
    assert changed.status_code == 200, changed.text
    begun = program.post(f"/api/tables/{project.id}/publish", json={"format": "csv"})
    assert begun.status_code == 201, begun.text
    job = over(program, project, begun.json()["id"])
    assert job.state == "done", job.error
    return project.id


def test_the_whole_way_from_a_file_to_an_answer(program: TestClient, table: str) -> None:
    at = f"/api/tables/{table}"
    facts = program.get(at).json()
    assert facts["releases"] == [1]
    assert facts["source"] == "upload"
    assert program.get("/api/tables").json()[0] == facts
    assert program.get(f"{at}/profile").json()["inspection"]["rows"] == 300
    release = program.get(f"{at}/releases/1").json()
    assert program.get(f"{at}/releases").json() == [release]
    assert not release["withheld"]
    report = program.get(f"{at}/releases/1/report").json()
    assert report["verdict"] == release["verdict"]
    assert "method" in program.get(f"{at}/releases/1/spec.toml").text
    with zipfile.ZipFile(io.BytesIO(program.get(f"{at}/releases/1/public.zip").content)) as public:
        assert "release.json" in public.namelist()
    given = program.post("/api/asked/from", json={"table": table, "release": 1})
    assert given.status_code == 201, given.text
    one = opened(desk_of(program), given.json()["id"])
    assert over(program, one.work).state == "done"
    assert program.get(f"/api/asked/{one.id}").json()["outcome"] == "holds"
    where = {"age": {"between": [30, None]}, "sex": {"one_of": ["Female"]}}
    answer = program.post(f"/api/asked/{one.id}/count", json={"where": where}).json()
    assert answer["lower"] <= answer["estimate"] <= answer["upper"]
    assert answer["sure"] == "surely"
    assert "uc.Between(30, None)" in answer["python"]
    refused = program.post(f"/api/asked/{one.id}/sum", json={"column": "education"})
    assert refused.status_code == 400
    assert program.delete(f"/api/asked/{one.id}").status_code == 204


def test_what_a_table_has_room_for_is_told(program: TestClient, table: str) -> None:
    at = f"/api/tables/{table}"
    assert "mondrian" in [one["name"] for one in program.get("/api/methods").json()]
    assert any(one["fits"] for one in program.get(f"{at}/methods").json())
    assert {one["name"] for one in program.get(f"{at}/policies").json()} >= {"standard", "none"}
    found = program.post(f"{at}/methods/mondrian", json={"parameters": {"k": 0}}).json()
    assert found["wrong"]
    assert "k" in found["by_parameter"]
    assert program.post(f"{at}/methods/nobodys", json={}).status_code == 404


def test_columns_are_suggested_counted_and_given_levels(program: TestClient, table: str) -> None:
    at = f"/api/tables/{table}"
    found = program.get(f"{at}/suggested").json()
    assert "age" in found["columns"]
    counted = program.post(f"{at}/singled-out", json={"known": ["age", "sex"]}).json()
    assert counted["together"]["people"] == 300
    assert counted["without"]["age"]["alone"] <= counted["together"]["alone"]
    assert program.post(f"{at}/singled-out", json={"known": ["nobody"]}).status_code == 400
    rows = [["Female", "anybody"], ["Male", "anybody"]]
    changed = program.put(f"{at}/hierarchies/sex", json={"rows": rows})
    assert changed.status_code == 200, changed.text
    assert changed.json()["spec"]["columns"]["sex"]["hierarchy"].startswith("hierarchies/column-")
    assert program.put(f"{at}/hierarchies/sex", json={"rows": [["a", "b"], ["a", "c"]]}).status_code == 400
    assert program.put(f"{at}/spec", json={"spec": SPEC}).status_code == 200


def test_a_job_is_watched_until_it_is_over(program: TestClient, table: str) -> None:
    jobs = program.get(f"/api/tables/{table}/jobs").json()
    assert {job["kind"] for job in jobs} >= {"profile", "publish"}
    at = f"/api/tables/{table}/jobs/{jobs[0]['id']}"
    with program.stream("GET", f"{at}/events") as stream:
        events = [json.loads(line.removeprefix("data: ")) for line in stream.iter_lines() if line.startswith("data: ")]
    assert events[-1] == program.get(at).json() == program.delete(at).json()
    assert program.get(f"/api/tables/{table}/jobs/none").status_code == 404


@pytest.mark.parametrize("key", ["%2E%2E", "x" * 500, "%00", "a%2Fb", "%2Ejob"])
def test_a_job_of_a_strange_name_is_none(program: TestClient, table: str, key: str) -> None:
    assert program.get(f"/api/tables/{table}/jobs/{key}").status_code in (404, 405)


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ({"columns": {"age": {"hierarchy": "/etc/passwd"}}}, "columns.age.hierarchy"),
        ({"columns": {"age": {"hierarchy": "hierarchies/../project.json"}}}, "columns.age.hierarchy"),
        ({"columns": {"age": {"hierarchy": "hierarchies/none.csv"}}}, "columns.age.hierarchy"),
        ({"columns": {"age": {"distance": "../../secret"}}}, "columns.age.distance"),
        ({"roles": {"population": "sqlite:///etc/x?table=y"}}, "roles.population"),
        ({"ledger": {"file": "ledger.json"}}, "ledger.file"),
        ({"roles": {"quasi_identifiers": "nobody"}}, "nobody"),
        ({"roles": {"quasi_identifiers": "age"}, "method": {"name": "mondrian", "k": 0}}, "k"),
        ({"roles": {"quasi_identifiers": "age"}, "method": {"name": "nobody's"}}, "nobody's"),
        ({"roles": 7}, "roles"),
        ({"about": {"title": "\ud800"}}, "half of a pair"),
    ],
)
def test_a_spec_that_cannot_be_is_refused(program: TestClient, table: str, spec: Any, why: str) -> None:
    before = program.get(f"/api/tables/{table}/spec").json()
    answer = program.put(
        f"/api/tables/{table}/spec", content=json.dumps({"spec": spec}), headers={"content-type": "application/json"}
    )
    assert answer.status_code == 400
    assert why in " ".join(answer.json()["problems"])
    assert program.get(f"/api/tables/{table}/spec").json() == before


def test_a_change_to_an_older_revision_is_refused(program: TestClient, table: str) -> None:
    answer = program.put(f"/api/tables/{table}/spec", json={"spec": SPEC, "revision": 0})
    assert (answer.status_code, "another tab" in answer.json()["problems"][0]) == (409, True)


def test_a_cookie_alone_changes_nothing(browser: TestClient, table: str) -> None:
    def change(**headers: str) -> int:
        return browser.put(f"/api/tables/{table}/spec", json={"spec": SPEC}, headers=headers).status_code

    assert browser.get(f"/api/tables/{table}").status_code == 200
    assert change() == 403
    assert change(**{"x-csrf": "wrong"}) == 403
    assert change(authorization="Basic b3duOm93bg==") == 403  # which a form of another site can send
    assert change(**{"x-csrf": csrf_of(browser)}) == 200


def test_a_bearer_key_needs_no_csrf_and_ends_when_it_is_signed_out(browser: TestClient) -> None:
    client = TestClient(browser.app, base_url=ADDRESS)
    key = service_of(browser).sessions.cookie("own")
    client.headers["authorization"] = f"Bearer {key}"
    made = client.post("/api/tables/from", json={"example": "census-1000"})
    assert made.status_code == 201, made.text
    assert client.delete(f"/api/tables/{made.json()['id']}").status_code == 204
    assert client.delete("/api/session").status_code == 204
    assert client.get("/api/tables").status_code == 401


def test_nobody_comes_in_without_a_key(browser: TestClient) -> None:
    stranger = TestClient(browser.app, base_url=ADDRESS)
    document = stranger.get("/api/openapi.json").json()
    for path, operations in document["paths"].items():
        for method in operations:
            if (method, path) != ("post", "/api/session"):
                answer = stranger.request(method, path.replace("{number}", "1"))
                assert answer.status_code == 401, (method, path)
                assert answer.json()["problems"]
    wrong = stranger.post("/api/session", json={"token": "wrong"})
    assert (wrong.status_code, "token" in wrong.json()["problems"][0]) == (401, True)
    used = service_of(browser).sessions.token("own")
    assert stranger.post("/api/session", json={"token": used}).status_code == 200
    assert stranger.post("/api/session", json={"token": used}).status_code == 401


def test_another_desk_sees_nothing(browser: TestClient, program: TestClient, table: str) -> None:
    other = TestClient(browser.app, base_url=ADDRESS)
    other.headers["authorization"] = f"Bearer {service_of(browser).sessions.cookie('other')}"
    given = program.post("/api/asked", files=[("files", ("a.zip", packed(public_files())))]).json()
    assert other.get("/api/tables").json() == other.get("/api/asked").json() == []
    for path in ("", "/spec", "/profile", "/jobs", "/releases", "/releases/1/public.zip"):
        assert other.get(f"/api/tables/{table}{path}").status_code == 404
    assert other.get(f"/api/asked/{given['id']}").status_code == 404
    assert other.post("/api/asked/from", json={"table": table, "release": 1}).status_code == 404


def test_every_operation_is_described(browser: TestClient) -> None:
    document = browser.get("/api/openapi.json").json()
    operations = [one for path in document["paths"].values() for one in path.values()]
    assert len({one["operationId"] for one in operations}) == len(operations) > 30
    for one in operations:
        assert one["description"]
        assert one["tags"]
        assert {"400", "401", "403", "404", "409", "413", "422"} <= set(one["responses"])


def test_the_page_of_the_interface_names_every_operation(browser: TestClient) -> None:
    page = browser.get("/api")
    assert page.status_code == 200
    for path in browser.get("/api/openapi.json").json()["paths"]:
        assert path in page.text
    assert "Schnittstelle" in browser.get("/api", headers={"accept-language": "de"}).text
