"""``undercover accept``, and the exit code 5 of what is made and withheld."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import undercover as uc
from undercover.io.release.folder import save
from undercover.io.source import read

Command = Callable[..., Any]
METHOD = ["--method", "mondrian", "--set", "k=2"]


@pytest.fixture
def withheld(undercover: Command, people: Path, roles: list[str], tmp_path: Path) -> Path:
    folder = tmp_path / "out"
    made = undercover("publish", people, *roles, *METHOD, "--out", folder)
    assert made.code == 5, made.err
    assert made.out.startswith("Verdict: Do not publish\n")
    assert f"withheld:       {folder / 'withheld'}; to publish it all the same: undercover accept" in made.out
    return folder


def test_withheld_then_accepted(undercover: Command, withheld: Path) -> None:
    checked = undercover("verify", withheld)
    assert checked.code == 0
    assert checked.out.endswith("verified; withheld, not published\n")
    assert "WITHHELD: " in undercover("verify", withheld / "withheld").out
    accepted = undercover("accept", withheld, "--because", "The board agreed.", "--by", "Ada", "--json")
    assert accepted.code == 0, accepted.err
    decision = json.loads(accepted.out)
    assert (decision["because"], decision["by"], decision["verdict"]) == ("The board agreed.", "Ada", "Do not publish")
    assert sorted(os.listdir(withheld)) == ["private", "public"]
    assert undercover("verify", withheld / "public").out.endswith("verified\n")
    again = undercover("accept", withheld, "--because", "Once more.")
    assert again.code == 2
    assert "is not withheld, so there is nothing to accept. Accepted by Ada on " in again.err


def test_what_accept_refuses(undercover: Command, withheld: Path, tmp_path: Path) -> None:
    assert undercover("accept", withheld).code == 2
    assert "Say why" in undercover("accept", withheld, "--because", " ").err
    assert undercover("accept", tmp_path / "nowhere", "--because", "x").code == 2
    with (withheld / "withheld" / "table.csv").open("a") as table:
        table.write("20,M,10000,flu\n")
    changed = undercover("accept", withheld, "--because", "x")
    assert changed.code == 4
    assert "nothing was moved" in changed.err
    assert sorted(os.listdir(withheld)) == ["private", "withheld"]


def test_published_and_accepted_at_once(undercover: Command, people: Path, roles: list[str], tmp_path: Path) -> None:
    asked = ["publish", people, *roles, *METHOD, "--out", tmp_path / "out", "--json"]
    assert undercover(*asked, "--accept", " ").code == 2
    assert not (tmp_path / "out").exists()
    made = undercover(*asked, "--accept", "The board agreed.", "--by", "Ada")
    assert made.code == 0, made.err
    said = json.loads(made.out)
    assert (said["verdict"], said["tables"]) == ("Do not publish", str(tmp_path / "out" / "public"))
    assert json.loads((tmp_path / "out" / "private" / "decision.json").read_text())["by"] == "Ada"


def test_a_recipe_keeps_its_policy(undercover: Command, withheld: Path, tmp_path: Path) -> None:
    lines = ["name,age,sex,zip,disease"]
    lines += [f"Other-{i},{20 + i % 50},{'MF'[i % 2]},{10000 + i % 9},{('flu', 'cold')[i % 2]}" for i in range(60)]
    (tmp_path / "new.csv").write_text("\n".join(lines) + "\n")
    asked = ["apply", withheld, "--to", tmp_path / "new.csv", "--json", "--out"]
    assert undercover(*asked, tmp_path / "second").code == 5
    free = undercover(*asked, tmp_path / "third", "--policy", "none")
    assert (free.code, json.loads(free.out)["verdict"]) == (0, "Not judged")
    kept = undercover("apply", tmp_path / "third", "--to", tmp_path / "new.csv", "--json", "--out", tmp_path / "fourth")
    assert (kept.code, json.loads(kept.out)["policy"]["name"]) == (0, "none")
    accepted = undercover(*asked, tmp_path / "fifth", "--accept", "Agreed.")
    assert accepted.code == 0
    assert (tmp_path / "fifth" / "private" / "decision.json").is_file()


def test_earlier_releases_beside_it(undercover: Command, people: Path, roles: list[str], tmp_path: Path) -> None:
    method = ["--method", "mondrian", "--set", "k=20", "--set", "l=2", "--allow-unsafe", "--policy", "research"]

    def asked(out: Path, *more: Any) -> list[dict[str, Any]]:
        made = undercover("publish", people, *roles, *method, "--out", out, "--json", *more)
        assert made.code == 0, made.err
        reasons = [reason for reason in json.loads(made.out)["reasons"] if reason["kind"] == "second release"]
        kept = json.loads((out / "private" / "report.json").read_text())["reasons"]
        assert [reason for reason in kept if reason["kind"] == "second release"] == reasons
        return reasons

    assert asked(tmp_path / "one") == []
    (reason,) = asked(tmp_path / "two")
    assert reason["weight"] == "ask"
    assert reason["text"].startswith("Earlier releases of the same table lie beside it: `one`. ")
    (tmp_path / "elsewhere").mkdir()
    assert asked(tmp_path / "elsewhere" / "three") == []
    (reason,) = asked(tmp_path / "elsewhere" / "three", "--force")
    assert reason["text"].startswith("The release it replaces is of the same table. ")
    assert asked(tmp_path / "four", "--ledger", tmp_path / "people.ledger") == []


def test_what_is_withheld_of_another_table_or_hidden_is_no_earlier_release(people: Path, tmp_path: Path) -> None:
    schema = uc.Schema(quasi_identifiers=["age", "sex", "zip"], sensitive="disease", identifiers=["name"], drop="*")
    run = uc.publish(people, schema, uc.Mondrian(k=30), policy="research")
    table = uc.datasets.hospital("cross-bucket")
    save(uc.publish(table.table, table.schema, uc.Mondrian(k=2), policy="none"), tmp_path / "other")
    save(run, tmp_path / ".hidden")
    pairs = uc.publish(people, schema, uc.Mondrian(k=2))
    save(pairs, tmp_path / "kept", verdict=pairs.verdict)
    (tmp_path / "broken" / "public").mkdir(parents=True)
    (tmp_path / "broken" / "private").mkdir()
    (tmp_path / "broken" / "private" / "run.json").write_text("[")
    kinds = [reason.kind for reason in uc.load(uc.save(run, tmp_path / "out")).verdict.reasons]
    assert "second release" not in kinds
    frame = uc.publish(read(people).data, schema, uc.Mondrian(k=30), policy="research")
    reasons = uc.load(uc.save(frame, tmp_path / "again")).verdict.reasons
    assert [reason.text[:59] for reason in reasons if reason.kind == "second release"] == [
        "Earlier releases of the same table lie beside it: `out`. To"
    ]
