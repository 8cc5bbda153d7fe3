"""What files of a release hold beside their cells: honest files of odd tables hold nothing, whatever wrote them."""

import datetime
import io
import shutil
import zipfile
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import undercover as uc
from undercover.io.csv.text import read_csv, write_csv
from undercover.io.parquet import write_parquet
from undercover.io.residue.cells import find_rows_in_cells, has_rows
from undercover.io.residue.csv import find_in_csv
from undercover.io.residue.parquet import _difference, find_in_parquet
from undercover.io.residue.thrift import has_one_frame, read_pages
from undercover.io.residue.workbook import KNOWN, installed_parts
from undercover.model.release import PublishedColumn, PublishedTable

FORMATS = ("csv", "parquet", "xlsx", "dta", "sav")
ROWS = range(60)
ODD = pa.table(
    {
        "age": [20 + row % 7 for row in ROWS],
        "born": [datetime.date(1990, 1, 1 + row % 9) for row in ROWS],
        "seen": [datetime.datetime(2020, 1, 1 + row % 5, 3, 4) for row in ROWS],
        "pay": [1.25 * (row % 5) for row in ROWS],
        "is new": [row % 2 == 0 for row in ROWS],
        "note": ["a,b" if row % 3 else 'q"x\ny' for row in ROWS],
        "zip code": [f"01{row % 4:03d}" for row in ROWS],
        "gap": [None if row % 4 == 0 else "x" for row in ROWS],
        "below": [-row % 5 - 3 for row in ROWS],
        "large": [2**55 + row % 3 for row in ROWS],
        "mark": ["=1+1" if row % 2 else "\ufeffb" for row in ROWS],
        "disease": ["ab"[row % 2] + "é" for row in ROWS],
    }
)


@pytest.fixture(scope="module")
def odd_run() -> uc.Run:
    others = [name for name in ODD.column_names if name not in ("age", "disease")]
    schema = uc.Schema(
        quasi_identifiers=["age"],
        sensitive="disease",
        insensitive=others,
        about={"title": "Odd <cells> & others", "date": "spring 2026", "licence": "https://example.org/licence"},
        columns={"pay": uc.Column(description="Pay", unit="euro"), "zip code": uc.Column(description="Where")},
    )
    return uc.publish(ODD, schema, uc.Mondrian(k=5), policy="none")


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("is_safe", [False, True], ids=["plain", "for spreadsheets"])
def test_odd_cells_leave_no_residue(kind: Any, is_safe: bool, odd_run: uc.Run, tmp_path: Path) -> None:
    if is_safe and kind not in ("csv", "xlsx"):
        kind = "csv"
    out = uc.save(odd_run, tmp_path / "out", format=kind, safe_for_spreadsheets=is_safe)
    found = uc.verify(out / "public")
    assert found.problems == ()
    assert any("line breaks" in note and "`note`" in note for note in found.notes)
    assert not any("datasheet" in note for note in found.notes)  # it could be made anew, word by word


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_parts_leave_no_residue(kind: Any, odd_run: uc.Run, tmp_path: Path) -> None:
    out = uc.save(odd_run, tmp_path / "out", format=kind, rows_per_file=25)
    assert uc.verify(out / "public").problems == ()
    part = out / "public" / f"table-00001.{kind}"
    part.write_bytes(part.read_bytes() + b"\n")
    with pytest.raises(uc.errors.VerificationError) if kind == "parquet" else nullcontext():
        assert uc.verify(out / "public").holds is False


def test_the_known_parts_of_a_workbook_are_those_of_the_installed_version() -> None:
    """Where this fails after an upgrade of XlsxWriter, add the new digests: older files keep theirs."""
    assert {part: digest in KNOWN[part] for part, digest in installed_parts().items()} == dict.fromkeys(KNOWN, True)


