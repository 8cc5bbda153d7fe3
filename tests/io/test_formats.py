"""Releases in every format: cells come back as they were published, bytes are the same again and tell of nobody."""

import ctypes
import getpass
import json
import socket
import time
import zipfile
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyreadstat
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import undercover as uc
from both_ways import read
from undercover.errors import DataError, MissingExtraError, VerificationError
from undercover.io.cells import as_texts
from undercover.io.office import write_statistics
from undercover.io.parquet import write_parquet
from undercover.io.release import tables
from undercover.io.release.manifest import load_release, write_tables
from undercover.io.release.tables import check_installed, file_notes, format_of
from undercover.model.formats import FORMATS, check_size, variables
from undercover.model.formats.writing import Writing
from undercover.model.release import PublishedColumn, PublishedTable, Release

OFFICE = ("xlsx", "dta", "sav")


def released(columns: dict[str, Any], forms: dict[str, str] | None = None, **more: Any) -> Release:
    data = pa.table(columns)
    published = tuple(PublishedColumn(name, "insensitive", (forms or {}).get(name, "value")) for name in columns)  # type: ignore[arg-type]
    return Release("somebody's", {}, (PublishedTable("table", published, data),), True, **more)


def cells(release: Release) -> dict[str, list[str | None]]:
    data = release.tables[0].data
    return {name: as_texts(data.column(name)).to_pylist() for name in data.column_names}


AWKWARD = {
    "zip code": pa.array(["01067", "50667", None, "0"]),
    "phone": pa.array([12345678901234567, 1, None, -5]),
    "long": pa.array(["12345678901234567890", "12345678901234567891", None, "7"]),
    "name": pa.array(["NA", "nan", "None", "#N/A"]),
    "note": pa.array(["=1+1", " before", "line\nbreak", 'say "x", y']),
    "share": pa.array([0.1, 1 / 3, 1e-300, None]),
    "big": pa.array([1e20, 0.30000000000000004, -1.5, None]),
    "born": pa.array([date(1990, 1, 2), None, date(1600, 2, 29), date(2024, 12, 31)]),
    "old": pa.array([date(1066, 10, 14), None, date(1600, 2, 29), date(2024, 12, 31)]),
    "seen": pa.array([datetime(2024, 1, 2, 3, 4, 5), None, datetime(1999, 1, 1), datetime(1999, 1, 1)]),
    "exact": pa.array([datetime(2024, 1, 2, 3, 4, 5, 678901), None, None, None], pa.timestamp("us")),
    "ok": pa.array([True, False, None, True]),
    "Größe": pa.array(["ü", "𝄞", "x" * 3000, ""]),
    "if": pa.array([1, 2, 3, None]),
    "age": pa.array(["[28, 35]", "*", "34", None]).dictionary_encode(),
    "nothing": pa.nulls(4, pa.string()),
}


@pytest.mark.parametrize("file_format", FORMATS)
def test_awkward_cells_come_back(file_format: Any, tmp_path: Path) -> None:
    release = released(AWKWARD, {"age": "interval"})
    write_tables(release, tmp_path, format=file_format)
    again, problems = load_release(tmp_path)
    assert problems == []
    assert cells(again) == cells(release)
    assert again.tables[0].form("age") == "interval"
    assert again.tables[0].data.schema.field("share").type == pa.float64()
    assert again.tables[0].data.schema.field("born").type == pa.date32()
    assert format_of(tmp_path) == file_format


TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc", "Cn"]), max_size=12)
COLUMNS = st.one_of(
    st.lists(st.none() | TEXT | st.sampled_from(["007", "NA", "1.50", "a ", "1e5", "-0", "2024-01-02"]), min_size=3),
    st.lists(st.none() | st.integers(-(2**63), 2**63 - 1), min_size=3),
    st.lists(st.none() | st.floats(allow_nan=False, allow_infinity=False), min_size=3),
    st.lists(st.none() | st.dates(), min_size=3),
    st.lists(st.none() | st.booleans(), min_size=3),
)
NAMES = st.lists(TEXT.filter(lambda name: name.strip() == name != ""), min_size=3, max_size=3, unique=True)


