"""The run page: what will be done, how a job is shown on any page, news of it, and what publishing leaves behind."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from decided import ONE, decided, patients
from releasing import OPEN, READY, Released
from serving import ADDRESS, at, desk_of, entered, post, service_of
from small_kinds import SECRET
from starlette.testclient import TestClient

from undercover.errors import DataError
from undercover.waiting import no_progress
from undercover.web.app import create_app
from undercover.web.desks.plan import method_of, plan_of, publish_request
from undercover.web.desks.progress import releases
from undercover.web.desks.project import Project
from undercover.web.desks.store import read_json, write_json
from undercover.web.jobs import publishing
from undercover.web.jobs.job import Job, set_state
from undercover.web.settings import Settings
from undercover.web.texts import LANGUAGES, catalogue
from undercover.wording import asked_by

METHOD = {"name": "mondrian", "k": 5}


@pytest.fixture
def idle(tmp_path: Path) -> TestClient:
    """Somebody at a desk of a server that begins no job."""
    app = create_app(Settings(workspace=tmp_path / "workspace", port=1, desks=("own", "other")))
    return entered(TestClient(app, base_url=ADDRESS), "own")


@pytest.fixture
def project(idle: TestClient) -> Project:
    """A table of which the profile is made and everything is decided."""
    workspace = service_of(idle).settings.workspace
    return decided(workspace, patients(), ONE, method=METHOD, policy={"name": "research"})


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
    required = project.change(spec={**project.spec, "require": [{"name": "distinct-diversity", "l": 2}]})
    assert [step for step, _ in plan_of(required).problems] == ["protect"]
    project = project.change(
        spec={
            **project.spec,
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
    for said in (
        "60 rows",
        "<code>k = 5</code>",
        "<code>job</code>",
        "the policy for research",
        "Parquet",
        "What it means",
    ):
        assert said in page
    where = f"/tables/{project.id}/run"
    answer = post(idle, where, format="parquet", rows_per_file="1,000", revision=project.revision)
    assert answer.status_code == 200
    assert "/jobs/" in str(answer.url)
    again = post(idle, where, format="parquet", rows_per_file="1000", revision=project.revision + 1)
    assert str(again.url) == str(answer.url)
    (job,) = service_of(idle).queue.jobs(project)
    assert job.request["spec"] == project.spec
    assert job.request["choices"] == {"format": "parquet", "rows_per_file": 1000, "safe_for_spreadsheets": False}
    assert post(idle, where, format="csv", revision=project.revision).status_code == 409
    for wrong in (
        {"format": "docx"},
        {"format": "xlsx", "rows_per_file": "5"},
        {"format": "csv", "rows_per_file": "x"},
    ):
        assert post(idle, where, **wrong).status_code == 400
    assert len(service_of(idle).queue.jobs(project)) == 1
    assert at(idle, "other").get(str(answer.url)).status_code == 404


def passing(monkeypatch: pytest.MonkeyPatch, *steps: Callable[[], object]) -> None:
    """What happens between one look for news and the next."""
    left = list(steps)

    async def sleep(seconds: float) -> None:
        assert seconds == 0.25
        left.pop(0)()

    monkeypatch.setattr("undercover.web.routes.run.sleep", sleep)


def test_news_come_until_a_job_is_over(idle: TestClient, project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    job = added(idle, project)
    queue, folder = service_of(idle).queue, project.folder / "jobs" / job.id
    where = f"/tables/{project.id}/jobs/{job.id}/events"
    moment = {"stage": "reading", "part": "", "share": 0.5, "seconds": 3.0, "left": 3.0, "past": []}
    passing(
        monkeypatch,
        lambda: None,
        lambda: (write_json(folder / "moment.json", moment), set_state(folder, "running", started=1.0)),
        lambda: write_json(folder / "moment.json", {**moment, "share": 0.75}),
        lambda: queue.cancel(project, job.id),
    )
    answer = idle.get(where)
    assert answer.headers["content-type"].startswith("text/event-stream")
    names = [line.removeprefix("event: ") for line in answer.text.splitlines() if line.startswith("event: ")]
    assert names == ["stage", "moment", "stage", "moment", "moment", "over"]
    assert 'aria-valuenow="50"' in answer.text
    assert idle.get(where).text == "event: over\ndata: cancelled\n\n"
    assert at(idle, "other").get(where).status_code == 404


def test_news_end_when_the_server_stops_or_the_table_is_gone(
    idle: TestClient, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = added(idle, project)
    queue, where = service_of(idle).queue, f"/tables/{project.id}/jobs/{job.id}/events"
    passing(monkeypatch, lambda: setattr(queue, "leaving", True))
    assert "event: over" not in idle.get(where).text
    queue.leaving = False
    passing(monkeypatch, lambda: desk_of(idle).remove(project))
    assert idle.get(where).text.endswith("event: over\ndata:\n\n")


def test_a_stream_without_news_says_that_it_is_there(
    idle: TestClient, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = added(idle, project)
    monkeypatch.setattr("undercover.web.routes.run._BEAT", -1.0)
    passing(monkeypatch, lambda: None, lambda: service_of(idle).queue.cancel(project, job.id))
    assert ": still here\n\n" in idle.get(f"/tables/{project.id}/jobs/{job.id}/events").text


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


@pytest.fixture
def copied(made: Released, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """The table of the releases that others look at, to make another one of that nobody looks at."""
    monkeypatch.setattr(publishing, "show", lambda *given: None)
    shutil.copytree(made.project.folder, tmp_path / "table")
    return Project(tmp_path / "table")


def test_publishing_does_what_the_command_does(made: Released, copied: Project) -> None:
    places = [copied.folder / "releases" / str(number) for number in (READY, OPEN)]
    assert (places[0] / "public" / "table.csv").is_file()
    kinds = [
        [one["kind"] for one in read_json(place / "private" / "run.json")["judged"]["reasons"]] for place in places
    ]
    assert ["second release" in found for found in kinds] == [False, True]
    request = publish_request(copied.change(choices={"format": "xlsx"}))
    changed = copied.change(spec={}, choices={})  # while it waits
    said = publishing.publish(changed, request, no_progress)
    assert said["release"] == max(made.runs) + 1
    assert releases(copied)[0] == said["release"]
    assert list((copied.folder / "releases" / str(said["release"])).glob("*/table.xlsx"))
    assert set(said) == {"release", "verdict", "warnings"}


def test_a_release_whose_job_does_not_finish_is_not_there(copied: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    before = releases(copied)
    place = copied.folder / "releases" / str(max(before) + 1)

    def ended(*given: Any) -> None:
        assert (place / "private").is_dir()
        assert releases(copied) == before
        place.with_name(f"{place.name}.page").mkdir()
        raise SystemExit(143)

    monkeypatch.setattr(publishing, "show", ended)
    with pytest.raises(SystemExit):
        publishing.publish(copied, {}, no_progress)
    assert releases(copied) == before
    assert not [one.name for one in place.parent.iterdir() if one.name.startswith((".", place.name))]


def test_what_does_not_fit_is_refused_before_any_work(copied: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(rows: int, columns: int, file_format: str) -> None:
        raise DataError(f"{rows} {columns} {file_format}")

    monkeypatch.setattr(publishing, "publish_run", lambda *given, **more: pytest.fail("began to work"))
    monkeypatch.setattr(publishing, "check_size", refused)
    with pytest.raises(DataError, match="400 4 dta"):
        publishing.publish(copied, {"choices": {"format": "dta"}}, no_progress)


def test_a_cell_that_names_somebody_is_refused_without_being_shown(idle: TestClient) -> None:
    data, workspace = patients(), service_of(idle).settings.workspace
    notes = ["seen with p3", *["well"] * (data.num_rows - 1)]
    roles = {**ONE, "identifiers": ["patient"], "insensitive": ["note"]}
    project = decided(workspace, data.append_column("note", pa.array(notes)), roles, method=METHOD)
    with asked_by("page"), pytest.raises(DataError, match="beside other words") as raised:
        publishing.publish(project, {}, no_progress)
    assert "`names nobody: true` for `note`" in str(raised.value)
    assert notes[0] not in str(raised.value)
    assert releases(project) == []
    assert "names_nobody-" in idle.get(f"/tables/{project.id}/columns").text


def test_files_that_a_method_names_are_those_of_the_table(tmp_path: Path) -> None:
    others = {"method": {"name": "noncentralized", "l": 2, "others": ["others/clinic"]}}
    with pytest.raises(DataError, match="not here"):
        method_of(others, tmp_path)
    (tmp_path / "others" / "clinic").mkdir(parents=True)
    method: Any = method_of(others, tmp_path)
    assert method.others == (str(tmp_path / "others" / "clinic"),)
