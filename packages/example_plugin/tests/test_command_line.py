"""Every command works with what the package offers, by its name alone."""

import json
from pathlib import Path
from typing import Any

import pytest
from pyarrow import csv
from typer.testing import CliRunner

import undercover as uc
from undercover.cli.main import app

ROLES = ("--qi", "age,sex,education", "--sensitive", "income")


def undercover(*words: Any, code: int = 0) -> str:
    done = CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)
    assert done.exit_code == code, done.output
    return done.stdout


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("people") / "people.csv"
    csv.write_csv(uc.datasets.census(300, seed=1).select(["age", "sex", "education", "income"]), path)
    return path


@pytest.fixture(scope="module")
def folder(people: Path) -> Path:
    out = people.parent / "release"
    undercover(
        "publish", people, *ROLES, "--method", "swap", "--set", "share=0.9", "--require", "times=1", "--out", out
    )
    return out


def test_it_is_published_with_its_form_and_its_promise(folder: Path) -> None:
    manifest = json.loads((folder / "public" / "release.json").read_text())
    assert manifest["form"] == {"name": "swapped", "share": 0.9}
    assert [(entry["name"], entry["holds"]) for entry in manifest["guarantees"]] == [("repeated-values", True)]
    origin = json.loads((folder / "private" / "run.json").read_text())["origin"]
    assert (origin["method"], origin["form"]) == ("example-plugin 0.1.0", "example-plugin 0.1.0")
    assert origin["attacks"]["singling-out"] == "example-plugin 0.1.0"
    assert origin["attacks"]["linkage"] == "undercover"


def test_both_pages_say_who_declares_it_safe(folder: Path) -> None:
    for page in ("private/report.html", "public/datasheet.html"):
        text = " ".join((folder / page).read_text().split())
        assert "declared by example-plugin 0.1.0, not checked here" in text
        assert "Swapping, share = 0.9" in text
    assert "counts of one column alone are exact" in text


def test_it_is_verified_attacked_and_measured(folder: Path, people: Path) -> None:
    assert json.loads(undercover("verify", folder / "public", "--json"))["holds"]
    assert json.loads(undercover("verify", folder, "--original", people, "--json"))["holds"]
    found = json.loads(undercover("attack", folder, "--json"))
    assert found["after"]["identity"]["mean"] < found["before"]["identity"]["mean"]
    alone = json.loads(undercover("attack", folder, "--attacker", "singling-out", "--set", "known=age,sex", "--json"))
    assert alone["known"] == ["age", "sex"]
    assert alone["right"] <= alone["singled_out"]
    loss = json.loads(undercover("measure", folder, "--original", people, "--json"))["loss"]
    assert loss["iloss"]["arithmetic"] > 0.3


def test_it_is_made_again_compared_and_applied(folder: Path, people: Path, tmp_path: Path) -> None:
    spec = folder / "private" / "spec.toml"
    assert 'name = "swap"\nshare = 0.9\n' in spec.read_text()
    undercover("publish", people, "--spec", spec, "--out", tmp_path / "again")
    undercover("apply", folder, "--to", people, "--out", tmp_path / "applied", code=5)  # they were published before
    compared = ("--methods", "swap", "--queries", "5", "--out", tmp_path / "compared", "--json")
    releases = json.loads(undercover("compare", people, "--spec", spec, *compared))["releases"]
    assert [release["method"] for release in releases] == ["swap"]
