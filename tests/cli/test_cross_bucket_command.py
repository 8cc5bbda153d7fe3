"""A cross-bucket release on the command line, from publishing to attacking."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.usefixtures("unjudged")

Command = Callable[..., Any]


@pytest.fixture(params=["safe", "paper"])
def crossed(
    undercover: Command, people: Path, roles: list[str], tmp_path: Path, request: pytest.FixtureRequest
) -> Path:
    folder = tmp_path / request.param
    choices = ["--method", "cross-bucket", "--set", "k=3", "--set", "l=6", "--set", "joined=true"]
    if request.param == "paper":
        choices += ["--set", "variant=paper"]
    done = undercover("publish", people, *roles, *choices, "--out", folder)
    assert done.code == 0, done.err
    assert ("Not algorithm-safe" in done.err) is (request.param == "paper")
    return folder


def test_published_verified_attacked_and_measured(undercover: Command, crossed: Path, people: Path) -> None:
    names = {path.name for path in (crossed / "public").iterdir()}
    assert names == {"qit.csv", "sat.csv", "joined.csv", "release.json", "datasheet.html", "datapackage.json"}
    manifest = json.loads((crossed / "public" / "release.json").read_text())
    assert manifest["algorithm_safe"] is (crossed.name == "safe")
    assert manifest["method"]["parameters"]["variant"] == crossed.name
    assert {entry["name"]: entry["holds"] for entry in manifest["guarantees"]} == {
        "k-anonymity": True,
        "kl-anonymity": True,
    }
    header = (crossed / "public" / "qit.csv").read_text().splitlines()[0]
    assert header == "age,sex,zip,bucket"
    assert undercover("verify", crossed / "public").code == 0
    against = json.loads(undercover("verify", crossed / "public", "--original", people, "--json").out)
    assert against["holds"] is True
    assert "rows-covered" in {entry["name"] for entry in against["guarantees"]}
    attacked = json.loads(undercover("attack", crossed, "--json").out)
    assert attacked["after"]["attribute"]["disease"]["max"] <= 1 / 6 + 1e-12
    assert attacked["bucket_matching"]["breach"]["disease"]["max"] <= 1 / 6 + 1e-12
    shown = undercover("attack", crossed).out
    assert "Bucket matching: nobody is certain" in shown
    assert "buckets they lie in" in shown
    measured = json.loads(undercover("measure", crossed, "--original", people, "--json").out)
    assert measured["classes"] >= (70 if crossed.name == "paper" else 40)
    assert measured["discernibility_optimum"] == 720  # 80 classes of three


def test_a_changed_bucket_fails(undercover: Command, crossed: Path) -> None:
    qit = crossed / "public" / "qit.csv"
    lines = qit.read_text().splitlines()
    lines[1] = lines[1].rsplit(",", 1)[0] + ",999"
    qit.write_text("\n".join(lines) + "\n")
    done = undercover("verify", crossed / "public")
    assert done.code == 4
    assert "VERIFICATION FAILED" in done.out


@pytest.mark.parametrize(
    ("given", "code", "message"),
    [
        (["k=0", "l=2"], 2, "The 'k' parameter of CrossBucket"),
        (["k=3"], 2, "cross-bucket needs `l`"),
        (["k=3", "l=2", "variant=papers"], 2, "Did you mean `paper`?"),
        (["k=3", "l=2", "variant=paper", "robust=true"], 2, "The 'robust' parameter of CrossBucket belongs to"),
        (["k=3", "l=9"], 3, "l=9 cannot be reached"),
        (["k=300", "l=2"], 3, "k=300 cannot be reached: the table has only 240 rows"),
    ],
)
def test_exit_codes(
    undercover: Command, people: Path, roles: list[str], tmp_path: Path, given: list[str], code: int, message: str
) -> None:
    choices = [part for value in given for part in ("--set", value)]
    done = undercover("publish", people, *roles, "--method", "cross-bucket", *choices, "--out", tmp_path / "out")
    assert done.code == code
    assert message in done.err
    assert not (tmp_path / "out").exists()


def test_a_requirement_in_a_spec(undercover: Command, people: Path, tmp_path: Path) -> None:
    spec = tmp_path / "s.toml"
    spec.write_text(
        '[roles]\nidentifiers = ["name"]\nquasi_identifiers = ["age", "sex", "zip"]\nsensitive = "disease"\n'
        '[method]\nname = "mondrian"\nk = 4\n[[require]]\nname = "kl-anonymity"\nk = 4\nl = 3\n'
    )
    done = undercover("publish", people, "--spec", spec, "--out", tmp_path / "out")
    assert done.code == 3
    assert "kl-anonymity asks for 3" in done.err
