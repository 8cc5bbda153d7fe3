"""Every route is for somebody who is signed in, every form is of his session, and nobody else's table is there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from routes_of import Route, api_routes, page_routes
from serving import at, csrf_of, over, service_of, serving, uploaded
from starlette.testclient import TestClient

from undercover.web.access.asking import asking, posted
from undercover.web.access.headers import SAFE
from undercover.web.desks.project import Project

OPEN = {
    ("GET", "/"),  # shows tables only to whoever is signed in; with a token, it is the way in
    ("GET", "/enter"),
    ("POST", "/enter"),
    ("POST", "/api/session"),
    ("GET", "/looks/report.css"),
    ("GET", "/looks/report.js"),
    ("POST", "/api/session"),  # changes a token into a key
}
"""For whoever is not signed in."""
SECRET = re.compile(r"\{(\w+)(?::\w+)?\}")


def faults(routes: list[Route], forms: bool) -> list[str]:
    """Routes that let somebody in, or take a form of anybody."""
    found = []
    for method, path, needed in routes:
        if (method, path) in OPEN:
            continue
        if asking not in needed:
            found.append(f"{method} {path} is open")
        if forms and method not in SAFE and posted not in needed:
            found.append(f"{method} {path} takes forms of anybody")
    return found


def test_every_route_is_guarded() -> None:
    assert faults(page_routes(), forms=True) == []
    assert faults(api_routes(), forms=False) == []


def test_a_planted_route_is_seen() -> None:
    planted: list[Route] = [("GET", "/a", set()), ("POST", "/b", {asking}), ("POST", "/c", {asking, posted})]
    assert faults(planted, forms=True) == ["GET /a is open", "POST /b takes forms of anybody"]


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory, census_file: Path) -> Iterator[tuple[TestClient, Project, str]]:
    """Somebody, his table, and its job."""
    with serving(tmp_path_factory.mktemp("routes") / "w") as client:
        project = uploaded(client, census_file)
        yield client, project, over(client, project).id


def asked(client: TestClient, method: str, path: str, form: bool = True) -> int:
    headers = {"x-csrf": csrf_of(client)} if form else {}
    return int(client.request(method, path, headers=headers, follow_redirects=False).status_code)


ABOUT_A_TABLE = sorted((method, path) for method, path, _ in [*page_routes(), *api_routes()] if "{" in path)


@pytest.mark.parametrize(("method", "path"), ABOUT_A_TABLE)
def test_a_table_of_another_desk_is_not_there(method: str, path: str, table: tuple[TestClient, Project, str]) -> None:
    client, project, job = table
    known = {"key": project.id, "job": job}
    filled = SECRET.sub(lambda found: known.get(found[1], "1"), path)
    before = Project(project.folder).facts
    assert asked(at(client, "other"), method, filled) == 404
    assert Project(project.folder).facts == before


NASTY = ("%2e%2e%2f", "..%2f..%2fsecret", "....", "a" * 3000, "0" * 12, "%00", "secret", "*", "%5c..%5c")


@pytest.mark.parametrize(("method", "path"), [pair for pair in ABOUT_A_TABLE if pair[0] == "GET"])
def test_no_path_leads_out(method: str, path: str, table: tuple[TestClient, Project, str]) -> None:
    client, project, job = table
    for odd in NASTY:
        for name in SECRET.findall(path):
            known = {"key": project.id, "job": job, name: odd}
            filled = SECRET.sub(lambda found, known=known: known.get(found[1], "1"), path)  # type: ignore[misc]
            status = asked(client, method, filled)
            if name == "key":
                assert status in (404, 422), f"{filled}: {status}"
            else:
                assert status < 500, f"{filled}: {status}"


def test_an_unknown_desk_signs_in_nowhere(tmp_path: Path) -> None:
    with serving(tmp_path, desks=("own", "gone")) as client:
        cookie = service_of(client).sessions.cookie("gone")
        cookies = {service_of(client).cookie: cookie}
        assert client.get("/api/tables", headers={"Authorization": f"Bearer {cookie}"}).status_code == 200
    with serving(tmp_path) as client:
        client.cookies.update(cookies)
        assert client.get("/api/tables", headers={"Authorization": f"Bearer {cookie}"}).status_code == 401
