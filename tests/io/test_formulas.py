"""Cells that spreadsheets would calculate: escaped they are texts, and our reader has them as they were."""

import csv
import json
import zipfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import undercover as uc
from undercover.errors import ParameterError
from undercover.io.release.formulas import escaped, formula_note, unescaped
from undercover.model.formats import Files
from undercover.model.run import Run

MARKS = "=+-@\t\r＝＋－＠"
TEXTS = st.text(st.sampled_from([*MARKS, *";,|\n\"'", "1", "5", ".", "e", "a", " "]), max_size=8)
CELLS = ["=cmd|' /C calc'!A0", "+1-1", "-5", "@SUM(A1)", "\tx", "'=x", "a;=1", 'say "=1"', "it's", "1,-2", "", "−5"]


@given(TEXTS)
def test_a_text_comes_back_and_nothing_in_it_is_a_formula(text: str) -> None:
    safe = escaped(text)
    assert unescaped(safe) == text
    if safe == text and text[:1] in MARKS and text:
        assert float(text.replace(",", "."))  # a number stays one
    for separator in ';,|\t\n\r"':
        pieces = safe.split(separator)
        assert all(piece[:1] not in MARKS or not piece for piece in pieces[1:])


@pytest.fixture(scope="module")
def run() -> Run:
    """Twelve people twice, with notes that a spreadsheet would calculate, and such a name of a column."""
    table = pa.table(
        {"age": list(range(24)), "ill": ["flu", "cold", "gout"] * 8, "=note": CELLS * 2, "delta": [-5, 5] * 12}
    )
    schema = uc.Schema(quasi_identifiers="age", sensitive="ill", insensitive=["=note", "delta"])
    return uc.publish(table, schema, uc.Mondrian(k=4))


@pytest.mark.parametrize("file_format", ["csv", "xlsx"])
def test_a_release_is_safe_and_says_how(run: Run, tmp_path: Path, file_format: Any) -> None:
    plain, safe = (
        uc.save(run, tmp_path / name, format=file_format, safe_for_spreadsheets=name == "safe", accept="x", by="y")
        for name in ("plain", "safe")
    )
    (entry,) = json.loads((safe / "public" / "release.json").read_text())["tables"]
    assert entry["escaped"] == "apostrophe"
    assert "escaped" not in (plain / "public" / "release.json").read_text()
    assert "an apostrophe stands before every" in (safe / "public" / "datasheet.html").read_text()
    assert uc.verify(safe).holds
    assert uc.verify(safe / "public").holds
    assert uc.load(safe).release.table().equals(uc.load(plain).release.table())
    assert sorted(uc.load(safe).release.table().column("=note").to_pylist(), key=str) == sorted(
        [cell or None for cell in CELLS * 2], key=str
    )
    if file_format == "csv":
        with (safe / "public" / "table.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        assert {row["delta"] for row in rows} == {"-5", "5"}
        assert {row["'=note"] for row in rows} == {escaped(cell) for cell in CELLS}
    else:
        with zipfile.ZipFile(safe / "public" / "table.xlsx") as book:
            assert b"<f>" not in book.read("xl/worksheets/sheet1.xml")


def test_escaped_once_more_it_is_the_same_file(run: Run, tmp_path: Path) -> None:
    out = uc.save(run, tmp_path / "out", safe_for_spreadsheets=True, accept="x", by="y")
    again = uc.save(uc.load(out), tmp_path / "again", safe_for_spreadsheets=True, accept="x", by="y")
    assert (again / "public" / "table.csv").read_bytes() == (out / "public" / "table.csv").read_bytes()


def test_the_holder_is_told_what_would_be_calculated(run: Run) -> None:
    (said,) = formula_note(run.release, "csv")
    assert said.startswith("A spreadsheet would calculate 16 cells and 1 name of a column (`=note`)")
    assert formula_note(run.release, Files("csv", None, True)) == formula_note(run.release, "xlsx") == []


def test_only_of_files_that_spreadsheets_open(run: Run, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="Leave safe_for_spreadsheets=True out, or choose the format csv or xlsx"):
        uc.save(run, tmp_path / "out", format="parquet", safe_for_spreadsheets=True)
