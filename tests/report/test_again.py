import shlex

import pyarrow as pa
import pytest

import undercover as uc
from undercover.cli.main import app
from undercover.io.csv.text import write_csv
from undercover.model.formats import Files
from undercover.pages.again import again

pytestmark = pytest.mark.usefixtures("unjudged")

SCHEMA = uc.Schema(quasi_identifiers=["age", "sex"], sensitive="income")


@pytest.mark.parametrize("file_format", ["csv", "parquet"])
def test_the_command_makes_the_same_tables(tmp_path, monkeypatch, file_format):
    from typer.testing import CliRunner

    monkeypatch.chdir(tmp_path)
    write_csv(uc.datasets.census(300), tmp_path / "people of mine.csv")
    run = uc.publish("people of mine.csv", SCHEMA, uc.Mondrian(k=5, l=2), seed=11)
    uc.save(run, "out", format=file_format)
    command = again(run, folder="out", file_format=file_format)["command"]
    program, *words = shlex.split(command)
    assert program == "undercover"
    found = CliRunner().invoke(app, words)
    assert found.exit_code == 0, found.output
    for name in (f"table.{file_format}", "release.json"):
        assert (tmp_path / "again" / "public" / name).read_bytes() == (tmp_path / "out" / "public" / name).read_bytes()
    page = (tmp_path / "out" / "private" / "report.html").read_text("utf-8")
    assert command.replace("'", "&#39;") in page


def test_without_a_seed_it_says_what_will_differ():
    run = uc.publish(uc.datasets.census(200), SCHEMA, uc.Mondrian(k=5))
    found = again(run)
    assert "--seed" not in found["command"]
    assert found["notes"][0].startswith("The table was given in memory")
    assert "will differ" in found["notes"][-1]


def test_hierarchies_are_named():
    from undercover.model.hierarchy import Hierarchy

    people = pa.table({"town": ["Bonn", "Lyon"] * 10, "ill": ["flu", "cold"] * 10})
    towns = Hierarchy([("Bonn", "Germany", "*"), ("Lyon", "France", "*")])
    schema = uc.Schema(quasi_identifiers=["town"], sensitive="ill", columns={"town": uc.Column(hierarchy=towns)})
    found = again(uc.publish(people, schema, uc.Mondrian(k=5)))
    assert found["files"] == ["hierarchy-1-town.csv"]
    assert 'hierarchy = "hierarchy-1-town.csv"' in found["spec"]


def test_parts_are_named():
    run = uc.publish(uc.datasets.census(200), SCHEMA, uc.Anatomy(l=2))
    found = again(run, file_format=Files("parquet", 90))
    assert found["command"].endswith("--format parquet --rows-per-file 90")
    assert found["notes"][0].startswith("Published in parts: qit-*.parquet (3 files) and sat-*.parquet (")
    assert not any("parts" in note for note in again(run, file_format="parquet")["notes"])
