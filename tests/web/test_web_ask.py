"""Ask a release: it is opened in every way, verified, read and asked; what is none is explained."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from serving import at, csrf_of, desk_of, over, post, service_of, serving
from starlette.testclient import TestClient
from web_received import ORIGINAL, packed, public_files

import undercover as uc
from undercover.hierarchies.file import hierarchy_text
from undercover.web.asked.opened import Opened, open_files, opened, opened_of
from undercover.web.asked.questions import ask
from undercover.web.asked.verifying import verify
from undercover.web.desks.desk import Desk
from undercover.web.desks.progress import releases


def text_of(page: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))


def received(desk: Desk, files: Mapping[str, bytes]) -> Opened:
    """A release that was opened and verified, in this process."""
    one = open_files(desk, [("given.zip", io.BytesIO(packed(files)))], 1 << 24)
    verify(one.work, {}, lambda *said, **more: None)
    return Opened(one.folder)


@pytest.fixture(scope="module")
def recipient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """Somebody at the desk "own"; beside the workspace lies a release in a folder that may be opened."""
    place = tmp_path_factory.mktemp("asked")
    for file, content in public_files().items():
        (place / "given" / "survey" / "public").mkdir(parents=True, exist_ok=True)
        (place / "given" / "survey" / "public" / file).write_bytes(content)
    with serving(place / "workspace", folders=(place / "given",)) as client:
        yield client


@pytest.fixture(scope="module")
def one(recipient: TestClient) -> Opened:
    """A release that was uploaded as a zip and verified by a worker."""
    answer = post(recipient, "/ask", files={"files": ("given.zip", packed(public_files()))})
    found = opened_of(desk_of(recipient))[0]
    assert str(answer.url).endswith(f"/ask/{found.id}")
    assert over(recipient, found.work).state == "done"
    return found


def test_an_uploaded_release_is_verified_and_told(recipient: TestClient, one: Opened) -> None:
    page = text_of(recipient.get(f"/ask/{one.id}").text)
    assert "Every promise holds" in page
    assert "2-anonymity" in page
    assert "Nobody signed it" in page
    assert "6 rows" in page
    german = text_of(recipient.get(f"/ask/{one.id}", headers={"accept-language": "de"}).text)
    assert "Alle Zusagen stimmen" in german
    sheet = recipient.get(f"/ask/{one.id}/datasheet")
    assert "What is guaranteed" in sheet.text
    assert "sandbox" in sheet.headers["content-security-policy"]


def test_the_answers_are_those_of_the_library(recipient: TestClient, one: Opened) -> None:
    asked = {"what": "count", "low-0": "23", "high-0": "40"}
    page = post(recipient, f"/ask/{one.id}/question", **asked)
    assert "The truth surely lies between 2 and 4 ." in text_of(page.text)
    part = post(
        recipient,
        f"/ask/{one.id}/question",
        headers={"hx-request": "true"},
        **{"what": "sum", "column": "pay", "text-1": "Bonn", "how-1": "none"},
    )
    assert part.text.lstrip().startswith('<div id="answer"')
    assert "none of Bonn" in text_of(part.text)
    newest, before = one.questions[:2]
    assert (before["estimate"], before["lower"], before["upper"]) == (3.0, 2, 4)
    people = ORIGINAL.to_pylist()
    assert newest["lower"] <= sum(one["pay"] for one in people if one["town"] != "Bonn") <= newest["upper"]


def test_the_python_shown_gives_the_same_answer(
    recipient: TestClient, one: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    post(recipient, f"/ask/{one.id}/question", **{"what": "count", "high-0": "24", "value-2": "10"})
    question = one.questions[0]
    monkeypatch.chdir(one.folder)
    *before, last = question["python"].splitlines()
    known: dict[str, object] = {}
    exec("\n".join([*before, f"found = {last}"]), known)
    assert known["found"].to_dict() == {name: question[name] for name in ("estimate", "lower", "upper")}  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"what": "count", "low-0": "young"}, "asked for a number. Got &#39;young&#39;"),
        ({"what": "count", "low-0": "nan"}, "asks for finite numbers"),
        ({"what": "count", "low-0": "1" * 5000}, "asks for finite numbers"),
        ({"what": "count", "low-0": "1", "text-0": "2"}, "not both"),
        ({"what": "count", "value-1": "Berlin"}, "Berlin"),
        ({"what": "sum", "column": "town"}, "town"),
        ({"what": "sum", "column": ""}, "Choose the column"),
        ({"what": "sum", "column": "nobody"}, "nobody"),
    ],
)
def test_a_question_that_cannot_be_answered_is_explained(
    recipient: TestClient, one: Opened, fields: dict[str, str], why: str
) -> None:
    answer = post(recipient, f"/ask/{one.id}/question", headers={"hx-request": "true"}, **fields)
    assert answer.status_code == 400
    assert why in answer.text
    assert 'role="alert"' in answer.text


def test_a_folder_and_single_files_are_opened(recipient: TestClient) -> None:
    listed = recipient.get("/ask").text
    assert "given/survey/public" in listed
    post(recipient, "/ask/folder", place="given/survey/public")
    assert opened_of(desk_of(recipient))[0].facts["origin"] == "folder"
    assert post(recipient, "/ask/folder", place="given/../given/survey/public").status_code == 404
    files = [("files", (name, content)) for name, content in public_files().items()]
    post(recipient, "/ask", files=files)
    newest = opened_of(desk_of(recipient))[0]
    assert {file.name: file.read_bytes() for file in newest.public.iterdir()} == public_files()


def test_only_the_public_part_of_ones_own_release_is_opened(recipient: TestClient) -> None:
    project = desk_of(recipient).add("survey.csv", {"kind": "example", "path": ""})
    for number, part in ((1, "public"), (2, "withheld")):
        place = project.folder / "releases" / str(number) / part
        place.mkdir(parents=True)
        for name, content in public_files().items():
            (place / name).write_bytes(content)
    assert releases(project) == [2, 1]
    assert "Open release 1" in recipient.get("/ask").text
    assert "Open release 2" not in recipient.get("/ask").text
    refused = post(recipient, f"/ask/from/{project.id}/2")
    assert (refused.status_code, "withheld" in refused.text) == (400, True)
    assert post(recipient, f"/ask/from/{project.id}/3").status_code == 404
    post(recipient, f"/ask/from/{project.id}/1")
    assert sorted(file.name for file in opened_of(desk_of(recipient))[0].public.iterdir()) == sorted(public_files())
    desk_of(recipient).remove(project)


def test_a_signature_is_checked_with_the_key_that_is_given(recipient: TestClient, tmp_path: Path) -> None:
    keys = [uc.new_key(tmp_path / name) for name in ("own", "other")]
    schema = uc.Schema(quasi_identifiers=["age", "town"], sensitive="pay")
    run = uc.publish(ORIGINAL, schema, uc.Mondrian(k=2), seed=1, policy="none")
    out = uc.save(run, tmp_path / "out", sign=tmp_path / "own")
    files = {file.name: file.read_bytes() for file in (out / "public").iterdir()}
    desk = desk_of(recipient)
    signed = received(desk, files)
    assert "Whose key that is only the holder can tell you" in recipient.get(f"/ask/{signed.id}").text
    for key, outcome in zip(keys, ("holds", "fails"), strict=True):
        post(recipient, f"/ask/{signed.id}/key", files={"key": ("a.pub", key.read_bytes())})
        verify(signed.work, {}, lambda *said, **more: None)
        assert Opened(signed.folder).found["outcome"] == outcome  # type: ignore[index]
    assert "Not signed by the key you gave" in recipient.get(f"/ask/{signed.id}").text


def test_what_one_desk_opened_another_does_not_see(recipient: TestClient, one: Opened) -> None:
    other = at(recipient, "other")
    assert one.id not in other.get("/ask").text
    for path in (f"/ask/{one.id}", f"/ask/{one.id}/datasheet"):
        assert other.get(path).status_code == 404
    for path in ("question", "key", "remove"):
        assert post(other, f"/ask/{one.id}/{path}").status_code == 404
    assert recipient.post(f"/ask/{one.id}/remove", data={"csrf": csrf_of(other)}).status_code == 403
    assert one.folder.is_dir()


def test_a_release_is_removed(recipient: TestClient) -> None:
    gone = received(desk_of(recipient), public_files())
    assert post(recipient, f"/ask/{gone.id}/remove").status_code == 200
    assert recipient.get(f"/ask/{gone.id}").status_code == 404
    assert not gone.folder.exists()


def test_nothing_was_sent(recipient: TestClient) -> None:
    answer = post(recipient, "/ask", files={"files": ("", b"")})
    assert (answer.status_code, "Choose a zip" in answer.text) == (400, True)


def manifest(**changed: object) -> dict[str, bytes]:
    content = {**json.loads(public_files()["release.json"]), **changed}
    return {**public_files(), "release.json": json.dumps(content).encode()}


TABLE = json.loads(public_files()["release.json"])["tables"][0]
DAMAGED = {
    "a list": {**public_files(), "release.json": b"[1, 2]"},
    "deep": {**public_files(), "release.json": b'{"a":' * 50_000 + b"1" + b"}" * 50_000},
    "not UTF-8": {**public_files(), "release.json": b'{"undercover": "\xff\xfe"}'},
    "no JSON": {**public_files(), "release.json": b"<html>"},
    "a number of many digits": {**public_files(), "release.json": b'{"suppressed_rows": ' + b"9" * 6000 + b"}"},
    "infinity": manifest(guarantees=[{"name": "k-anonymity", "k": float("inf"), "columns": ["age"]}]),
    "too large for a number": {
        **public_files(),
        "release.json": public_files()["release.json"].replace(b"2", b"1e999"),
    },
    "not a number": manifest(guarantees=[{"name": "k-anonymity", "k": 2, "actual": float("nan"), "columns": ["age"]}]),
    "no number": manifest(guarantees=[{"name": "k-anonymity", "k": "many", "columns": ["age"]}]),
    "huge rows": manifest(tables=[{**TABLE, "rows": 10**30}]),
    "rows below zero": manifest(tables=[{**TABLE, "rows": -5}], suppressed_rows=-(10**25)),
    "an unknown form": manifest(form={"name": "nobody's"}),
    "a form that is a list": manifest(form=[1]),
    "fields of a form": manifest(form={"name": 7, "values": {"a": 1}}),
    "promises of nobody": manifest(guarantees=[{"name": "perfect-secrecy"}]),
    "a promise without a name": manifest(guarantees=[{}]),
    "names of columns twice": manifest(tables=[{**TABLE, "columns": TABLE["columns"] * 2}]),
    "no tables": manifest(tables=[]),
    "a file above": manifest(tables=[{**TABLE, "file": "../table.csv"}]),
    "a method of nobody": manifest(method={"name": "<script>", "parameters": {"k": {"a": [1]}}}),
    "another CSV": {**public_files(), "table.csv": b"height,weight\n1,2\n"},
    "an empty CSV": {**public_files(), "table.csv": b""},
    "a CSV of bytes": {**public_files(), "table.csv": bytes(range(256)) * 50},
    "a Parquet that is none": {
        **manifest(tables=[{**TABLE, "file": "table.parquet"}]),
        "table.parquet": b"PAR1" + bytes(500) + b"PAR1",
    },
    "an Excel file that is none": {
        **manifest(tables=[{**TABLE, "file": "table.xlsx"}]),
        "table.xlsx": b"PK" + bytes(99),
    },
    "a signature of nothing": {**public_files(), "release.sig": b"[]"},
    "a package of nothing": {**public_files(), "datapackage.json": b"nothing"},
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_hostile_release_is_explained(name: str, recipient: TestClient) -> None:
    found = received(desk_of(recipient), DAMAGED[name])
    assert found.found is not None
    assert found.found["outcome"] in ("fails", "unreadable")
    assert found.found["problems"] or any(one["holds"] is False for one in found.found["promises"])
    assert str(found.folder) not in json.dumps(found.found)
    page = recipient.get(f"/ask/{found.id}")
    assert page.status_code == 200
    assert "<script>" not in page.text
    asked = post(recipient, f"/ask/{found.id}/question", what="count")
    assert asked.status_code in (200, 400)


def test_a_worker_that_dies_is_told(recipient: TestClient) -> None:
    dying = open_files(desk_of(recipient), [("a.zip", io.BytesIO(packed(public_files())))], 1 << 24)
    job = service_of(recipient).queue.add(dying.work, "verify", {})
    service_of(recipient).queue.cancel(dying.work, job.id)
    page = recipient.get(f"/ask/{dying.id}")
    assert (page.status_code, "could not be verified" in page.text) == (200, True)
    assert post(recipient, f"/ask/{dying.id}/question", what="count").status_code == 400


def test_the_words_of_the_holder_are_told(recipient: TestClient, tmp_path: Path) -> None:
    about = {"title": "A <b>survey</b>", "publisher": "The town", "date": "2026-01-31", "licence": "CC-BY-4.0"}
    columns = {"age": uc.Column(description="Age at the time", unit="years")}
    schema = uc.Schema(quasi_identifiers=["age", "town"], sensitive="pay", about=about, columns=columns)
    run = uc.publish(ORIGINAL, schema, uc.Mondrian(k=2), seed=1, policy="none")
    out = uc.save(run, tmp_path / "out")
    one = received(desk_of(recipient), {file.name: file.read_bytes() for file in (out / "public").iterdir()})
    page, sheet = recipient.get(f"/ask/{one.id}").text, recipient.get(f"/ask/{one.id}/datasheet").text
    for word in ("A &lt;b&gt;survey&lt;/b&gt;", "The town", "2026-01-31", "CC-BY-4.0"):
        assert word in page
        assert word in sheet
    assert "Age at the time" in sheet


def test_a_column_of_nodes_is_asked_when_its_hierarchy_is_told(recipient: TestClient, tmp_path: Path) -> None:
    towns = uc.Hierarchy([("Bonn", "DE"), ("Köln", "DE"), ("Lyon", "FR"), ("Rome", "IT")])
    columns = {"town": uc.Column(hierarchy=towns)}
    schema = uc.Schema(quasi_identifiers=["town"], sensitive="pay", columns=columns)
    release = uc.publish(ORIGINAL.select(["town", "pay"]), schema, uc.Mondrian(k=2), seed=1, policy="none")
    out = uc.save(release, tmp_path / "out")
    one = received(desk_of(recipient), {file.name: file.read_bytes() for file in (out / "public").iterdir()})
    assert "1 column that cannot be asked about yet" in recipient.get(f"/ask/{one.id}").text
    assert post(recipient, f"/ask/{one.id}/question", what="count", **{"text-0": "Bonn"}).status_code == 400
    wrong = post(recipient, f"/ask/{one.id}/values", column="town", files={"hierarchy": ("towns.csv", b"a,b\n1,2\n")})
    assert (wrong.status_code, "towns.csv" in wrong.text, one.folder.name in wrong.text) == (400, True, False)
    content = hierarchy_text(towns)
    told = post(recipient, f"/ask/{one.id}/values", column="town", files={"hierarchy": ("t.csv", content.encode())})
    assert told.status_code == 200
    verify(one.work, {}, lambda *said, **more: None)
    asked = Opened(one.folder)
    assert asked.found["columns"][0]["values"] == ["Bonn", "Köln", "Lyon", "Rome"]  # type: ignore[index]
    answer = ask(asked, None, {"town": uc.OneOf(["Bonn", "Köln"])})
    assert answer["lower"] <= 4 <= answer["upper"]
    assert "read_hierarchy" in answer["python"]


def test_two_tables_are_asked(tmp_path: Path) -> None:
    found = received(Desk(tmp_path, "own"), public_files("anatomy"))
    answer = ask(found, None, {})
    assert (answer["estimate"], answer["lower"], answer["upper"]) == (6.0, 6, 6)
    assert opened(Desk(tmp_path, "own"), found.id).questions[0]["sure"] == "surely"
