"""``undercover publish``: what it writes and says, and the exit codes of everything that can be wrong."""

import json
import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import undercover as uc
from undercover.io.files import read_place
from undercover.io.source import read
from undercover.model.formats import FORMATS

pytestmark = pytest.mark.usefixtures("unjudged")

Command = Callable[..., Any]
MONDRIAN = ["--method", "mondrian", "--set", "k=5"]


@pytest.mark.usefixtures("drawn")
def test_a_release_is_written_and_described(
    undercover: Command, people: Path, roles: list[str], tmp_path: Path
) -> None:
    done = undercover("publish", people, *roles, *MONDRIAN, "--set", "l=2", "--out", tmp_path / "out")
    assert done.code == 0
    assert sorted(os.listdir(tmp_path / "out" / "public")) == [
        "datapackage.json",
        "datasheet.html",
        "release.json",
        "table.csv",
    ]
    private = ["groups.parquet", "report.html", "report.json", "run.json", "spec.toml"]
    assert sorted(os.listdir(tmp_path / "out" / "private")) == private
    assert "mondrian: 240 rows in" in done.out
    assert done.out.count("holds") == 2
    assert "algorithm-safe: no" in done.out
    assert "warning: Not algorithm-safe" in done.err
    assert "verifying …" in done.err
    assert "Person-" not in done.out + done.err


