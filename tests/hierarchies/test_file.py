"""Hierarchy files: what is read, and what is said of those that cannot be."""

from pathlib import Path

import pytest

from undercover.errors import HierarchyError, OutputError
from undercover.hierarchies.file import read_hierarchy, write_hierarchy
from undercover.model.hierarchy import Hierarchy


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252"])
def test_separators_and_encodings(tmp_path: Path, separator: str, encoding: str) -> None:
    path = tmp_path / "h.csv"
    rows = [["level0", "level1"], ["Köln", "Germany"], ["Lyon", "France"]]
    path.write_bytes("\r\n".join(separator.join(row) for row in rows).encode(encoding))
    assert read_hierarchy(path).rows == (("Köln", "Germany", "*"), ("Lyon", "France", "*"))


def test_written_and_read_back(tmp_path: Path) -> None:
    hierarchy = Hierarchy([('a, "b"', "x;y"), ("c\nd", "[1, 2]")])
    write_hierarchy(hierarchy, tmp_path / "h.csv")
    assert read_hierarchy(tmp_path / "h.csv") == hierarchy


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        ("level0,level1\n", "nothing else"),
        ("a,x\nb,x\n", r"h.csv`, line 1: the header must be 'level0,level1'"),
        ("level0,level1\na,x\nb\n", r"h.csv`, line 3: 1 labels where the header has 2"),
        ("level0,level1\na,x\n\nb,\n", r"line 4: no label on `level1`"),
        ("level0,level1\na,x\na,x\n", r"line 3: its leaf is already on line 2"),
        ("level0,level1,level2\na,x,p\nb,x,q\n", r"line 3: level 2 is not a function of level 1"),
        ("level0,level1\na,*\nb,*\nc,x\n", r"h.csv`: `\*` stands for everything"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "h.csv").write_text(content)
    with pytest.raises(HierarchyError, match=message):
        read_hierarchy(tmp_path / "h.csv")


def test_all_problems_are_reported_together(tmp_path: Path) -> None:
    (tmp_path / "h.csv").write_text("level0,level1\na\nb,\nc,x\nc,x\n")
    with pytest.raises(HierarchyError) as caught:
        read_hierarchy(tmp_path / "h.csv")
    assert len(caught.value.problems) == 3


def test_files_that_are_not_there_or_in_another_encoding(tmp_path: Path) -> None:
    with pytest.raises(HierarchyError, match="No such file"):
        read_hierarchy(tmp_path / "none.csv")
    (tmp_path / "h.csv").write_bytes("level0\nKöln".encode("latin-1"))
    with pytest.raises(HierarchyError, match="not in the encoding 'utf-8'"):
        read_hierarchy(tmp_path / "h.csv", encoding="utf-8")
    with pytest.raises(OutputError, match="cannot be written"):
        write_hierarchy(Hierarchy([("a",)]), tmp_path / "no" / "h.csv")
