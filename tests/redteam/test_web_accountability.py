"""The web application: who decided, who took what, and whose workspace this is cannot be blurred."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from serving import ADDRESS, at, csrf_of, desk_of, post, service_of, serving
from starlette.testclient import TestClient

from undercover.errors import OutputError, ParameterError
from undercover.web.access.audit_log import AuditLog, beside, broken_line, lines_of
from undercover.web.app import create_app
from undercover.web.jobs.queue import MOST_WAITING
from undercover.web.settings import Settings

PASSPHRASE = "correct horse battery"
PROXY = "https://release.example.org"


def events(client: TestClient) -> list[tuple[str, str]]:
    return [(line["event"], line["user"]) for line in lines_of(service_of(client).audit.place)]


@pytest.fixture
def idle(tmp_path: Path) -> TestClient:
    """Somebody at the desk "own" of a server that runs no jobs."""
    with serving(tmp_path / "workspace", workers=0) as client:
        yield client


@pytest.mark.parametrize("by", ["page", "api"])
def test_a_refused_request_leaves_no_table_behind(idle: TestClient, by: str) -> None:
    """With 20 jobs waiting an upload was answered 429, and its table stayed."""
    for _ in range(MOST_WAITING):
        post(idle, "/new/example", example="census-1000")
    before = {project.id for project in desk_of(idle).projects()}
    file = {"file": ("people.csv", b"age,ill\n30,flu\n")}
    if by == "page":
        refused = [post(idle, "/new", files=file), post(idle, "/new/example", example="census-1000")]
    else:
        key = {"authorization": f"Bearer {idle.cookies.get(service_of(idle).cookie)}"}
        refused = [
            idle.post("/api/tables", files=file, headers=key),
            idle.post("/api/tables/from", json={"example": "census-1000"}, headers=key),
        ]
    assert [answer.status_code for answer in refused] == [429, 429]
    assert {project.id for project in desk_of(idle).projects()} == before
    assert len(list(desk_of(idle).folder.iterdir())) == len(before)


def test_a_table_is_removed_where_the_queue_fills_up_meanwhile(
    idle: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(service_of(idle).queue), "require_room", lambda self, desk: None)
    monkeypatch.setattr("undercover.web.desks.sources._start", lambda *given: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        post(idle, "/new/example", example="census-1000")
    assert list(desk_of(idle).folder.iterdir()) == []


def test_a_link_of_somebody_else_does_not_replace_a_session_silently(idle: TestClient) -> None:
    """Whoever followed it went on uploading, into somebody else's workspace."""
    token = service_of(idle).sessions.token("other")
    asked = idle.get(f"/?token={token}")
    assert asked.status_code == 409
    assert "You are signed in as own" in asked.text
    assert "belongs to other" in asked.text
    assert "Workspace: <strong>own</strong>" in idle.get("/").text
    there = idle.post("/enter", data={"token": token, "switch": "yes"})
    assert there.status_code == 200
    assert "Workspace: <strong>other</strong>" in there.text


def test_ones_own_link_needs_no_question(idle: TestClient) -> None:
    assert idle.get(f"/?token={service_of(idle).sessions.token('own')}").status_code == 200


def test_another_site_cannot_switch_the_workspace(idle: TestClient) -> None:
    token = service_of(idle).sessions.token("other")
    forged = idle.post(
        "/enter", data={"token": token, "switch": "yes"}, headers={"origin": "https://elsewhere.example"}
    )
    assert forged.status_code == 403


@pytest.mark.parametrize("path", ["/", "/new", "/ask", "/api", "/tables/unknown"])
def test_every_page_names_the_workspace(idle: TestClient, path: str) -> None:
    assert "Workspace: <strong>own</strong>" in idle.get(path).text


