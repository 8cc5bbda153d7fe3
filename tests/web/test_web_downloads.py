"""Downloads: the zip is the public folder and nothing else, and what is said to make the release again does."""

from __future__ import annotations

import io
import json
import re
import shlex
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from releasing import OPEN, READY, WITHHELD, Released, private_texts
from serving import service_of
from starlette.testclient import TestClient

from undercover.cli.main import main
from undercover.errors import DataError
from undercover.web.access.audit_log import lines_of
from undercover.web.desks.outcomes import outcome
from undercover.web.released import packed


def public_of(made: Released, number: int) -> Path:
    return made.project.folder / "releases" / str(number) / "public"


def test_the_zip_is_the_public_folder_byte_for_byte(holder: TestClient, made: Released) -> None:
    answer = holder.get(made.at(READY, "public.zip"))
    assert answer.headers["content-disposition"] == 'attachment; filename="people-release-1.zip"'
    assert answer.headers["cache-control"] == "no-store"
    folder = public_of(made, READY)
    with zipfile.ZipFile(io.BytesIO(answer.content)) as found:
        assert found.testzip() is None
        assert sorted(found.namelist()) == sorted(path.name for path in folder.iterdir())
        for entry in found.infolist():
            assert found.read(entry) == (folder / entry.filename).read_bytes()
            assert entry.date_time == (1980, 1, 1, 0, 0, 0)
        everything = b"".join(found.read(entry) for entry in found.infolist())
    for private in private_texts(made, READY):
        assert private.name not in found.namelist()
        assert private.read_bytes() not in everything


def test_a_withheld_release_has_no_public_link(holder: TestClient, made: Released) -> None:
    for part in ("public.zip", "release.json"):
        assert holder.get(made.at(WITHHELD, part)).status_code == 404
        assert holder.get(made.at(OPEN, part)).status_code == 400
    assert "public.zip" not in holder.get(made.at(WITHHELD)).text
    assert holder.get(made.at(WITHHELD, "spec")).status_code == 200


def test_what_does_not_belong_into_a_public_folder_is_not_sent(
    holder: TestClient, made: Released, tmp_path: Path
) -> None:
    (tmp_path / "raw.csv").write_text("age\n34\n")
    for name in ("raw.csv", "datasheet2.html"):
        strange = public_of(made, READY) / name
        strange.symlink_to(tmp_path / "raw.csv")
        try:
            with pytest.raises(DataError, match="not as it was made"):
                packed.public_files(outcome(made.project, READY))
            assert holder.get(made.at(READY, "public.zip")).status_code == 400
        finally:
            strange.unlink()
    assert holder.get(made.at(READY, "public.zip")).status_code == 200


def test_a_large_file_is_sent_in_pieces(tmp_path: Path) -> None:
    content = bytes(range(256)) * 16_384
    (tmp_path / "table.csv").write_bytes(content)
    pieces = list(packed.zipped([tmp_path / "table.csv"]))
    assert len(pieces) > 3
    with zipfile.ZipFile(io.BytesIO(b"".join(pieces))) as found:
        assert found.read("table.csv") == content


def test_the_report_runs_its_own_script_and_no_other(holder: TestClient, made: Released) -> None:
    answer = holder.get(made.at(READY, "report"))
    policy = answer.headers["content-security-policy"]
    assert "sha256-" in policy
    assert "'self'" not in policy
    assert "frame-ancestors 'none'" in policy
    said = re.search(r"script-src '(sha256-[^']*)'", answer.text)
    assert said is not None
    assert said[1] in policy
    file = holder.get(made.at(READY, "report.html"))
    assert file.content == answer.content
    assert file.headers["content-disposition"] == 'attachment; filename="people-release-1-private-report.html"'


def test_command_and_python_make_such_a_release(
    holder: TestClient, made: Released, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside the table and the spec as they are downloaded, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_bytes(Path(made.project.whence).read_bytes())
    spec = holder.get(made.at(READY, "spec"))
    assert tomllib.loads(spec.text)["method"]["k"] == 20
    Path("spec.toml").write_bytes(spec.content)
    words = shlex.split(holder.get(made.at(READY, "command")).text.splitlines()[1])
    assert words[0] == "undercover"
    assert words == shlex.split(packed.command(outcome(made.project, READY)))
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code in (0, None)
    wanted = json.loads((public_of(made, READY) / "release.json").read_text())
    again = json.loads(Path("release/public/release.json").read_text())
    Path("release").rename("by-command")
    code = holder.get(made.at(READY, "python")).text
    exec(compile(code, "release.py", "exec"), {})
    by_python = json.loads(Path("release/public/release.json").read_text())
    for found in (again, by_python):
        for key in ("method", "guarantees", "form", "suppressed_rows"):
            assert found[key] == wanted[key]
        assert [(table["name"], table["rows"], table["columns"]) for table in found["tables"]] == [
            (table["name"], table["rows"], table["columns"]) for table in wanted["tables"]
        ]


def test_names_of_files_are_quoted(made: Released) -> None:
    found = outcome(made.project.change(name="our people; rm -rf (1)"), READY)
    try:
        assert "'our people; rm -rf (1).csv'" in packed.command(found)
        assert packed.file_name(found, ".zip") == "our-people-rm--rf-1-release-1.zip"
    finally:
        made.project.change(name="people.csv")


def test_a_password_is_not_written_into_a_script(made: Released) -> None:
    url = "postgres://ann:secret@host/name?table=t"
    found = outcome(made.project.change(source={"kind": "database", "url": url}), READY)
    try:
        for text in (packed.command(found), packed.python(found)):
            assert "secret" not in text
            assert "ann:***@host" in text
    finally:
        made.project.change(source={"kind": "upload", "path": "table.csv"})


def test_only_an_example_can_be_downloaded_itself(holder: TestClient, made: Released) -> None:
    assert holder.get(made.at(READY, "example")).status_code == 404
    made.project.change(source={"kind": "example", "name": "census", "path": "table.csv"})
    try:
        assert "example table" in holder.get(made.at(READY)).text
        assert holder.get(made.at(READY, "example")).content == Path(made.project.whence).read_bytes()
    finally:
        made.project.change(source={"kind": "upload", "path": "table.csv"})


def test_a_spec_with_hierarchies_comes_as_a_zip(holder: TestClient, made: Released) -> None:
    place = made.project.folder / "releases" / str(READY) / "private" / "hierarchy-1-age.csv"
    place.write_text("level0,level1\n1,*\n")
    try:
        answer = holder.get(made.at(READY, "spec"))
        with zipfile.ZipFile(io.BytesIO(answer.content)) as found:
            assert found.namelist() == ["spec.toml", "hierarchy-1-age.csv"]
    finally:
        place.unlink()


def test_downloads_are_logged_with_who_took_what(holder: TestClient, made: Released) -> None:
    for file in ("public.zip", "release.json", "spec", "report.html"):
        assert holder.get(made.at(READY, file)).status_code == 200
    logged = [line for line in lines_of(service_of(holder).audit.place) if line["event"] == "download"][-4:]
    assert [line["file"] for line in logged] == ["public.zip", "release.json", "spec", "report.html"]
    assert {(line["user"], line["table"], line["release"]) for line in logged} == {("own", made.project.id, READY)}
