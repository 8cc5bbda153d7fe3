"""``undercover joint-risk`` and ``publish --method noncentralized`` as an outsider meets them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.usefixtures("unjudged")

Run = Callable[..., Any]

ROWS = [(60, 25, "High"), (50, 27, "High"), (55, 19, "High"), (50, 17, "High"), (48, 28, "Middle"), (43, 24, "Middle")]
ROWS += [(25, 26, "Middle"), (37, 23, "Middle"), (57, 29, "Low"), (57, 12, "Low"), (18, 15, "Low"), (22, 22, "Low")]


@pytest.fixture
def offices(tmp_path: Path) -> Path:
    """The published tables of the paper as foreign files, and the census office's own data with a spec."""
    ages = "\n".join(f"{'>= 40' if age >= 40 else '< 40'},{pay}" for age, _, pay in ROWS)
    zips = "\n".join(f"{'>= 20k' if code >= 20 else '< 20k'},{pay}" for _, code, pay in ROWS)
    (tmp_path / "revenue.csv").write_text(f"age,salary\n{ages}\n")
    (tmp_path / "census.csv").write_text(f"zip,salary\n{zips}\n")
    (tmp_path / "private.csv").write_text("zip,salary\n" + "\n".join(f"{code},{pay}" for _, code, pay in ROWS) + "\n")
    specs = tmp_path / "specs"
    specs.mkdir()
    (specs / "census.toml").write_text(
        '[roles]\nquasi_identifiers = ["zip"]\nsensitive = "salary"\n'
        "[columns.zip]\nhierarchy = {intervals = [10]}\n"
        '[method]\nname = "noncentralized"\nl = 2\nothers = ["../revenue.csv"]\n'
    )
    return tmp_path


def test_foreign_files_by_name_of_the_sensitive_column(offices: Path, undercover: Run) -> None:
    found = undercover("joint-risk", offices / "revenue.csv", offices / "census.csv", "--sensitive", "salary", "--json")
    assert found.code == 0
    figures = json.loads(found.out)
    assert (figures["l"], figures["max_probability"], figures["combinations"]) == (1, 1.0, 4)
    assert [table["l"] for table in figures["tables"]] == [2, 2]
    assert figures["worst"][0]["cells"] == [{"age": "< 40"}, {"zip": "< 20k"}]
    shown = undercover("joint-risk", offices / "revenue.csv", offices / "census.csv", "--sensitive", "salary")
    assert "together" in shown.out
    assert "Low 1" in shown.out
    assert "also those nobody is in" in shown.out


def test_what_is_asked_for_decides_the_exit_code(offices: Path, undercover: Run) -> None:
    tables = (offices / "revenue.csv", offices / "census.csv", "--sensitive", "salary")
    failed = undercover("joint-risk", *tables, "--l", "2", "--json")
    assert failed.code == 4
    assert json.loads(failed.out)["holds"] is False
    assert undercover("joint-risk", *tables, "--l", "1").code == 0
    assert undercover("joint-risk", *tables, "--strict").code == 2
    sized = undercover("joint-risk", *tables, "--size", "1", "--json")
    assert json.loads(sized.out)["worst"][0]["correlation"]["possible_values"] == 1


def test_a_table_published_next_to_another_is_safe(offices: Path, undercover: Run) -> None:
    made = undercover(
        "publish", offices / "private.csv", "--spec", offices / "specs" / "census.toml", "--out", offices / "out"
    )
    assert made.code == 0, made.err
    manifest = (offices / "out" / "public" / "release.json").read_text()
    assert json.loads(manifest)["method"]["parameters"]["others"] == ["revenue.csv"]
    assert str(offices) not in manifest
    assert undercover("verify", offices / "out" / "public").code == 0
    beside = undercover(
        "joint-risk", offices / "revenue.csv", offices / "out" / "public", "--sensitive", "salary", "--l", "2", "--json"
    )
    assert beside.code == 0
    assert json.loads(beside.out)["l"] == 2
    informed = undercover("attack", offices / "out", "--json")
    assert informed.code == 0


def test_what_is_wrong_is_said(offices: Path, undercover: Run) -> None:
    unnamed = undercover("joint-risk", offices / "revenue.csv", offices / "census.csv")
    assert unnamed.code == 2
    assert "--sensitive" in unnamed.err
    absent = undercover("joint-risk", offices / "nowhere.csv", "--sensitive", "salary")
    assert (absent.code, "There is no file or folder" in absent.err) == (2, True)
    twice = undercover("joint-risk", offices / "revenue.csv", offices / "revenue.csv", "--sensitive", "salary")
    assert twice.code == 2
    assert "share the quasi-identifier `age`" in twice.err
    impossible = undercover(
        "publish", offices / "private.csv", "--spec", offices / "specs" / "census.toml", "--set", "l=3",
        "--out", offices / "out",
    )  # fmt: skip
    assert impossible.code == 3
    assert "`revenue.csv` age = < 40" in impossible.err