def test_a_table_that_does_not_fit_its_format_is_refused_before_the_work(
    undercover: Command, people: Path, release: Path, roles: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(FORMATS, "xlsx", FORMATS["xlsx"]._replace(rows=10))
    made = undercover("publish", people, *roles, *MONDRIAN, "--format", "xlsx", "--out", tmp_path / "sheet")
    applied = undercover("apply", release, "--to", people, "--format", "xlsx", "--out", tmp_path / "sheet")
    for done in (made, applied):
        assert done.code == 2
        assert "rows does not fit a file of Excel, which holds 10. Choose the format csv or parquet." in done.err
        assert "anonymising" not in done.err
    assert not (tmp_path / "sheet").exists()


@pytest.mark.parametrize("format_", ["csv", "parquet"])
def test_anatomy_writes_two_tables(
    undercover: Command, people: Path, roles: list[str], tmp_path: Path, format_: str
) -> None:
    options = ["--method", "anatomy", "--set", "l=8", "--format", format_, "--out", tmp_path / "out"]
    done = undercover("publish", people, *roles, *options)
    assert done.code == 0
    assert {f"qit.{format_}", f"sat.{format_}"} < set(os.listdir(tmp_path / "out" / "public"))
    assert undercover("verify", tmp_path / "out" / "public", "--require", "l=8").code == 0


def test_json_is_one_object_and_nothing_else(
    undercover: Command, people: Path, roles: list[str], tmp_path: Path
) -> None:
    done = undercover("publish", people, *roles, *MONDRIAN, "--out", tmp_path / "out", "--json")
    assert done.code == 0
    content = json.loads(done.out)
    assert content["method"]["name"] == "mondrian"
    assert content["rows"] == 240
    assert content["guarantees"][0]["holds"] is True
    assert content["out"] == str(tmp_path / "out")


def test_the_seconds_of_reading_are_counted_wherever_it_was_read(
    undercover: Command, people: Path, roles: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slowly(*given: Any) -> Any:
        time.sleep(0.05)
        return read_place(*given)

    monkeypatch.setattr("undercover.io.source.read_place", slowly)
    content = json.loads(undercover("publish", people, *roles, *MONDRIAN, "--out", tmp_path / "out", "--json").out)
    assert content["timings"]["read"] >= 0.05
    schema = uc.Schema(quasi_identifiers=["age", "sex", "zip"], sensitive="disease", identifiers=["name"])
    before, method = read(people), uc.Mondrian(k=5)
    assert before.seconds >= 0.05
    assert uc.publish(people, schema, method).timings["read"] >= 0.05
    again = uc.publish(replace(before, seconds=1e6), schema, method)
    assert 1e6 <= again.timings["read"] < 1e6 + 1e3


def test_a_seed_is_warned_about(undercover: Command, people: Path, roles: list[str], tmp_path: Path) -> None:
    tables = []
    for name in ("one", "two"):
        done = undercover("publish", people, *roles, *MONDRIAN, "--seed", 7, "--out", tmp_path / name)
        assert "not for publication" in done.err
        tables.append((tmp_path / name / "public" / "table.csv").read_bytes())
    assert tables[0] == tables[1]


Case = tuple[list[str], int, str]
WRONG: dict[str, Case] = {
    "k of nothing": (["--method", "mondrian", "--set", "k=0"], 2, "must be an int in [1, inf). Got 0"),
    "k that is no number": (["--method", "mondrian", "--set", "k=five"], 2, "must be an int in [1, inf). Got 'five'"),
    "no parameter": (["--method", "mondrian"], 2, "mondrian needs `k`"),
    "an unknown parameter": ([*MONDRIAN, "--set", "kk=5"], 2, "Did you mean `k`?"),
    "a setting without a value": ([*MONDRIAN, "--set", "l"], 2, "--set takes NAME=VALUE. Got 'l'"),
    "an unknown method": (["--method", "mondrain", "--set", "k=5"], 2, "Did you mean `mondrian`?"),
    "no method": ([], 2, "Name a method"),
    "an unknown format": ([*MONDRIAN, "--format", "xls"], 2, "Got 'xls'"),
    "an unknown engine": ([*MONDRIAN, "--engine", "lokal"], 2, "Did you mean `local`?"),
    "no parts": ([*MONDRIAN, "--parts", "0"], 2, "must be an int in [1, inf). Got 0"),
    "an unknown requirement": ([*MONDRIAN, "--require", "kk=3"], 2, "Requirement `kk` is not known"),
    "a requirement without a number": (
        [*MONDRIAN, "--require", "k"],
        2,
        "The requirement 'k' is not of the form key=number",
    ),
    "a negative seed": ([*MONDRIAN, "--seed", "-1"], 2, "The seed must be an int"),
    "an unknown option": ([*MONDRIAN, "--sett", "k=5"], 2, "--sett"),
    "an unknown missing policy": ([*MONDRIAN, "--missing", "ignore"], 2, "Missing policy"),
    "k beyond the table": (["--method", "mondrian", "--set", "k=241"], 3, "largest feasible k"),
    "l beyond the values": ([*MONDRIAN, "--set", "l=9"], 3, "largest feasible l is 8"),
    "distinct l beyond the values": ([*MONDRIAN, "--set", "l=9", "--set", "diversity=distinct"], 3, "8 distinct"),
    "anatomy beyond the values": (["--method", "anatomy", "--set", "l=9"], 3, "the largest feasible l is 8"),
    "a requirement beyond the release": ([*MONDRIAN, "--require", "k=200"], 3, "k-anonymity asks for 200"),
}


@pytest.mark.parametrize(("options", "code", "message"), WRONG.values(), ids=WRONG.keys())
def test_what_is_wrong_is_named_and_nothing_is_written(
    undercover: Command, people: Path, roles: list[str], tmp_path: Path, options: list[str], code: int, message: str
) -> None:
    done = undercover("publish", people, *roles, *options, "--out", tmp_path / "out")
    assert done.code == code
    assert message in done.err
    assert done.out == ""
    assert "Traceback" not in done.err
    assert os.listdir(tmp_path) == ["people.csv"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        ("name,age,sex,zip,disease\n", "no rows"),
        ("name,age,sex,zip,disease\nAl,1\n", "line 2: 2 fields where the header has 5"),
        ("name,age,sex,zip,disease\nAl,,F,1,flu\nBo,2,M,2,flu\n", "Column `age` has 1 missing value"),
        ("name,alter,sex,zip,disease\nAl,1,F,1,flu\n", "Column `age` is not known"),
        ("name,age,age,sex,zip,disease\nAl,1,1,F,1,flu\n", "more than one column is named `age`"),
        ("name,age,sex,zip,disease\nAl,inf,F,1,flu\nBo,2,M,2,flu\n", "only finite numbers can be used"),
    ],
)
def test_tables_that_cannot_be_published(
    undercover: Command, roles: list[str], tmp_path: Path, text: str, message: str
) -> None:
    (tmp_path / "bad.csv").write_text(text)
    done = undercover(
        "publish", tmp_path / "bad.csv", *roles, "--method", "mondrian", "--set", "k=1", "--out", tmp_path / "out"
    )
    assert done.code == 2, done.err
    assert message in done.err
    assert os.listdir(tmp_path) == ["bad.csv"]


def test_an_unknown_column_says_which_was_meant(undercover: Command, people: Path, tmp_path: Path) -> None:
    done = undercover(
        "publish", people, "--qi", "age,zipp", "--sensitive", "diseas", *MONDRIAN, "--out", tmp_path / "out"
    )
    assert done.code == 2
    assert "2 problems" in done.err
    assert "Did you mean `zip`?" in done.err
    assert "Did you mean `disease`?" in done.err


def test_roles_must_be_given(undercover: Command, people: Path, tmp_path: Path) -> None:
    assert "--qi age,sex,zip" in undercover("publish", people, *MONDRIAN, "--out", tmp_path / "out").err
    done = undercover("publish", people, "--sensitive", "disease", *MONDRIAN, "--out", tmp_path / "out")
    assert (done.code, "--qi" in done.err) == (2, True)
    done = undercover("publish", people, "--qi", "age,age", *MONDRIAN, "--out", tmp_path / "out")
    assert (done.code, "named twice" in done.err) == (2, True)
    done = undercover("publish", people, "--qi", "age", "--sensitive", "age", *MONDRIAN, "--out", tmp_path / "out")
    assert (done.code, "more than one role" in done.err) == (2, True)


def test_a_missing_file(undercover: Command, roles: list[str], tmp_path: Path) -> None:
    done = undercover("publish", tmp_path / "nothing.csv", *roles, *MONDRIAN, "--out", tmp_path / "out")
    assert (done.code, "There is no file" in done.err) == (2, True)
    done = undercover("publish", tmp_path, *roles, *MONDRIAN, "--out", tmp_path / "out")
    assert (done.code, "is a folder" in done.err) == (2, True)
    done = undercover("publish", tmp_path / "x.csv", "--spec", tmp_path / "no.toml", "--out", tmp_path / "out")
    assert done.code == 2
    assert os.listdir(tmp_path) == []


def test_an_existing_folder_is_refused_without_force(
    undercover: Command, people: Path, roles: list[str], release: Path
) -> None:
    before = (release / "public" / "release.json").read_bytes()
    again = [people, *roles, "--method", "mondrian", "--set", "k=7", "--out", release]
    done = undercover("publish", *again)
    assert (done.code, "--force" in done.err) == (2, True)
    assert (release / "public" / "release.json").read_bytes() == before
    assert undercover("publish", *again, "--force").code == 0
    assert json.loads((release / "public" / "release.json").read_text())["method"]["parameters"]["k"] == 7


def test_force_replaces_no_folder_that_is_not_a_release(
    undercover: Command, people: Path, roles: list[str], tmp_path: Path
) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "thesis.tex").write_text("years of work")
    done = undercover("publish", people, *roles, *MONDRIAN, "--out", tmp_path / "home", "--force")
    assert (done.code, "does not know as its own" in " ".join(done.err.split())) == (2, True)
    assert (tmp_path / "home" / "thesis.tex").read_text() == "years of work"
    done = undercover("publish", people, *roles, *MONDRIAN, "--out", tmp_path / "home" / "thesis.tex" / "out")
    assert (done.code, "is not a folder" in done.err) == (2, True)


