"""What must not be published is withheld: where it lies, who may look, and that everything else finds it."""

import json
import os
import re
import stat
from pathlib import Path

import pytest

import undercover as uc
from undercover.errors import DataError, OutputError, ParameterError, VerificationError
from undercover.io.release.contents import is_withheld, public_part

SCHEMA = uc.Schema(quasi_identifiers=["age", "sex", "zip"], sensitive="disease", identifiers=["name"])
PARTS = ["private", "withheld"]
BECAUSE = "A contract binds the <recipient>."


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, uc.Run]:
    """Of one table: pairs, which the standard policy does not let pass, and the same without a policy."""
    lines = [f"P{i},{20 + i % 7},{'MF'[i % 2]},{100 + i % 3},{'abcdef'[i % 6]}" for i in range(24)]
    path = tmp_path_factory.mktemp("table") / "people.csv"
    path.write_text("\n".join(["name,age,sex,zip,disease", *lines]) + "\n")
    method = uc.Mondrian(k=2)
    return {policy: uc.publish(path, SCHEMA, method, policy=policy) for policy in ("standard", "none")}


@pytest.fixture
def withheld(runs: dict[str, uc.Run], tmp_path: Path) -> Path:
    return uc.save(runs["standard"], tmp_path / "out")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_release_is_withheld_or_public(runs: dict[str, uc.Run], withheld: Path, tmp_path: Path) -> None:
    public = uc.save(runs["none"], tmp_path / "free")
    assert sorted(os.listdir(withheld)) == PARTS
    assert sorted(os.listdir(public)) == ["private", "public"]
    assert (is_withheld(withheld), is_withheld(withheld / "withheld"), is_withheld(public)) == (True, True, False)
    assert sorted(os.listdir(withheld / "withheld")) == sorted(os.listdir(public / "public"))
    assert public_part(public / "public") == public / "public"


def test_nobody_else_may_look_until_it_is_accepted(withheld: Path) -> None:
    assert (mode(withheld / "withheld"), mode(withheld / "private")) == (0o700, 0o700)
    usual = mode(withheld)
    assert {mode(file) for part in ("withheld", "private") for file in (withheld / part).iterdir()} == {0o600}
    uc.accept(withheld, because=BECAUSE)
    assert mode(withheld / "public") == usual != 0o700
    assert {mode(file) for file in (withheld / "public").iterdir()} == {usual & 0o666}
    assert {mode(file) for file in (withheld / "private").iterdir()} == {0o600}


def test_everything_finds_the_tables(runs: dict[str, uc.Run], withheld: Path, tmp_path: Path) -> None:
    original = runs["standard"].source["path"]
    assert uc.load(withheld).verdict == runs["standard"].verdict
    for place in (withheld, withheld / "withheld"):
        found = uc.verify(place)
        assert found.holds
        assert found.notes[0].startswith("WITHHELD: ")
    assert uc.attack(withheld).after.identity.max() > 1 / 5
    assert uc.measure(original, uc.load(withheld)).to_dict()
    assert uc.published(withheld).name == uc.published(withheld / "withheld").name == "out"
    assert uc.joint_attack([withheld, withheld / "withheld"])
    key = uc.new_key(tmp_path / "key")
    assert uc.sign(withheld, tmp_path / "key").parent == withheld / "withheld"
    assert uc.verify(withheld, trusted_by=key).holds


def test_recipients_are_not_told_of_the_verdict(runs: dict[str, uc.Run], withheld: Path) -> None:
    uc.accept(withheld, because="Zanzibar agreed.", by="Quentin")
    reasons = [reason.text for reason in runs["standard"].verdict.reasons]
    assert reasons
    for path in (withheld / "public").iterdir():
        text = re.sub(r"(?s)<style>.*?</style>", "", path.read_text("utf-8"))  # that of all pages
        for word in ("ithheld", "Do not publish", "Zanzibar", "Quentin", "erdict", "policy", *reasons):
            assert word not in text, (path.name, word)


