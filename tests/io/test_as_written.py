"""What is published unchanged is published as written; what counts as one value is said, and no two become one."""

import csv
import json
import sqlite3
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

import undercover as uc
from both_ways import read, read_csv
from effort import examples
from undercover.engines.spark.coding import Gathered
from undercover.errors import DataError, UnreachableError, VerificationError
from undercover.io.release.manifest import load_release, write_tables
from undercover.io.source import ReadOptions
from undercover.io.spark import SparkInput
from undercover.model.formats.spelling import NUMBERS, Spellings
from undercover.model.formats.writing import Writing, published_writing
from undercover.model.release import PublishedColumn, PublishedTable, Release

ODD = ["+7", " 7", "7", "1.50", "1e3", "10.10", "1.0", "-0", ".5", "5.", "1.5", "1.50", "0.1234567890123456"]
BERLIN = pa.timestamp("us", "Europe/Berlin")
TWICE = [datetime(2024, 10, 27, hour) for hour in (0, 1)]  # in UTC; both are two o'clock in Berlin
UNJUDGED: dict[str, Any] = {"policy": "none"}


def put(folder: Path, texts: list[str], separator: str = ",", name: str = "in.csv") -> Path:
    """A CSV file of the column x, and another one so that no line is empty."""
    with open(folder / name, "w", newline="") as stream:
        csv.writer(stream, delimiter=separator).writerows([["x", "n"], *([text, "1"] for text in texts)])
    return folder / name


def unchanged(given: Any, folder: Path, file_format: Any = "csv") -> tuple[Any, Release]:
    """The column x as a release of whatever was read publishes it, in the order of its rows; and the release again."""
    found, folder = read(given), folder / "public"
    folder.mkdir()
    table = PublishedTable("table", (PublishedColumn("x", "insensitive", "value"),), found.data.select(["x"]))
    release = Release("nobody's", {}, (table,), True, writing=published_writing(found.writing, [table]))
    write_tables(release, folder, format=file_format)
    again, problems = load_release(folder)
    assert problems == []
    held, back = (one.tables[0].data.column("x") for one in (release, again))
    assert back.to_pylist() == held.cast(back.type).to_pylist()
    if file_format == "parquet":
        return parquet.read_table(folder / "table.parquet").column("x"), again
    with open(folder / "table.csv", newline="") as stream:
        return [row[0] for row in csv.reader(stream)][1:], again


@pytest.mark.parametrize("texts", [["999", "1,000", "12,500"], ["1,5", "2,5", "3"], ["1,000", "-2,000"]])
def test_a_comma_that_separates_fields_is_no_decimal_mark(tmp_path: Path, texts: list[str]) -> None:
    assert unchanged(put(tmp_path, texts), tmp_path)[0] == texts


def test_a_comma_is_a_decimal_mark_where_a_value_says_so(tmp_path: Path) -> None:
    table, decided = read_csv(put(tmp_path, ["1,000", "1,5"], ";"))
    assert (table["x"].to_pylist(), decided.decimal, decided.notes) == ([1.0, 1.5], ",", {})
    table, decided = read_csv(put(tmp_path, ["999", "1,000"], ";"))
    assert (table["x"].to_pylist(), decided.decimal) == (["999", "1,000"], ".")
    assert "1,000 may be a thousand or one" in decided.notes["x"]
    assert read_csv(tmp_path / "in.csv", decimal=",")[0]["x"].to_pylist() == [999, 1]


@pytest.mark.parametrize(
    ("mark", "texts", "numbers"),
    [
        (",", ["999", "1,000", "12,500.25"], [999, 1000, 12500.25]),
        (".", ["1.000", "12.500,5"], [1000, 12500.5]),
        ("'", ["1'000'000", "7"], [1_000_000, 7]),
        (" ", ["1 000", " 7"], [1000, 7]),
        (",", ["1,00", "2"], ["1,00", "2"]),
    ],
)
def test_thousands_are_said(tmp_path: Path, mark: str, texts: list[str], numbers: list[Any]) -> None:
    table, decided = read_csv(put(tmp_path, texts), thousands=mark)
    assert table["x"].to_pylist() == numbers
    assert f"thousands '{mark}'" in decided.sentence()


