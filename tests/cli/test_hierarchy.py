"""``undercover hierarchy``: what is built, shown and found wrong."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from undercover.hierarchies.check import preview
from undercover.hierarchies.file import read_hierarchy
from undercover.model.hierarchy import Hierarchy

Command = Callable[..., Any]


def test_intervals_of_a_range(undercover: Command, tmp_path: Path) -> None:
    out = tmp_path / "age.csv"
    arguments = ("hierarchy", "intervals", "--from", 0, "--to", 100, "--widths", "5,10,20", "--out", out)
    done = undercover(*arguments)
    assert done.code == 0
    made = read_hierarchy(out)
    assert len(made.rows) == 101
    assert made.rows[23] == ("23", "[20, 24]", "[20, 29]", "[20, 39]", "*")
    assert "101 values on 5 levels" in done.out
    assert "the way up: 50 → [50, 54] → [50, 59] → [40, 59] → *" in done.out
    assert 'hierarchy = "age.csv"' in done.out
    again = undercover(*arguments)
    assert (again.code, "--force" in again.err) == (2, True)
    assert undercover(*arguments, "--force").code == 0


def test_intervals_with_an_origin_and_a_step(undercover: Command, tmp_path: Path) -> None:
    out = tmp_path / "h.csv"
    options = ("--from", "-1", "--to", "0.5", "--step", "0.5", "--origin", "0.25", "--widths", "1")
    assert undercover("hierarchy", "intervals", *options, "--out", out).code == 0
    assert read_hierarchy(out).rows == (
        ("-1", "[-1.75, -0.75)", "*"),
        ("-0.5", "[-0.75, 0.25)", "*"),
        ("0", "[-0.75, 0.25)", "*"),
        ("0.5", "[0.25, 1.25)", "*"),
    )


def test_what_is_built_from_a_column_fits_it(undercover: Command, people: Path, tmp_path: Path) -> None:
    column = ("--data", people, "--column")
    assert undercover("hierarchy", "intervals", *column, "age", "--widths", "5", "--out", tmp_path / "a").code == 0
    assert undercover("hierarchy", "prefixes", *column, "zip", "--lengths", "4,3", "--out", tmp_path / "z").code == 0
    for file, name in (("a", "age"), ("z", "zip")):
        done = undercover("hierarchy", "check", tmp_path / file, *column, name)
        assert (done.code, "Every value is covered." in done.out) == (0, True)
    assert all(row[1].endswith("*") and row[1][:4] == row[0][:4] for row in read_hierarchy(tmp_path / "z").rows)
    spec = tmp_path / "s.toml"
    spec.write_text(
        '[roles]\nquasi_identifiers = ["age", "zip"]\nsensitive = "disease"\n[columns.age]\nhierarchy = "a"\n'
        '[columns.zip]\nhierarchy = "z"\n[method]\nname = "mondrian"\nk = 5\n'
    )
    assert undercover("publish", people, "--spec", spec, "--out", tmp_path / "out").code == 0


def test_prefixes_keep_leading_zeros(undercover: Command, tmp_path: Path) -> None:
    data = tmp_path / "d.csv"
    data.write_text("zip\n01234\n01999\n20115\n?\n")
    options = ("--data", data, "--column", "zip", "--nulls", "?", "--lengths", "2", "--out", tmp_path / "z.csv")
    assert undercover("hierarchy", "prefixes", *options).code == 0
    assert read_hierarchy(tmp_path / "z.csv").rows == (
        ("01234", "01***", "*"),
        ("01999", "01***", "*"),
        ("20115", "20***", "*"),
    )


def test_dates(undercover: Command, tmp_path: Path) -> None:
    out = tmp_path / "d.csv"
    options = ("--from", "2023-12-31", "--to", "2024-01-01", "--levels", "day,month,quarter,year")
    assert undercover("hierarchy", "dates", *options, "--out", out).code == 0
    assert read_hierarchy(out).rows == (
        ("2023-12-31", "2023-12-31", "2023-12", "2023-Q4", "2023", "*"),
        ("2024-01-01", "2024-01-01", "2024-01", "2024-Q1", "2024", "*"),
    )
    data = tmp_path / "t.csv"
    data.write_text("when\n2024-03-17\n2024-05-01\n")
    done = undercover("hierarchy", "dates", "--data", data, "--column", "when", "--levels", "year", "--json")
    assert json.loads(done.out)["example"] == ["2024-05-01", "2024", "*"]


def test_show_draws_a_small_tree(undercover: Command, tmp_path: Path) -> None:
    file = tmp_path / "towns.csv"
    file.write_text("level0,level1\nBonn,Germany\nKöln,Germany\nLyon,France\n")
    done = undercover("hierarchy", "show", file)
    assert "*\n├─ Germany\n│  ├─ Bonn\n│  └─ Köln\n└─ France\n   └─ Lyon\n" in done.out
    assert json.loads(undercover("hierarchy", "show", file, "--json").out)["levels"][1] == {
        "level": 1,
        "nodes": 2,
        "smallest": 1,
        "largest": 2,
        "example": "Germany",
    }


def test_markup_in_labels_is_shown_as_it_is(undercover: Command, tmp_path: Path) -> None:
    file = tmp_path / "h.csv"
    file.write_text("level0,level1\n[bold]a[/bold],[red]\nb,[red]\n")
    done = undercover("hierarchy", "show", file)
    assert "├─ [bold]a[/bold]" in done.out
    assert "→ [red] → *" in done.out or "[red]" in done.out


def test_a_picture_is_never_longer_than_asked() -> None:
    rows = [(str(i), f"[{i // 5}]", f"<{i // 50}>", "*") for i in range(1000)]
    for lines in (1, 20, 21, 220, 221, 1221, 5000):
        found = preview(Hierarchy(rows), lines=lines)
        assert len(found.picture) <= max(lines, 1)
        assert len(found.picture) == {1: 1, 2: 21, 3: 221, 4: 1221}[found.drawn]


def test_check_names_every_problem_together(undercover: Command, tmp_path: Path) -> None:
    file = tmp_path / "h.csv"
    file.write_text("level0,level1,level2\nBonn,Germany,Europe\nKöln,Germany,Asia\nLyon,France\nBonn,Italy,Europe\n")
    data = tmp_path / "d.csv"
    data.write_text("town\nBonn\nRome\nOslo\n")
    done = undercover("hierarchy", "check", file, "--data", data, "--column", "town")
    assert done.code == 2
    assert "4 problems" in done.err
    assert "line 3: level 2 is not a function of level 1" in done.err
    assert "line 4: 2 labels where the header has 3 levels" in done.err
    assert "line 5: its leaf is already on line 2" in done.err
    assert "does not cover 2 values" in done.err
    as_json = undercover("hierarchy", "check", file, "--data", data, "--column", "town", "--json")
    assert as_json.code == 2
    found = json.loads(as_json.out)
    assert (found["fits"], found["uncovered"], len(found["problems"])) == (False, ["Oslo", "Rome"], 4)


def test_check_without_a_column_looks_at_the_file_alone(undercover: Command, tmp_path: Path) -> None:
    file = tmp_path / "h.csv"
    file.write_text("level0,level1\nBonn,Germany\n")
    done = undercover("hierarchy", "check", file)
    assert (done.code, "1 values on 2 levels" in done.out) == (0, True)
    found = json.loads(undercover("hierarchy", "check", file, "--json").out)
    assert (found["fits"], found["problems"]) == (True, [])


def test_check_says_when_reading_as_text_would_help(undercover: Command, tmp_path: Path) -> None:
    file = tmp_path / "h.csv"
    file.write_text("level0,level1\n1.50,a\n2.25,a\n")
    data = tmp_path / "d.csv"
    data.write_text("code\n1.50\n2.25\n")
    done = undercover("hierarchy", "check", file, "--data", data, "--column", "code")
    assert (done.code, 'kind = "categorical"' in done.err) == (2, True)


Case = tuple[list[str], str]
WRONG: dict[str, Case] = {
    "no values": (["intervals", "--widths", "5"], "--from A --to B, or --data FILE --column NAME"),
    "half a range": (["intervals", "--widths", "5", "--from", "0"], "--from and --to belong together"),
    "both ways": (["intervals", "--widths", "5", "--from", "0", "--to", "9", "--data", "x.csv"], "--from A --to B, or"),
    "no column": (["intervals", "--widths", "5", "--data", "x.csv"], "--data and --column belong together"),
    "a range that goes down": (["intervals", "--widths", "5", "--from", "9", "--to", "0"], "A range goes up"),
    "a step of nothing": (
        ["intervals", "--widths", "5", "--from", "0", "--to", "9", "--step", "0"],
        "A range goes up",
    ),
    "a huge range": (["intervals", "--widths", "5", "--from", "0", "--to", "1e9"], "1,000,000,001 values"),
    "widths that are no numbers": (["intervals", "--widths", "5,x", "--from", "0", "--to", "9"], "Got 'x'"),
    "widths that do not nest": (["intervals", "--widths", "5,7", "--from", "0", "--to", "9"], "multiple"),
    "no widths": (["intervals", "--widths", ",", "--from", "0", "--to", "9"], "at least one width"),
    "an unknown level": (["dates", "--from", "2024-01-01", "--to", "2024-01-02", "--levels", "weak"], "Level `weak`"),
    "a day that is none": (["dates", "--from", "2024-02-30", "--to", "2024-03-01"], "days such as 2024-03-17"),
    "days that go down": (["dates", "--from", "2024-02-03", "--to", "2024-02-01"], "A range goes up"),
    "lengths that are not whole": (["prefixes", "--lengths", "2.5", "--data", "x", "--column", "y"], "whole numbers"),
    "no file": (["show", "nothing.csv"], "cannot be read"),
    "no file to check": (["check", "nothing.csv"], "cannot be read"),
    "data without a column": (["check", "nothing.csv", "--data", "x.csv"], "--data and --column belong together"),
}


@pytest.mark.parametrize(("arguments", "message"), WRONG.values(), ids=WRONG.keys())
def test_what_is_wrong_is_named(undercover: Command, tmp_path: Path, arguments: list[str], message: str) -> None:
    out = ["--out", str(tmp_path / "h.csv")] if arguments[0] not in ("show", "check") else []
    done = undercover("hierarchy", *arguments, *out)
    assert done.code == 2
    assert message in done.err
    assert "Traceback" not in done.err
    assert not (tmp_path / "h.csv").exists()


def test_an_unknown_column_says_which_was_meant(undercover: Command, people: Path) -> None:
    done = undercover("hierarchy", "intervals", "--widths", "5", "--data", people, "--column", "agee")
    assert (done.code, "Did you mean `age`?" in done.err) == (2, True)
    done = undercover("hierarchy", "intervals", "--widths", "5", "--data", people, "--column", "sex")
    assert (done.code, "Intervals need numbers" in done.err) == (2, True)
