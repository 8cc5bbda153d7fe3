"""``undercover attack --knows-algorithm`` on tables of more than a few people."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.usefixtures("unjudged")

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


@pytest.mark.parametrize("asked", [(), ("--knows-values", "2")])
def test_other_methods_are_attacked_by_what_values_tell(
    asked: tuple[str, ...], undercover: Command, people: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    people.write_text("\n".join(people.read_text().splitlines()[:65]) + "\n")  # the method is run over and over
    done = undercover(
        "publish", people, "--qi", "age,sex", "--sensitive", "disease", "--method", "anatomy", "--set", "l=3",
        "--out", out,
    )  # fmt: skip
    assert done.code == 0, done.err
    done = undercover("attack", out, "--knows-algorithm", *asked)
    assert done.code == 0, done.err
    assert "not gone through" in done.out
    assert "Knowing values of others: nothing was found that known values tell of others" in " ".join(done.out.split())
    found = json.loads(undercover("attack", out, "--knows-algorithm", *asked, "--json").out)
    assert (found["attack"], found["known"], found["robust"]) == ("known-values", len(asked) or 1, True)


def test_values_are_known_only_beside_the_algorithm(undercover: Command, people: Path, tmp_path: Path) -> None:
    release = published(undercover, people, tmp_path / "out", "k=5")
    done = undercover("attack", release, "--knows-values", "1")
    assert (done.code, "Add --knows-algorithm" in done.err) == (2, True)
    found = json.loads(undercover("attack", release, "--knows-algorithm", "--knows-values", "1", "--json").out)
    assert (found["attack"], found["safe"], found["robust"]) == ("known-values", True, True)
