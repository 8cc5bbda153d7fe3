"""Workbooks and files of statistics programs: what is in them comes out, or is refused."""

import sys
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyreadstat
import pytest

from both_ways import read
from undercover.errors import DataError, MissingExtraError
from undercover.io.files import STATISTICS
from undercover.io.office.statistics import PROGRAMS
from undercover.io.source import ReadOptions

ROWS: list[list[Any]] = [
    ["zip", "phone", "name", "age", "x", "born", "seen", "ok", 2020],
    ["01234", "12345678901234567890", "NA", 34, 0.1, date(1990, 1, 2), datetime(2024, 1, 2, 3, 4), True, "a"],
    [1234, None, "Ann ", 28, 1.25, None, date(2024, 1, 3), False, None],
    ["0", "007", "nan", None, 3, date(1980, 5, 6), None, None, time(3, 4)],
]


def workbook(path: Path, rows: list[list[Any]] = ROWS, **sheets: list[list[Any]]) -> Any:
    book = openpyxl.Workbook()
    book.active.title = "People"
    for row in rows:
        book.active.append(row)
    for name, content in sheets.items():
        other = book.create_sheet(name)
        for row in content:
            other.append(row)
    book.save(path)
    return book


def test_cells_of_a_sheet_are_not_altered(tmp_path: Path) -> None:
    workbook(tmp_path / "t.xlsx")
    found = read(tmp_path / "t.xlsx")
    assert found.data.to_pydict() == {
        "zip": ["01234", "1234", "0"],
        "phone": ["12345678901234567890", None, "007"],
        "name": ["NA", "Ann ", "nan"],
        "age": [34, 28, None],
        "x": [0.1, 1.25, 3.0],
        "born": [date(1990, 1, 2), None, date(1980, 5, 6)],
        "seen": [datetime(2024, 1, 2, 3, 4), datetime(2024, 1, 3), None],
        "ok": [True, False, None],
        "2020": ["a", None, "03:04:00"],
    }
    assert found.data.schema.field("age").type == pa.int64()
    assert found.source["read_as"] == "an Excel file, sheet `People`"


def test_sheets_by_name(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    workbook(path, Other=[["a"], [1]])
    first, other = read(path), read(f"{path}#Other")
    assert other.data.to_pydict() == {"a": [1]}
    assert "sheet `People`, the first of 2 (another: t.xlsx#SHEET)" in first.source["read_as"]
    assert first.source["sha256"] != other.source["sha256"]
    with pytest.raises(DataError, match=r"Sheet `Othr` is not known. Did you mean `Other`"):
        read(f"{path}#Othr")
    with pytest.raises(DataError, match="There is no file"):
        read(f"{tmp_path}/none.xlsx#Other")


def test_a_file_whose_name_has_a_hash_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "a.xlsx#b.csv").write_text("a\n1\n")
    assert read(tmp_path / "a.xlsx#b.csv").data.to_pydict() == {"a": [1]}


