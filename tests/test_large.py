"""``benchmarks/large``: its tables are the ones it says, and a run of it is the whole command."""

from __future__ import annotations

import argparse
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from benchmarks import large
from benchmarks.measure import Book


def test_tables_are_drawn_block_by_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large, "BLOCK", 100)
    large.write_people(tmp_path / "some.parquet", 250, 6)
    large.write_people(tmp_path / "fewer.parquet", 200, 6)
    some, fewer = (pq.read_table(tmp_path / f"{name}.parquet") for name in ("some", "fewer"))
    assert (some.num_rows, some.num_columns) == (250, 6)
    assert some.slice(0, 200).equals(fewer)
    assert not some.slice(0, 100).equals(some.slice(100, 100))


def test_a_run_is_the_whole_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = argparse.Namespace(folder=tmp_path, columns=4, memory="", limit=300.0)
    book = Book()
    large.large(book, [300], ["perturbed"], options)
    names = [figure.name for figure in book.figures]
    assert "perturbed, 300 rows: peak memory" in names, capsys.readouterr().out
    assert not (tmp_path / "perturbed").exists()


def test_a_run_that_fails_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = argparse.Namespace(folder=tmp_path, columns=4, memory="", limit=300.0)
    (tmp_path / "people-7-4.parquet").write_text("no table")
    large.large(Book(), [7], ["wrap"], options)
    assert "wrap, 7 rows: failed" in capsys.readouterr().out
