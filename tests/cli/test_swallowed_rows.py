"""One missing quotation mark in a file of 2,000 people: nothing is published, on whatever way it is asked for."""

from pathlib import Path
from typing import Any

import pytest

import undercover as uc
from undercover.errors import DataError

ROLES = {"identifiers": "name", "quasi_identifiers": ["age", "sex"], "sensitive": "disease", "insensitive": "note"}


def people(place: Path, *, closed_later: bool) -> Path:
    """A mark is missing in line 1,002; the next ones open and close a note, or the same one a few lines below."""
    lines = ["name,age,sex,disease,note"]
    for number in range(2000):
        note = f'"stays, for {number}"' if number % 4 == 0 else "well"
        lines.append(f"Name{number:04d} Sur{number:04d},{20 + number % 60},{'fm'[number % 2]},flu,{note}")
    lines[1001] = lines[1001].removesuffix('"')
    if closed_later:  # balanced by chance, as no reader can tell
        lines[1004] += '"'
    place.write_text("\n".join(lines) + "\n")
    return place


@pytest.mark.parametrize(
    ("closed_later", "said"),
    [
        (False, "line 1006: text follows the quotation mark that closes a cell, which was opened in line 1002"),
        (True, "Column `note`: 1 cell (the first in data row 1,001) of several lines"),
    ],
)
def test_swallowed_rows_are_refused(undercover: Any, tmp_path: Path, closed_later: bool, said: str) -> None:
    path = people(tmp_path / "people.csv", closed_later=closed_later)
    roles = ["--identifiers", "name", "--qi", "age,sex", "--sensitive", "disease", "--insensitive", "note"]
    done = undercover("publish", path, *roles, "--method", "mondrian", "--set", "k=5", "--out", tmp_path / "out")
    assert done.code == 2
    assert said in " ".join(done.err.split())
    assert "Name1" not in done.err
    assert not (tmp_path / "out").exists()
    with pytest.raises(DataError) as caught:
        uc.publish(path, uc.Schema(**ROLES), uc.Mondrian(k=5), policy="none")
    assert said in str(caught.value)