def test_where_nobody_named_a_desk_it_is_the_account(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("getpass.getuser", lambda: "ann")
    with serving(tmp_path / "workspace", workers=0, desks=("own",)) as client:
        assert "Workspace: <strong>ann</strong>" in client.get("/").text
        assert events(client) == [("sign-in", "ann")]


def test_sign_ins_removals_and_sign_outs_are_logged_outside_the_workspace(idle: TestClient) -> None:
    post(idle, "/new/example", example="census-1000")
    [project] = desk_of(idle).projects()
    post(idle, f"/tables/{project.id}/remove")
    other = at(idle, "other")
    other.post("/leave", data={"csrf": csrf_of(other)})
    log = service_of(idle).audit.place
    assert events(idle) == [("sign-in", "own"), ("remove table", "own"), ("sign-in", "other"), ("sign-out", "other")]
    workspace = service_of(idle).settings.workspace
    assert workspace not in log.parents
    shutil.rmtree(workspace / "desks")
    assert len(list(lines_of(log))) == 4
    assert log.stat().st_mode & 0o077 == 0


def test_a_wrong_passphrase_is_logged(tmp_path: Path) -> None:
    app = create_app(Settings(workspace=tmp_path / "w", port=1, passphrase=PASSPHRASE, desks=("ann",), workers=0))
    with TestClient(app, base_url=ADDRESS) as client:
        token = service_of(client).sessions.token("ann")
        client.post("/enter", data={"token": token, "passphrase": "something else"})
        client.post("/api/session", json={"token": token, "passphrase": "again wrong"})
        client.post("/enter", data={"token": token, "passphrase": PASSPHRASE})
        assert events(client) == [("sign-in refused", "ann")] * 2 + [("sign-in", "ann")]


@pytest.mark.parametrize("fault", ["changed", "removed", "inserted", "cut off"])
def test_a_log_that_somebody_changed_is_found(tmp_path: Path, fault: str) -> None:
    log = AuditLog(tmp_path / "audit.jsonl")
    for user in ("ann", "bob", "eve", "dan"):
        log.record("sign-in", user)
    lines = log.place.read_text().splitlines(keepends=True)
    if fault == "changed":
        lines[1] = lines[1].replace("bob", "rob")
    elif fault == "removed":
        del lines[2]
    elif fault == "inserted":
        lines.insert(2, json.dumps({"event": "sign-in", "user": "eve", "before": "0" * 64}) + "\n")
    else:
        lines[-1] = lines[-1][:20]
    assert broken_line(log.place) is None
    log.place.write_text("".join(lines))
    assert broken_line(log.place) in (3, 4)
    with pytest.raises(OutputError, match="was changed: line"):
        log.check()


def test_a_log_that_cannot_be_written_stops_the_server(tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    with pytest.raises(OutputError, match="--audit-log FILE"):
        create_app(Settings(workspace=tmp_path / "w", audit_log=tmp_path / "taken"))
    with pytest.raises(ParameterError, match="must not lie in the workspace"):
        Settings(workspace=tmp_path / "w", audit_log=tmp_path / "w" / "audit.jsonl")
    assert beside(tmp_path / "w").parent == tmp_path


def test_a_proxy_that_ends_tls_works(tmp_path: Path) -> None:
    """The browser's origin is https, the server sees http: every form was refused with 403."""
    settings = Settings(
        workspace=tmp_path / "w", port=8765, behind_proxy=PROXY, passphrase=PASSPHRASE, desks=("ann",), workers=0
    )
    assert settings.address == PROXY
    app = create_app(settings)
    for host in ("release.example.org", "127.0.0.1:8765"):  # proxies hand the name on, or put their own
        with TestClient(app, base_url=f"http://{host}") as client:
            token = service_of(client).sessions.token("ann")
            proxied = {"origin": PROXY, "sec-fetch-site": "same-origin"}
            answer = client.post(
                "/enter",
                data={"token": token, "passphrase": PASSPHRASE},
                headers=proxied,
                follow_redirects=False,
            )
            assert answer.status_code == 303
            cookie = answer.headers["set-cookie"]
            assert cookie.startswith("__Host-undercover-8765=")
            assert "Secure" in cookie
            name, _, value = cookie.partition(";")[0].partition("=")
            csrf = service_of(client).sessions.session(value)
            assert csrf is not None
            signed_in = {**proxied, "cookie": f"{name}={value}"}
            link = client.post("/link", data={"csrf": csrf.csrf}, headers=signed_in)
            assert f"{PROXY}/?token=" in link.text
            other = client.post(
                "/link", data={"csrf": csrf.csrf}, headers={**signed_in, "origin": "https://evil.example"}
            )
            assert other.status_code == 403


@pytest.mark.parametrize(
    "wrong",
    [
        {"behind_proxy": "http://name", "passphrase": PASSPHRASE},
        {"behind_proxy": "https://name/path", "passphrase": PASSPHRASE},
        {"behind_proxy": "name", "passphrase": PASSPHRASE},
        {"behind_proxy": PROXY},
        {"behind_proxy": PROXY, "passphrase": PASSPHRASE, "host": "192.0.2.7"},
    ],
    ids=["not encrypted", "a path", "no address", "no passphrase", "reachable without the proxy"],
)
def test_a_proxy_that_protects_nothing_is_refused(tmp_path: Path, wrong: dict[str, str]) -> None:
    with pytest.raises(ParameterError):
        Settings(workspace=tmp_path, **wrong)  # type: ignore[arg-type]
