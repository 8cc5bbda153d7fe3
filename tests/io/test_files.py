"""JSON lines, Arrow files, zips and tables in several parts."""

import gzip
import zipfile
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.feather as feather
import pytest

import undercover as uc
from both_ways import read
from undercover.errors import DataError
from undercover.io.parquet import write_parquet
from undercover.io.source import ReadOptions
from undercover.verbs.same_people import old_table, same_people
from undercover.verbs.store import original_of

LINES = (
    '{"zip": "01234", "id": 9007199254740993, "name": "NA", "x": 0.1, "born": "1990-01-02"}\n\n'
    '{"zip": "9", "id": 12, "name": "a ", "x": 2, "born": null, "late": true}\n'
)
HELD = {
    "zip": ["01234", "9"],
    "id": [9007199254740993, 12],
    "name": ["NA", "a "],
    "x": [0.1, 2.0],
    "born": [date(1990, 1, 2), None],
    "late": [None, True],
}


def test_json_lines(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text(LINES)
    with gzip.open(tmp_path / "t.ndjson.gz", "wt") as stream:
        stream.write(LINES)
    assert read(tmp_path / "t.jsonl").source["read_as"] == "JSON lines"
    assert read(tmp_path / "t.jsonl").data.to_pydict() == read(tmp_path / "t.ndjson.gz").data.to_pydict() == HELD
    as_text = read(tmp_path / "t.jsonl", options=ReadOptions(text=("born",))).data
    assert as_text.column("born").to_pylist() == ["1990-01-02", None]


def test_numbers_that_no_column_of_numbers_holds_stay_as_written(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text('{"a": 123456789012345678901, "b": 9007199254740993}\n{"a": 1, "b": 0.5}\n')
    assert read(tmp_path / "t.jsonl").data.to_pydict() == {
        "a": ["123456789012345678901", "1"],
        "b": ["9007199254740993", "0.5"],
    }


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{'a': 1}", "line 2: not JSON"),
        ('{"a": NaN}', "line 2: not JSON: NaN is no number"),
        ("[1]", "line 2: every line must be an object"),
        ('{"a": [1]}', "line 2: `a` holds more than one value"),
    ],
)
def test_lines_that_are_no_rows(tmp_path: Path, line: str, said: str) -> None:
    (tmp_path / "t.jsonl").write_text('{"a": 1}\n' + line)
    with pytest.raises(DataError, match=said):
        read(tmp_path / "t.jsonl")


def test_arrow_files_and_streams(tmp_path: Path) -> None:
    table = pa.table({"zip": ["01234", ""], "n": pa.array([2**60 + 1, None])})
    feather.write_feather(table, tmp_path / "t.feather")
    with pa.ipc.new_stream(str(tmp_path / "t.arrows"), table.schema) as writer:
        writer.write_table(table)
    for name in ("t.feather", "t.arrows"):
        assert read(tmp_path / name).data.to_pydict() == {"zip": ["01234", None], "n": [2**60 + 1, None]}
    (tmp_path / "t.arrow").write_text("a,b\n1,2\n" * 9)
    with pytest.raises(DataError, match="not a Feather or Arrow file"):
        read(tmp_path / "t.arrow")


def zipped(path: Path, **files: str) -> Path:
    with zipfile.ZipFile(path, "w") as packed:
        for name, text in files.items():
            packed.writestr(name.replace("__", "/").replace("_", "."), text)
    return path


def test_a_zip_of_one_file(tmp_path: Path) -> None:
    path = zipped(tmp_path / "t.zip", in__people_csv="zip,n\n01234,1\n", in__="", in___DS_Store="x")
    found = read(path)
    assert found.data.to_pydict() == {"zip": ["01234"], "n": [1]}
    assert found.source["path"] == str(path)
    assert found.source["read_as"].startswith("`people.csv` of a zip, separator ','")


def test_zips_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"must hold one file. It holds 2: `a.csv`, `b.csv`"):
        read(zipped(tmp_path / "t.zip", a_csv="", b_csv=""))
    with pytest.raises(DataError, match="a zip in a zip"):
        read(zipped(tmp_path / "t.zip", a_zip=""))
    with pytest.raises(DataError, match="has no sheets"):
        read(f"{zipped(tmp_path / 't.zip', a_csv='')}#People")
    # What is wrong is told of the zip, not of the place it was unpacked to.
    with pytest.raises(DataError, match=r"t.zip/a.csv`, line 3: 1 fields") as caught:
        read(zipped(tmp_path / "t.zip", a_csv="a,b\n1,2\n3\n"))
    assert str(caught.value).startswith(f"`{tmp_path}")
    (tmp_path / "t.zip").write_text("a,b")
    with pytest.raises(DataError, match="cannot be unpacked"):
        read(tmp_path / "t.zip")


