"""Step 1: where a table comes from, how it is read, and its profile."""

from __future__ import annotations

import errno
import gzip
import io
import os
import sqlite3
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as parquet
import pytest
from openpyxl import Workbook
from serving import ADDRESS, csrf_of, desk_of, entered, over, serving, uploaded
from starlette.testclient import TestClient

from undercover.errors import DataError
from undercover.waiting import no_progress
from undercover.web.app import create_app
from undercover.web.desks.desk import Desk
from undercover.web.desks.folders import listed_in
from undercover.web.desks.project import Project
from undercover.web.desks.sources import examples, from_database, from_example, from_folder, from_upload, with_password
from undercover.web.jobs import gathering
from undercover.web.jobs import profile as profiling
from undercover.web.jobs.profile import codes_of, profile
from undercover.web.settings import Settings
from undercover.wording import asked_by

CSV = b"name,age,zip,disease\nAnn,31,01234,flu\nBob,44,01235,?\nCid,,01234,gout\n"
LIMITS = {"most_rows": 1000, "most_bytes": 1 << 20}


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    folder = tmp_path / "shared"
    folder.mkdir()
    return Settings(workspace=tmp_path / "workspace", port=1, folders=(folder,))


@pytest.fixture
def desk(settings: Settings) -> Desk:
    return Desk(settings.workspace, "own")


@pytest.fixture
def client(settings: Settings) -> TestClient:
    """Signed in; no job is run."""
    client = entered(TestClient(create_app(settings), base_url=ADDRESS), "own")
    client.headers["x-csrf"] = csrf_of(client)
    return client


def sent(desk: Desk, settings: Settings, name: str, content: bytes) -> Project:
    return from_upload(desk, settings, name, io.BytesIO(content))


def profiled(project: Project, **request: object) -> Project:
    profile(project, {**LIMITS, **request}, no_progress)
    return Project(project.folder)


def named(project: Project) -> list[str]:
    assert project.profile is not None
    return [column["name"] for column in project.profile["inspection"]["columns"]]


def of_arrow(write) -> bytes:
    target = pa.BufferOutputStream()
    write(pa.table({"age": [31, 44], "disease": ["flu", "gout"]}), target)
    return target.getvalue().to_pybytes()


def workbook(**sheets: list[list[object]]) -> bytes:
    book = Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    target = io.BytesIO()
    book.save(target)
    return target.getvalue()


def zipped(name: str, content: bytes) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr(name, content)
    return target.getvalue()


def statistics(tmp_path: Path, suffix: str) -> bytes:
    import pandas as pd
    import pyreadstat

    place = tmp_path / f"made{suffix}"
    write = pyreadstat.write_sav if suffix == ".sav" else pyreadstat.write_dta
    write(pd.DataFrame({"age": [31, 44], "disease": ["flu", "gout"]}), str(place))
    return place.read_bytes()


PLAIN = b"age,disease\n31,flu\n44,gout\n"
FILES = {
    "people.csv": PLAIN,
    "people.tsv": PLAIN.replace(b",", b"\t"),
    "people.csv.gz": gzip.compress(PLAIN),
    "people.zip": zipped("inner.csv", PLAIN),
    "people.parquet": of_arrow(parquet.write_table),
    "people.feather": of_arrow(feather.write_feather),
    "people.jsonl": b'{"age": 31, "disease": "flu"}\n{"age": 44, "disease": "gout"}\n',
    "people.xlsx": workbook(Adults=[["age", "disease"], [31, "flu"], [44, "gout"]]),
    "people": PLAIN,  # no ending: found out
    "export.dat": of_arrow(parquet.write_table),
    "people.csv ": workbook(Adults=[["age", "disease"], [31, "flu"], [44, "gout"]]),  # named wrongly
}


@pytest.mark.parametrize("name", FILES)
def test_every_kind_of_file_is_read(desk, settings, name):
    assert named(profiled(sent(desk, settings, name, FILES[name]))) == ["age", "disease"]


@pytest.mark.parametrize("suffix", [".sav", ".dta"])
def test_files_of_statistics_programs_are_read(desk, settings, tmp_path, suffix):
    project = profiled(sent(desk, settings, f"people{suffix}", statistics(tmp_path, suffix)))
    assert named(project) == ["age", "disease"]