@pytest.mark.parametrize("file_format", FORMATS)
@given(values=st.lists(COLUMNS, min_size=3, max_size=3), names=NAMES)
@example(values=[[1e18, -5e17, 2.0], [1e300, None, 0.0], [0.5, 1e18, None]], names=["a", "b", "c"])
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_cell_comes_back_or_the_table_is_refused(
    file_format: Any, values: list[list[Any]], names: list[str], tmp_path: Path
) -> None:
    columns = {name: pa.array(column[:3]) for name, column in zip(names, values, strict=True)}
    release = released({name: one.cast(pa.string()) if one.type == pa.null() else one for name, one in columns.items()})
    blanks = any((cell or "").endswith(" ") for column in cells(release).values() for cell in column)
    try:
        write_tables(release, tmp_path, format=file_format)
    except DataError:
        # SPSS pads with blanks; a sheet without any cell has no rows.
        empty = all(cell is None for column in cells(release).values() for cell in column)
        assert (file_format == "sav" and blanks) or (file_format == "xlsx" and empty)
        return
    again, problems = load_release(tmp_path)
    assert problems == []
    assert cells(again) == cells(release)


@pytest.mark.parametrize("file_format", OFFICE)
def test_tables_go_in_as_they_came_out(file_format: Any, tmp_path: Path) -> None:
    write_tables(released(AWKWARD, {"age": "interval"}), tmp_path, format=file_format)
    found = read(tmp_path / f"table.{file_format}").data
    assert {name: as_texts(found.column(place)).to_pylist() for place, name in enumerate(AWKWARD)} == cells(
        released(AWKWARD)
    )


