"""Tokens, sessions, passphrases, headers, origins and sizes."""

from __future__ import annotations

import asyncio
import os
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from serving import ADDRESS, beside, csrf_of, entered, post, service_of, serving
from starlette.testclient import TestClient

from undercover.web.access import headers, sessions
from undercover.web.access.sessions import DAYS, Hasty, Sessions
from undercover.web.app import create_app
from undercover.web.settings import Settings

PASSPHRASE = "correct horse battery"


@pytest.fixture
def stranger(client: TestClient) -> TestClient:
    return TestClient(client.app, base_url=ADDRESS, follow_redirects=False)


def test_an_address_works_once(client: TestClient, stranger: TestClient) -> None:
    token = service_of(client).sessions.token("own")
    first = stranger.get(f"/?token={token}")
    assert (first.status_code, first.headers["location"]) == (303, "/")
    assert "HttpOnly" in first.headers["set-cookie"]
    assert "SameSite=strict" in first.headers["set-cookie"]
    assert stranger.get("/").status_code == 200
    assert stranger.get(f"/?token={token}").headers["location"] == "/"  # whoever is in stays in
    stranger.cookies.clear()
    again = stranger.get(f"/?token={token}")
    assert again.headers["location"] == "/enter?used=true"
    told = stranger.get("/enter?used=true")
    assert told.status_code == 401
    assert "used before" in told.text
    assert stranger.get("/").headers["location"] == "/enter"
    assert stranger.get("/api/tables").status_code == 401


def test_an_address_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made, now = Sessions(tmp_path), sessions.steady()
    token, cookie = made.token("own", 600), made.cookie("own")
    monkeypatch.setattr(sessions, "steady", lambda: now + 601)
    assert made.taken(token) is None
    assert made.session(cookie) is not None
    monkeypatch.setattr(sessions, "steady", lambda: now + DAYS * 86400 + 1)
    assert made.session(cookie) is None


def test_nobody_is_let_in_or_thrown_out_by_a_clock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made, now, steady = Sessions(tmp_path), time.time(), sessions.steady()
    token, gone, cookie = made.token("own", 600), made.token("own", 1), made.cookie("own")
    left = made.session(made.cookie("own"))
    assert left is not None
    made.leave(left)
    monkeypatch.setattr(sessions, "steady", lambda: steady + 60)
    for years in (-30, 30, -30):
        monkeypatch.setattr(sessions.time, "time", lambda years=years: now + years * 365 * 86400)
        assert (made.waits(token), made.waits(gone)) == (True, False)
        assert made.session(cookie) is not None
        other = made.session(made.cookie("own"))
        assert other is not None
        made.leave(other)
        assert left.key in made._left
    os.utime(tmp_path / "secret", (now + 1e9, now + 1e9))  # written when the clock was wrong
    monkeypatch.undo()
    assert Sessions(tmp_path).session(cookie) is not None
    assert abs((tmp_path / "secret").stat().st_mtime - now) < 86400, "it would have been good for decades"


def test_a_cookie_is_good_only_as_it_was_signed(tmp_path: Path) -> None:
    made = Sessions(tmp_path)
    cookie = made.cookie("own")
    desk, key, ends, signature = cookie.split(".")
    assert made.session(cookie) is not None
    for forged in (
        f"other.{key}.{ends}.{signature}",
        f"{desk}.{key}.{int(ends) + 1}.{signature}",
        f"{desk}.{key}.{ends}.{signature[:-1]}",
        f"{desk}.{key}.{ends}.",
        "",
        "....",
        None,
    ):
        assert made.session(forged) is None
    assert Sessions(tmp_path).session(cookie) is not None, "a restart does not sign anybody out"


def test_the_secret_is_renewed_and_an_empty_one_is_none(tmp_path: Path) -> None:
    before = Sessions(tmp_path).cookie("own")
    place, old = tmp_path / "secret", time.time() - (DAYS + 1) * 86400
    assert place.stat().st_mode & 0o777 == 0o600
    os.utime(place, (old, old))
    renewed = Sessions(tmp_path)
    assert renewed.session(before) is not None
    after = renewed.cookie("own")
    (tmp_path / "secret.before").unlink()
    assert Sessions(tmp_path).session(before) is None
    assert Sessions(tmp_path).session(after) is not None
    place.write_bytes(b"")
    assert Sessions(tmp_path).session(after) is None
    assert len(place.read_bytes()) == 32


