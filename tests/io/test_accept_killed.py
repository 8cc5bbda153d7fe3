"""Accepting under kill -9: public tables always have their decision, and accepting again finishes what was begun.

One process accepts the same withheld release over and over in children that kill themselves before or after one step
more each time; then it accepts once more.
"""

import json
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

import undercover as uc
from undercover.errors import DataError, OutputError
from undercover.io.ledger.book import Ledger

pytestmark = pytest.mark.long  # all of it is made at once, so one worker should have it
SCHEMA = uc.Schema(quasi_identifiers=["age"], sensitive="disease", identifiers=["name"])
DRIVER = textwrap.dedent(
    """
    import json, os, shutil, signal, sys
    from pathlib import Path
    from undercover.io.ledger.book import Ledger
    from undercover.verbs.accept import accept, decided

    home = Path(sys.argv[1])
    steps = [(os, "fsync"), (os, "replace"), (Path, "replace"), (Path, "rename"), (Path, "chmod"), (Path, "unlink")]

    def accept_and_die(at):
        left = at
        def watched(call):
            def step(*arguments, **options):
                nonlocal left
                for work in (lambda: None, lambda: call(*arguments, **options)):
                    done = work()
                    left -= 1
                    if left == 0:
                        os.kill(os.getpid(), signal.SIGKILL)
                return done
            return step
        for owner, name in steps:
            setattr(owner, name, watched(getattr(owner, name)))
        decided(home / "out", "Because.", "first")
        os._exit(0)

    def state():
        entries = [(entry.state, entry.counts) for entry in Ledger(home / "people.ledger").entries()]
        parts = sorted(os.listdir(home / "out"))
        private = sorted(os.listdir(home / "out" / "private"))
        mode = (home / "out" / parts[-1]).stat().st_mode & 0o777
        return {"parts": parts, "private": private, "entries": entries, "mode": mode}

    found = []
    for at in range(1, 1000):
        for name in ("out", "people.ledger", "people.ledger.people"):
            place = home / name
            shutil.rmtree(place) if place.is_dir() else place.unlink(missing_ok=True)
        shutil.copytree(home / "kept", home / "out")
        child = os.fork()
        if child == 0:
            accept_and_die(at)
        killed = os.waitpid(child, 0)[1] == signal.SIGKILL
        after = state()
        by = None
        if killed:
            try:
                by = accept(home / "out", because="Again.", by="second").by
            except Exception as error:
                by = repr(error)
        found.append({"killed": killed, "after": after, "by": by, "end": state()})
        if not killed:
            break
    print(json.dumps(found))
    """
)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A withheld release, made with a ledger that nobody has entered anything in."""
    place = tmp_path_factory.mktemp("home")
    (place / "people.csv").write_text(
        "name,age,disease\n" + "".join(f"P{i},{20 + i},{'abc'[i % 3]}\n" for i in range(12))
    )
    run = uc.publish(place / "people.csv", SCHEMA, uc.Mondrian(k=2), ledger=place / "people.ledger")
    uc.save(run, place / "kept")
    return place


@pytest.fixture(scope="module")
def kills(home: Path) -> list[dict[str, Any]]:
    done = subprocess.run([sys.executable, "-c", DRIVER, str(home)], capture_output=True, text=True, check=True)
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def complete(kill: dict[str, Any]) -> bool:
    """Whether the kill came after everything was done."""
    return "ledger-entry.npz" not in kill["after"]["private"]


def test_every_step_was_tried(kills: list[dict[str, Any]]) -> None:
    assert [kill["killed"] for kill in kills] == [True] * (len(kills) - 1) + [False]
    assert len(kills) > 20
    ends = {("public" in kill["after"]["parts"], "decision.json" in kill["after"]["private"]) for kill in kills}
    assert ends == {(False, False), (False, True), (True, True)}


def test_public_tables_have_their_decision_and_count(kills: list[dict[str, Any]]) -> None:
    for kill in kills:
        after = kill["after"]
        assert after["parts"] in (["private", "withheld"], ["private", "public"]), after
        is_public = "public" in after["parts"]
        assert not is_public or "decision.json" in after["private"], after
        assert any(counts for _, counts in after["entries"]) == is_public, after
        assert is_public or "ledger-entry.npz" in after["private"], after


def test_accepting_again_finishes_it(kills: list[dict[str, Any]]) -> None:
    for kill in kills:
        end = kill["end"]
        assert end["parts"] == ["private", "public"], kill
        assert end["entries"] == [["published", True]], kill
        assert end["mode"] != 0o700, kill
        assert "ledger-entry.npz" not in end["private"], kill
        assert not [name for name in end["private"] if name.startswith(".")], kill
        if kill["killed"]:
            by = "first" if "public" in kill["after"]["parts"] else "second"
            assert ("is not withheld" in kill["by"]) if complete(kill) else kill["by"] == by, kill


def test_a_withheld_release_does_not_count_until_it_is_accepted(home: Path, tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "people.ledger")
    run = uc.publish(home / "people.csv", SCHEMA, uc.Mondrian(k=2), ledger=ledger)
    out = uc.save(run, tmp_path / "out")
    assert ledger.entries() == ()
    assert not uc.publish(home / "people.csv", SCHEMA, uc.Mondrian(k=3), ledger=ledger).diagnostics.get("earlier")
    with pytest.raises(DataError, match="is withheld, so nobody of it is published"):
        _add(ledger, out)
    uc.accept(out, because="Because.")
    (entry,) = ledger.entries()
    assert (entry.state, entry.people, entry.known_by, entry.folder) == ("published", 12, [["name"]], str(out))
    assert entry.release == json.loads((out / "private" / "decision.json").read_text())["release"]
    assert not (out / "private" / "ledger-entry.npz").exists()
    later = uc.publish(home / "people.csv", SCHEMA, uc.Mondrian(k=2), ledger=ledger, despite_earlier=True)
    assert later.diagnostics["earlier"]["releases"][0]["shared"] == 12


def test_who_was_published_meanwhile_stops_it(home: Path, tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "people.ledger")
    first, second = (uc.publish(home / "people.csv", SCHEMA, uc.Mondrian(k=2), ledger=ledger) for _ in range(2))
    kept = uc.save(first, tmp_path / "first")
    uc.save(second, tmp_path / "second", accept="Because.")
    with pytest.raises(OutputError, match="Publish again"):
        uc.accept(kept, because="Because.")
    assert not (kept / "public").exists()
    assert not (kept / "private" / "decision.json").exists()
    assert [entry.folder for entry in ledger.entries()] == [str(tmp_path / "second")]


def test_a_ledger_that_is_gone_stops_it(home: Path, tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "people.ledger")
    run = uc.publish(home / "people.csv", SCHEMA, uc.Mondrian(k=2), ledger=ledger)
    kept = uc.save(run, tmp_path / "out")
    Path(f"{ledger.path}.key").unlink()
    with pytest.raises(DataError, match=r"is not there. Bring it back"):
        uc.accept(kept, because="Because.")
    assert not (kept / "public").exists()


def _add(ledger: Ledger, folder: Path) -> None:
    from undercover.verbs.ledger import enter_folder

    enter_folder(ledger, folder)
