"""What report and datasheet say of a cross-bucket release, and that the recipient's code runs beside its files."""

import re
from pathlib import Path
from typing import Any

import pytest

import undercover as uc
from undercover.forms import read
from undercover.io.release.manifest import write_tables
from undercover.pages.datasheet import datasheet_summary
from undercover.pages.render import datasheet_html, report_html
from undercover.verbs.report import summarize

pytestmark = pytest.mark.usefixtures("all_drawn")


@pytest.fixture(scope="module")
def run() -> Any:
    schema = uc.datasets.census_schema(["age", "sex", "hours"], "salary", hierarchies=False)
    return uc.publish(uc.datasets.census(500, seed=2), schema, uc.CrossBucket(k=3, l=6, joined=True), seed=1)


def text_of(page: str) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", page).split())


def test_the_report_counts_classes_and_buckets(run: Any) -> None:
    summary = summarize(run)
    page = text_of(report_html(summary))
    classes = summary["class_sizes"]["count"]
    assert summary["class_sizes"]["unit"] == "class"
    assert summary["class_sizes"]["min"] >= 3
    assert f"This gave {classes} classes of rows that are written alike, and across them" in page
    assert "(3, 6)-anonymity" in page
    assert "counts with the values of its bucket" in page
    assert "Nothing is promised about sensitive values" not in page
    assert summary["cost"]["classes"] == classes


def test_the_datasheet_warns_of_drawn_values_and_names_the_limits(run: Any) -> None:
    facts = datasheet_summary(run.release)
    page = text_of(datasheet_html(facts))
    assert "drawn at random: seldom the value of the person" in page
    assert "It is no secret who is in the table" not in page
    assert "Diversity does not see either" in page
    assert [table["name"] for table in facts["tables"]] == ["qit", "sat", "joined"]


def test_insensitive_columns_are_said_to_give_buckets_away() -> None:
    schema = uc.Schema(quasi_identifiers=["age"], sensitive="salary", insensitive=["hours"])
    run = uc.publish(uc.datasets.census(300, seed=2), schema, uc.CrossBucket(k=3, l=6))
    assert any("knows the bucket" in said for said in datasheet_summary(run.release)["limits"])


@pytest.mark.parametrize("file_format", ["csv", "parquet"])
def test_the_recipients_code_runs(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], file_format: str
) -> None:
    write_tables(run.release, tmp_path, format=file_format)
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for part in read(run.release).snippets(file_format):
        exec(compile(part["code"], part["title"], "exec"), names)
    assert names["joined"]["share"].sum() == pytest.approx(500)
    found = re.search(r"between (\d+) and (\d+) rows", capsys.readouterr().out)
    assert found is not None
    ages = run.original["age"].domain.take(run.original["age"].codes).to_numpy()
    truth = ((ages >= names["low"]) & (ages <= names["high"])).sum()
    assert int(found[1]) <= truth <= int(found[2])