def test_sign_out_ends_every_copy_of_a_cookie(client: TestClient) -> None:
    cookie = client.cookies[service_of(client).cookie]
    assert post(client, "/leave", follow_redirects=False).headers["location"] == "/enter"
    assert service_of(client).cookie not in client.cookies
    assert client.get("/api/tables", headers={"authorization": f"Bearer {cookie}"}).status_code == 401
    assert Sessions(service_of(client).settings.workspace).session(cookie) is None, "also after a restart"


def test_a_further_address(client: TestClient, stranger: TestClient) -> None:
    text = post(client, "/link").text
    address = text.split('value="http')[1].split('"')[0]
    assert stranger.get(f"http{address}").headers["location"] == "/"
    assert stranger.get("/").status_code == 200


def test_a_passphrase_is_asked_for(tmp_path: Path) -> None:
    app = create_app(Settings(workspace=tmp_path, port=1, passphrase=PASSPHRASE))
    client = TestClient(app, base_url=ADDRESS, follow_redirects=False)
    token = app.state.service.sessions.token("own")
    asked = client.get(f"/?token={token}")
    assert asked.status_code == 401
    assert 'type="password"' in asked.text
    wrong = client.post("/enter", data={"token": token, "passphrase": "wrong"})
    assert wrong.status_code == 401
    assert "not the passphrase" in wrong.text
    assert client.post("/enter", data={"token": token, "passphrase": PASSPHRASE}).headers["location"] == "/"
    assert client.get("/").status_code == 200


def test_wrong_passphrases_wait_and_nobody_is_kept_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1_000_000.0
    monkeypatch.setattr(sessions, "steady", lambda: now)
    made = Sessions(tmp_path)
    token, another = made.token("own"), made.token("own")
    for _ in range(3):
        assert made.taken(token, "wrong", PASSPHRASE) is None
    with pytest.raises(Hasty, match="Try again in 1 second"):
        made.taken(token, PASSPHRASE, PASSPHRASE)
    assert made.taken(another, PASSPHRASE, PASSPHRASE) == "own", "others are not kept out"
    for _ in range(30):
        now += 60.5
        assert made.taken(token, "wrong", PASSPHRASE) is None
    now += 60.5
    assert made.taken(token, PASSPHRASE, PASSPHRASE) == "own"


@pytest.mark.parametrize(
    ("given", "status"),
    [
        ({"host": "127.0.0.1:1"}, 200),
        ({"host": "localhost:1"}, 200),
        ({"host": "[::1]:1"}, 200),
        ({"host": "rebound.example:1"}, 421),
        ({"host": "127.0.0.1.example"}, 421),
        ({"host": ""}, 421),
        ({"host": "["}, 421),
        ({"host": "127.0.0.1:1@rebound.example"}, 421),
    ],
)
def test_only_names_of_this_server(client: TestClient, given: dict[str, str], status: int) -> None:
    assert client.get("/looks/report.css", headers=given).status_code == status