def test_missing_values_as_declared(undercover: Command, roles: list[str], people: Path, tmp_path: Path) -> None:
    first, *others = people.read_text().splitlines()[1:]
    name, _, *rest = first.split(",")
    people.write_text("\n".join(["name,age,sex,zip,disease", ",".join([name, "", *rest]), *others]) + "\n")
    done = undercover("publish", people, *roles, *MONDRIAN, "--out", tmp_path / "error")
    assert (done.code, "Column `age` has 1 missing value." in done.err) == (2, True)
    for policy, rows in (("drop", 239), ("category", 240)):
        out = tmp_path / policy
        done = undercover("publish", people, *roles, *MONDRIAN, "--missing", policy, "--out", out, "--json")
        assert (done.code, json.loads(done.out)["rows"]) == (0, rows)
        assert ("1 of 240 rows has a missing value" in done.err) == (policy == "drop")


def test_a_bug_of_ours_is_called_one(
    undercover: Command, people: Path, roles: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: Any, **options: Any) -> None:
        raise RuntimeError("cannot happen")

    monkeypatch.setattr("undercover.cli.publish.publish", fail)
    done = undercover("publish", people, *roles, *MONDRIAN, "--out", tmp_path / "out")
    assert done.code == 1
    assert "This is a bug of undercover" in done.err
    assert os.listdir(tmp_path) == ["people.csv"]


def test_tables_in_files_of_so_many_rows(undercover: Command, people: Path, roles: list[str], tmp_path: Path) -> None:
    words = [people, *roles, *MONDRIAN, "--seed", 1, "--rows-per-file", 100]
    assert undercover("publish", *words, "--out", tmp_path / "out").code == 0
    parts = ["table-00000.csv", "table-00001.csv", "table-00002.csv"]
    assert sorted(path.name for path in (tmp_path / "out" / "public").glob("table*")) == parts
    report = json.loads((tmp_path / "out" / "private" / "report.json").read_text())
    assert report["again"]["command"].endswith("--rows-per-file 100")
    again = ["--to", people, "--out", tmp_path / "again", "--rows-per-file", 200]
    assert undercover("apply", tmp_path / "out", *again).code == 0
    assert sorted(path.name for path in (tmp_path / "again" / "public").glob("table*")) == parts[:2]
    refused = undercover("publish", *words, "--out", tmp_path / "other", "--format", "dta")
    assert refused.code == 2
    assert "A table lies in one file of Stata. Leave --rows-per-file 100 out" in refused.err
    assert "anonymising" not in refused.err
