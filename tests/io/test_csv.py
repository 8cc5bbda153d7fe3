"""CSV files: what is read, what is decided, what is refused, and that written cells come back."""

import gzip
from datetime import date, datetime
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from both_ways import read_csv
from undercover.errors import DataError, OutputError
from undercover.io.csv.text import write_csv


def put(folder: Path, content: str | bytes, name: str = "t.csv") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.tsv", "t.txt"])
def test_separators_are_found(tmp_path: Path, separator: str, name: str) -> None:
    content = "\n".join(separator.join(row) for row in (["age", "job"], ["34", "cook"], ["28", "smith"])).encode()
    path = put(tmp_path, gzip.compress(content) if name.endswith(".gz") else content, name)
    table, decisions = read_csv(path)
    assert table.to_pydict() == {"age": [34, 28], "job": ["cook", "smith"]}
    assert decisions.separator == separator


def test_a_separator_inside_quotes_or_in_some_cells_does_not_mislead(tmp_path: Path) -> None:
    assert read_csv(put(tmp_path, 'a,b\n"x;y;z",1\n"x;y;z",2\n'))[1].separator == ","
    assert read_csv(put(tmp_path, "a;b\nx, y;1\nz;2\n"))[0].to_pydict() == {"a": ["x, y", "z"], "b": [1, 2]}


def test_a_declared_separator_is_obeyed(tmp_path: Path) -> None:
    assert read_csv(put(tmp_path, "a;b,c\n1;2,3\n"), separator=",")[0].column_names == ["a;b", "c"]


def test_decimal_commas(tmp_path: Path) -> None:
    path = put(tmp_path, "x;y;z\n1,5;3;0,25\n-2;4;\n")
    table, decisions = read_csv(path)
    assert table.to_pydict() == {"x": [1.5, -2.0], "y": [3, 4], "z": [0.25, None]}
    assert decisions.sentence() == "read as: separator ';', decimal ',', encoding utf-8"
    assert read_csv(path, decimal=".")[0].column("x").to_pylist() == ["1,5", "-2"]


def test_a_column_with_points_decides_against_the_comma(tmp_path: Path) -> None:
    table, decisions = read_csv(put(tmp_path, "x;y\n1,5;1.5\n2,5;2.5\n"))
    assert decisions.decimal == "."
    assert table.to_pydict() == {"x": ["1,5", "2,5"], "y": [1.5, 2.5]}
    table, _ = read_csv(tmp_path / "t.csv", decimal=",")
    assert table.to_pydict() == {"x": [1.5, 2.5], "y": ["1.5", "2.5"]}


@pytest.mark.parametrize(
    ("encoding", "said"),
    [("utf-8", "utf-8"), ("utf-8-sig", "utf-8"), ("latin-1", "cp1252"), ("cp1252", "cp1252"), ("utf-16", "utf-16")],
)
def test_encodings_are_found(tmp_path: Path, encoding: str, said: str) -> None:
    table, decisions = read_csv(put(tmp_path, "größe,ort\n1,Köln\n2,Málaga\n".encode(encoding)))
    assert table.to_pydict() == {"größe": [1, 2], "ort": ["Köln", "Málaga"]}
    assert decisions.encoding == said


def test_an_odd_byte_far_behind_the_sample_is_found(tmp_path: Path) -> None:
    rows = b"a,b\n" + b"x,1\n" * 200_000 + "é,1\n".encode("latin-1")
    table, decisions = read_csv(put(tmp_path, rows))
    assert decisions.encoding == "cp1252"
    assert table.column("a")[-1].as_py() == "é"


def test_bytes_that_windows_does_not_know_are_latin(tmp_path: Path) -> None:
    assert read_csv(put(tmp_path, b"a\nx\x81\n"))[1].encoding == "latin-1"


@pytest.mark.parametrize("encoding", ["rot13", "hex", "\0", "undefined", "idna", "punycode", "x" * 300])
def test_what_is_no_encoding_of_files_is_not_known(tmp_path: Path, encoding: str) -> None:
    with pytest.raises(DataError, match="is not known"):
        read_csv(put(tmp_path, "a,b\n1,Köln\n".encode()), encoding=encoding)