def test_a_mark_of_thousands_is_not_that_of_decimals(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="The mark between thousands must be one of"):
        read_csv(put(tmp_path, ["1"]), thousands=",", decimal=",")


@pytest.mark.parametrize(
    "texts",
    [
        ["12345678901234567890", "12345678901234567891"],
        ["0.1234567890123456789", "0.1234567890123456788"],
        ["9007199254740993", "9007199254740992", "1.5"],
        ["0.10000000000000001", "0.1"],
        ["1e-400", "2e-400", "1"],
        ["-9007199254740993", "-9007199254740992.0"],
    ],
)
def test_numbers_that_no_float_tells_apart_stay_apart(tmp_path: Path, texts: list[str]) -> None:
    found = read(put(tmp_path, texts))
    assert "more digits than a number tells apart" in found.notes["x"]
    assert unchanged(found, tmp_path)[0] == texts
    lines = "".join(f'{{"x": {text}}}\n' for text in texts)
    (tmp_path / "in.jsonl").write_text(lines)
    (tmp_path / "again").mkdir()
    cells = unchanged(tmp_path / "in.jsonl", tmp_path / "again")[0]
    assert [Decimal(cell) for cell in cells] == [Decimal(text) for text in texts]


def test_long_numbers_of_one_value_have_one_spelling(tmp_path: Path) -> None:
    texts = ["0.12345678901234567890", "0.1234567890123456789", "0.1234567890123456788"]
    assert unchanged(put(tmp_path, texts), tmp_path)[0] == [texts[1], *texts[1:]]


@pytest.mark.parametrize(
    "cells",
    [
        [12345678901234567890, 12345678901234567891],
        [2**53 + 1, 2**53, 1.5],
        [Decimal("0.1234567890123456789"), Decimal("0.1234567890123456788"), 2],
        [Decimal("1.5"), 2.25, 7],
    ],
)
def test_numbers_of_a_frame_are_exact(tmp_path: Path, cells: list[Any]) -> None:
    frame = pd.DataFrame({"x": pd.Series(cells, dtype=object), "n": 1})
    assert [Decimal(cell) for cell in unchanged(frame, tmp_path)[0]] == [
        Decimal(repr(cell)) if isinstance(cell, float) else Decimal(cell) for cell in cells
    ]


def test_numbers_of_databases_are_exact(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "a.db") as base:
        base.execute("CREATE TABLE t (x, n)")
        base.executemany("INSERT INTO t VALUES (?, 1)", [(2**53 + 1,), (2.0**53,), (1.5,)])
    cells = unchanged(f"sqlite:///{tmp_path}/a.db?table=t".replace(":///", ":////", 1), tmp_path)[0]
    assert [Decimal(cell) for cell in cells] == [2**53 + 1, 2**53, Decimal("1.5")]
    (tmp_path / "again").mkdir()
    with duckdb.connect(str(tmp_path / "a.duckdb")) as base:
        base.execute(f"CREATE TABLE t AS SELECT unnest([{2**128 - 1}::UHUGEINT, {2**128 - 2}::UHUGEINT]) AS x")
    assert unchanged(f"duckdb:///{tmp_path}/a.duckdb?table=t".replace(":///", ":////", 1), tmp_path / "again")[0] == [
        str(2**128 - 1),
        str(2**128 - 2),
    ]


def test_numbers_that_are_declared_and_would_become_one_are_refused() -> None:
    schema = uc.Schema(quasi_identifiers=["x"], columns={"x": uc.Column(kind="numeric")})
    with pytest.raises(DataError, match="has different numbers that would become one"):
        uc.Table.from_arrow(pa.table({"x": ["12345678901234567890", "12345678901234567891"]}), schema)
    assert uc.Table.from_arrow(pa.table({"x": ["1.5", "1.50"]}), schema)["x"].domain.labels == ("1.5",)


def chosen(texts: list[str]) -> list[str]:
    """A plain twin: of every number the spelling that most have, the shortest, the first by the alphabet."""
    counts = Counter(texts)
    same = {text: [other for other in counts if Decimal(other.strip()) == Decimal(text.strip())] for text in counts}
    return [min(same[text], key=lambda other: (-counts[other], len(other), other)) for text in texts]


