"""Mutual cover from the command line: publish, verify, attack, measure and inspect, as an outsider would."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import csv

import undercover as uc

pytestmark = pytest.mark.usefixtures("unjudged")

Command = Callable[..., Any]


@pytest.fixture
def published(undercover: Command, tmp_path: Path) -> tuple[Path, Path]:
    """A release folder and the table it was made from."""
    people = tmp_path / "census.csv"
    csv.write_csv(uc.datasets.census(600, seed=1).select(["age", "sex", "education", "income"]), people)
    out = tmp_path / "out"
    done = undercover(
        "publish", people, "--qi", "age,sex,education", "--sensitive", "income", "--method", "mutual-cover",
        "--set", "variant=paper", "--set", "delta=1/4", "--set", "l=4", "--out", out,
    )  # fmt: skip
    assert done.code == 0
    assert "Verified from the private run" in done.out
    assert "DOES NOT HOLD" not in done.out
    return out, people


def test_the_promise_is_verified_where_it_can_be(
    undercover: Command, published: tuple[Path, Path], tmp_path: Path
) -> None:
    out, people = published
    shutil.copytree(out / "public", tmp_path / "received")
    done = undercover("verify", tmp_path / "received")
    assert (done.code, "needs the private run" in done.out) == (6, True)
    found = json.loads(undercover("verify", out, "--json").out)
    assert found["guarantees"][0]["holds"] is True
    done = undercover("verify", out, "--original", people)
    assert (done.code, "values-of-the-original" in done.out) == (0, True)


def test_attacks(undercover: Command, published: tuple[Path, Path]) -> None:
    out, _ = published
    everything = json.loads(undercover("attack", out, "--json").out)
    some = json.loads(undercover("attack", out, "--p-match", "0.7", "--json").out)
    assert everything["after"]["identity"]["mean"] < some["after"]["identity"]["mean"]
    assert some["p_match"] == 0.7
    assert some["sweep"][-1]["identity"]["mean"] == pytest.approx(everything["after"]["identity"]["mean"])
    assert "By how many of the values he matches on" in undercover("attack", out, "--p-match", "0.7").out
    informed = json.loads(undercover("attack", out, "--knows-tables", "--json").out)
    assert informed["attack"] == "informed"
    assert informed["identity"]["mean"] > some["after"]["identity"]["mean"]
    assert "guessing in the group" in undercover("attack", out, "--knows-tables").out
    assert undercover("attack", out, "--p-match", "1.5").code == 2


def test_measure_knows_what_it_cannot_know(undercover: Command, published: tuple[Path, Path]) -> None:
    out, people = published
    done = undercover("measure", out, "--original", people)
    assert "cells changed" in done.out
    assert "discernibility does not apply" in done.out
    found = json.loads(undercover("measure", out, "--original", people, "--json").out)
    assert found["displacement"]["iloss_sum"] > 0
    assert found["discernibility"] is None
    assert "stays in the private run" in undercover("measure", out / "public", "--original", people).out


def test_the_pages_say_what_delta_is_and_is_not(published: tuple[Path, Path]) -> None:
    out, _ = published
    report, sheet = (
        re.sub(r"\s+", " ", re.sub(r"<[^>]*>", "", page.read_text()))
        for page in (out / "private" / "report.html", out / "public" / "datasheet.html")
    )
    assert "It bounds a share, not the probability of being found" in report
    assert "Effective share" in report
    assert "Found by one value, over all rows" in report
    assert "The informed adversary" in report
    assert "Matching on some of the values" in report
    assert "discernibility does not apply" in report
    assert "The protection rests on what is hidden" in sheet
    assert "It has the shape of an original table: one row per person" in sheet
    assert "Drawn at random from the values of similar people" in sheet
    for private in ("Effective share", "informed", "published_rows"):
        assert private not in sheet


def test_the_published_table_can_be_inspected_like_any_other(undercover: Command, published: tuple[Path, Path]) -> None:
    out, _ = published
    assert undercover("inspect", out / "public" / "table.csv").code == 0


SPEC = """
[roles]
quasi_identifiers = ["age", "sex", "size"]
sensitive = "income"
[columns.size]
distance = "size.csv"
[method]
name = "mutual-cover"
variant = "paper"
delta = "1/4"
l = 4
"""


@pytest.fixture
def sized(tmp_path: Path) -> Path:
    """A folder with two tables and a spec whose distances lie in a file beside it."""
    people = uc.datasets.census(1200, seed=1).select(["age", "sex", "income"])
    people = people.append_column("size", pa.array([("S", "M", "L")[i * i % 7 % 3] for i in range(1200)]))
    csv.write_csv(people.slice(0, 600), tmp_path / "first.csv")
    csv.write_csv(people.slice(600), tmp_path / "second.csv")
    (tmp_path / "spec.toml").write_text(SPEC)
    (tmp_path / "size.csv").write_text(",S,M,L\nS,0,0.625,8\nM,0.625,0,2\nL,8,2,0\n")
    return tmp_path


def test_own_distances_from_a_spec(undercover: Command, sized: Path) -> None:
    done = undercover("publish", sized / "first.csv", "--spec", sized / "spec.toml", "--out", sized / "out")
    assert done.code == 0, done.err
    assert undercover("verify", sized / "out").code == 0
    manifest = (sized / "out" / "public" / "release.json").read_text()
    assert json.loads(manifest)["method"]["parameters"]["used"] == {"own_distances": ["size"]}
    public = [path.read_text() for path in (sized / "out" / "public").iterdir()]
    assert not any("0.625" in text for text in public)
    kept = json.loads((sized / "out" / "private" / "run.json").read_text())["schema"]["columns"]["size"]["distance"]
    assert kept == {"values": ["S", "M", "L"], "rows": [[0.0, 0.625, 8.0], [0.625, 0.0, 2.0], [8.0, 2.0, 0.0]]}
    found = json.loads(undercover("measure", sized / "out", "--original", sized / "first.csv", "--json").out)
    cells = pq.read_table(sized / "out" / "private" / "output_tables.parquet").to_pandas()
    assert {"S", "M", "L"} == set(cells[cells["attribute"] == "size"]["output"])
    loss = found["loss"]["iloss"]["per_column"]["size"]
    assert found["loss"]["shift"]["per_column"]["size"] == pytest.approx(loss / 8)
    done = undercover("apply", sized / "out", "--to", sized / "second.csv", "--out", sized / "next")
    assert done.code == 0, done.err
    assert (sized / "next" / "private" / "distance-1-size.csv").read_text() == (
        sized / "out" / "private" / "distance-1-size.csv"
    ).read_text()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("S,M,L\n0,1,8\n1,0,2\n8,3,0\n", "the same both ways: 2 from `M` to `L`, 3 from `L` to `M`"),
        (
            "S,M,XL\n0,1,8\n1,0,2\n8,2,0\n",
            "The distances of `size` do not speak of 1 value (a text of 1 character). Add",
        ),
        ("S,M,L\n0,1,8\n1,0,two\n8,2,0\n", "line 3: a text of 3 characters under `L` is not a number"),
        (None, "cannot be read: No such file"),
    ],
)
def test_faults_of_own_distances(undercover: Command, sized: Path, content: str | None, said: str) -> None:
    if content is None:
        (sized / "size.csv").unlink()
    else:
        (sized / "size.csv").write_text(content)
    done = undercover("publish", sized / "first.csv", "--spec", sized / "spec.toml", "--out", sized / "out")
    assert done.code == 2
    assert said in done.err.replace("\n", " ")
    assert not (sized / "out").exists()


def test_a_recipe_is_refused_where_distances_do_not_reach(undercover: Command, sized: Path) -> None:
    undercover("publish", sized / "first.csv", "--spec", sized / "spec.toml", "--out", sized / "out")
    text = (sized / "second.csv").read_text()
    (sized / "second.csv").write_text(text.replace('"L"', '"XXL"'))
    done = undercover("apply", sized / "out", "--to", sized / "second.csv", "--out", sized / "next")
    assert done.code == 2
    assert "The distances of `size` do not speak of 1 value" in done.err


def test_guided_groups_from_the_command_line(undercover: Command, sized: Path) -> None:
    done = undercover(
        "publish", sized / "first.csv", "--spec", sized / "spec.toml", "--out", sized / "out",
        "--set", "partition=guided", "--set", "strata=sex",
    )  # fmt: skip
    assert done.code == 0, done.err
    found = json.loads((sized / "out" / "public" / "release.json").read_text())["method"]["parameters"]
    assert (found["partition"], found["strata"]) == ("guided", ["sex"])
    assert undercover("verify", sized / "out", "--original", sized / "first.csv").code == 0


def test_a_delta_that_says_little_is_said_on_the_terminal_and_in_private_only(
    undercover: Command, tmp_path: Path
) -> None:
    # Ten ages of thirty people each need no cover; one person more is of an age of her own.
    people, out = tmp_path / "people.csv", tmp_path / "out"
    rows = {"age": [20 + i % 10 for i in range(300)] + [70], "ill": [f"v{i * i}" for i in range(301)]}
    asked = ("--qi", "age", "--sensitive", "ill", "--method", "mutual-cover", "--set", "variant=paper")
    csv.write_csv(pa.table(rows), people)
    done = undercover("publish", people, *asked, "--set", "delta=1/5", "--set", "l=160", "--out", out)
    assert done.code == 0
    assert re.search(r"warning: delta=0\.2 says little here: .* the largest group has 301 rows", done.err)
    assert "largest group has 301 rows" in (out / "private" / "report.html").read_text(encoding="utf-8")
    for file in (out / "public").iterdir():
        assert b"says little" not in file.read_bytes()
    csv.write_csv(pa.table(rows).slice(0, 300), people)
    done = undercover("publish", people, *asked, "--set", "delta=1/5", "--set", "l=160", "--out", tmp_path / "none")
    assert (done.code, "changes nothing here" in done.err) == (3, True)
    assert not (tmp_path / "none").exists()
