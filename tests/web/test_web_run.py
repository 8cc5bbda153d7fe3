"""The run page: what will be done, how a job is shown on any page, news of it, and what publishing leaves behind."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import pytest
from serving import ADDRESS, at, desk_of, entered, post, service_of
from small_kinds import SECRET
from starlette.testclient import TestClient

from undercover.errors import DataError
from undercover.web.app import create_app
from undercover.web.desks.plan import method_of, plan_of, publish_request
from undercover.web.desks.progress import releases
from undercover.web.desks.project import Project
from undercover.web.desks.store import private_folder, read_json, write_json
from undercover.web.jobs import publishing
from undercover.web.jobs.job import Job, set_state
from undercover.web.settings import Settings
from undercover.web.texts import LANGUAGES, catalogue

COLUMNS = ("age", "sex", "income", "hours")
SPEC: dict[str, Any] = {
    "roles": {"quasi_identifiers": ["age", "sex"], "sensitive": "income"},
    "method": {"name": "mondrian", "k": 5},
    "policy": {"name": "research"},
}


@pytest.fixture
def idle(tmp_path: Path) -> TestClient:
    """Somebody at a desk of a server that begins no job."""
    app = create_app(Settings(workspace=tmp_path / "workspace", port=1, desks=("own", "other")))
    return entered(TestClient(app, base_url=ADDRESS), "own")


@pytest.fixture
def project(idle: TestClient) -> Project:
    """A table of which the profile is made and everything is decided."""
    made = desk_of(idle).add("people.csv", {"kind": "upload", "path": "table.csv"})
    columns = [{"name": name, "role": "insensitive"} for name in COLUMNS]
    private_folder(made.folder / "profile")
    write_json(made.folder / "profile" / "profile.json", {"inspection": {"rows": 300, "columns": columns}})
    return made.change(spec=SPEC, choices={"columns_decided": True})


def added(client: TestClient, project: Project, kind: str = "publish") -> Job:
    return service_of(client).queue.add(project, kind, {})


def test_what_is_not_decided_is_named_with_the_way_there(idle: TestClient, project: Project) -> None:
    project.change(spec={}, choices={})
    page = idle.get(f"/tables/{project.id}/run").text
    assert "It is not decided how people are protected." in page
    assert f'href="/tables/{project.id}/protect">Go to' in page
    assert "Make the release</button>" not in page
    answer = post(idle, f"/tables/{project.id}/run", format="csv")
    assert answer.status_code == 400
    assert "It is not decided what each column is." in answer.text


def test_what_is_wrong_is_told_before_anything_is_begun(idle: TestClient, project: Project) -> None:
    project = project.change(
        spec={
            **SPEC,
            "method": {"name": "mondrian", "k": 0},
            "roles": {"quasi_identifiers": ["age"], "sensitive": "age"},
        }
    )
    plan = plan_of(project)
    assert [step for step, _ in plan.problems] == ["columns", "protect"]
    page = idle.get(f"/tables/{project.id}/run").text
    assert "must be an int in [1, inf)" in page
    assert not plan.ready


def test_a_release_is_asked_for_once(idle: TestClient, project: Project) -> None:
    page = idle.get(f"/tables/{project.id}/run").text
    for said in ("300 rows", "<code>k = 5</code>", "<code>hours</code>", "the policy for research", "Parquet"):
        assert said in page
    where = f"/tables/{project.id}/run"
    answer = post(idle, where, format="parquet", rows_per_file="1,000", revision=project.revision)
    assert answer.status_code == 200
    assert "/jobs/" in str(answer.url)
    again = post(idle, where, format="parquet", rows_per_file="1000", revision=project.revision + 1)
    assert str(again.url) == str(answer.url)
    (job,) = service_of(idle).queue.jobs(project)
    assert job.request["spec"] == SPEC
    assert job.request["choices"] == {"format": "parquet", "rows_per_file": 1000}
    assert post(idle, where, format="csv", revision=project.revision).status_code == 409
    for wrong in (
        {"format": "docx"},
        {"format": "xlsx", "rows_per_file": "5"},
        {"format": "csv", "rows_per_file": "x"},
    ):
        assert post(idle, where, **wrong).status_code == 400
    assert len(service_of(idle).queue.jobs(project)) == 1
    assert at(idle, "other").get(str(answer.url)).status_code == 404


def test_news_come_until_a_job_is_over(idle: TestClient, project: Project) -> None:
    job = added(idle, project)
    queue, folder = service_of(idle).queue, project.folder / "jobs" / job.id
    where = f"/tables/{project.id}/jobs/{job.id}/events"

    def meanwhile() -> None:
        time.sleep(0.4)
        write_json(
            folder / "moment.json",
            {"stage": "reading", "part": "", "share": 0.5, "seconds": 3.0, "left": 3.0, "past": []},
        )
        set_state(folder, "running", started=1.0)
        time.sleep(0.4)
        queue.cancel(project, job.id)

    beside = threading.Thread(target=meanwhile)
    beside.start()
    answer = idle.get(where)
    beside.join()
    assert answer.headers["content-type"].startswith("text/event-stream")
    names = [line.removeprefix("event: ") for line in answer.text.splitlines() if line.startswith("event: ")]
    assert names == ["stage", "moment", "stage", "moment", "over"]
    assert 'aria-valuenow="50"' in answer.text
    assert idle.get(where).text == "event: over\ndata: cancelled\n\n"
    assert at(idle, "other").get(where).status_code == 404


def test_news_end_when_the_server_stops_or_the_table_is_gone(idle: TestClient, project: Project) -> None:
    job = added(idle, project)
    queue, where = service_of(idle).queue, f"/tables/{project.id}/jobs/{job.id}/events"
    threading.Timer(0.4, lambda: setattr(queue, "leaving", True)).start()
    assert "event: over" not in idle.get(where).text
    queue.leaving = False
    threading.Timer(0.4, lambda: desk_of(idle).remove(project)).start()
    assert idle.get(where).text.endswith("event: over\ndata:\n\n")


def test_a_job_is_cancelled_where_it_is_shown(idle: TestClient, project: Project) -> None:
    for back, led in (
        (f"/tables/{project.id}/data", "data"),
        ("//evil.example", "jobs"),
        ("/tables/other/run", "jobs"),
    ):
        job = added(idle, project)
        answer = post(idle, f"/tables/{project.id}/jobs/{job.id}/cancel", back=back, follow_redirects=False)
        assert answer.headers["location"].startswith(f"/tables/{project.id}/{led}")
        assert service_of(idle).queue.job(project, job.id).state == "cancelled"
    assert "Cancelled." in idle.get(f"/tables/{project.id}/jobs/{job.id}").text
    assert post(at(idle, "other"), f"/tables/{project.id}/jobs/{job.id}/cancel").status_code == 404


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_went_wrong_leads_somewhere(idle: TestClient, project: Project, language: str) -> None:
    idle.cookies.set("language", language)
    job = added(idle, project)
    folder, texts = project.folder / "jobs" / job.id, catalogue(language)
    where = f"/tables/{project.id}/jobs/{job.id}"
    for kind in ("unreachable", "refused", "memory", "ended", "again", "bug"):
        write_json(folder / "error.json", {"kind": kind, "message": "Some sentence."})
        set_state(folder, "failed", started=1.0, ended=2.0)
        page = idle.get(where).text
        assert texts[f"job.failed.{kind}"] in page
        assert texts[f"job.advice.{kind}"] in page
    write_json(
        folder / "error.json", {"kind": "unreachable", "message": "", "step": "protect", "problems": ["l is 3."]}
    )
    assert f'href="/tables/{project.id}/protect"' in (page := idle.get(where).text)
    assert "l is 3." in page
    (folder / "trace.txt").write_text(SECRET)
    write_json(folder / "error.json", {"kind": "bug", "message": "A bug.", "trace": f"jobs/{job.id}/trace.txt"})
    page = idle.get(where).text
    assert f"<code>jobs/{job.id}/trace.txt</code>" in page
    assert SECRET not in page


def test_a_page_without_scripts_loads_itself_again_while_a_job_is_under_way(idle: TestClient, project: Project) -> None:
    job = added(idle, project)
    where = f"/tables/{project.id}/jobs/{job.id}"
    assert '<noscript><meta http-equiv="refresh"' in idle.get(where).text
    service_of(idle).queue.cancel(project, job.id)
    assert "http-equiv" not in idle.get(where).text


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, census_file: Path) -> tuple[Project, list[dict[str, Any]]]:
    """A table with a release of it in each of two formats, made in this process, and what each job said."""
    place = tmp_path_factory.mktemp("table")
    project = Project.begin(place, "people.csv", {"kind": "upload", "path": "table.csv"}, "2026-01-01")
    Path(project.whence).write_bytes(census_file.read_bytes())
    said = []
    for file_format in ("csv", "xlsx"):
        project = project.change(spec=SPEC, choices={"columns_decided": True, "format": file_format})
        request = publish_request(project)
        project = project.change(spec={})  # whatever is changed while it waits
        said.append(dict(publishing.publish(project, request, lambda stage, share: None)))
    return project, said


def test_publishing_does_what_the_command_does(made: tuple[Project, list[dict[str, Any]]]) -> None:
    project, (first, second) = made
    assert releases(project) == [2, 1]
    assert (first["release"], second["release"]) == (1, 2)
    public = project.folder / "releases" / "1" / "public"
    assert (public / "table.csv").is_file()
    assert any("Columns without a role" in warning for warning in first["warnings"])
    second_place = project.folder / "releases" / "2"
    run = read_json(second_place / "private" / "run.json")
    assert "second release" in [reason["kind"] for reason in run["judged"]["reasons"]]
    assert list(second_place.glob("*/table.xlsx"))


def test_a_release_whose_job_does_not_finish_is_not_there(
    made: tuple[Project, list[dict[str, Any]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    project, _ = made

    def ended(*given: Any) -> None:
        assert (project.folder / "releases" / "3" / "private").is_dir()
        assert releases(project) == [2, 1]
        raise SystemExit(143)

    monkeypatch.setattr(publishing, "show", ended)
    with pytest.raises(SystemExit):
        publishing.publish(project, {"spec": SPEC, "choices": {}}, lambda stage, share: None)
    assert sorted(place.name for place in (project.folder / "releases").iterdir()) == ["1", "2"]


def test_what_does_not_fit_is_refused_before_any_work(
    made: tuple[Project, list[dict[str, Any]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    project, _ = made
    monkeypatch.setattr(publishing, "publish_run", lambda *given, **more: pytest.fail("began to work"))
    monkeypatch.setattr(
        publishing,
        "check_size",
        lambda rows, columns, kind: (_ for _ in ()).throw(DataError(f"{rows} {columns} {kind}")),
    )
    with pytest.raises(DataError, match="300 3 dta"):
        publishing.publish(project, {"spec": SPEC, "choices": {"format": "dta"}}, lambda stage, share: None)


def test_files_that_a_method_names_are_those_of_the_table(tmp_path: Path) -> None:
    others = {"method": {"name": "noncentralized", "l": 2, "others": ["others/clinic"]}}
    method: Any = method_of(others, tmp_path)
    assert method.others == (str(tmp_path / "others" / "clinic"),)
