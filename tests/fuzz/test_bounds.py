"""Small files that unpack to much: each is refused before it fills the memory, and honest large ones are read."""

from __future__ import annotations

import gzip
import io
import os
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

import undercover as uc
from undercover.errors import DataError
from undercover.io import limits
from undercover.io.source import read
from undercover.model.view import FigureTable

ROW = b"34,F,10115,flu\n"
MUCH = 60_000_000 // len(ROW)


def packed(content: bytes) -> bytes:
    return gzip.compress(content, 6, mtime=0)


def zipped(name: str, content: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as target:
        target.writestr(name, content)
    return stream.getvalue()


def constant(rows: int) -> bytes:
    stream = io.BytesIO()
    pyarrow.parquet.write_table(pa.table({"a": pa.array([1], pa.int8()).take(pa.nulls(rows, pa.int8()))}), stream)
    return stream.getvalue()


BOMBS: dict[str, tuple[Callable[[], bytes], str]] = {
    "rows.csv.gz": (lambda: packed(b"age,sex,zip,ill\n" + ROW * MUCH), "unpacks to more than 50 MB"),
    "cell.csv.gz": (lambda: packed(b"a,b\n1," + b"x" * 60_000_000 + b"\n"), "unpacks to more than 50 MB"),
    "rows.jsonl.gz": (lambda: packed(b'{"a": 1}\n' * 7_000_000), "unpacks to more than 50 MB"),
    "rows.zip": (lambda: zipped("rows.csv", b"a\n" * 30_000_000), "unpacks to more than 50 MB"),
    "twice.zip": (lambda: zipped("rows.csv.gz", b"\x00" * 3_000_000), "unpacks to more than 1.1 MB"),
    "sheet.xlsx": (lambda: zipped("xl/worksheets/sheet1.xml", b" " * 60_000_000), "unpacks to more than 50 MB"),
    "wide.csv": (lambda: b",".join(b"c%d" % n for n in range(6_000)) + b"\n", "has 6,000 columns; at most 5,000"),
    "keys.jsonl": (lambda: b"".join(b'{"k%d":1}\n' % n for n in range(6_000)), "line 5001 has 5,001 columns"),
    "name.csv": (lambda: b"a," + b"b" * 2_000 + b"\n1,2\n", "name has 2,000 characters; at most 1,000"),
    "rows.parquet": (lambda: constant(12_000_000), "more than 100 cells for every byte"),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_file_that_fills_the_memory_is_refused(name: str, tmp_path: Path) -> None:
    content, sentence = BOMBS[name]
    (tmp_path / name).write_bytes(content())
    assert (tmp_path / name).stat().st_size < 1_000_000
    started = time.perf_counter()
    with pytest.raises(DataError, match=sentence):
        read(tmp_path / name)
    assert time.perf_counter() - started < 20


def test_an_honest_file_is_read_however_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "FREE", 1_000)
    text = b"a\n" + b"\n".join(os.urandom(20).hex().encode() for _ in range(2_000)) + b"\n"
    (tmp_path / "much.csv.gz").write_bytes(packed(text))
    assert read(tmp_path / "much.csv.gz").data.num_rows == 2_000
    (tmp_path / "bomb.csv.gz").write_bytes(packed(b"a\n" + b"1\n" * 100_000))
    with pytest.raises(DataError, match="unpack it yourself"):
        read(tmp_path / "bomb.csv.gz")


def test_cells_that_are_books_are_not_published() -> None:
    data = pa.table({"age": range(10), "ill": ["x" * 200_000, *"abcdefghi"]})
    with pytest.raises(DataError, match="A cell of `ill` has 200,000 characters; at most 10,000"):
        uc.publish(data, uc.Schema(quasi_identifiers=["age"], sensitive="ill"), uc.Mondrian(k=2))
    uc.publish(data, uc.Schema(quasi_identifiers=["age"], drop=["ill"]), uc.Mondrian(k=2))


def test_a_thousand_quasi_identifiers_are_refused() -> None:
    names = [f"c{number}" for number in range(1_000)]
    data = pa.table({name: range(4) for name in names})
    with pytest.raises(DataError, match="1,000 columns are quasi-identifiers; at most 100"):
        uc.publish(data, uc.Schema(quasi_identifiers=names), uc.Mondrian(k=2))


def test_a_long_table_of_a_page_is_looked_through_once() -> None:
    table = FigureTable("pairs", ("a", "b"), tuple((1.0, "x") for _ in range(20_000)))  # type: ignore[arg-type]
    started = time.perf_counter()
    assert [table.is_text(column) for _ in range(20_000) for column in (0, 1)][:2] == [False, True]
    assert time.perf_counter() - started < 5