@pytest.mark.parametrize("file_format", FORMATS)
def test_the_same_release_makes_the_same_bytes_which_tell_of_nobody(
    file_format: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = released(AWKWARD, {"age": "interval"})
    written = []
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        write_tables(release, tmp_path / folder, format=file_format)
        written.append((tmp_path / folder / f"table.{file_format}").read_bytes())
        time.sleep(1.1 if file_format == "sav" and folder == "a" else 0)  # its header counts seconds
    assert written[0] == written[1]
    content = written[0]
    if file_format == "xlsx":
        with zipfile.ZipFile(tmp_path / "a" / "table.xlsx") as packed:
            assert {item.date_time[0] for item in packed.infolist()} == {1980}
            content = b"".join(packed.read(name) for name in packed.namelist())
        properties = openpyxl.load_workbook(tmp_path / "a" / "table.xlsx").properties
        assert (properties.creator, properties.lastModifiedBy) == (None, None)
        assert properties.created.year == properties.modified.year == 1980
    elif file_format in OFFICE:
        _, about = getattr(pyreadstat, f"read_{file_format}")(str(tmp_path / "a" / f"table.{file_format}"))
        assert about.creation_time.year == 1980
    today = datetime.now()
    for word in (getpass.getuser(), socket.gethostname(), f"{today:%Y-%m-%d}", f"{today:%d %b}", str(tmp_path)):
        assert word.encode() not in content


def test_names_that_programs_do_not_allow_are_mapped_and_told(tmp_path: Path) -> None:
    long = "a name of a column that nobody could keep in mind for long, and nobody would"
    names = ["zip code", "Zip_Code", "2020", "if", "ALL", "_n", "ünïcode", "str8", "%", f"{long} 1", f"{long} 2"]
    for file_format, most in (("dta", 32), ("sav", 64)):
        own = variables(names, file_format)
        assert len({name.lower() for name in own}) == len(names)
        assert max(map(len, own)) <= most
        release = released({name: ["a", "b"] for name in names})
        said = {
            "columns": {"2020": {"description": "Turnout", "unit": "percent"}, "ünïcode": {"description": "d" * 400}}
        }
        manifest = write_tables(release, tmp_path, format=file_format, said=said)
        entries = manifest["tables"][0]["columns"]
        assert [entry.get("variable", entry["name"]) for entry in entries] == own
        assert entries[0] == {"name": "zip code", "role": "insensitive", "form": "value", "variable": "zip_code"}
        _, about = getattr(pyreadstat, f"read_{file_format}")(str(tmp_path / f"table.{file_format}"))
        assert about.column_names == own
        assert about.column_names_to_labels["zip_code"] == "zip code"
        assert about.column_names_to_labels["v2020"] == "2020: Turnout (percent)"
        assert about.column_names_to_labels["ünïcode"].endswith("d…")
        again, problems = load_release(tmp_path)
        assert problems == []
        assert again.tables[0].data.column_names == names
        assert "`zip_code` for `zip code`" in file_notes(release, file_format)[0]
        package = json.loads((tmp_path / "datapackage.json").read_text("utf-8"))["resources"][0]
        assert (package["format"], package["schema"]["fields"][2]["variable"]) == (file_format, "v2020")
        (tmp_path / f"table.{file_format}").unlink()


SURVEY = pd.DataFrame(
    {
        "age": [30.0, 31.0, 32.0, 33.0, 34.0, 35.0, 36.0, 37.0],
        "sex": [1.0, 2.0] * 4,
        "income": [1500.5, -9.0, 3000.0, 10.0] * 2,
        "edu": [1.0, 1.0, 2.0, 2.0] * 2,
    }
)
LABELS = {
    "sex": {1.0: "male", 2.0: "female", 3.0: "other"},
    "income": {-9.0: "refused", -8.0: "absent"},
    "age": {30.0: "thirty"},
}


@pytest.mark.parametrize("to", ["sav", "dta"])
@pytest.mark.parametrize("came", ["sav", "dta"])
def test_value_labels_come_out_as_they_came_in(came: str, to: Any, tmp_path: Path) -> None:
    frame = SURVEY if came == "sav" else SURVEY.assign(income=SURVEY["income"].round())  # Stata labels whole numbers
    path = str(tmp_path / f"in.{came}")
    getattr(pyreadstat, f"write_{came}")(
        frame, path, variable_value_labels=LABELS, **({"variable_measure": {"sex": "ordinal"}} if came == "sav" else {})
    )
    schema = uc.Schema(quasi_identifiers=["age"], sensitive="sex", insensitive=["income", "edu"])
    run = uc.publish(path, schema, uc.Mondrian(k=4), policy="none")
    assert run.release.writing["sex"].ordered == (came == "sav")
    assert run.release.writing["sex"].labels == {1: "male", 2: "female"}  # nobody is "other"
    uc.save(run, tmp_path / "out", format=to)
    _, about = getattr(pyreadstat, f"read_{to}")(str(tmp_path / "out" / "public" / f"table.{to}"))
    assert about.variable_value_labels == {"sex": {1: "male", 2: "female"}, "income": {-9: "refused"}}
    assert (about.variable_measure["sex"] == "ordinal") == (came == to == "sav")  # Stata knows no order
    again, problems = load_release(tmp_path / "out" / "public")
    assert problems == []
    assert cells(again) == cells(run.release)
    assert sorted(again.tables[0].data.column("sex").to_pylist()) == ["female"] * 4 + ["male"] * 4
    assert uc.verify(tmp_path / "out").holds


def test_labels_that_would_not_come_back_are_left_out(tmp_path: Path) -> None:
    column = pa.array(["yes ", "no"])
    writing = {"a": Writing({1: "yes ", 2: "no"}), "b": Writing({1.5: "x", 2: "y"}), "c": Writing({7: "seven"})}
    release = released({"a": column, "b": ["x", "y"], "c": [7, 7]}, writing=writing)
    write_tables(release, tmp_path, format="dta")
    _, about = pyreadstat.read_dta(str(tmp_path / "table.dta"))
    assert about.variable_value_labels == {}
    assert cells(load_release(tmp_path)[0]) == cells(release)


@pytest.mark.parametrize("file_format", FORMATS)
def test_decimals_are_published_as_they_are_written(file_format: Any, tmp_path: Path) -> None:
    rates = ("0.1234567890123456781", "0.1234567890123456782")
    lines = [f"{age},{age % 3}.50,{age}.0,{rates[age % 2]},2" for age in range(30, 38)]
    (tmp_path / "in.csv").write_text("\n".join(["age,price,mean,rate,n", *lines]) + "\n")
    schema = uc.Schema(quasi_identifiers=["age"], insensitive=["price", "mean", "rate", "n"])
    run = uc.publish(tmp_path / "in.csv", schema, uc.Mondrian(k=4), policy="none")
    out = uc.save(run, tmp_path / "out", format=file_format)
    again, problems = load_release(out / "public")
    assert problems == []
    assert cells(again) == cells(run.release)
    assert set(cells(again)["rate"]) == set(rates)  # no double tells them apart
    assert set(again.tables[0].data.column("price").to_pylist()) == {0.5, 1.5, 2.5}
    assert pa.types.is_integer(again.tables[0].data.schema.field("mean").type)
    if file_format == "csv":
        rows = (out / "public" / "table.csv").read_text().splitlines()[1:]
        assert {tuple(row.split(",")[2:4]) for row in rows} == {(f"{age % 3}.50", f"{age}.0") for age in range(30, 38)}
    elif file_format == "xlsx":
        assert openpyxl.load_workbook(out / "public" / "table.xlsx").active["B2"].number_format == "0.00"
    elif file_format in OFFICE:
        _, about = getattr(pyreadstat, f"read_{file_format}")(str(out / "public" / f"table.{file_format}"))
        assert about.original_variable_types["price"] in ("%4.2f", "F4.2")


@pytest.mark.parametrize("given", ["a frame", "a file"])
def test_decimals_of_frames_and_parquet_have_their_digits(given: str, tmp_path: Path) -> None:
    people = pa.table(
        {"age": [30, 31, 32, 33], "price": pa.array(["1.50", "2.00", "0.25", None]).cast(pa.decimal128(9, 2))}
    )
    write_parquet(people, tmp_path / "in.parquet")
    schema = uc.Schema(quasi_identifiers=["age"], insensitive=["price"])
    run = uc.publish(people if given == "a frame" else tmp_path / "in.parquet", schema, uc.Mondrian(k=4), policy="none")
    write_tables(run.release, tmp_path)
    rows = [line.rpartition(",")[2] for line in (tmp_path / "table.csv").read_text().splitlines()[1:]]
    assert sorted(rows) == ["", "0.25", "1.50", "2.00"]
    assert cells(load_release(tmp_path)[0]) == cells(run.release)


def test_decimals_that_are_not_as_the_manifest_says_are_refused(tmp_path: Path) -> None:
    write_tables(released({"a": [1.5, 2.25]}, writing={"a": Writing(digits=3)}), tmp_path)
    assert (tmp_path / "table.csv").read_text() == "a\n1.500\n2.250\n"
    (tmp_path / "table.csv").write_text("a\n1.500\n2.25\n")
    with pytest.raises(VerificationError, match="not of numbers with 3 digits"):
        load_release(tmp_path)
    write_tables(released({"a": [1.5, 2.125]}, writing={"a": Writing(digits=2)}), tmp_path)
    assert (tmp_path / "table.csv").read_text() == "a\n1.5\n2.125\n"


def test_what_a_format_cannot_hold_is_refused_with_a_word(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DataError, match=r"A cell of `a` has 40,000 characters, and Excel holds 32,767"):
        write_tables(released({"a": ["x" * 40_000]}), tmp_path, format="xlsx")
    with pytest.raises(DataError, match=r"Texts of `a` end in blanks"):
        write_tables(released({"a": ["x "]}), tmp_path, format="sav")
    with pytest.raises(DataError, match=r"1,048,576 rows does not fit a file of Excel"):
        check_size(1_048_576, 1, "xlsx")
    with pytest.raises(DataError, match=r"20,000 columns does not fit a file of Excel"):
        check_size(1, 20_000, "xlsx")
    for file_format in FORMATS:
        check_size(1_048_575, 16_384, file_format)
    with pytest.raises(DataError, match=r"Stata does not give `a` back"):
        write_tables(released({"a": ["x\0y"]}), tmp_path, format="dta")
    monkeypatch.setattr(tables, "find_spec", lambda name: None if name == "polars" else name)
    check_installed("xlsx")
    with pytest.raises(MissingExtraError, match=r"Writing SPSS files needs `polars`.*undercover\[office\]"):
        check_installed("sav")


def test_a_file_that_gives_other_cells_back_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held = write_statistics.held
    monkeypatch.setattr(write_statistics, "held", lambda column, form, kind: held(column, form, kind).take([1, 0]))
    with pytest.raises(DataError, match=r"Stata does not give `a` back as it is written"):
        write_tables(released({"a": ["x", "y"]}), tmp_path, format="dta")


def forge(path: Path) -> None:
    """One more year in a cell, and nothing else."""
    if path.suffix == ".xlsx":
        book = openpyxl.load_workbook(path)
        book.active["A2"] = "[1, 99]"
        book.save(path)
        return
    frame, about = getattr(pyreadstat, f"read_{path.suffix[1:]}")(str(path))
    frame.loc[0, "age"] = "[1, 99]"
    getattr(pyreadstat, f"write_{path.suffix[1:]}")(frame, str(path), column_labels=about.column_names_to_labels)


@pytest.mark.parametrize("file_format", OFFICE)
def test_a_release_is_worked_with_as_any_other_and_a_forged_cell_is_told(file_format: Any, tmp_path: Path) -> None:
    people = uc.datasets.census(200)
    schema = uc.Schema(quasi_identifiers=["age", "sex"], sensitive="income")
    run = uc.publish(people, schema, uc.Mondrian(k=10), policy="none", seed=1)
    query = uc.CountQuery(where={"age": uc.Between(30, 50)})
    places = {kind: uc.save(run, tmp_path / kind, format=kind) for kind in ("csv", file_format)}
    usual, other = (uc.load(place) for place in places.values())
    assert uc.verify(places[file_format]).holds
    assert uc.verify(places[file_format] / "public", original=people).holds
    assert uc.answer(other.release, query) == uc.answer(usual.release, query)
    assert uc.attack(other, original=people).to_dict() == uc.attack(usual, original=people).to_dict()
    assert uc.measure(people, other).to_dict() == uc.measure(people, usual).to_dict()
    forge(places[file_format] / "public" / f"table.{file_format}")
    told = uc.verify(places[file_format] / "public")
    assert not told.holds
    assert any(f"`table.{file_format}` was changed" in problem for problem in told.problems)


def sas_file(path: Path, names: list[str], rows: list[tuple[float | None, str]]) -> None:
    """A .sas7bdat of numbers and texts, by the library inside pyreadstat, which does not offer it."""
    from pyreadstat import _readstat_writer

    library = ctypes.CDLL(_readstat_writer.__file__)
    for name in ("readstat_writer_init", "readstat_add_variable", "readstat_get_variable"):
        getattr(library, name).restype = ctypes.c_void_p
    written = bytearray()

    @ctypes.CFUNCTYPE(ctypes.c_ssize_t, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)
    def collect(data: int, length: int, _: Any) -> int:
        written.extend(ctypes.string_at(data, length))
        return length

    writer = ctypes.c_void_p(library.readstat_writer_init())
    library.readstat_set_data_writer(writer, collect)
    kinds = ((5, 0), (0, 20))  # a double; a text of 20 bytes
    columns = [
        ctypes.c_void_p(library.readstat_add_variable(writer, name.encode(), kind, ctypes.c_size_t(width)))
        for name, (kind, width) in zip(names, kinds, strict=True)
    ]
    assert library.readstat_begin_writing_sas7bdat(writer, None, ctypes.c_long(len(rows))) == 0
    for number, text in rows:
        assert library.readstat_begin_row(writer) == 0
        if number is None:
            assert library.readstat_insert_missing_value(writer, columns[0]) == 0
        else:
            assert library.readstat_insert_double_value(writer, columns[0], ctypes.c_double(number)) == 0
        assert library.readstat_insert_string_value(writer, columns[1], text.encode()) == 0
        assert library.readstat_end_row(writer) == 0
    assert library.readstat_end_writing(writer) == 0
    library.readstat_writer_free(writer)
    path.write_bytes(bytes(written))


def test_a_real_sas_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "t.sas7bdat"
    sas_file(path, ["age", "name"], [(34.0, "007"), (None, "NA"), (28.0, "Ünal"), (2.0**53 - 1, "")])
    other = pd.read_sas(path, encoding="utf-8")  # a reader that shares nothing with ours finds the same
    assert other["age"].tolist()[::2] == [34.0, 28.0]
    found = read(path)
    assert found.data.to_pydict() == {"age": [34, None, 28, 2**53 - 1], "name": ["007", "NA", "Ünal", None]}
    assert found.source["read_as"] == "a SAS file"
    assert np.isnan(other["age"][1])
    assert replace(found).data.schema.field("age").type == pa.int64()
