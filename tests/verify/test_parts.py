"""Tables in several files: read one after the other, and held to the same."""

import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from received import rows_of, saved, write_rows

import undercover as uc
from undercover.errors import DataError
from undercover.io.release.manifest import read_public
from undercover.io.source import sha256
from undercover.testing.forged import Folder

pytestmark = pytest.mark.usefixtures("unjudged")


def in_parts(public: Path, *ends: int) -> Folder:
    """Every table cut after these rows, as a release in parts says it; without pages, which tell of one file."""
    folder = Folder(public)
    for name in ("datapackage.json", "datasheet.html"):
        (public / name).unlink()
    for table in folder.content["tables"]:
        header, *rows = rows_of(public / table["file"])
        (public / table.pop("file")).unlink()
        del table["sha256"]
        borders = [0, *(end for end in ends if end < len(rows)), len(rows)]
        table["parts"] = []
        for number, (start, end) in enumerate(pairwise(borders)):
            file = f"{table['name']}-{number}.csv"
            write_rows(public / file, [header, *rows[start:end]])
            table["parts"].append({"file": file, "rows": end - start, "sha256": ""})
    return sealed(folder)


def sealed(folder: Folder) -> Folder:
    """The manifest with the hashes of the files as they are now."""
    files: dict[str, str] = {}
    for table in folder.content["tables"]:
        for part in table["parts"]:
            part["sha256"] = files[part["file"]] = sha256(folder.place / part["file"])
    folder.content["files"] = files
    (folder.place / "release.json").write_text(json.dumps(folder.content), "utf-8")
    return folder


@pytest.mark.parametrize("method", ["mondrian", "anatomy", "mutual-cover", "perturbed", "cross-bucket"])
def test_a_release_in_parts_is_the_release(method: str, tmp_path: Path) -> None:
    public = saved(method, tmp_path) / "public"
    whole, before = read_public(public).release, uc.verify(public)
    in_parts(public, 7, 8)
    parted, after = read_public(public), uc.verify(public)
    assert parted.problems == []
    for table, other in zip(whole.tables, parted.release.tables, strict=True):
        assert table.data.to_pylist() == other.data.to_pylist()
        assert table.data.schema.types == other.data.schema.types
    assert after.holds == before.holds
    assert after.manifest_entries() == before.manifest_entries()


def test_a_column_that_reads_differently_in_its_parts(tmp_path: Path) -> None:
    public = saved("mondrian", tmp_path) / "public"
    folder = in_parts(public, 100)
    second = public / folder.content["tables"][0]["parts"][1]["file"]
    header, *rows = rows_of(second)
    place = header.index("disease")
    write_rows(second, [header, *([*row[:place], "7", *row[place + 1 :]] for row in rows)])
    sealed(folder)
    values = read_public(public).release.tables[0].data.column("disease").to_pylist()
    assert set(values[100:]) == {"7"}
    assert "flu" in values[:100]


def told(folder: Folder) -> str:
    return " ".join(uc.verify(folder.place).problems)


Change = Callable[[dict[str, Any]], Any]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda table: table.update(rows=table["rows"] + 1), "Table `table` has 240 rows where release.json says 241"),
        (lambda table: table["parts"][0].update(rows=99), "`table-0.csv` has 100 rows where release.json says 99"),
        (lambda table: table["parts"][0].update(note="fine"), "keys of a part that nobody here knows: `note`"),
        (lambda table: table["parts"][0].update(sha256="0" * 64), "two different SHA-256"),
        (lambda table: table["parts"].pop(), "Table `table` has 100 rows where"),
        (lambda table: table["parts"].append(table["parts"][0]), "names a file twice"),
    ],
)  # fmt: skip
def test_a_part_that_is_not_what_it_says_is_told(change: Change, said: str, tmp_path: Path) -> None:
    folder = in_parts(saved("mondrian", tmp_path) / "public", 100)
    assert told(folder) == ""
    change(folder.content["tables"][0])
    (folder.place / "release.json").write_text(json.dumps(folder.content), "utf-8")
    assert said in told(folder)


def test_an_edited_part_is_told(tmp_path: Path) -> None:
    folder = in_parts(saved("mondrian", tmp_path) / "public", 100)
    part = folder.place / "table-1.csv"
    part.write_text(part.read_text("utf-8") + "50,M,10000,flu\n", "utf-8")
    assert "`table-1.csv` was changed" in told(folder)


@pytest.mark.parametrize(
    "change",
    [
        lambda table: table.update(file="table-0.csv", sha256="0"),
        lambda table: table.update(parts=[]),
        lambda table: table.pop("parts"),
        lambda table: table["parts"][0].pop("sha256"),
        lambda table: table["parts"][0].update(file="../private/run.json"),
    ],
)
def test_a_table_is_in_one_file_or_in_parts(change: Change, tmp_path: Path) -> None:
    folder = in_parts(saved("mondrian", tmp_path) / "public", 100)
    change(folder.content["tables"][0])
    (folder.place / "release.json").write_text(json.dumps(folder.content), "utf-8")
    with pytest.raises(DataError, match=r"malformed|outside its folder"):
        uc.verify(folder.place)
