"""``--require`` and ``[[require]]``: promises of several numbers, and those that need a spec."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.csv as pc
import pytest

import undercover as uc

pytestmark = pytest.mark.usefixtures("unjudged")

Command = Callable[..., Any]

SPEC = """
[roles]
quasi_identifiers = ["age", "sex"]
sensitive = "salary"
[columns.salary]
bins = [0, 20000, 40000, 60000, 100000, 400000]
[method]
name = "perturbed-generalization"
k = 6
p = 0.3
"""


@pytest.fixture
def census(tmp_path: Path) -> Path:
    place = tmp_path / "census.csv"
    pc.write_csv(uc.datasets.census(1500, seed=2).select(["age", "sex", "salary"]), place)
    return place


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    place = tmp_path / "spec.toml"
    place.write_text(SPEC, "utf-8")
    return place


def test_binned_values_through_every_command(undercover: Command, census: Path, spec: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = undercover("publish", census, "--spec", spec, "--require", "rho1=0.2,rho2=0.9", "--out", out, "--json")
    assert done.code == 0, done.err
    names = [entry["name"] for entry in json.loads(done.out)["guarantees"]]
    assert names == ["k-anonymity", "disjoint-cells", "delta-growth", "rho-breach"]
    manifest = json.loads((out / "public" / "release.json").read_text("utf-8"))
    (column,) = [one for one in manifest["tables"][0]["columns"] if one["name"] == "salary"]
    assert column["form"] == "interval"
    for command in (
        ("verify", out / "public", "--original", census, "--spec", spec),
        ("verify", out, "--require", "growth=0.9"),
        ("attack", out),
        ("measure", out, "--original", census),
    ):
        assert undercover(*command).code == 0, command
    assert undercover("verify", out / "public", "--require", "growth=0.01").code == 4
    # The same from the table alone, where p and the domain are said.
    table = ("verify", out / "public" / "table.csv", "--qi", "age,sex", "--sensitive", "salary", "--require")
    assert undercover(*table, "growth=0.9,p=0.3,domain=5").code == 0
    assert undercover(*table, "growth=0.01,p=0.3,domain=5").code == 4
    silent = undercover(*table, "growth=0.9")
    assert (silent.code, "p=0.3,domain=50" in silent.err) == (2, True)


def test_a_requirement_out_of_reach(undercover: Command, census: Path, spec: Path, tmp_path: Path) -> None:
    with spec.open("a") as file:
        file.write('[[require]]\nname = "delta-growth"\ngrowth = 0.01\n')
    done = undercover("publish", census, "--spec", spec, "--out", tmp_path / "out")
    assert (done.code, "delta-growth asks for 0.01" in done.err) == (3, True)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("bins", "message"),
    [
        ("[0, 100]", "rows outside its declared bins"),
        ("[0, 100, 50]", "must ascend"),
        ('["low"]', "must be a"),
        ("[0]", "at least two edges"),
    ],
)
def test_bins_that_do_not_fit(
    undercover: Command, census: Path, spec: Path, tmp_path: Path, bins: str, message: str
) -> None:
    spec.write_text(SPEC.replace("[0, 20000, 40000, 60000, 100000, 400000]", bins), "utf-8")
    done = undercover("publish", census, "--spec", spec, "--out", tmp_path / "out")
    assert (done.code, message in done.err) == (2, True), done.err
    largest = max(uc.datasets.census(1500, seed=2)["salary"].to_pylist())
    assert str(largest) not in done.err


def test_hierarchical_t_takes_the_tree_of_the_spec(
    undercover: Command, people: Path, roles: list[str], tmp_path: Path
) -> None:
    diseases = sorted(set(pc.read_csv(people)["disease"].to_pylist()))
    lines = [
        "level0,level1",
        *(f"{disease},{'some' if place % 2 else 'others'}" for place, disease in enumerate(diseases)),
    ]
    (tmp_path / "tree.csv").write_text("\n".join(lines) + "\n", "utf-8")
    place = tmp_path / "tree.toml"
    place.write_text(
        '[roles]\nidentifiers = ["name"]\nquasi_identifiers = ["age", "sex", "zip"]\nsensitive = "disease"\n'
        '[columns.disease]\nhierarchy = "tree.csv"\n[method]\nname = "mondrian"\nk = 5\n',
        "utf-8",
    )
    out = tmp_path / "out"
    done = undercover("publish", people, "--spec", place, "--require", "hierarchical-t=0.99", "--out", out)
    assert done.code == 0, done.err
    for target in ((out,), (out / "public", "--spec", place)):
        assert undercover("verify", *target, "--require", "hierarchical-t=0.99").code == 0
        assert undercover("verify", *target, "--require", "hierarchical-t=0.0001").code == 4
    table = (out / "public" / "table.csv", "--spec", place)
    assert undercover("verify", *table, "--require", "hierarchical-t=0.99").code == 0
    bare = undercover("verify", out / "public", "--require", "hierarchical-t=0.99")
    assert (bare.code, "needs a hierarchy of" in bare.err) == (2, True)
    bare = undercover(
        "publish",
        people,
        *roles,
        "--method",
        "mondrian",
        "--set",
        "k=5",
        "--require",
        "hierarchical-t=0.99",
        "--out",
        tmp_path / "no",
    )
    assert (bare.code, "needs a hierarchy of `disease`" in bare.err) == (2, True)


def test_an_unknown_requirement_names_the_known_ones(
    undercover: Command, census: Path, spec: Path, tmp_path: Path
) -> None:
    done = undercover("publish", census, "--spec", spec, "--require", "rho=0.2", "--out", tmp_path / "out")
    assert done.code == 2
    assert "growth" in done.err
    assert "hierarchical-t" in done.err
