"""Everything that must not be in public files is found where somebody puts it there, and by what it is."""

import json
import zipfile
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from scanning_people import SCHEMA, crowd

import undercover as uc
from undercover.model.run import Run
from undercover.scanning.result import Scan
from undercover.verbs.self_test import SelfTest

Scanned = Callable[..., Scan]
NAME, NUMBER = "Ida Kvist-17", "100017"


def kinds(found: Scan) -> set[str]:
    return {leak.kind for leak in found.leaks}


def with_column(run: Run, name: str, column: Any, table: int = 0) -> Run:
    """A run whose published table has another column in place of one."""
    tables = list(run.release.tables)
    data = tables[table].data
    changed = data.set_column(data.column_names.index(name), name, column)
    tables[table] = replace(tables[table], data=changed)
    return replace(run, release=replace(run.release, tables=tuple(tables)))


def test_nothing_is_found_where_nothing_is(scanned: Scanned, made: Run) -> None:
    found = scanned(made)
    assert not found.leaks, found.sentence()
    assert found.short() == "identifiers, secrets, order, links; nothing found"


@pytest.mark.parametrize("cell", [f"seen with {NAME.upper()}!", f"case {NUMBER}", f"a;{NAME};b\nc"])
def test_an_identifier_in_a_cell(scanned: Scanned, made: Run, cell: str) -> None:
    notes = made.release.tables[0].data.column("note").to_pylist()
    found = scanned(with_column(made, "note", pa.array([cell, *notes[1:]])))
    assert kinds(found) == {"identifiers"}
    assert "`note`" in found.leaks[0].text
    assert NAME not in found.sentence()
    assert NUMBER not in found.sentence()


@pytest.mark.parametrize("file_format", ["csv", "parquet", "xlsx", "dta", "sav"])
def test_an_identifier_in_what_is_said_of_a_column(scanned: Scanned, made: Run, file_format: str) -> None:
    said = {"about": {}, "columns": {"age": {"description": f"as {NAME} has it"}}}
    found = scanned(made, said=said, file_format=file_format)
    assert kinds(found) == {"identifiers"}
    places = {leak.where for leak in found.leaks}
    assert places == {"datapackage.json", *([f"table.{file_format}"] if file_format in ("dta", "sav") else [])}


def test_an_identifier_in_the_metadata_of_a_parquet_file(scanned: Scanned, made: Run) -> None:
    def plant(public: Path) -> None:
        table = pyarrow.parquet.read_table(public / "table.parquet")
        field = table.schema.field("age").with_metadata({"of": NAME})
        table = table.cast(table.schema.set(0, field)).replace_schema_metadata({"pandas": f'["{NUMBER}"]'})
        pyarrow.parquet.write_table(table, public / "table.parquet")

    assert "identifiers" in kinds(scanned(made, plant=plant, file_format="parquet"))


@pytest.mark.parametrize(
    ("key", "value"), [("seed", 7), ("note", 20_261_116), ("note", "the seed of 7"), ("note", "20261116")]
)
def test_a_seed_in_the_manifest(scanned: Scanned, made: Run, key: str, value: Any) -> None:
    def plant(public: Path) -> None:
        manifest = public / "release.json"
        manifest.write_text(json.dumps({**json.loads(manifest.read_text()), key: value}))

    seed = 20_261_116 if "2026" in str(value) else 7
    assert "seed" in kinds(scanned(replace(made, randomness={"source": "seed", "seed": seed}), plant=plant))