def test_hidden_sheets_are_read_only_by_name(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    book = workbook(path, Shown=[["a"], [1]])
    book["People"].sheet_state = "hidden"
    book.save(path)
    assert read(path).data.column_names == ["a"]
    assert read(f"{path}#People").data.num_rows == 3


def test_numbers_shown_with_leading_zeros_are_read_as_shown(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    book = workbook(path, [["skipped"], ["zip", "n"], [1234, 1234], [50667, 5]])
    sheet = book["People"]
    sheet.delete_rows(1)
    sheet.insert_rows(1, 2)  # the table does not begin in the first row
    for row in (4, 5):
        sheet[f"A{row}"].number_format = "00000"
    sheet["C9"].number_format = "000"  # a cell with a style and nothing in it
    book.save(path)
    assert read(path).data.to_pydict() == {"zip": ["01234", "50667"], "n": [1234, 5]}


def test_rows_below_and_columns_beside_that_are_empty_are_no_data(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    book = workbook(path, [["a", None, "b"], [1, None, 2], [None, None, None], [3, None, 4]])
    book["People"]["A9"].font = openpyxl.styles.Font(bold=True)
    book["People"]["A8"] = ""
    book.save(path)
    assert read(path).data.to_pydict() == {"a": [1, None, 3], "b": [2, None, 4]}


def test_errors_of_formulas_are_missing(tmp_path: Path) -> None:
    workbook(tmp_path / "t.xlsx", [["a", "b"], ["#N/A", 1], [2, 2]])
    assert read(tmp_path / "t.xlsx").data.to_pydict() == {"a": [None, 2], "b": [1, 2]}


def test_sheets_that_cannot_be_told_exactly_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    book = workbook(path)
    book["People"].merge_cells("B3:B4")
    book.save(path)
    with pytest.raises(DataError, match=r"sheet `People` has merged cells, first B3"):
        read(path)
    workbook(path, [["id", None], [12345678901234567, 1], [2, None]])
    with pytest.raises(
        DataError, match=r"(?s)`id` holds whole numbers of more than 15.*Column B has cells and no name"
    ):
        read(path)
    workbook(path, [["a"]])
    with pytest.raises(DataError, match="no rows below"):
        read(path)
    workbook(path, [["a", "a"], [1, 2]])
    with pytest.raises(DataError, match="more than one column named `a`"):
        read(path)
    path.write_text("a,b\n")
    with pytest.raises(DataError, match="not an Excel file"):
        read(path)


CODED = pd.DataFrame(
    {
        "edu": [2.0, 1.0, np.nan],
        "income": [1.5, -9.0, 3.0],
        "level": [1.0, 2.0, 3.0],
        "name": ["007", "NA", ""],
        "born": [date(1990, 1, 2), None, date(1950, 1, 1)],
        "phone": [9007199254740991.0, 2.0, 3.0],
    }
)
LABELS = {"edu": {1: "school", 2: "college", 3: "none of these"}, "income": {-9: "refused"}, "level": {1: "a", 2: "a"}}
UNLABELLED = {
    "name": ["007", "NA", None],
    "born": [date(1990, 1, 2), None, date(1950, 1, 1)],
    "phone": [9007199254740991, 2, 3],
    "level": [1, 2, 3],
}


def test_spss_with_labels_and_declared_missing(tmp_path: Path) -> None:
    path = tmp_path / "t.sav"
    pyreadstat.write_sav(
        CODED, path, variable_value_labels=LABELS, missing_ranges={"income": [-9]}, variable_measure={"edu": "ordinal"}
    )
    found = read(path)
    assert found.data.to_pydict() == {
        **UNLABELLED,
        "edu": ["college", "school", None],
        "income": [1.5, None, 3.0],
    }
    kept = found.data.schema.field("edu").type
    assert kept.ordered
    assert found.data.column("edu").chunk(0).dictionary.to_pylist() == ["school", "college"]
    assert found.source["read_as"] == (
        "an SPSS file; value labels stand for the codes of `edu`; "
        "`income`, `level` kept the codes, of which not all have a label of their own"
    )


def test_stata_with_labels_and_single_precision(tmp_path: Path) -> None:
    path = tmp_path / "t.dta"
    pyreadstat.write_dta(CODED, path, variable_value_labels={"edu": LABELS["edu"]})
    assert read(path).data.to_pydict() == {
        **UNLABELLED,
        "edu": ["college", "school", None],
        "income": [1.5, -9.0, 3.0],
    }
    frame = pd.DataFrame({"x": np.array([0.1, 2.5], np.float32), "n": np.array([7, 2**31 - 1000]), "s": ["a ", "b"]})
    frame.to_stata(path, write_index=False)
    assert read(path).data.to_pydict() == {"x": [0.1, 2.5], "n": [7, 2**31 - 1000], "s": ["a ", "b"]}


def test_sas_transport(tmp_path: Path) -> None:
    path = tmp_path / "t.xpt"
    pyreadstat.write_xport(CODED, path)
    found = read(path, options=ReadOptions(nulls=("NA",)))
    assert found.data.to_pydict() == {
        **UNLABELLED,
        "name": ["007", None, None],
        "edu": [2, 1, None],
        "income": [1.5, -9.0, 3.0],
    }
    assert found.source["read_as"] == "a SAS transport file"


@pytest.mark.parametrize("ending", STATISTICS)
def test_other_files_with_such_endings(tmp_path: Path, ending: str) -> None:
    (tmp_path / f"t{ending}").write_text("a,b\n1,2\n" * 100)
    with pytest.raises(DataError, match=f"cannot be read as {PROGRAMS[ending][1]}"):
        read(tmp_path / f"t{ending}")


def test_without_the_libraries_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    monkeypatch.setitem(sys.modules, "pyreadstat", None)
    for name in ("t.xlsx", "t.sav"):
        (tmp_path / name).write_text("x")
        with pytest.raises(MissingExtraError, match=r"undercover\[office\]"):
            read(tmp_path / name)
