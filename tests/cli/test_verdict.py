"""``undercover publish`` as a new user tries it: what exposes people is never green."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]


def written(place: Path, **columns: Any) -> Path:
    with place.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return place


@pytest.fixture
def publish(undercover: Command, tmp_path: Path) -> Command:
    def run(data: Path, *options: Any, method: str = "mondrian", k: int = 5) -> Any:
        out = tmp_path / "out"
        return undercover(
            "publish", data, *options, "--method", method, "--set", f"k={k}", "--policy", "standard", "--out", out
        )

    return run


def test_values_that_are_certain(publish: Command, tmp_path: Path) -> None:
    pay = ["low" if i // 50 % 2 else "high" for i in range(600)]
    data = written(tmp_path / "people.csv", age=[20 + i // 50 for i in range(600)], pay=pay)
    done = publish(data, "--qi", "age", "--sensitive", "pay")
    assert done.code == 5
    assert done.out.splitlines()[0] == "Verdict: Do not publish"
    assert "`pay` can be inferred with certainty for 600 people. The policy allows nobody. [inference]" in done.out


def test_a_column_published_unchanged(publish: Command, tmp_path: Path) -> None:
    columns = {"sex": ["m", "f"] * 300, "born": range(600), "disease": ["a", "b", "c"] * 200}
    data = written(tmp_path / "people.csv", **columns)
    done = publish(data, "--qi", "sex", "--sensitive", "disease", "--insensitive", "born")
    assert done.code == 5
    assert "600 people: singled out by `born`, published unchanged." in done.out


def test_rows_that_are_not_people(publish: Command, tmp_path: Path) -> None:
    columns = {
        "patient": [i // 6 for i in range(600)],
        "age": [i // 60 for i in range(600)],
        "disease": ["a", "b"] * 300,
    }
    done = publish(
        written(tmp_path / "people.csv", **columns), "--qi", "age", "--sensitive", "disease", "--identifiers", "patient"
    )
    assert done.code == 0
    assert done.out.splitlines()[0] == "Verdict: Decide"
    assert "`patient` (identifier) has 100 values with 6 rows each" in done.out


def test_what_is_said_as_json(undercover: Command, tmp_path: Path) -> None:
    data = written(tmp_path / "people.csv", age=[1, 2] * 50, pay=["a", "b", "b", "a"] * 25)
    roles = ["--qi", "age", "--sensitive", "pay", "--method", "mondrian", "--set", "k=50"]
    done = undercover("publish", data, *roles, "--policy", "open", "--out", tmp_path / "out", "--json")
    found = json.loads(done.out)
    assert (done.code, found["verdict"]) == (0, "Ready")
    (excused,) = found["reasons"]
    assert {key: excused[key] for key in ("kind", "weight", "people", "excused", "column")} == {
        "kind": "exposed",
        "weight": "note",
        "people": 0,
        "excused": 100,
        "column": "pay",
    }
    assert found["policy"]["name"] == "open"
    report = json.loads((tmp_path / "out" / "private" / "report.json").read_text())
    assert (report["verdict"], report["policy"]) == (found["verdict"], found["policy"])


def test_the_policy_of_a_spec_and_of_the_command_line(undercover: Command, tmp_path: Path) -> None:
    data = written(tmp_path / "people.csv", age=[1, 2] * 50, pay=["a", "b", "b", "a"] * 25)
    spec = tmp_path / "spec.toml"
    text = '[roles]\nquasi_identifiers = ["age"]\nsensitive = "pay"\n[method]\nname = "mondrian"\nk = 50\n'
    spec.write_text(text + "[policy]\nfound = 0.015\n")
    assert undercover("publish", data, "--spec", spec, "--out", tmp_path / "a").code == 5
    again = (tmp_path / "a" / "private" / "spec.toml").read_text()
    assert "found = 0.015" in again
    elsewhere = tmp_path / "elsewhere"  # where nobody sees that it was refused: it is not made again
    elsewhere.mkdir()
    assert undercover("publish", data, "--spec", spec, "--policy", "open", "--out", elsewhere / "b").code == 0
    spec.write_text(text + "[policy]\nfuond = 0.015\n")
    refused = undercover("publish", data, "--spec", spec, "--out", tmp_path / "c")
    assert refused.code == 2
    assert "[policy]: Limit of a policy `fuond` is not known. Did you mean `found`?" in refused.err


def test_an_end_that_counts(publish: Command, tmp_path: Path) -> None:
    data = written(tmp_path / "people.csv", age=[1, 2] * 50, pay=["a", "b", "b", "a"] * 25)
    done = publish(data, "--qi", "age", "--sensitive", "pay", k=50)
    lines = done.out.strip().splitlines()
    assert lines[-1] == "mondrian: 100 rows in 2 groups"
    assert lines[-2].startswith("attack: at worst finds a row with 2% (as it stands: 2%); learns `pay` with 50%")


def test_a_policy_that_does_not_fit_is_refused(undercover: Command, tmp_path: Path) -> None:
    data = written(tmp_path / "people.csv", age=[1, 2] * 50, pay=["a", "b", "b", "a"] * 25)
    roles = ["--qi", "age", "--sensitive", "pay", "--method", "mondrian", "--set", "k=5"]
    done = undercover("publish", data, *roles, "--policy", "strict", "--out", tmp_path / "out")
    assert (done.code, (tmp_path / "out").exists()) == (2, False)
    assert "There are: `standard`, `open`, `research`, `none`." in done.err
    (tmp_path / "p.toml").write_text("found = 0.001\n")
    done = undercover("publish", data, *roles, "--policy", tmp_path / "p.toml", "--out", tmp_path / "out")
    assert (done.code, (tmp_path / "out").exists()) == (3, False)
    assert "Nearest: found = 0.01" in done.err