def test_a_changed_release_is_not_joined(offices: Path, undercover: Run) -> None:
    spec = offices / "specs" / "census.toml"
    undercover("publish", offices / "private.csv", "--spec", spec, "--out", offices / "out")
    table = offices / "out" / "public" / "table.csv"
    table.write_text(table.read_text().replace("High", "Low", 1))
    found = undercover("joint-risk", offices / "out" / "public", offices / "revenue.csv", "--sensitive", "salary")
    assert found.code == 4
    assert "was changed after it was published" in found.err


def test_another_table_never_makes_strict_hold(tmp_path: Path, undercover: Run) -> None:
    # If two people are in X and Y, both have H. That somebody has published a third table changes nothing.
    files = []
    for name, classes in {"a": "XXXxXxxx", "b": "YYyYyYyy", "c": "12341234"}.items():
        files.append(tmp_path / f"{name}.csv")
        rows = "\n".join(f"{cell},{pay}" for cell, pay in zip(classes, "HHHHMMMM", strict=True))
        files[-1].write_text(f"{name},pay\n{rows}\n")
    asked = ("--sensitive", "pay", "--l", "2", "--strict", "--json")
    codes = [undercover("joint-risk", *files[:size], *asked).code for size in (1, 2, 3)]
    assert codes == [0, 4, 4]
    figures = json.loads(undercover("joint-risk", *files, *asked).out)
    assert (figures["l"], figures["possible_l"], figures["possible_through"]) == (2, 1, True)
    shown = undercover("joint-risk", *files, "--sensitive", "pay", "--l", "2", "--strict").out
    assert "somebody who knows everybody's quasi-identifiers: at least 1." in shown
    assert "where more than two tables tell two values apart" in shown
    assert "It does not say that he is certain of anybody here." in " ".join(shown.split())
    assert "joint-risk --overlap" in " ".join(shown.split())
    alone = undercover("joint-risk", files[0], "--sensitive", "pay", "--l", "2", "--strict").out
    assert "nearly all real tables" not in alone  # two values are left to him there
    assert "at least 2 values to whoever knows everybody: DOES NOT HOLD" in shown


def test_columns_spelled_alike_are_one_unless_somebody_says_otherwise(tmp_path: Path, undercover: Run) -> None:
    rows = [(30, "H"), (45, "M"), (60, "H"), (60, "M"), (30, "M")]
    for name, at in (("Age", 40), ("age", 50)):
        cells = "\n".join(f'"[0, {at - 1}]",{pay}' if age < at else f'"[{at}, 99]",{pay}' for age, pay in rows)
        (tmp_path / f"at{at}.csv").write_text(f"{name},pay\n{cells}\n")
    asked = (tmp_path / "at40.csv", tmp_path / "at50.csv", "--sensitive", "pay", "--l", "2")
    refused = undercover("joint-risk", *asked)
    assert refused.code == 2
    assert "share the quasi-identifier `Age`" in refused.err
    nested = undercover("joint-risk", *asked, "--shared", "nested", "--shared", "Age=age")
    assert (nested.code, "cross" in nested.err) == (2, True)
    assert undercover("joint-risk", *asked, "--distinct", "Age,age").code == 0


def test_the_holders_own_releases(tmp_path: Path, undercover: Run) -> None:
    people = tmp_path / "people.csv"
    people.write_text("age,zip,salary\n" + "\n".join(f"{age},{code},{pay}" for age, code, pay in ROWS) + "\n")
    for column in ("age", "zip"):
        options = ("--qi", column, "--sensitive", "salary", "--method", "mondrian", "--set", "k=4", "--seed", "1")
        assert undercover("publish", people, *options, "--out", tmp_path / column).code == 0
    folders = (tmp_path / "age", tmp_path / "zip")
    found = undercover("joint-risk", *folders, "--overlap", "--centralized", "--l", "2", "--json")
    figures = json.loads(found.out)
    assert found.code == (0 if figures["holds"] else 4)
    assert figures["overlap"]["people"] == figures["centralized"]["people"] == 12
    assert figures["overlap"]["together"]["l"] <= min(map(int, figures["centralized"]["left"]))
    shown = undercover("joint-risk", *folders, "--overlap")
    assert (shown.code, "Releases together" in shown.out) == (0, True)
    wrong = undercover("joint-risk", *folders, "--overlap", "--strict", "--l", "2")
    assert (wrong.code, "--original" in wrong.err) == (2, True)
