"""What the holder says of a table and its columns reaches datasheet and data package as text, and no person with it."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

import undercover as uc
from undercover.errors import SchemaError
from undercover.io.spec.load import load_spec, schema_from_mapping, schema_to_mapping
from undercover.io.spec.write import spec_files
from undercover.pages.datasheet import datasheet_summary
from undercover.pages.render import datasheet_html, report_html
from undercover.testing.public_scan import Page, scan_package, scan_public
from undercover.testing.tables import ILLNESSES, MARKED, marked, secrets_of
from undercover.verbs.report import summarize

SPEC = """
[roles]
identifiers = "hqholder"
quasi_identifiers = ["age", "sex"]
sensitive = "income"
[about]
title = "Income <script>alert(1)</script>"
description = "Who earns what."
publisher = "Office of Examples"
date = 2026-11-16
licence = "CC-BY-4.0"
contact = "data@example.org"
citation = "Office of Examples (2026)."
[columns.age]
description = "Age at the last birthday."
unit = "years"
[columns.hqholder]
description = "The number in the register."
[method]
name = "mondrian"
k = 5
"""


@pytest.fixture(scope="module")
def schema(tmp_path_factory: pytest.TempPathFactory) -> uc.Schema:
    path = tmp_path_factory.mktemp("spec") / "spec.toml"
    path.write_text(SPEC)
    return load_spec(path).schema


@pytest.fixture(scope="module")
def run(schema: uc.Schema) -> uc.Run:
    people = uc.datasets.census(200)
    people = people.append_column("hqholder", pa.array([f"vq-{row:05}" for row in range(200)]))
    return uc.publish(people, schema, uc.Mondrian(k=5), policy="none")


@pytest.fixture(scope="module")
def public(run: uc.Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return uc.save(run, tmp_path_factory.mktemp("out") / "out") / "public"


def test_the_spec_says_it_and_it_comes_back(schema: uc.Schema, run: uc.Run, tmp_path: Path) -> None:
    assert schema.about["date"] == "2026-11-16"
    assert schema_from_mapping(json.loads(json.dumps(schema_to_mapping(schema)))) == schema
    for name, text in spec_files(run).items():
        (tmp_path / name).write_text(text)
    assert load_spec(tmp_path / "spec.toml").schema.said == schema.said


def test_identifiers_are_not_described_in_public(schema: uc.Schema) -> None:
    assert schema.said["columns"] == {"age": {"description": "Age at the last birthday.", "unit": "years"}}


def test_the_page_says_all_of_it_as_text(public: Path) -> None:
    source = (public / "datasheet.html").read_text()
    assert source.count("<script") == 1  # that of every page
    text = Page(source).text
    for said in (
        "Income <script>alert(1)</script>",
        "Office of Examples",
        "2026-11-16",
        "CC-BY-4.0",
        "Who earns what.",
    ):
        assert said in text
    assert "Age at the last birthday. In years." in text
    assert "hqholder" not in text
    assert "register" not in text


def test_a_page_without_words_has_no_empty_section(run: uc.Run) -> None:
    page = datasheet_html(datasheet_summary(run.release))
    assert "Who publishes it" not in page
    assert "<h1>Datasheet</h1>" in page


def test_missing_cells_are_told_however_they_are_held() -> None:
    people = uc.datasets.census(200)
    ages = [None if row % 20 == 0 else age for row, age in enumerate(people.column("age").to_pylist())]
    people = people.set_column(people.column_names.index("age"), "age", pa.array(ages))
    schema = uc.Schema(quasi_identifiers=["age", "sex"], sensitive="income", missing="category")
    for method in (uc.Mondrian(k=5), uc.Anatomy(l=2)):
        table = datasheet_summary(uc.publish(people, schema, method).release)["tables"][0]
        missing = {column["name"]: column["missing"] for column in table["columns"]}
        assert (missing["age"], missing["sex"]) == (True, False)


def test_the_package_is_what_catalogues_take(public: Path) -> None:
    package = json.loads((public / "datapackage.json").read_text())
    manifest = json.loads((public / "release.json").read_text())
    assert package["name"] == "income-script-alert-1-script"
    assert package["licenses"] == [{"name": "CC-BY-4.0"}]
    assert package["created"] == "2026-11-16T00:00:00Z"
    assert [who["role"] for who in package["contributors"]] == ["publisher", "maintainer"]
    (resource,) = package["resources"]
    assert resource["path"] == "table.csv"
    assert resource["hash"] == f"sha256:{manifest['files']['table.csv']}"
    assert resource["bytes"] == os.path.getsize(public / "table.csv")
    fields = {field["name"]: field for field in resource["schema"]["fields"]}
    assert (fields["age"]["type"], fields["age"]["unit"]) == ("string", "years")
    assert fields["income"]["type"] == "integer"
    assert "datapackage.json" in manifest["files"]


def test_the_package_of_parquet_is_no_table_of_text(run: uc.Run, tmp_path: Path) -> None:
    public = uc.save(run, tmp_path / "out", format="parquet") / "public"
    (resource,) = json.loads((public / "datapackage.json").read_text())["resources"]
    assert (resource["format"], "encoding" in resource) == ("parquet", False)


@pytest.mark.parametrize(
    ("licence", "said"),
    [
        ("https://example.org/terms", {"path": "https://example.org/terms"}),
        ("For research only", {"name": "For-research-only", "title": "For research only"}),
    ],
)
def test_licences_without_a_short_name(licence: str, said: dict[str, str]) -> None:
    from undercover.io.release.package import package
    from undercover.model.release import Release

    found = package(Release("m", {}, (), True), {"about": {"licence": licence, "date": "2026"}}, Path(), [])
    assert found["licenses"] == [said]
    assert "created" not in found


@pytest.mark.parametrize(
    ("words", "place"),
    [
        ({"about": {"contact": "Ask for VQ-00007, please"}}, "`about.contact`"),
        ({"columns": {"age": uc.Column(description="Not that of (vq-00007).")}}, "`columns.age.description`"),
    ],
)
def test_an_identifier_of_somebody_is_refused(words: dict[str, object], place: str) -> None:
    people = uc.datasets.census(50).append_column("id", pa.array([f"vq-{row:05}" for row in range(50)]))
    schema = uc.Schema(identifiers="id", quasi_identifiers="age", sensitive="income", **words)
    with pytest.raises(SchemaError, match=place) as refused:
        uc.publish(people, schema, uc.Mondrian(k=5))
    assert "00007" not in str(refused.value)


def test_numbers_that_are_identifiers_by_chance_are_not_looked_for() -> None:
    people = uc.datasets.census(50).append_column("id", pa.array(range(2000, 2050)))
    about = {"title": "Survey of 2026", "date": "2026-11-16"}
    schema = uc.Schema(identifiers="id", quasi_identifiers="age", sensitive="income", about=about)
    assert uc.publish(people, schema, uc.Mondrian(k=5)).schema.about == about


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ('[about]\nlicense = "CC0"', "`about.license`"),
        ("[about]\ntitle = 3", "`about.title`"),
        ('[about]\ntitle = " "', "`about.title` must be text"),
        ("[about]\ndate = 2026", "`about.date` must be text"),
        ('[columns.age]\nunit = ""', "The unit of a column must be text"),
    ],
)
def test_faults_of_a_spec_are_told(spec: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "spec.toml"
    path.write_text('[roles]\nquasi_identifiers = "age"\n' + spec)
    with pytest.raises(SchemaError) as refused:
        load_spec(path)
    assert said in str(refused.value)


def test_what_is_said_of_a_table_in_python_is_checked() -> None:
    with pytest.raises(SchemaError, match="Did you mean `licence`"):
        uc.Schema(quasi_identifiers="age", about={"license": "CC0"})


def test_the_scan_reads_the_package(tmp_path: Path) -> None:
    for which in ("first", "second"):
        uc.save(uc.publish(marked(which), MARKED, uc.Mondrian(k=8), policy="none"), tmp_path / which)
    secrets = secrets_of(marked(), MARKED)
    places = [tmp_path / which / "public" for which in ("first", "second")]
    assert scan_public(*places, secrets=secrets, declared=ILLNESSES) == []
    package, other = (json.loads((place / "datapackage.json").read_text()) for place in places)
    manifest = json.loads((places[0] / "release.json").read_text())
    value = sorted(next(iter(secrets.values())))[0]
    for planted in ({"note": "seven people"}, {"description": value}, {"description": 7}):
        assert scan_package({**package, **planted}, other, manifest, secrets)
    package["resources"][0]["hash"] = "sha256:0"
    assert scan_package(package, other, manifest, secrets) == ["package: hash sha256:0"]


def test_the_scan_reads_every_part(tmp_path: Path) -> None:
    for which, rows in (("first", 20), ("second", 35)):
        run = uc.publish(marked(which), MARKED, uc.Mondrian(k=8), policy="none")
        uc.save(run, tmp_path / which, rows_per_file=rows)
    secrets = secrets_of(marked(), MARKED)
    places = [tmp_path / which / "public" for which in ("first", "second")]
    assert scan_public(*places, secrets=secrets, declared=ILLNESSES) == []
    package, other = (json.loads((place / "datapackage.json").read_text()) for place in places)
    manifest = json.loads((places[0] / "release.json").read_text())
    assert len(manifest["tables"][0]["parts"]) > len(other["resources"][0]["path"]) > 1
    package["resources"][0]["path"].append("table-7-of-ward-9.csv")
    assert scan_package(package, other, manifest, secrets) == ["package, of this table: table-7-of-ward-9.csv"]
    (places[0] / "table-00009.csv").write_text("age\n")
    assert scan_public(*places, secrets=secrets, declared=ILLNESSES) == ["file: table-00009.csv"]
    manifest["tables"][0]["parts"][0]["people"] = 7
    (places[0] / "release.json").write_text(json.dumps(manifest))
    assert "key people" in scan_public(*places, secrets=secrets, declared=ILLNESSES)


def test_the_report_begins_with_what_it_is_about_and_the_verdict(run: uc.Run, tmp_path: Path) -> None:
    folder = uc.save(replace(run, made="2026-02-28T23:59:58+00:00"), tmp_path / "out")
    page = (folder / "private" / "report.html").read_text()
    first = page[page.index("<h1>") :]
    words = ("Income &lt;script&gt;", "Mondrian, k = 5", "2026-02-28</time> by Office of Examples", "data@example.org",
             run.verdict.title, "Contents", "What was asked")  # fmt: skip
    places = [first.index(word) for word in words]
    assert places == sorted(places)
    again = uc.load(folder)  # the day it was made, whenever somebody looks
    assert again.made == "2026-02-28T23:59:58+00:00"
    assert summarize(again)["about"]["date"] == "2026-02-28"
    card = again._repr_html_()
    assert card.index("Income &lt;script&gt;") < card.index("Mondrian, k = 5") < card.index("2026-02-28 by Office of")


def test_a_table_nobody_named_is_called_by_its_file_or_not_at_all(tmp_path: Path) -> None:
    people, schema = uc.datasets.census(60), uc.Schema(quasi_identifiers=["age"], sensitive="income")
    path = tmp_path / "ward seven.parquet"
    parquet.write_table(people, path)
    named, unnamed = (uc.publish(data, schema, uc.Mondrian(k=5), policy="none") for data in (path, people))
    assert set(summarize(named)["about"]) == {"name", "date"}
    assert "<h1>ward seven.parquet</h1>" in report_html(summarize(named))
    assert str(tmp_path) not in named.name
    before = replace(unnamed, made="")  # written before anybody noted the day
    assert summarize(before)["about"] == {}
    assert "<h1>Mondrian, k = 5</h1>" in report_html(summarize(before))
    assert "Made on" not in report_html(summarize(before))
