"""A leak withholds a release from everybody, whatever the policy, and nobody can accept it."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from scanning_people import SCHEMA, crowd

import undercover as uc
from undercover.errors import DataError
from undercover.io.release import manifest
from undercover.model.policy import policy_of
from undercover.model.run import Run

NAME = "Ida Kvist-17"


@pytest.fixture
def leaky(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Whoever writes a data package writes somebody's name into it, until this is undone."""
    whole = manifest.package

    def package(*given: Any) -> Any:
        return {**whole(*given), "notes": f"Thanks to {NAME}."}

    monkeypatch.setattr(manifest, "package", package)
    return monkeypatch


def test_withheld_under_any_policy_and_never_accepted(made: Run, leaky: pytest.MonkeyPatch, tmp_path: Path) -> None:
    run = replace(made, policy=policy_of("none"))
    out = uc.save(run, tmp_path / "out", accept="The board agreed.", by="Ada")
    assert sorted(path.name for path in out.iterdir()) == ["private", "withheld"]
    assert {path.stat().st_mode & 0o077 for path in (out / "withheld", *(out / "withheld").iterdir())} == {0}
    assert run.verdict.title == "Do not publish"
    assert run.verdict.meaning == "Public files hold what must not be published. Policy: none."
    with pytest.raises(DataError, match="cannot be accepted: a leak is not a risk to weigh"):
        uc.accept(out, because="All the same.", by="Ada")
    report = json.loads((out / "private" / "report.json").read_text())
    assert [leak["where"] for leak in report["scan"]["leaks"]] == ["datapackage.json"]
    page = (out / "private" / "report.html").read_text()
    assert "holds a value of the identifier <code>who</code>" in page
    assert NAME not in page
    assert uc.load(out).verdict.title == "Do not publish"
    leaky.undo()
    uc.save(run, tmp_path / "again")
    assert (run.verdict.title, run.scan.leaks) == ("Not judged", ())
    assert (tmp_path / "again" / "public").is_dir()


def test_a_ledger_does_not_count_what_leaks(leaky: pytest.MonkeyPatch, tmp_path: Path) -> None:
    run = uc.publish(crowd(60), SCHEMA, uc.Mondrian(k=8), ledger=tmp_path / "people.ledger")
    out = uc.save(run, tmp_path / "out")
    assert run.scan.leaks
    assert (out / "private" / "ledger-entry.npz").is_file()
    assert not uc.Ledger(tmp_path / "people.ledger").entries()


def test_the_command_says_what_was_looked_for(
    leaky: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from pyarrow.csv import write_csv

    from undercover.cli.main import main

    write_csv(crowd(60), tmp_path / "people.csv")
    words = ["undercover", "publish", str(tmp_path / "people.csv"), "--qi", "age,town", "--sensitive", "ill"]
    words += ["--identifiers", "who,number", "--drop", "note", "--method", "mondrian", "--set", "k=8", "--out"]
    for name, more, code in (
        ("first", [], 5),
        ("second", ["--json", "--accept", "because"], 5),
        ("third", ["--json"], 0),
    ):
        if not code:
            leaky.undo()
        leaky.setattr("sys.argv", [*words, str(tmp_path / name), "--policy", "none", *more])
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            main()
        printed = capsys.readouterr().out
        assert left.value.code == code
        assert NAME not in printed
        if "--json" in more:
            assert len(json.loads(printed)["scan"]["leaks"]) == bool(code)
        else:
            assert "looked for:     identifiers, secrets, order, links; found: `identifiers`" in printed
            assert "nobody can accept a leak: remove its cause, and publish again" in printed
