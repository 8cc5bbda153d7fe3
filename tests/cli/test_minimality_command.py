"""``undercover attack --knows-algorithm`` on tables of more than a few people."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]


def published(undercover: Command, people: Path, folder: Path, *settings: str) -> Path:
    asked = [part for setting in settings for part in ("--set", setting)]
    done = undercover(
        "publish", people, "--qi", "age,sex", "--sensitive", "disease", "--identifiers", "name",
        "--method", "mondrian", *asked, "--out", folder,
    )  # fmt: skip
    assert done.code == 0, done.err
    return folder


def test_a_mondrian_release_of_any_size(undercover: Command, people: Path, tmp_path: Path) -> None:
    release = published(undercover, people, tmp_path / "out", "k=3", "l=3")
    done = undercover("attack", release, "--knows-algorithm")
    assert done.code == 0, done.err
    assert "Minimality: " in done.out
    assert "240, " in done.out
    assert "Tables of more than 8 people" in done.out
    assert "sure of the true value, worst case" in done.out
    assert "excluding arrangements" in done.err
    found = json.loads(undercover("attack", release, "--knows-algorithm", "--json").out)
    assert found["attack"] == "minimality"
    assert found["evidence"] == "all"
    assert found["promised"] == pytest.approx(1 / 3)
    assert found["groups"]["with_evidence"] > 0
    assert found["baseline"]["max"] <= 1 / 3 + 1e-12


def test_k_alone_tells_nothing(undercover: Command, people: Path, tmp_path: Path) -> None:
    release = published(undercover, people, tmp_path / "out", "k=5")
    found = json.loads(undercover("attack", release, "--knows-algorithm", "--json").out)
    assert found["gain"] == {"mean": 0.0, "max": 0.0}
    assert found["attribute"]["mean"] == found["baseline"]["mean"]
    assert "nothing to exclude" in found["story"]


def test_other_methods_are_attacked_on_a_few_people_only(undercover: Command, people: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = undercover(
        "publish", people, "--qi", "age,sex", "--sensitive", "disease", "--method", "anatomy", "--set", "l=3",
        "--out", out,
    )  # fmt: skip
    assert done.code == 0, done.err
    done = undercover("attack", out, "--knows-algorithm")
    assert (done.code, "at most 8 people" in done.err) == (2, True)