def test_utf_16_without_its_mark_is_said(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="not in the encoding utf-16"):
        read_csv(put(tmp_path, "a,b\n1,Köln\n".encode()), encoding="utf-16")
    with pytest.raises(DataError, match="single character"):
        read_csv(put(tmp_path, b"a,b\n"), separator="\0")


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_a_wrong_declared_encoding_is_named_with_the_line(tmp_path: Path, encoding: str) -> None:
    path = put(tmp_path, "ort\nBonn\nKöln\n".encode("latin-1"))
    with pytest.raises(DataError, match=rf"t.csv`, line 3: the byte 0xf6 .* {encoding}. Try .*latin-1"):
        read_csv(path, encoding=encoding)
    assert read_csv(path, encoding="latin-1")[0].column("ort").to_pylist() == ["Bonn", "Köln"]


def test_a_utf8_mark_contradicts_another_declaration(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="mark of UTF-8"):
        read_csv(put(tmp_path, "a\n1\n".encode("utf-8-sig")), encoding="latin-1")


def test_only_an_empty_field_is_missing_unless_told(tmp_path: Path) -> None:
    path = put(tmp_path, 'a,b\nNA,1\nNone,?\nnan,\n,2\n"",3\n')
    assert read_csv(path)[0].to_pydict() == {
        "a": ["NA", "None", "nan", None, None],
        "b": ["1", "?", None, "2", "3"],
    }
    table, decisions = read_csv(path, nulls=["?", "NA"])
    assert table.to_pydict() == {"a": [None, "None", "nan", None, None], "b": [1, None, None, 2, 3]}
    assert "missing: empty or `?`, `NA`" in decisions.sentence()


@pytest.mark.parametrize(
    ("cells", "values", "kind"),
    [
        (["1", "-2"], [1, -2], "whole numbers"),
        ([" 1", "2 "], [1, 2], "whole numbers"),
        (["1.5", "2"], [1.5, 2.0], "numbers"),
        (["0", "0.5", "10"], [0.0, 0.5, 10.0], "numbers"),
        (["1e3", "+2"], [1000.0, 2.0], "numbers"),
        (["01234", "20115"], ["01234", "20115"], "text"),
        (["20115", "00"], ["20115", "00"], "text"),
        (["-01", "2"], ["-01", "2"], "text"),
        (["01.5", "2"], ["01.5", "2"], "text"),
        (["0x1F", "2"], ["0x1F", "2"], "text"),
        (["99999999999999999999", "1"], ["99999999999999999999", "1"], "text"),
        (["nan", "inf"], ["nan", "inf"], "text"),
        (["1", "x"], ["1", "x"], "text"),
        (["true", "false"], ["true", "false"], "text"),
        (["2024-03-17", "1999-12-31"], [date(2024, 3, 17), date(1999, 12, 31)], "dates"),
        (["2024-03-17 08:30", "2024-03-17"], [datetime(2024, 3, 17, 8, 30), datetime(2024, 3, 17)], "times"),
        (["2024-03-17", "March"], ["2024-03-17", "March"], "text"),
        (["17.03.2024", "1.4.2024"], ["17.03.2024", "1.4.2024"], "text"),
    ],
)
def test_a_column_is_what_all_of_its_values_are(
    tmp_path: Path, cells: list[str], values: list[object], kind: str
) -> None:
    table, decisions = read_csv(put(tmp_path, "\n".join(["x,y", *(f"{cell},1" for cell in cells), ",1"])))
    assert table.column("x").to_pylist() == [*values, None]
    assert decisions.kinds["x"] == kind


def test_columns_declared_text_stay_text(tmp_path: Path) -> None:
    path = put(tmp_path, "x,y\n1,2024-01-01\n")
    assert read_csv(path, text=["x"])[0].to_pydict() == {"x": ["1"], "y": [date(2024, 1, 1)]}
    assert read_csv(path, text=None)[0].to_pydict() == {"x": ["1"], "y": ["2024-01-01"]}