def test_an_accepted_release_is_the_one_that_was_withheld(runs: dict[str, uc.Run], withheld: Path) -> None:
    before = {path.name: path.read_bytes() for path in (withheld / "withheld").iterdir()}
    decision = uc.accept(withheld, because=f" {BECAUSE}\n", by="the board")
    assert sorted(os.listdir(withheld)) == ["private", "public"]
    assert {path.name: path.read_bytes() for path in (withheld / "public").iterdir()} == before
    assert uc.verify(withheld).holds
    assert not any("WITHHELD" in note for note in uc.verify(withheld).notes)
    written = json.loads((withheld / "private" / "decision.json").read_text("utf-8"))
    assert written == json.loads(json.dumps(decision.to_dict()))
    assert (written["decision"], written["because"], written["by"]) == ("accepted", BECAUSE, "the board")
    assert (written["verdict"], written["policy"]["name"]) == ("Do not publish", "standard")
    assert [reason["text"] for reason in written["reasons"]] == [r.text for r in runs["standard"].verdict.reasons]
    report = json.loads((withheld / "private" / "report.json").read_text("utf-8"))
    assert report["decision"] == written
    page = (withheld / "private" / "report.html").read_text("utf-8")
    assert page.count("Accepted by the board on ") == 1
    assert "A contract binds the &lt;recipient&gt;." in page


def test_what_cannot_be_accepted(runs: dict[str, uc.Run], withheld: Path, tmp_path: Path) -> None:
    for because, by in ((" \n", "me"), (BECAUSE, " ")):
        with pytest.raises(ParameterError):
            uc.accept(withheld, because=because, by=by)
    with pytest.raises(DataError, match="no release folder"):
        uc.accept(tmp_path, because=BECAUSE)
    public = uc.save(runs["none"], tmp_path / "free")
    with pytest.raises(DataError, match="is not withheld"):
        uc.accept(public, because=BECAUSE)
    assert not (public / "private" / "decision.json").exists()
    uc.accept(withheld, because=BECAUSE, by="first")
    with pytest.raises(DataError, match=r"is not withheld.* Accepted by first"):
        uc.accept(withheld, because=BECAUSE, by="second")


@pytest.mark.parametrize("change", ["table", "manifest", "file", "run"])
def test_what_was_changed_is_not_accepted(withheld: Path, change: str) -> None:
    tables = withheld / "withheld"
    if change == "table":
        (tables / "table.csv").write_text((tables / "table.csv").read_text().replace("a\n", "b\n", 1))
    elif change == "manifest":
        manifest = json.loads((tables / "release.json").read_text())
        manifest["algorithm_safe"] = not manifest["algorithm_safe"]
        (tables / "release.json").write_text(json.dumps(manifest))
    elif change == "file":
        (tables / "names.csv").write_text("Ada\n")
    else:
        run = json.loads((withheld / "private" / "run.json").read_text())
        run["release"]["suppressed_rows"] = 1
        (withheld / "private" / "run.json").write_text(json.dumps(run))
    with pytest.raises(VerificationError, match="nothing was moved"):
        uc.accept(withheld, because=BECAUSE)
    assert sorted(os.listdir(withheld)) == PARTS
    assert not (withheld / "private" / "decision.json").exists()


def test_saved_and_accepted_at_once(runs: dict[str, uc.Run], tmp_path: Path) -> None:
    out = uc.save(runs["standard"], tmp_path / "out", accept=BECAUSE, by="me")
    assert sorted(os.listdir(out)) == ["private", "public"]
    assert json.loads((out / "private" / "decision.json").read_text())["by"] == "me"
    with pytest.raises(ParameterError, match="Say why"):
        uc.save(runs["standard"], tmp_path / "other", accept=" ")
    assert os.listdir(tmp_path) == ["out"]
    nothing = uc.save(runs["none"], tmp_path / "free", accept=BECAUSE)
    assert not (nothing / "private" / "decision.json").exists()


def test_a_withheld_folder_is_replaced_by_force(runs: dict[str, uc.Run], withheld: Path) -> None:
    with pytest.raises(OutputError, match="already exists"):
        uc.save(runs["none"], withheld)
    uc.save(runs["none"], withheld, force=True)
    assert sorted(os.listdir(withheld)) == ["private", "public"]
    uc.save(runs["standard"], withheld, force=True)
    assert sorted(os.listdir(withheld)) == PARTS


def test_both_parts_at_once_are_told(withheld: Path) -> None:
    (withheld / "public").mkdir()
    for path in (withheld / "withheld").iterdir():
        (withheld / "public" / path.name).write_bytes(path.read_bytes())
    assert "`withheld` lies beside `public`; a release is one or the other." in uc.verify(withheld).problems
    with pytest.raises(DataError, match="is not withheld"):
        uc.accept(withheld, because=BECAUSE)