def test_a_workbook_verifies_where_the_library_writes_other_parts(
    odd_run: uc.Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from undercover.io.residue import workbook

    out = uc.save(odd_run, tmp_path / "out", format="xlsx")
    monkeypatch.setattr(workbook, "installed_parts", lambda: dict.fromkeys(KNOWN, "another digest"))
    workbook._fixed_parts.cache_clear()
    try:
        assert uc.verify(out / "public").problems == ()
    finally:
        workbook._fixed_parts.cache_clear()


CELLS = pa.table({"age": [f"[{row % 50}, 60]" for row in range(3000)], "n": pa.array(range(3000), pa.int32())})


def as_earlier_version(path: Path, **options: Any) -> None:
    """Write cells as another version of Arrow might: other pages, and the name of that version."""
    stream = io.BytesIO()
    pq.write_table(CELLS, stream, compression="zstd", **options)
    data = stream.getvalue()
    now = f"version {pa.__version__}".encode()
    assert now in data
    path.write_bytes(data.replace(now, b"version " + b"1".rjust(len(now) - 8, b"0")))


def test_a_parquet_file_of_another_version_is_compared_as_far_as_it_can_be(tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    write_parquet(CELLS, path)
    assert find_in_parquet(path).problems == find_in_parquet(path).notes == []
    as_earlier_version(path, data_page_version="2.0")
    found = find_in_parquet(path)
    assert found.problems == []
    assert "compared by size and statistics alone" in found.notes[0]
    as_earlier_version(path, write_statistics=False)
    assert "holds more than its cells: in column `age`" in find_in_parquet(path).problems[0]
    as_earlier_version(path, use_dictionary=False, compression_level=1)
    assert "holds more than its cells" in find_in_parquet(path).problems[0]  # it is much larger than ours


def chunk_of(path: Path) -> bytes:
    column = pq.read_metadata(path).row_group(0).column(0)
    return path.read_bytes()[column.dictionary_page_offset :][: column.total_compressed_size]


def test_another_compression_of_the_same_pages_is_no_difference(tmp_path: Path) -> None:
    write_parquet(CELLS, tmp_path / "ours")
    pq.write_table(CELLS, tmp_path / "other", compression="zstd", compression_level=19)
    ours, other = chunk_of(tmp_path / "ours"), chunk_of(tmp_path / "other")
    assert ours != other
    assert _difference(other, ours) == ""


def test_bytes_behind_a_page_and_between_pages_are_found(tmp_path: Path) -> None:
    write_parquet(CELLS, tmp_path / "ours")
    chunk = chunk_of(tmp_path / "ours")
    pages = list(read_pages(chunk))
    assert b"".join(page.body for page in pages) != b""
    assert _difference(chunk + b"Ada,34,flu", chunk) != ""
    frame = pages[0].body
    skippable = b"\x50\x2a\x4d\x18" + (5).to_bytes(4, "little") + b"Ada34"
    assert has_one_frame(frame)
    assert not has_one_frame(frame + skippable)
    assert pa.Codec("zstd").decompress(frame + skippable, pages[0].size, asbytes=True)  # readers pass over it
    assert not has_one_frame(skippable + frame)


@pytest.mark.parametrize("junk", [b"\x00", b"\xff" * 40, b"\x15", b"\x15\x00\x18\x05ab"])
def test_pages_that_are_none_are_refused(junk: bytes) -> None:
    with pytest.raises(ValueError, match="a "):
        list(read_pages(junk))


def test_a_csv_file_is_compared_to_its_last_byte(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    write_csv(pa.table({"a": ["x", None, "y,z"]}), path)
    cells = read_csv(path, separator=",", encoding="utf-8", text=None)[0]
    assert find_in_csv(path, cells).problems == []
    path.write_bytes(path.read_bytes() + b"\n")
    assert "after byte" in find_in_csv(path, cells).problems[0]


def published(**columns: list[Any]) -> PublishedTable:
    return PublishedTable(
        "table", tuple(PublishedColumn(name, "insensitive", "value") for name in columns), pa.table(columns)
    )


def test_values_that_have_commas_are_no_rows() -> None:
    sectors = ["Food, beverages, tobacco", "Other, unspecified, n.e.c.", "Iron; steel; other metals"]
    table = published(sector=sectors, age=[30, 40, 50], town=["Ulm", "Bonn", "Kiel"])
    assert find_rows_in_cells([table]).problems == []
    raw = published(sector=[*sectors[:2], "Food, 34, Ulm, M"], age=[30, 40, 50], town=["Ulm"] * 3, sex=["M", "F", "M"])
    assert "lists of values" in find_rows_in_cells([raw]).problems[0]


def test_rows_are_lines_of_as_many_fields() -> None:
    assert has_rows("a,b,c\nd,e,f")
    assert has_rows("a|b|c\r\n\r\nd|e|f")
    assert not has_rows("Dear all,\nthank you, and, well, good-bye")
    assert not has_rows("a,b\nc,d")


def test_a_workbook_in_parts_of_an_archive_is_not_taken_apart_twice(odd_run: uc.Run, tmp_path: Path) -> None:
    """Packed anew by another program the archive has other sizes and the same parts: it holds nothing more."""
    from undercover.io.residue.workbook import find_in_workbook

    out = uc.save(odd_run, tmp_path / "out", format="xlsx")
    path = out / "public" / "table.xlsx"
    again = tmp_path / "table.xlsx"
    with zipfile.ZipFile(path) as book, zipfile.ZipFile(again, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as other:
        for part in book.infolist():
            other.writestr(part, book.read(part))
    assert find_in_workbook(again, "table", ODD.num_columns, ODD.num_rows).problems == []
    shutil.copy(path, again)
    assert "beyond the table" in find_in_workbook(again, "table", ODD.num_columns, 5).problems[0]