@st.composite
def spelling(draw: st.DrawFn) -> str:
    """A number in some way of writing it."""
    whole, behind = draw(st.integers(0, 30)), draw(st.sampled_from(["", ".", ".0", ".5", ".50", "e0", ".25e1", "E2"]))
    return draw(st.sampled_from(["", "+", "-", " ", "  "])) + f"{whole}{behind}"


@examples(60)
@given(texts=st.lists(spelling(), min_size=1, max_size=12), separator=st.sampled_from([",", ";"]))
def test_numbers_are_published_in_their_most_frequent_spelling(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], separator: str
) -> None:
    folder = tmp_path_factory.mktemp("x")
    cells, again = unchanged(put(folder, texts, separator), folder)
    assert cells == chosen(texts)
    assert [Decimal(repr(one)) for one in again.tables[0].data["x"].to_pylist()] == [
        Decimal(text.strip()) for text in texts
    ]


def test_every_way_of_writing_a_number_is_kept_and_several_are_said(tmp_path: Path) -> None:
    found = read(put(tmp_path, ODD))
    assert unchanged(found, tmp_path)[0] == chosen(ODD)
    assert found.notes == {"x": "`x`: 2 values are spelled in several ways, count as one and are published in one."}
    assert (
        json.loads((tmp_path / "public" / "release.json").read_text())["tables"][0]["columns"][0]["written"] == NUMBERS
    )


def test_the_twin_fails_where_another_spelling_is_published(tmp_path: Path) -> None:
    cells = unchanged(put(tmp_path, ["1.5", "1.50", "1.50"]), tmp_path)[0]
    assert cells == ["1.50"] * 3 != chosen(["1.5", "1.50", "1.5"])


@pytest.mark.parametrize("texts", [["7", "8", "-3"], ["1.5", "0.25"], ["2020-01-01", "9999-12-31", "0001-01-01"]])
def test_ordinary_columns_have_no_spellings(tmp_path: Path, texts: list[str]) -> None:
    found = read(put(tmp_path, texts))
    assert (found.writing, found.notes) == ({}, {})
    assert unchanged(found, tmp_path)[0] == texts


@pytest.mark.parametrize(
    "texts",
    [
        ["007", "7"],
        ["TRUE", "true"],
        ["2020-01-01 10:00", "2020-01-01T11:00:00", "2020-01-02"],
        ["2020-01-01T00:00:00", "2020-01-02T00:00:00"],
        ["2020-01-01T10:00:00+01:00", "2020-01-01T10:00:00+02:00", "2020-01-01T10:00:00Z"],
        ["0000-01-01", "2020-01-01", "9999-12-31"],
        ["2020-01-01T10:00:00.123456789", "2020-01-01T10:00:00.123456788"],
        ["-0.00", "1.50"],
    ],
)
@pytest.mark.parametrize("kind", ["csv", "jsonl", "sqlite"])
def test_what_is_spelled_once_is_published_so(tmp_path: Path, texts: list[str], kind: str) -> None:
    if kind == "csv":
        source: Any = put(tmp_path, texts)
    elif kind == "jsonl":
        source = tmp_path / "in.jsonl"
        source.write_text("".join(json.dumps({"x": text}) + "\n" for text in texts))
    else:
        with sqlite3.connect(tmp_path / "a.db") as base:
            base.execute("CREATE TABLE t (x)")
            base.executemany("INSERT INTO t VALUES (?)", [(text,) for text in texts])
        source = f"sqlite:////{tmp_path}/a.db?table=t"
    assert unchanged(source, tmp_path)[0] == texts


