"""Files of distances: the ways to write one, and every fault with its line."""

from pathlib import Path

import pytest

from undercover.errors import SchemaError
from undercover.io.distance_file import distances_text, read_distances
from undercover.model.distance.declared import Distances

PAIN = Distances(["none", "some", "much, or worse"], [[0, 0.1, 4], [0.1, 0, 2.5], [4, 2.5, 0]])


def test_written_and_read_again(tmp_path: Path) -> None:
    third = Distances(["a", 'b "c"', "d,e"], [[0, 1 / 3, 1e-300], [1 / 3, 0, 0], [1e-300, 0, 0]])
    for own in (PAIN, third):
        (tmp_path / "own.csv").write_text(distances_text(own), encoding="utf-8")
        assert read_distances(tmp_path / "own.csv") == own


@pytest.mark.parametrize(
    "text",
    [
        'none,some,"much, or worse"\n0,0.1,4\n0.1,0,2.5\n4,2.5,0\n',
        "none;some;much, or worse\r\n0;0,1;4\r\n0,1;0;2,5\r\n4;2,5;0\r\n",
        "none\tsome\tmuch, or worse\n0\t0.1\t4\n\n0.1\t0\t2.5\n4\t2.5\t0",
        ',none,some,"much, or worse"\nsome,0.1,0,2.5\nnone,0,0.1,4\n"much, or worse",4,2.5,0\n',
    ],
)
def test_ways_to_write_it(tmp_path: Path, text: str) -> None:
    for encoding in ("utf-8", "utf-8-sig"):
        (tmp_path / "own.csv").write_text(text, encoding=encoding, newline="")
        assert read_distances(tmp_path / "own.csv") == PAIN


def test_umlauts_of_a_spreadsheet(tmp_path: Path) -> None:
    (tmp_path / "own.csv").write_text("Köln;Ulm\n0;1\n1;0\n", encoding="cp1252")
    assert read_distances(tmp_path / "own.csv").values == ("Köln", "Ulm")


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("", ["is empty. Distances need a header"]),
        ("a,b\n0,1\n1,0,0\n", ["line 3: 3 cells where the header has 2."]),
        ("a,b\n0,1\n", ["1 rows for the 2 values of the header."]),
        ("a,b\n0,1\n1,0\n0,0\n", ["3 rows for the 2 values"]),
        ("town,a,b\na,0,1\nb,1,0\n", ["2 rows for the 3 values of the header. Where rows begin with their value"]),
        (
            "a,b\n0,x\n,0\n",
            ["line 2: a text of 1 character under `b` is not", "line 3: an empty text under `a` is not"],
        ),
        (",a,b\na,0,1\nc,1,0\n", ["line 3: the row is that of `c`, which is not in the header."]),
        (",a,b\na,0,1\na,1,0\n", ["line 3: `a` already has the row on line 2."]),
        ("a,b\n0,1\n2,0\n", ["own.csv`: Distances must be the same both ways: 1 from `a` to `b`, 2 from `b` to `a`."]),
        ("a,b\n0,nan\nnan,0\n", ["Got nan from `a` to `b`", "Got nan from `b` to `a`"]),
    ],
)
def test_every_fault_is_told(tmp_path: Path, text: str, problems: list[str]) -> None:
    (tmp_path / "own.csv").write_text(text)
    with pytest.raises(SchemaError) as caught:
        read_distances(tmp_path / "own.csv")
    assert len(caught.value.problems) == len(problems)
    for told, expected in zip(caught.value.problems, problems, strict=True):
        assert expected in told
        assert "own.csv" in told


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match="cannot be read: No such file"):
        read_distances(tmp_path / "own.csv")