@pytest.fixture
def parts(tmp_path: Path) -> Path:
    folder = tmp_path / "parts"
    folder.mkdir()
    (folder / "b.csv").write_text("n;zip;x\n3;01234;1,5\n")
    (folder / "a.csv").write_text("zip;n;x\n50667;1;2,5\n53111;2;NA\n")
    (folder / "_SUCCESS").write_text("")
    (folder / ".a.csv.crc").write_text("")
    return folder


def test_csv_parts_are_one_table(parts: Path) -> None:
    found = read(parts, options=ReadOptions(nulls=("NA",)))
    assert found.data.to_pydict() == {"zip": ["50667", "53111", "01234"], "n": [1, 2, 3], "x": [2.5, None, 1.5]}
    assert found.source["read_as"].startswith("2 CSV files as one table, separator ';', decimal ','")
    by_pattern = read(f"{parts}/*.csv", options=ReadOptions(nulls=("NA",)))
    assert by_pattern.data.equals(found.data)
    assert by_pattern.source["sha256"] == found.source["sha256"]
    assert read(f"{parts}/a*.csv").data.num_rows == 2
    (parts / "b.csv").write_text("n;zip;x\n4;01234;1,5\n")
    assert read(parts).source["sha256"] != found.source["sha256"]


def test_parquet_parts_are_one_table(tmp_path: Path) -> None:
    tables: list[dict[str, Any]] = [
        {"n": pa.array([1, 2**53 + 1]), "s": ["a", "b"], "f": [1.0, None], "none": pa.nulls(2)},
        {"n": pa.array([3], pa.int32()), "s": [""], "f": [7], "none": ["x"]},
    ]
    for number, table in enumerate(tables):
        write_parquet(pa.table(table), tmp_path / f"{number}.parquet")
    assert read(tmp_path).data.to_pydict() == {
        "n": [1, 2**53 + 1, 3],
        "s": ["a", "b", None],
        "f": [1, None, 7],
        "none": [None, None, "x"],
    }
    write_parquet(pa.table({**tables[1], "n": [0.5], "s": [1]}), tmp_path / "1.parquet")
    with pytest.raises(DataError, match=r"(?s)Column `n` is of different types.*Column `s`"):
        read(tmp_path)


def test_parts_that_do_not_fit(parts: Path) -> None:
    (parts / "c.csv").write_text("zip;m;x\n1;1;1\n")
    with pytest.raises(DataError, match=r"c.csv` lacks `n` and has `m` besides; .* columns of `a.csv`"):
        read(parts)
    (parts / "c.csv").rename(parts / "c.parquet")
    with pytest.raises(DataError, match=r"all CSV or all Parquet files; `c.parquet`"):
        read(parts)
    (parts / "deeper").mkdir()
    with pytest.raises(DataError, match=r"is a folder that has folders in it \(`deeper`\)"):
        read(parts)
    with pytest.raises(DataError, match="no file that fits"):
        read(f"{parts}/*.tsv")


def test_the_original_of_a_run_is_found_again_in_its_parts(parts: Path, tmp_path: Path) -> None:
    schema = uc.Schema(quasi_identifiers=["zip"], insensitive=["n"])
    uc.save(uc.publish(parts, schema, uc.Mondrian(k=3), policy="none"), tmp_path / "out")
    run = uc.load(tmp_path / "out")
    assert original_of(run).n_rows == 3
    assert same_people(run, read(parts)).same_table
    assert same_people(run, read(parts / "a.csv")).unchecked is not None
    assert old_table(run, None) is not None
    (parts / "b.csv").write_text("n;zip;x\n4;01234;1,5\n")
    assert old_table(run, None) is None
    with pytest.raises(DataError, match="has changed since the release was made"):
        original_of(run)
    (parts / "a.csv").unlink()
    (parts / "b.csv").unlink()
    with pytest.raises(DataError, match="no longer at"):
        original_of(run)