@pytest.mark.parametrize(
    ("planted", "kind"),
    [
        ("<!-- {place}/public -->", "paths"),
        ("<p title='/home/somebody/x.csv'></p>", "paths"),
        ("<p>made of patients-2026.csv</p>", "paths"),
        ("<p>&#73;da Kvist&#45;17</p>", "identifiers"),
        ("<p>{digest}</p>", "digests"),
        ("<p>Made on {now}</p>", "times"),
        ("<img src='data:image/png;base64,cG5nIHRleHQgb2YgSWRhIEt2aXN0LTE3IQ=='>", "identifiers"),
        ("<p>by zqoperator</p>", "names"),
    ],
)
def test_something_on_the_datasheet(
    scanned: Scanned, made: Run, planted: str, kind: str, public: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("undercover.scanning.secrets.getpass.getuser", lambda: "zqoperator")
    now = datetime.now(UTC).isoformat(timespec="minutes")
    text = planted.format(place=public.parent, digest="ab" * 32, now=now)

    def plant(folder: Path) -> None:
        with (folder / "datasheet.html").open("a", encoding="utf-8") as page:
            page.write(text)

    source = {**made.source, "path": "data/patients-2026.csv", "sha256": "ab" * 32}
    assert kind in kinds(scanned(replace(made, source=source), plant=plant))


def rewritten(path: Path, name: str, change: Callable[[str], str], when: tuple[int, ...]) -> None:
    """A part of a workbook, changed."""
    with zipfile.ZipFile(path) as book:
        parts = [(one, book.read(one)) for one in book.infolist()]
    with zipfile.ZipFile(path, "w") as book:
        for one, content in parts:
            one.date_time = when if one.filename == name else one.date_time  # type: ignore[assignment]
            book.writestr(one, change(content.decode()) if one.filename == name else content)


def test_who_made_a_workbook_and_when(scanned: Scanned, made: Run) -> None:
    core, never = "docProps/core.xml", (1980, 1, 1, 0, 0, 0)

    def who(public: Path) -> None:
        rewritten(public / "table.xlsx", core, lambda text: text.replace("<dc:creator>", "<dc:creator>zq"), never)

    def when(public: Path) -> None:
        rewritten(public / "table.xlsx", core, str, (2026, 11, 16, 12, 0, 0))

    assert "metadata" in kinds(scanned(made, plant=who, file_format="xlsx"))
    assert "times" in kinds(scanned(made, plant=when, file_format="xlsx"))


def test_a_file_that_is_no_part_of_it_and_changed_cells(scanned: Scanned, made: Run) -> None:
    def plant(public: Path) -> None:
        (public / "raw.csv").write_text(f"who\n{NAME}\n")
        lines = (public / "table.csv").read_text().splitlines()
        (public / "table.csv").write_text("\n".join([lines[0], *reversed(lines[1:])]) + "\n")

    found = scanned(made, plant=plant)
    assert {"files", "identifiers"} <= kinds(found)
    assert "was written with other cells" in found.sentence()


@pytest.mark.parametrize("order", [np.sort, lambda rows: -np.sort(-rows)])
def test_rows_that_are_not_shuffled(
    scanned: Scanned, order: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def unshuffled(items: Any, offsets: Any, *more: Any) -> None:
        for start, end in pairwise(offsets):
            items[start:end] = order(items[start:end].astype(np.int64))

    monkeypatch.setattr("undercover.steps.recoding.shuffle_within", unshuffled)
    # The self-test of publish would refuse such a release; here the scan is to find it by itself.
    monkeypatch.setattr("undercover.verbs.publish.check_draft", lambda *given: SelfTest((), ()))
    found = scanned(uc.publish(crowd(), SCHEMA, uc.Mondrian(k=8)))
    assert "order" in kinds(found)
    assert ("links" in kinds(found)) is (order is np.sort)


def test_numbers_of_buckets_in_the_order_of_the_input(scanned: Scanned) -> None:
    schema = uc.Schema(identifiers="who", quasi_identifiers=["age", "town"], sensitive="ill")
    run = uc.publish(crowd(), schema, uc.Anatomy(l=4))
    assert not scanned(run).leaks
    _, first = np.unique(run.buckets, return_index=True)
    new = np.empty(len(first), np.int64)
    new[np.argsort(first)] = np.arange(len(first))
    for table in (0, 1):
        bucket = run.release.tables[table].data.column("bucket").to_numpy()
        run = with_column(run, "bucket", pa.array(new[bucket]), table)
    assert "order" in kinds(scanned(run))


def test_sensitive_values_in_the_order_of_the_input(scanned: Scanned, made: Run) -> None:
    found = scanned(with_column(made, "ill", crowd().column("ill")))
    assert kinds(found) == {"links"}
    assert "place in the table" in found.sentence()
    assert found.leaks[0].reason().weight == "stop"