@pytest.mark.parametrize(
    ("given", "status"),
    [
        ({}, 303),
        ({"origin": ADDRESS}, 303),
        ({"origin": ADDRESS, "sec-fetch-site": "same-origin"}, 303),
        ({"origin": "null"}, 403),
        ({"origin": "http://127.0.0.1:2"}, 403),
        ({"origin": "https://127.0.0.1:1"}, 403),
        ({"origin": "https://example.org"}, 403),
        ({"origin": "["}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-site"}, 403),
    ],
)
def test_only_pages_of_this_server_post(client: TestClient, given: dict[str, str], status: int) -> None:
    answer = post(client, "/language", language="de", path="/", headers=given, follow_redirects=False)
    assert answer.status_code == status


@pytest.mark.parametrize("csrf", [None, "", "wrong", "é"])
def test_a_form_carries_what_only_its_session_knows(client: TestClient, csrf: str | None) -> None:
    fields = {"language": "de", "path": "/"}
    assert client.post("/language", data=fields | ({"csrf": csrf} if csrf is not None else {})).status_code == 403
    if csrf is not None:
        right = {**fields, "csrf": csrf_of(client)}
        answer = client.post("/language", data=right, headers={"x-csrf": csrf.encode("latin-1")})  # type: ignore[dict-item]
        assert answer.status_code == 403


@pytest.mark.parametrize("back", ["https://example.org", "//example.org", "/\\example.org", "javascript:alert(1)", ""])
def test_nobody_is_sent_elsewhere(client: TestClient, back: str) -> None:
    answer = post(client, "/language", language="de", path=back, follow_redirects=False)
    assert answer.headers["location"] == "/"


@pytest.mark.parametrize("path", ["/", "/enter", "/nowhere", "/static/app.css", "/api/tables", "/looks/report.css"])
def test_every_answer_carries_the_headers(client: TestClient, path: str) -> None:
    answer = client.get(path)
    kept = {**headers.HEADERS, "cache-control": answer.headers["cache-control"]}
    assert {name: answer.headers[name] for name in kept} == kept
    if not path.startswith(("/static", "/looks")):
        assert answer.headers["cache-control"] == "no-store"


def test_the_policy_lets_nothing_in() -> None:
    parts = dict(part.strip().split(" ", 1) for part in headers.POLICY.split(";"))
    assert parts == {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'",
        "style-src-attr": "'unsafe-inline'",
        "img-src": "'self' data:",
        "connect-src": "'self'",
        "form-action": "'self'",
        "frame-ancestors": "'none'",
        "base-uri": "'none'",
    }


SECRET = "Ann has the flu"


def test_a_bug_tells_no_value(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> None:
        raise ValueError(SECRET)

    monkeypatch.setattr("undercover.web.routes.home.following", broken)
    monkeypatch.setattr("undercover.web.desks.desk.Desk.projects", broken)
    quiet = TestClient(client.app, base_url=ADDRESS, raise_server_exceptions=False, cookies=dict(client.cookies))
    for path, kind in (("/", "text/html"), ("/api/tables", "application/json")):
        answer = quiet.get(path)
        assert answer.status_code == 500
        assert kind in answer.headers["content-type"]
        assert "bug of undercover" in answer.text
        assert SECRET not in answer.text
        assert answer.headers["content-security-policy"] == headers.POLICY


def pieces(size: int) -> Any:
    """A body whose length nobody was told."""
    for _ in range(size // 1024):
        yield b"x" * 1024


@pytest.mark.parametrize("kind", ["multipart/form-data; boundary=x", "application/x-www-form-urlencoded"])
def test_a_body_that_is_too_large(tmp_path: Path, kind: str) -> None:
    sent = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n'
    with serving(tmp_path, most_bytes=50_000) as client:
        about = {"content-type": kind, "x-csrf": csrf_of(client)}
        told = client.post("/new", content=b"x" * 60_000, headers=about)
        assert told.status_code == 413

        def untold() -> Any:
            yield sent
            yield from pieces(60_000)

        assert client.post("/new", content=untold(), headers=about).status_code == 413
        assert list((tmp_path / "desks" / "own").iterdir()) == []


def test_a_stranger_sends_little(client: TestClient, stranger: TestClient) -> None:
    kind = {"content-type": "application/x-www-form-urlencoded"}
    assert stranger.post("/new", content=b"x" * 20_000, headers=kind).status_code == 401
    assert stranger.post("/enter", content=pieces(20_000), headers=kind).status_code == 413


def test_only_files_are_large(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(headers, "HELD_BYTES", 30_000)
    about = {"content-type": "application/json", "x-csrf": csrf_of(client)}
    assert client.post("/new", content=pieces(40_000), headers=about).status_code in (400, 405, 413)
    assert client.post("/language", content=b"x" * 40_000, headers=about).status_code == 413


def test_whoever_stops_sending_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    async def never() -> Any:
        await asyncio.sleep(60)

    monkeypatch.setattr(headers, "PATIENCE", 0.01)
    with pytest.raises(headers.TooSlow):
        beside(headers._counted(never, 10)())  # type: ignore[arg-type]


def test_two_servers_of_a_machine_do_not_share_a_cookie(client: TestClient, tmp_path: Path) -> None:
    service = service_of(client)
    beside = replace(service, settings=replace(service.settings, port=2))
    secure = replace(service, settings=replace(service.settings, certificate=Path("c"), key=Path("k")))
    assert [one.cookie for one in (service, beside, secure)] == ["undercover-1", "undercover-2", "__Host-undercover-1"]
    with serving(tmp_path / "another") as another:
        another.cookies.update(dict(client.cookies))
        assert another.get("/api/tables").status_code == 401, "another workspace has another secret"
        another.cookies.clear()
        assert entered(another, "own").get("/api/tables").status_code == 200
