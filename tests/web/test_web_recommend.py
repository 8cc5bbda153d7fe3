"""Recommend: the job in this process, its page, and taking one of those that were tried."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from decided import ONE, decided, patients
from serving import post, service_of, serving
from starlette.testclient import TestClient

import undercover as uc
from undercover.parameters import make
from undercover.waiting import no_progress
from undercover.web.desks.project import Project
from undercover.web.desks.store import private_folder, write_json
from undercover.web.jobs.recommending import recommend
from undercover.web.routes.recommend import asked_of

ASKED = {"purpose": "looking", "time": 20, "methods": ["mondrian", "anatomy"]}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    with serving(tmp_path_factory.mktemp("recommend")) as client:
        yield client


@pytest.fixture(scope="module")
def project(client: TestClient) -> Project:
    """600 people of the census."""
    table = uc.datasets.census(600, seed=3).select(["age", "sex", "education", "income"])
    roles = {"quasi_identifiers": ["age", "sex", "education"], "sensitive": ["income"]}
    return decided(service_of(client).settings.workspace, table, roles)


@pytest.fixture(scope="module")
def found(project: Project) -> Mapping[str, Any]:
    return recommend(project, ASKED, no_progress)


def finished(project: Project, result: Mapping[str, Any], **more: Any) -> None:
    """A job that ended with this result, as a worker leaves it."""
    folder = private_folder(project.folder / "jobs" / f"{time.time_ns() // 1_000_000:013d}-000000")
    write_json(folder / "request.json", {**ASKED, "asked": asked_of(Project(project.folder)), **more})
    write_json(folder / "job.json", {"kind": "recommend", "state": "done", "created": time.time()})
    write_json(folder / "result.json", result)


def test_what_is_recommended_is_what_the_library_recommends(project: Project, found: Mapping[str, Any]) -> None:
    spec = project.loaded()
    same = uc.recommend(project.whence, spec.schema, time=20, methods=ASKED["methods"], options=spec.options)
    assert found["method"] == same.to_dict()["method"]
    assert found["why"] == same.why()
    assert found["tried"][0]["title"] == found["recommend"]
    assert {one["title"] for one in found["tried"]} == {trial.candidate.title for trial in same.tried}


def test_a_frontier_is_drawn_with_a_ring_around_the_recommended(project: Project, found: Mapping[str, Any]) -> None:
    titles = [picture["title"] for picture in found["pictures"]]
    assert titles[0] == "Learning the value against distance of pairs"
    drawing = (project.folder / found["pictures"][0]["file"]).read_text("utf-8")
    assert drawing.startswith("<svg")
    assert "<script" not in drawing
    assert "nobody beats" in drawing


def test_one_of_those_that_were_tried_is_taken(client: TestClient, project: Project, found: Mapping[str, Any]) -> None:
    finished(project, found)
    page = client.get(f"/tables/{project.id}/recommend").text
    assert f"Recommended: {found['recommend']}" in page
    assert page.count("<svg") >= 2
    assert "You changed the columns or the policy since" not in page
    for place in (0, 1):
        answer = post(client, f"/tables/{project.id}/recommend/take", place=place, follow_redirects=False)
        assert answer.status_code == 303
        method = dict(Project(project.folder).spec["method"])
        assert method == {"name": found["tried"][place]["method"], **found["tried"][place]["parameters"]}
        assert make("methods", method.pop("name"), method)
    assert post(client, f"/tables/{project.id}/recommend/take", place=99).status_code == 400
    changed = Project(project.folder)
    changed.change(spec={**changed.spec, "policy": {"name": "open"}})
    assert "You changed the columns or the policy since" in client.get(f"/tables/{project.id}/recommend").text
    changed.change(spec=changed.spec)


def test_what_nothing_satisfies_is_said_with_what_to_change(client: TestClient) -> None:
    policy = {"name": "own", "belief": "1/20", "gain": 0, "found": "1/5"}
    project = decided(service_of(client).settings.workspace, patients(), ONE, policy=policy)
    result = recommend(project, {**ASKED, "methods": ["mondrian"]}, no_progress)
    assert result["recommend"] is None
    assert result["unreachable"][0].startswith("No release of ")
    assert all(one["verdict"] == "Do not publish" for one in result["tried"] if one["verdict"])
    finished(project, result)
    page = client.get(f"/tables/{project.id}/recommend").text
    assert "Nothing that was tried satisfies your policy" in page
    assert f'href="/tables/{project.id}/columns"' in page
    assert f'href="/tables/{project.id}/protect#policy"' in page
    assert "Take this" in page
    again = recommend(project, {**ASKED, "methods": ["mondrian"]}, no_progress)
    kept = [f"{place.parent.name}/{place.name}" for place in (project.folder / "recommended").iterdir()]
    assert sorted(kept) == sorted(picture["file"] for picture in again["pictures"])  # of the newest alone


def test_a_search_is_asked_for_in_words_that_it_understands(client: TestClient, project: Project) -> None:
    where = f"/tables/{project.id}/recommend"
    for wrong in ({"purpose": "lookin"}, {"purpose": "learning:age"}, {"time": "0"}, {"time": "nan"}, {"time": "x"}):
        assert post(client, where, **{"purpose": "looking", "time": "5", **wrong}).status_code == 400, wrong
    spec = Project(project.folder).spec
    project.change(spec={**spec, "policy": {"name": "none"}})
    assert post(client, where, purpose="looking", time="5").status_code == 400
    assert "Choose another policy first" in client.get(where).text
    project.change(spec=spec)


@pytest.mark.parametrize(("purpose", "title"), [("queries", "COUNT error"), ("learning:disease", "classification")])
def test_the_frontier_shows_what_the_release_is_for(client: TestClient, purpose: str, title: str) -> None:
    project = decided(service_of(client).settings.workspace, patients(), ONE)
    result = recommend(project, {"purpose": purpose, "time": 5, "methods": ["mondrian"]}, no_progress)
    assert title in result["pictures"][0]["title"]


def test_a_search_is_begun_waited_for_and_cancelled(client: TestClient, project: Project) -> None:
    where = f"/tables/{project.id}/recommend"
    page = post(client, where, purpose="looking", time="60", method=["mondrian"]).text
    (job, *_) = service_of(client).queue.jobs(project, "recommend")
    assert f'sse-connect="/tables/{project.id}/jobs/{job.id}/events"' in page
    assert job.request["methods"] == ["mondrian"]
    ended = post(client, f"/tables/{project.id}/jobs/{job.id}/cancel", back=where).text
    assert "Cancelled. Nothing was kept of it." in ended
    assert 'name="purpose"' in ended