REFUSED = {
    "old.xls": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1rest", "save it as .xlsx"),
    "report.pdf": (b"%PDF-1.7 rest", "PDF"),
    "page.csv": (b"  <!DOCTYPE html><p>no", "web page"),
    "odd.bin": (b"\x01\x00\x02rest", ".parquet"),
    "nothing.csv": (b" \n", "empty"),
    "torn.xlsx": (b"PK\x03\x04 torn", "damaged or incomplete"),
    "table.ods": (zipped("mimetype", b"application/vnd.oasis"), "save the table"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_of_what_is_no_table_nothing_is_kept(desk, settings, name):
    content, said = REFUSED[name]
    with pytest.raises(DataError, match=said):
        sent(desk, settings, name, content)
    assert desk.projects() == []


def test_a_wrong_encoding_is_told_with_what_to_choose(desk, settings):
    project = sent(desk, settings, "people.csv", "name,city\nAnn,Köln\n".encode("latin-1"))
    with asked_by("page"), pytest.raises(DataError, match="line 2: the byte 0xf6") as raised:
        profiled(project, how={"encoding": "utf-8"})
    assert "Try `encoding: latin-1`" in str(raised.value)
    assert named(profiled(project)) == ["name", "city"]  # found out by itself


BROKEN = {
    "ragged": (b"a,b\n1,2\n1,2,3\n", r"line 3: 3 fields where the header has 2"),
    "twice": (b"a,a\n1,2\n", r"more than one column is named `a`"),
    "header only": (b"a,b\n", r"no rows"),
    "not closed": (b'a,b\n1,"x\n2,y\n', r"line 2: a quotation mark opens a cell here and nothing closes it"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_what_is_wrong_with_a_file_is_told_by_its_own_name(desk, settings, case):
    content, said = BROKEN[case]
    project = sent(desk, settings, "people.csv", content)
    with pytest.raises(DataError, match=said) as raised:
        profiled(project)
    assert "`people.csv`" in str(raised.value)
    assert str(settings.workspace) not in str(raised.value)
    assert Project(project.folder).profile is None  # it stays, to be read in another way


def test_a_profile_has_codes_values_pictures_and_rows(desk, settings):
    project = profiled(sent(desk, settings, "people.csv", CSV))
    found = project.profile
    assert found["values"]["zip"]["values"] == ["01234", "01235"]
    assert found["values"]["zip"]["counts"] == [2, 1]
    assert codes_of(project, "zip").tolist() == [0, 1, 0]
    assert codes_of(project, "zip").dtype == np.int8
    age = found["values"]["age"]
    assert (age["size"], age["missing"]) == (3, 2)
    assert codes_of(project, "age").tolist() == [0, 1, 2]
    assert found["pictures"]["age"]["spread"][0] == 1.0
    assert found["pictures"]["age"]["path"].startswith("M0 24v-24h3.4")
    assert found["pictures"]["name"] == {}  # a suspected identifier
    assert (found["read"]["separator"], found["pages"]) == (",", 1)


@pytest.mark.parametrize("cells", ["1e308 -1e308", "inf 1 2", "inf -inf", "5 5", "nan nan 1"])
def test_odd_numbers_have_a_profile(desk, settings, cells):
    numbers = [float(cell) for cell in cells.split()]
    target = io.BytesIO()
    parquet.write_table(pa.table({"income": numbers}), target)
    project = profiled(sent(desk, settings, "people.parquet", target.getvalue()))
    assert named(project) == ["income"]


def test_files_are_read_anew_and_decisions_that_fit_are_kept(desk, settings):
    project = profiled(sent(desk, settings, "people.csv", b"a;b\n15;?\n25;x\n"))
    project.change(spec={"roles": {"sensitive": ["b"], "quasi_identifiers": ["a"]}, "data": {"missing": "category"}})
    again = profiled(Project(project.folder), how={"nulls": ["?"]})
    assert again.profile["inspection"]["columns"][1]["missing"] == 1
    assert again.spec["data"] == {"missing": "category", "nulls": ["?"]}
    assert again.spec["roles"]["sensitive"] == ["b"]
    other = profiled(again, how={"separator": ","})
    assert named(other) == ["a;b"]
    assert other.profile["dropped"] == ["a", "b"]
    assert other.choices["columns_decided"] is False
    assert other.spec["roles"] == {}


def test_a_way_to_read_that_fails_changes_nothing(desk, settings):
    project = profiled(sent(desk, settings, "people.csv", CSV))
    with pytest.raises(DataError, match="encoding"):
        profiled(project, how={"encoding": "no-such"})
    assert Project(project.folder).spec == project.spec
    assert Project(project.folder).profile == project.profile


def test_another_sheet_can_be_chosen(desk, settings):
    content = workbook(Cover=[["Report"], ["of 2024"]], Adults=[["age", "disease"], [31, "flu"]])
    project = profiled(sent(desk, settings, "people.xlsx", content))
    assert project.profile["read"]["sheets"] == ["Cover", "Adults"]
    assert named(project) == ["Report"]
    other = profiled(project, how={}, sheet="Adults")
    assert named(other) == ["age", "disease"]
    assert other.whence.endswith(".xlsx#Adults")


def test_too_many_rows_and_bombs_are_refused(desk, settings):
    with pytest.raises(DataError, match="at most 2"):
        profiled(sent(desk, settings, "people.csv", CSV), most_rows=2)
    bomb = b"a,b\n" + b"1,2\n" * 200_000
    for name, packed in (("bomb.csv.gz", gzip.compress(bomb)), ("bomb.zip", zipped("bomb.csv", bomb))):
        assert len(packed) < 10_000
        with pytest.raises(DataError, match="Unpacked"):
            profiled(sent(desk, settings, name, packed), most_bytes=100_000)


def test_rows_that_a_small_file_says_are_not_read(desk, settings, monkeypatch):
    monkeypatch.setattr(profiling, "read", lambda *_, **__: pytest.fail("was read"))
    project = sent(desk, settings, "people.parquet", FILES["people.parquet"])
    with pytest.raises(DataError, match="has 2 rows"):
        profiled(project, most_rows=1)


@pytest.mark.parametrize("name", list(examples()))
def test_examples_are_tables(desk, settings, name):
    if name == "census-200000":
        assert from_example(desk, settings, name).source["name"] == name
        return
    project = profiled(from_example(desk, settings, name), most_rows=10**6, most_bytes=1 << 26)
    assert project.profile["inspection"]["rows"] >= 3


def test_files_of_allowed_folders_stay_where_they_are(desk, settings):
    (settings.folders[0] / "sub").mkdir()
    (settings.folders[0] / "sub" / "people.csv").write_bytes(CSV)
    (settings.folders[0] / "notes.md").write_text("no table")
    (settings.folders[0] / ".hidden.csv").write_bytes(CSV)
    Path(os.fsdecode(os.fsencode(settings.folders[0]) + b"/\xff.csv")).write_bytes(CSV)  # a name that is no text
    assert [entry.path for entry in listed_in(settings, "")] == ["shared"]
    assert [entry.path for entry in listed_in(settings, "shared")] == ["shared/sub"]
    assert [entry.path for entry in listed_in(settings, "shared/sub")] == ["shared/sub/people.csv"]
    project = profiled(from_folder(desk, settings, "shared/sub/people.csv"))
    assert project.whence == str(settings.folders[0].resolve() / "sub" / "people.csv")
    assert list((project.folder / "data").iterdir()) == []


OUTSIDE = [
    "",
    "shared",
    "shared/",
    "shared/..",
    "shared/../outside.csv",
    "shared/sub/../../outside.csv",
    "shared//etc/passwd",
    "/etc/passwd",
    "../outside.csv",
    "other/people.csv",
    "shared/\0.csv",
    "shared/link.csv",
    "shared/linked/outside.csv",
    "shared\\..\\outside.csv",
    "shared/desks/people.csv",
    "shared/missing.csv",
    "shared/" + "x" * 5000,
]


@pytest.mark.parametrize("path", OUTSIDE)
def test_no_path_leads_out_of_allowed_folders(desk, settings, tmp_path, path):
    shared = settings.folders[0]
    (shared / "sub").mkdir()
    (tmp_path / "outside.csv").write_bytes(CSV)
    (shared / "link.csv").symlink_to(tmp_path / "outside.csv")
    (shared / "linked").symlink_to(tmp_path)
    settings.workspace.joinpath("people.csv").write_bytes(CSV)
    (shared / "desks").symlink_to(settings.workspace)
    with pytest.raises(DataError, match="no such file"):
        from_folder(desk, settings, path)
    assert [entry.name for entry in listed_in(settings, "shared")] == ["sub"]
    assert desk.projects() == []


def test_a_file_that_is_not_what_it_is_named_is_told_so(desk, settings):
    (settings.folders[0] / "people.csv").write_bytes(FILES["people.xlsx"])
    (settings.folders[0] / "notes.md").write_bytes(CSV)
    with pytest.raises(DataError, match=r"Rename it to end in \.xlsx"):
        from_folder(desk, settings, "shared/people.csv")
    with pytest.raises(DataError, match=r"Rename it to end in \.csv"):
        from_folder(desk, settings, "shared/notes.md")


def test_a_link_within_an_allowed_folder_is_followed_and_the_workspace_is_not_opened(desk, settings):
    shared = settings.folders[0]
    (shared / "people.csv").write_bytes(CSV)
    (shared / "same.csv").symlink_to(shared / "people.csv")
    assert from_folder(desk, settings, "shared/same.csv").whence == str(shared.resolve() / "people.csv")
    above = Settings(workspace=shared / "workspace", port=1, folders=(shared,))
    Desk(above.workspace, "own")
    (above.workspace / "people.csv").write_bytes(CSV)
    with pytest.raises(DataError, match="no such file"):
        from_folder(desk, above, "shared/workspace/people.csv")


@pytest.fixture
def database(settings: Settings) -> Path:
    place = settings.folders[0] / "people.db"
    with sqlite3.connect(place) as connection:
        connection.execute("CREATE TABLE people (age INTEGER, disease TEXT)")
        connection.executemany("INSERT INTO people VALUES (?, ?)", [(31, "flu"), (44, "gout")])
    connection.close()
    return place


def test_a_database_is_read_once_and_kept_as_a_file(desk, settings, database):
    project = profiled(from_database(desk, settings, "sqlite:///people.db?table=people"))
    assert named(project) == ["age", "disease"]
    database.unlink()
    assert named(profiled(project, how={"nulls": ["flu"]})) == ["age", "disease"]


def test_a_password_is_forgotten_when_the_table_was_read(desk, settings, monkeypatch):
    asked = []
    answer = pa.table({"age": [31, 44], "disease": ["flu", "gout"]})
    monkeypatch.setattr(gathering, "read_database", lambda url, *rest, **more: (asked.append(url), answer)[1])
    project = from_database(desk, settings, "postgres://ann:s3cret@host/name?table=people")
    assert "s3cret" in str(project.facts)
    project = profiled(project)
    assert asked == ["postgres://ann:s3cret@host/name?table=people"]
    assert not [place for place in project.folder.rglob("*") if place.is_file() and b"s3cret" in place.read_bytes()]


@pytest.mark.parametrize(
    "url",
    [
        "sqlite:////etc/passwd?table=t",
        "duckdb:///../outside.db?table=t",
        "sqlite:///missing.db?table=t",
        "http://127.0.0.1/x",
        "people.db",
        "sqlite:///people.db",
    ],
)
def test_databases_outside_of_allowed_folders_are_refused(desk, settings, database, tmp_path, url):
    (tmp_path / "outside.db").write_bytes(database.read_bytes())
    with pytest.raises(DataError):
        from_database(desk, settings, url)
    assert desk.projects() == []


def test_a_query_sees_no_other_file(desk, settings, tmp_path):
    duckdb = pytest.importorskip("duckdb")
    duckdb.connect(str(settings.folders[0] / "people.duckdb")).close()
    (tmp_path / "outside.csv").write_bytes(CSV)
    url = f"duckdb:///people.duckdb?query=SELECT * FROM read_csv('{tmp_path / 'outside.csv'}')"
    with pytest.raises(DataError, match="cannot be read"):
        profiled(from_database(desk, settings, url))


def test_passwords_are_put_in_and_never_shown(client, desk):
    url = with_password("postgres://ann@host/name?table=people", "s3cr:t/")
    assert url == "postgres://ann:s3cr%3At%2F@host/name?table=people"
    answer = client.post("/new/database", data={"url": "postgres://ann@host/name?table=t", "password": "s3cr:t/"})
    assert answer.status_code == 200
    assert "s3cr" not in answer.text
    assert "postgres://ann:***@host/name" in answer.text
    with pytest.raises(DataError, match="USER@HOST"):
        with_password("postgres://host/name?table=t", "secret")


def test_pages_show_forms_problems_and_the_profile(client, desk, settings):
    assert client.get("/new").status_code == 200
    answer = client.post("/new", files={"file": ("people.csv", CSV)})
    project = desk.projects()[0]
    assert answer.url.path == f"/tables/{project.id}/data"
    assert "Waiting" in answer.text
    profiled(project)
    shown = client.get(f"/tables/{project.id}/data").text
    assert "01235" in shown  # a row
    assert 'value="?"' in shown  # a mark that may mean missing
    assert client.get(f"/tables/{project.id}/data", headers={"accept-language": "de"}).text.count("Zeilen") > 1
    part = client.get(f"/tables/{project.id}/data?page=1", headers={"hx-request": "true"}).text
    assert part.lstrip().startswith('<div id="rows">')
    assert client.get(f"/tables/{project.id}/data?page=٣").status_code == 200
    assert client.post("/new", data={}).status_code == 400
    assert client.post("/new/example", data={"example": "nothing"}).status_code == 400


def test_reading_differently_needs_the_last_revision(client, desk, settings):
    client.post("/new", files={"file": ("people.csv", CSV)})
    project = desk.projects()[0]
    profiled(project)
    old = client.post(f"/tables/{project.id}/data/read", data={"revision": "0", "separator": "semicolon"})
    assert old.status_code == 409
    now = str(Project(project.folder).revision)
    marked = client.post(f"/tables/{project.id}/data/missing", data={"revision": now, "marker": "?"})
    assert marked.status_code == 200
    assert client.post(f"/tables/{project.id}/data/file", files={"file": ("b.csv", CSV)}).status_code == 400


def test_programs_say_how_a_table_is_read(client, desk):
    client.post("/new", files={"file": ("people.csv", CSV)})
    project = desk.projects()[0]
    answer = client.post(f"/api/tables/{project.id}/read", json={"separator": ";", "nulls": ["?"]})
    assert (answer.status_code, answer.json()["kind"], answer.json()["state"]) == (201, "profile", "waiting")
    assert "request" not in answer.json()
    old = client.post(f"/api/tables/{project.id}/read", json={"revision": 99})
    assert old.status_code == 409
    assert client.post(f"/api/tables/{project.id}/read", json={"separators": ";"}).status_code == 422


def test_a_file_that_is_too_large_is_refused(settings, tmp_path):
    app = create_app(Settings(workspace=tmp_path / "small", port=1, most_bytes=1000))
    client = entered(TestClient(app, base_url=ADDRESS), "own")
    answer = client.post("/new", files={"file": ("people.csv", CSV * 100)})
    assert answer.status_code == 413
    assert list((tmp_path / "small" / "desks" / "own").iterdir()) == []


def test_another_file_takes_the_place_of_a_broken_one(client, desk):
    client.post("/new", files={"file": ("people.csv", b"a,b\n1,2,3\n")})
    project = desk.projects()[0]
    with pytest.raises(DataError):
        profiled(project)
    client.post(f"/tables/{project.id}/data/file", files={"file": ("better.csv", CSV)})
    assert Project(project.folder).name == "better.csv"
    assert len(list((project.folder / "data").iterdir())) == 1
    assert named(profiled(Project(project.folder)))[0] == "name"


def test_what_a_job_could_not_read_is_explained_with_ways_to_mend_it(tmp_path):
    broken = tmp_path / "people.csv"
    broken.write_bytes(b"a,b\n1,2\n1,2,3\n")
    with serving(tmp_path / "workspace") as client:
        project = uploaded(client, broken)
        assert over(client, project).state == "failed"
        shown = client.get(f"/tables/{project.id}/data").text
    assert "line 3: 3 fields where the header has 2" in shown
    assert 'name="separator"' in shown
    assert 'name="file"' in shown


@pytest.mark.parametrize("where", ["arriving", "parsed"])
def test_a_full_disk_is_told_and_leaves_nothing(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    target = "shutil.copyfileobj" if where == "arriving" else "starlette.datastructures.UploadFile.write"
    monkeypatch.setattr(target, full)
    for path in ("/new", "/api/tables"):
        told = client.post(path, data={"csrf": csrf_of(client)}, files={"file": ("people.csv", b"age\n3\n")})
        assert (told.status_code, "full" in told.text, "bug" in told.text) == (507, True, False), told.text[:500]
    assert list(desk_of(client).projects()) == []
    assert list(desk_of(client).folder.iterdir()) == []
