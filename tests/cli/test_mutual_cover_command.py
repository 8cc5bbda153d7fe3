"""Mutual cover from the command line: publish, verify, attack, measure and inspect, as an outsider would."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyarrow import csv

import undercover as uc

Command = Callable[..., Any]


@pytest.fixture
def published(undercover: Command, tmp_path: Path) -> tuple[Path, Path]:
    """A release folder and the table it was made from."""
    people = tmp_path / "census.csv"
    csv.write_csv(uc.datasets.census(600, seed=1).select(["age", "sex", "education", "income"]), people)
    out = tmp_path / "out"
    done = undercover(
        "publish", people, "--qi", "age,sex,education", "--sensitive", "income", "--method", "mutual-cover",
        "--set", "delta=1/4", "--set", "l=4", "--out", out,
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
    assert (done.code, "needs the private run" in done.out) == (0, True)
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
    assert "The release, by how many of the values he matches on" in undercover("attack", out, "--p-match", "0.7").out
    informed = json.loads(undercover("attack", out, "--knows-tables", "--json").out)
    assert informed["attack"] == "informed"
    assert informed["identity"]["mean"] > some["after"]["identity"]["mean"]
    assert "guessing in the group" in undercover("attack", out, "--knows-tables").out
    assert undercover("attack", out, "--p-match", "1.5").code == 2


def test_measure_knows_what_it_cannot_know(undercover: Command, published: tuple[Path, Path]) -> None:
    out, people = published
    done = undercover("measure", out, "--original", people)
    assert "cells that changed" in done.out
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
    assert "Use it as an ordinary table" in sheet
    assert "Drawn at random from the values of similar people" in sheet
    for private in ("Effective share", "informed", "published_rows"):
        assert private not in sheet


def test_the_published_table_can_be_inspected_like_any_other(undercover: Command, published: tuple[Path, Path]) -> None:
    out, _ = published
    assert undercover("inspect", out / "public" / "table.csv").code == 0
