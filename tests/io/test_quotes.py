"""Quotation marks: what is refused and where, what is said of line breaks, and that both agree with a plain twin."""

import csv
import gzip
import io
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from both_ways import read, read_csv
from undercover.errors import DataError, InputError
from undercover.hierarchies.file import read_hierarchy
from undercover.io.csv.quotes import Quotes
from undercover.io.distance_file import read_distances

UNCLOSED = 'name;note\nAda;flu\nBo;"cold\nCy;flu\nDi;cough\n'
BEHIND = 'name;note\nAda;flu\nBo;"cold\nCy;flu\nDi;"cough"\n'
SPELLED = [("t.csv", "utf-8"), ("t.csv", "utf-8-sig"), ("t.csv.gz", "utf-8"), ("t.csv", "cp1252"), ("t.tsv", "utf-16")]


def twin(text: str, separator: str) -> tuple[str, int]:
    """What is wrong and in which line, one character after the other."""
    state, line, opened = "field", 1, 0
    for place, char in enumerate(text):
        if state == "cell":
            state = "mark" if char == '"' else state
        elif char in (separator, "\r", "\n"):
            state = "field"
        elif state == "mark":
            if char != '"':
                return "text follows", line
            state = "cell"
        elif state == "field" and char == '"':
            state, opened = "cell", line
        else:
            state = "text"
        line += char == "\n" or (char == "\r" and text[place + 1 : place + 2] != "\n")
    return ("opens a cell here", opened) if state == "cell" else ("", 0)


def strictly(text: str, separator: str) -> list[list[str]] | None:
    """The records by Python's own reader; none where it refuses."""
    try:
        return [
            record for record in csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True) if record
        ]
    except csv.Error:
        return None


def watched(text: str, separator: str, size: int) -> Quotes:
    found, content = Quotes(separator), text.encode()
    for start in range(0, len(content), size):
        found.take(content[start : start + size])
    found.end()
    return found


TEXTS = st.text(st.sampled_from('"""",\n\r é'), max_size=40)


CELLS = st.sampled_from(["plain", '"in marks"', '""', '"x""y"', '""""', '"a\nb"', '5" pipe', "é", "", '"', '"a"b'])
MOSTLY_RIGHT = st.lists(st.tuples(CELLS, st.sampled_from([",", "\n", "\r\n"])).map("".join), max_size=60).map("".join)


@given(TEXTS | MOSTLY_RIGHT, st.sampled_from(",;"), st.integers(1, 9) | st.integers(60, 200))
@settings(max_examples=300, deadline=None)
def test_marks_are_followed_as_the_twin_does(text: str, separator: str, size: int) -> None:
    found, (problem, line) = watched(text, separator, size), twin(text, separator)
    records = strictly(text, separator)
    assert bool(found.problem) == bool(problem) == (records is None)
    if records is None:
        assert found.problem.startswith(f"line {line}: ")
        assert problem in found.problem
    else:
        broken = [cell for record in records for cell in record if set(cell) & set("\r\n")]
        assert found.cells == len(broken)


@given(TEXTS)
@settings(max_examples=150, deadline=None)
def test_what_is_let_through_arrow_reads_as_python_does(text: str) -> None:
    content = f"head\n{text}\n"
    if watched(content, ";", 7).problem:
        return
    parsing = pyarrow.csv.ParseOptions(delimiter=";", newlines_in_values=True)
    texts = pyarrow.csv.ConvertOptions(column_types={"head": pa.string()})
    table = pyarrow.csv.read_csv(pa.py_buffer(content.encode()), parse_options=parsing, convert_options=texts)
    assert [["head"], *([cell] for cell in table.column(0).to_pylist())] == strictly(content, ";")


@pytest.mark.parametrize(("name", "encoding"), SPELLED)
@pytest.mark.parametrize("separator", [";", ",", "\t", "|"])
def test_an_unclosed_mark_is_refused_with_the_line_where_it_opened(
    tmp_path: Path, name: str, encoding: str, separator: str
) -> None:
    for content, said in ((UNCLOSED, "line 3: a quotation mark opens"), (BEHIND, "line 5: text follows")):
        written = content.replace(";", separator).encode(encoding)
        path = tmp_path / name
        path.write_bytes(gzip.compress(written) if name.endswith(".gz") else written)
        with pytest.raises(DataError, match=said) as caught:
            read_csv(path)
        assert not any(cell in str(caught.value) for cell in ("Ada", "Bo", "Cy", "Di", "cold", "flu"))
    assert "opened in line 3" in str(caught.value)


def test_a_part_with_an_unclosed_mark_is_refused_and_line_breaks_in_parts_are_said(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("name,note\nAda,flu\n")
    (tmp_path / "b.csv").write_text('name,note\nBo,flu\nCy,"cold\nor flu"\nDi,"a\n\nb"\n')
    said = read(tmp_path).source["read_as"]
    assert said.endswith("line breaks inside 2 cells, the first in line 3 of `b.csv`")
    (tmp_path / "c.csv").write_text('name,note\nBo,"flu\n')
    with pytest.raises(DataError, match=r"c\.csv`, line 2: a quotation mark opens"):
        read(tmp_path)


def test_line_breaks_in_cells_are_said(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b'a,b\r\n1,x\r\n2,"one\r\ntwo"\r\n')
    assert read(path).source["read_as"].endswith("line breaks inside 1 cell, the first in line 3")


def test_marks_that_follow_the_rules_are_read(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('a,b\n"5"" pipe","O\'Neil, ""Bo"""\n5" pipe,"6"" pipe"\n"",""""\n')
    assert read_csv(path)[0].to_pydict() == {"a": ['5" pipe', '5" pipe', None], "b": ['O\'Neil, "Bo"', '6" pipe', '"']}


def test_a_swallowed_file_beyond_one_block_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('a,b\n1,"x\n' + "2,yyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\n" * 150_000)
    with pytest.raises(DataError, match="line 2: a quotation mark opens"):
        read_csv(path)


@pytest.mark.parametrize("content", ['level0,level1\nflu,"ill\ncold,ill\n', 'level0,level1\n"flu"x,ill\n'])
def test_hierarchies_and_distances_are_read_as_strictly(tmp_path: Path, content: str) -> None:
    path = tmp_path / "h.csv"
    path.write_text(content)
    for reader in (read_hierarchy, read_distances):
        with pytest.raises(InputError, match=r"line 2: .*quotation mark"):
            reader(path)