@pytest.mark.parametrize("file_format", ["csv", "parquet", "xlsx"])
@pytest.mark.parametrize("moments", [TWICE, [datetime(2020, 1, 1, 9), datetime(2020, 7, 1, 9, 0, 0, 500_000)]])
@pytest.mark.parametrize("kind", ["parquet", "pandas"])
def test_moments_keep_their_zone(tmp_path: Path, file_format: Any, moments: list[datetime], kind: str) -> None:
    table = pa.table({"x": pa.array(moments, pa.timestamp("us")).cast(pa.timestamp("us", "UTC")).cast(BERLIN)})
    parquet.write_table(table, tmp_path / "in.parquet")
    source = tmp_path / "in.parquet" if kind == "parquet" else table.to_pandas()
    exact = [moment.replace(tzinfo=UTC) for moment in moments]
    if file_format == "xlsx":
        found = read(source)
        data = PublishedTable("table", (PublishedColumn("x", "insensitive", "value"),), found.data)
        write_tables(Release("nobody's", {}, (data,), True, writing=found.writing), tmp_path, format="xlsx")
        assert load_release(tmp_path)[0].tables[0].data["x"].to_pylist() == found.data["x"].to_pylist()
        cells = pd.read_excel(tmp_path / "table.xlsx", dtype=str, engine="openpyxl")["x"].tolist()
    else:
        cells = unchanged(source, tmp_path, file_format)[0]
    if file_format == "parquet":
        assert cells.type == BERLIN
        cells = cells.cast(pa.timestamp("us", "UTC")).to_pylist()
    else:
        cells = [datetime.fromisoformat(cell) for cell in cells]
        assert {cell.utcoffset() for cell in cells} == {timedelta(hours=1), timedelta(hours=2)}
    assert cells == exact


def test_hours_of_quasi_identifiers_are_never_one(tmp_path: Path) -> None:
    hours = [f"2020-01-01T10:00:00+0{zone}:00" for zone in (1, 1, 2, 2)]
    source = put(tmp_path, hours)
    run = uc.publish(source, uc.Schema(quasi_identifiers=["x"], insensitive=["n"]), uc.Mondrian(k=2), **UNJUDGED)
    assert set(run.release.table()["x"].to_pylist()) == {"2020-01-01T09:00:00", "2020-01-01T08:00:00"}
    assert any("`x` is published in UTC, or with its zone" in warning for warning in run.warnings)
    lines = [f"{hour},{place % 2}" for place, hour in enumerate(hours)]
    source.write_text("\n".join(["x,n", *lines]) + "\n")
    run = uc.publish(source, uc.Schema(quasi_identifiers=["x"], sensitive="n"), uc.Anatomy(l=2), **UNJUDGED)
    out = uc.save(run, tmp_path / "out")
    assert sorted(line.split(",")[0] for line in (out / "public" / "qit.csv").read_text().splitlines()[1:]) == hours
    assert uc.verify(out / "public").holds
    schema = uc.Schema(quasi_identifiers=["x"], columns={"x": uc.Column(format="YYYY-MM-DD")})
    with pytest.raises(DataError, match='Say it: format = "YYYY-MM-DD in UTC"'):
        uc.Table.from_arrow(pa.table({"x": hours}), schema)


@pytest.mark.parametrize(
    ("texts", "problem"),
    [
        (["2020-01-01T10:00+01:00", "2020-01-01T10:00"], "with an offset from UTC and without"),
        (["2020-01-01T10:00[Europe/Berlin]", "2020-01-01T10:00[America/Lima]"], "with an offset from UTC and without"),
        (["2020-01-01T10:00:00.1234567", "2020-01-01T10:00:00.1234568"], "finer than microseconds"),
        (["0001-01-01T00:00+01:00", "0001-01-01T00:00+02:00"], "that are no dates in the format"),
        (["0000-01-01", "2020-01-01"], "holds dates in the format YYYY-MM-DD and 1 other value"),
    ],
)
def test_moments_that_cannot_be_told_apart_are_refused(texts: list[str], problem: str) -> None:
    with pytest.raises(DataError, match=problem):
        uc.Table.from_arrow(pa.table({"x": texts}), uc.Schema(quasi_identifiers=["x"]))


@pytest.mark.parametrize(
    "days",
    [
        pa.array([-719_163, 0], pa.date32()),
        pa.array([2_932_897], pa.date32()),
        pa.array([2**62], pa.timestamp("us")),
        pa.array([-(2**62)], pa.timestamp("s", "UTC")),
        pa.array([-719_163 * 86_400_000], pa.date64()),
    ],
)
def test_typed_days_outside_the_calendar_are_refused(days: pa.Array) -> None:
    with pytest.raises(DataError, match="days outside the years 1 to 9999"):
        read(pa.table({"x": days}))
    assert read(pa.table({"x": pa.array([-719_162, 2_932_896], pa.date32())})).data["x"].to_pylist() == [
        date.min,
        date.max,
    ]


