"""``undercover publish`` on people with several rows: options, spec, refusals, and what is verified of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]
ROLES = ["--qi", "age,sex", "--sensitive", "ill", "--drop", "*", "--policy", "none"]


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    """120 visits of 60 patients: each comes as often as the number it ends with says, up to three times."""
    rows = [
        (f"p{n}", 20 + n % 40, "fm"[n % 2], f"i{(7 * n + 3 * visit) % 11}")
        for n in range(60)
        for visit in range(n % 3 + 1)
    ]
    place = tmp_path / "visits.csv"
    place.write_text("patient,age,sex,ill,note\n" + "".join(f"{p},{a},{s},{i},x\n" for p, a, s, i in rows))
    return place


def test_people_are_counted_from_publish_to_verify(undercover: Command, visits: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = undercover(
        "publish", visits, *ROLES, "--unit", "patient", "--method", "mondrian", "--set", "k=4", "--out", out, "--json"
    )
    assert done.code == 0, done.err
    assert [claim.get("per") for claim in json.loads(done.out)["guarantees"]] == [None, "patient"]
    assert "without a role" not in done.err
    assert "repeats" not in done.err
    assert undercover("verify", out).code == 0
    attacked = json.loads(undercover("attack", out, "--json").out)
    assert attacked["targets"] == 60
    assert attacked["after"]["identity"]["max"] <= 0.25
    spec = (out / "private" / "spec.toml").read_text()
    assert 'unit = "patient"' in spec
    assert 'drop = ["*"]' in spec
    again = undercover(
        "publish", visits, "--spec", out / "private" / "spec.toml", "--policy", "none", "--out", tmp_path / "2"
    )
    assert again.code == 0, again.err


def test_one_row_of_each_is_published_and_said(undercover: Command, visits: Path, tmp_path: Path) -> None:
    who = ["--unit", "patient", "--one-row-per", "first"]
    method = ["--method", "cross-bucket", "--set", "k=2", "--set", "l=2"]
    done = undercover("publish", visits, *ROLES, *who, *method, "--out", tmp_path / "out")
    assert done.code == 0, done.err
    assert "One row per `patient`, the first one: 60 of 120 rows are not published." in done.err.replace("\n", " ")
    refused = undercover("publish", visits, *ROLES, "--unit", "patient", *method, "--out", tmp_path / "no")
    assert refused.code == 2
    assert "--one-row-per first" in refused.err
    assert not (tmp_path / "no").exists()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--unit", "patiant"], "Did you mean `patient`?"),
        (["--one-row-per", "first"], "One row of whom?"),
        (["--unit", "patient", "--one-row-per", "best"], "Choice of one row per unit `best`"),
        (["--unit", "age"], "more than one role"),
        (["--population", "1.5"], "in (0, 1]"),
        (["--population", "nobody.csv"], "nobody.csv"),
        (["--weight", "note"], "`note` is the weight of the rows and holds string"),
    ],
)
def test_what_cannot_be_is_refused(
    undercover: Command, visits: Path, tmp_path: Path, options: list[str], told: str
) -> None:
    done = undercover(
        "publish", visits, *ROLES, *options, "--method", "mondrian", "--set", "k=4", "--out", tmp_path / "out"
    )
    assert done.code == 2
    assert told in " ".join(done.err.split())


def test_a_unit_may_not_be_missing(undercover: Command, visits: Path, tmp_path: Path) -> None:
    visits.write_text(visits.read_text().replace("p3,", ","))
    done = undercover(
        "publish",
        visits,
        *ROLES,
        "--unit",
        "patient",
        "--method",
        "mondrian",
        "--set",
        "k=4",
        "--out",
        tmp_path / "out",
    )
    assert done.code == 2
    assert "`patient` says whose row it is, and it is empty in" in " ".join(done.err.split())


def test_a_share_of_the_population_brings_the_journalist(undercover: Command, visits: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    who = ["--unit", "patient", "--population", "0.1"]
    assert undercover("publish", visits, *ROLES, *who, "--method", "mondrian", "--set", "k=4", "--out", out).code == 0
    found = json.loads((out / "private" / "report.json").read_text())
    assert "journalist" in json.dumps(found)


def test_the_report_says_whose_rows_they_are(undercover: Command, visits: Path, tmp_path: Path) -> None:
    def report(*who: str) -> str:
        out = tmp_path / f"out{len(who)}"
        done = undercover("publish", visits, *ROLES, *who, "--method", "mondrian", "--set", "k=4", "--out", out)
        assert done.code == 0, done.err
        assert ("k-anonymity per=patient" in done.out) is (len(who) == 2)
        return (out / "private" / "report.json").read_text()

    assert "By `patient` they are of 60 different people" in report("--unit", "patient")
    kept = report("--unit", "patient", "--one-row-per", "last")
    assert "Of every `patient` one row was kept, the last one; 60 rows are not published." in kept
    assert "missing value" not in kept
