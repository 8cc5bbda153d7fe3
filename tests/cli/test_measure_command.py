"""What `measure --queries` says of counts and sums, as JSON, on a terminal and in the report."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.csv as csv
import pytest

import undercover as uc

pytestmark = pytest.mark.usefixtures("unjudged")

Command = Callable[..., Any]


@pytest.fixture
def paid(tmp_path: Path) -> Path:
    path = tmp_path / "paid.csv"
    csv.write_csv(uc.datasets.census(400, seed=3).select(["age", "sex", "hours", "salary", "work_class"]), path)
    return path


@pytest.fixture
def bucketed(undercover: Command, paid: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "out"
    done = undercover("publish", paid, "--qi", "age,sex,hours", "--sensitive", "salary",
                      "--method", "anatomy", "--set", "l=4", "--out", folder)  # fmt: skip
    assert done.code == 0, done.err
    return folder


def test_sums_are_measured_beside_counts(undercover: Command, bucketed: Path, paid: Path) -> None:
    measured = json.loads(undercover("measure", bucketed, "--original", paid, "--queries", 20, "--json").out)
    assert {one["sensitive"] for one in measured["query_errors"]} == {"salary"}
    (sums,) = measured["sum_errors"]
    assert (sums["sensitive"], sums["columns"], sums["queries"], sums["bounded"]) == ("salary", 3, 20, True)
    assert 0 < sums["estimate"]["median"] < sums["median"]
    assert sum(entry["queries"] for entry in sums["by_answer"]) == 20
    shown = undercover("measure", bucketed, "--original", paid, "--queries", 20).out
    assert "bounds apart, median" in shown
    without = json.loads(undercover("measure", bucketed, "--original", paid, "--json").out)
    assert "query_errors" not in without
    assert "sum_errors" not in without


def test_the_public_part_alone_is_asked_the_same(undercover: Command, bucketed: Path, paid: Path) -> None:
    whole, public = (
        json.loads(undercover("measure", folder, "--original", paid, "--queries", 20, "--json").out)["sum_errors"]
        for folder in (bucketed, bucketed / "public")
    )
    assert whole == public


def test_words_are_not_added_up(undercover: Command, paid: Path, tmp_path: Path) -> None:
    folder = tmp_path / "words"
    done = undercover("publish", paid, "--qi", "age,sex", "--sensitive", "work_class", "--method", "mondrian",
                      "--set", "k=5", "--out", folder)  # fmt: skip
    assert done.code == 0, done.err
    measured = json.loads(undercover("measure", folder, "--original", paid, "--queries", 20, "--json").out)
    assert "query_errors" in measured
    assert "sum_errors" not in measured


def test_the_report_has_the_sums_and_the_curve(bucketed: Path) -> None:
    report = json.loads((bucketed / "private" / "report.json").read_text())
    (sums,) = report["cost"]["sum_errors"]
    assert sums["queries"] == 1000
    (matching,) = (attack for attack in report["attacks"] if attack["attack"] == "bucket-matching")
    curve = matching["breach"]["salary"]["curve"]
    assert curve[-1]["belief"] == matching["breach"]["salary"]["max"]
    page = (bucketed / "private" / "report.html").read_text()
    assert "How many people he is so sure of" in page
    assert "random sums" in page