@pytest.mark.parametrize("odd", ["nan", "inf", "-Infinity", "1e999"])
def test_non_finite_numbers_among_numbers_are_refused(tmp_path: Path, odd: str) -> None:
    path = put(tmp_path, f"x,y\n1.5,a\n{odd},b\n")
    with pytest.raises(DataError, match=rf"t.csv`: Column `x` holds numbers and `{odd}`, first in data row 2"):
        read_csv(path)
    assert read_csv(path, nulls=[odd])[0].column("x").to_pylist() == [1.5, None]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        (" \n\n", "is empty"),
        ("a,b\n", "a header and no rows"),
        ("a,b,a\n1,2,3\n", "line 1: more than one column is named `a`"),
        ("a,b\n1,2\n3\n4,5,6\n", r"(?s)line 3: 1 fields where the header has 2.*line 4: 3 fields"),
        ('a,b\n"x\ny",1\n2\n', r"line 4: 1 fields"),
        ('a,b\n1,2\n"x,3\n4,5\n', r"line 3: a quotation mark opens a cell here and nothing closes it"),
    ],
)
def test_malformed_files_are_refused_with_file_and_line(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        read_csv(put(tmp_path, content), separator=",")
    assert "t.csv" in str(caught.value)


def test_a_ragged_row_far_down_is_named(tmp_path: Path) -> None:
    content = "a,b\n" + f"{'x' * 97},2\n" * 60_000 + "3\n"
    with pytest.raises(DataError, match="line 60002: 1 fields"):
        read_csv(put(tmp_path, content))


def test_what_is_not_gzip_or_cut_off_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be unpacked"):
        read_csv(put(tmp_path, "a,b\n1,2\n", "t.csv.gz"))
    packed = gzip.compress(b"a,b\n" + bytes(str(list(range(200_000))), "ascii").replace(b", ", b",1\n") + b"\n")
    with pytest.raises(DataError, match="damaged or incomplete"):
        read_csv(put(tmp_path, packed[: len(packed) - 20], "t.csv.gz"))


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="No such file"):
        read_csv(tmp_path / "none.csv")
    with pytest.raises(OutputError, match="cannot be written"):
        write_csv(pa.table({"a": [1]}), tmp_path / "no" / "t.csv")


def test_options_are_checked_together(tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        read_csv(tmp_path / "t.csv", separator=";;", decimal="'", encoding="klingon")
    assert len(caught.value.problems) == 3


cells = st.one_of(
    st.none(), st.text(alphabet=st.sampled_from('ab1,;"{}[]*\n\r\t |é€') | st.characters(codec="utf-8"), min_size=1)
)


@settings(deadline=None)
@given(st.integers(1, 3).flatmap(lambda width: st.lists(st.tuples(*[cells] * width), min_size=1)), st.booleans())
def test_written_cells_come_back(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str | None, ...]], dictionary: bool
) -> None:
    columns = [pa.array(column, pa.string()) for column in zip(*rows, strict=True)]
    if dictionary:
        columns = [column.dictionary_encode() for column in columns]
    path = tmp_path_factory.mktemp("csv") / "t.csv"
    table = pa.table(columns, names=[f'column "{number}", é' for number in range(len(columns))])
    write_csv(table, path)
    again, _ = read_csv(path, separator=",", encoding="utf-8", text=None)
    assert again.column_names == table.column_names
    assert again.to_pydict() == table.to_pydict()


def test_numbers_dates_and_missing_values_are_written_as_in_a_release(tmp_path: Path) -> None:
    table = pa.table(
        {
            "whole": pa.array([1, None, -3]),
            "number": pa.array([1.0, 0.1, float("nan")]),
            "date": pa.array([date(2024, 3, 17), None, date(1, 1, 1)]),
            "time": pa.array([datetime(2024, 3, 17, 8, 30), datetime(2024, 3, 17), None]),
            "truth": pa.array([True, False, None]),
            "cell": pa.chunked_array(
                [pa.array(["[28, 35]"]).dictionary_encode(), pa.array(["{a, b}", "*"]).dictionary_encode()]
            ),
        }
    )
    write_csv(table, tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == (
        "whole,number,date,time,truth,cell\n"
        '1,1,2024-03-17,2024-03-17T08:30:00,true,"[28, 35]"\n'
        ',0.1,,2024-03-17T00:00:00,false,"{a, b}"\n'
        "-3,,0001-01-01,,,*\n"
    )


def test_many_rows_cross_the_batches(tmp_path: Path) -> None:
    numbers = pa.chunked_array([pa.array(range(100_000)), pa.array(range(200_000))])
    write_csv(pa.table({"n": numbers, "t": numbers.cast(pa.string()).dictionary_encode()}), tmp_path / "t.csv")
    again, _ = read_csv(tmp_path / "t.csv")
    assert again.column("n").equals(again.column("t"))
    assert again.column("n").to_pylist() == numbers.to_pylist()


def test_infinite_numbers_are_not_written(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="infinite"):
        write_csv(pa.table({"x": [float("inf")]}), tmp_path / "t.csv")