def test_spellings_of_one_value_are_not_two_for_diversity(tmp_path: Path) -> None:
    lines = [f"{age},{'1.5' if age % 2 else '1.50'}" for age in range(8)]
    (tmp_path / "in.csv").write_text("\n".join(["age,pay", *lines]) + "\n")
    schema = uc.Schema(quasi_identifiers=["age"], sensitive="pay")
    with pytest.raises(UnreachableError):
        uc.publish(tmp_path / "in.csv", schema, uc.Anatomy(l=2), **UNJUDGED)


def test_what_is_said_of_spellings_stays_with_the_holder(tmp_path: Path) -> None:
    lines = [f"{age},{text}" for age, text in enumerate(ODD)]
    (tmp_path / "in.csv").write_text("\n".join(["age,pay", *lines]) + "\n")
    schema = uc.Schema(quasi_identifiers=["age"], sensitive="pay")
    run = uc.publish(tmp_path / "in.csv", schema, uc.Mondrian(k=3), **UNJUDGED)
    assert sum("several ways" in warning for warning in run.warnings) == 1
    out = uc.save(run, tmp_path / "out", rows_per_file=5)
    files = list((out / "public").iterdir())
    assert not any("several ways" in file.read_text() for file in files)
    parts = sorted(file for file in files if file.name.startswith("table-"))
    cells = [line.rpartition(",")[2] for file in parts for line in file.read_text().splitlines()[1:]]
    assert (len(parts), sorted(cells)) == (3, sorted(chosen(ODD)))
    assert uc.verify(out / "public").holds
    assert uc.verify(run, original=tmp_path / "in.csv").holds
    again = uc.load(out).release.tables[0].data["pay"]
    assert sorted(again.to_pylist()) == sorted(run.release.tables[0].data["pay"].to_pylist())


def test_a_release_knows_no_spelling_of_a_value_that_it_does_not_publish() -> None:
    known = Writing(spellings=Spellings(pa.array([1.5, 7.0]), pa.array(["1.50", "+7"]), NUMBERS, (1, ("9", "+9"))))
    data = pa.table({"x": [1.5, 2.0]})
    table = PublishedTable("table", (PublishedColumn("x", "insensitive", "value"),), data)
    kept = published_writing({"x": known}, [table])["x"].spellings
    assert kept is not None
    assert (kept.texts.to_pylist(), kept.several) == (["1.50"], None)
    ranges = PublishedTable("table", (PublishedColumn("x", "quasi-identifier", "interval"),), pa.table({"x": ["1.5"]}))
    assert published_writing({"x": known}, [ranges]) == {}


@pytest.mark.parametrize(
    ("written", "cells"),
    [("numbers", "x\nseven\n"), ("numbers", "x\n1e999\n"), ("DD.MM", "x\n7\n"), ("DD.MM.YYYY", "x\n7\n")],
)
def test_cells_that_are_not_as_the_manifest_says_are_refused(tmp_path: Path, written: str, cells: str) -> None:
    unchanged(put(tmp_path, ["+7", "1.50"]), tmp_path)
    public = tmp_path / "public"
    (public / "table.csv").write_text(cells)
    manifest = (public / "release.json").read_text()
    (public / "release.json").write_text(manifest.replace('"written": "numbers"', f'"written": "{written}"'))
    with pytest.raises((DataError, VerificationError), match="Column `x`"):
        load_release(public)


def test_spark_spells_as_everybody_does() -> None:
    texts = pa.array(["1.50", "1.5", "+7", None])
    given = SparkInput(None, {"path": "x.csv"}, ReadOptions(), texts=True, separator=",")
    columns = given.values({"x": Gathered(texts, np.array([3, 1, 2, 5]))})
    assert columns["x"].to_pylist() == [1.5, 1.5, 7.0, None]
    spellings = given.writing["x"].spellings
    assert spellings is not None
    assert spellings.texts.to_pylist() == ["1.50", "+7"]
    assert "several ways" in given.notes["x"]
