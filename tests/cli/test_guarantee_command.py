"""``undercover guarantee`` and ``undercover attack`` on perturbed generalization."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import undercover as uc
from undercover.io.csv.text import write_csv

pytestmark = pytest.mark.usefixtures("unjudged")

Command = Callable[..., Any]
ASKED = ["--k", 6, "--skew", 0.1, "--domain", 50]


def test_the_promise_of_a_p(undercover: Command) -> None:
    done = undercover("guarantee", *ASKED, "--p", 0.3, "--rho1", 0.2, "--json")
    found = json.loads(done.out)
    assert done.code == 0
    assert found["rho2"] == pytest.approx(0.41053, abs=5e-6)
    assert found["paper"]["rho2"] == pytest.approx(0.45036, abs=5e-6)
    assert found["growth"] == pytest.approx(0.23684, abs=5e-6)
    assert (found["k"], found["p"], found["domain"], found["bound"]) == (6, 0.3, 50, "tight")
    assert len(found["grid"]) == 35


def test_the_largest_p(undercover: Command) -> None:
    found = json.loads(undercover("guarantee", *ASKED, "--rho1", 0.2, "--rho2", 0.45, "--json").out)
    assert found["p"] == pytest.approx(0.352941, abs=5e-7)
    assert found["paper"]["p"] == pytest.approx(0.299509, abs=5e-7)
    found = json.loads(undercover("guarantee", *ASKED, "--growth", 0.24, "--bound", "paper", "--json").out)
    assert found["p"] == pytest.approx(0.303797, abs=5e-7)
    assert "rho2" not in found
    assert "rho2" not in found["grid"][0]
    sampled = json.loads(undercover("guarantee", "--sample", "1/49", "--domain", 50, "--p", 0.3, "--json").out)
    assert sampled["k"] == 49


def test_people_see_promises_rounded_up_and_p_down(undercover: Command) -> None:
    done = undercover("guarantee", *ASKED, "--p", 0.3, "--rho1", 0.2)
    assert "0.411" in done.out  # 0.41053
    assert "0.451" in done.out  # 0.45036
    done = undercover("guarantee", *ASKED, "--rho1", 0.2, "--rho2", 0.45)
    assert "0.352" in done.out  # 0.35294
    assert "0.299" in done.out  # 0.29951


@pytest.mark.usefixtures("drawn")
def test_a_map_is_written(undercover: Command, tmp_path: Path) -> None:
    page = tmp_path / "map.html"
    assert undercover("guarantee", *ASKED, "--p", 0.3, "--rho1", 0.2, "--map", page).code == 0
    assert page.read_text().count('class="chart broad"') == 2
    assert undercover("guarantee", *ASKED, "--p", 0.3, "--map", page).code == 2
    assert undercover("guarantee", *ASKED, "--p", 0.3, "--map", page, "--force").code == 0
    assert page.read_text().count('class="chart broad"') == 1  # nothing was asked about ρ1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--domain", 50, "--p", 0.3], "--k, or the share"),
        (["--domain", 50, "--k", 6], "exactly one of --p, --rho2 and --growth"),
        (["--domain", 50, "--k", 6, "--p", 0.3, "--growth", 0.1], "Got --p and --growth"),
        (["--domain", 50, "--k", 6, "--rho2", 0.3], "give --rho1 too"),
        (["--domain", 50, "--k", 6, "--p", 1.3], "number in [0, 1]"),
        (["--domain", 50, "--k", 6, "--rho1", 0.5, "--rho2", 0.3], "rho1 < rho2"),
        (["--domain", 50, "--k", 6, "--p", 0.3, "--skew", 0.001], "[1/50, 1]"),
        (["--domain", 50, "--k", 6, "--p", 0.3, "--bound", "loose"], "Bound `loose`"),
        (["--domain", 50, "--sample", 2, "--p", 0.3], "(0, 1]"),
    ],
)
def test_bad_questions(undercover: Command, arguments: list[Any], message: str) -> None:
    done = undercover("guarantee", *arguments)
    assert done.code == 2
    assert message in done.err


@pytest.fixture(scope="module")
def spec(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("perturbed")
    write_csv(uc.datasets.census(400, seed=3), folder / "people.csv")
    domain = ", ".join(map(str, range(50)))
    (folder / "s.toml").write_text(
        '[roles]\nquasi_identifiers = ["age", "sex"]\nsensitive = "income"\n'
        f"[columns.income]\ndomain = [{domain}]\n"
        '[method]\nname = "perturbed-generalization"\nk = 6\nrho = [0.2, 0.45]\nskew = 0.1\n'
    )
    return folder / "people.csv", folder / "s.toml"


def test_from_publishing_to_the_attack(undercover: Command, spec: tuple[Path, Path], tmp_path: Path) -> None:
    people, toml = spec
    done = undercover("publish", people, "--spec", toml, "--out", tmp_path / "out")
    assert done.code == 0, done.err
    assert "warning: One release per table" in done.err
    assert done.out.count("holds") == 4
    assert "of 400 rows are published. A row stands for as many people as `G` says" in " ".join(done.out.split())
    manifest = json.loads((tmp_path / "out/public/release.json").read_text())
    assert [column["name"] for column in manifest["tables"][0]["columns"]] == ["age", "sex", "income", "G"]
    assert manifest["method"]["parameters"]["used"]["p"] == pytest.approx(0.352941, abs=1e-3)
    assert "One release per table" in (tmp_path / "out/private/run.json").read_text()
    assert undercover("verify", tmp_path / "out/public").code == 0
    assert undercover("verify", tmp_path / "out", "--original", people).code == 0
    found = json.loads(undercover("attack", tmp_path / "out", "--json").out)
    assert found["attack"] == "linkage"
    assert found["corruption"]["within_bounds"] is True
    assert found["corruption"]["plain"][-1]["certain_rows"] == 400
    shown = undercover("attack", tmp_path / "out")
    assert "400, each the victim once" in shown.out
    one = json.loads(undercover("attack", tmp_path / "out", "--victim", 7, "--json").out)
    assert one["victim"] == 7
    assert max(one["true_values_published"]["after"].values()) == 1
    assert one["release"]["growth"] < 0.3
    assert undercover("attack", tmp_path / "out", "--victim", 7, "--corrupted", "none").code == 0
    assert undercover("attack", tmp_path / "out", "--victim", 400).code == 2
    assert undercover("attack", tmp_path / "out", "--victim", 7, "--corrupted", "some").code == 2
    assert undercover("measure", tmp_path / "out", "--original", people).code == 0


def test_a_changed_g_is_noticed(undercover: Command, spec: tuple[Path, Path], tmp_path: Path) -> None:
    people, toml = spec
    assert undercover("publish", people, "--spec", toml, "--out", tmp_path / "out").code == 0
    table = tmp_path / "out/public/table.csv"
    lines = table.read_text().splitlines()
    lines[1] = lines[1].rpartition(",")[0] + ",3"
    table.write_text("\n".join(lines) + "\n")
    done = undercover("verify", tmp_path / "out/public", "--json")
    found = {entry["name"]: entry for entry in json.loads(done.out)["guarantees"]}
    assert done.code == 4
    assert found["k-anonymity"]["actual"] == 3
    assert found["rho-breach"]["holds"] is False
    assert found["delta-growth"]["holds"] is False


def test_driven_by_labels_needs_a_word(undercover: Command, spec: tuple[Path, Path], tmp_path: Path) -> None:
    people, toml = spec
    asked = ["publish", people, "--spec", toml, "--set", "labels=driven", "--set", "recoding=specialize"]
    assert undercover(*asked, "--out", tmp_path / "out").code == 2
    done = undercover(*asked, "--allow-unsafe", "--out", tmp_path / "out")
    assert done.code == 0, done.err
    assert "algorithm-safe: no" in done.out
