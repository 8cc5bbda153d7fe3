"""``undercover ledger`` and ``publish --ledger``: what is said, what is stopped, and by which code."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.usefixtures("unjudged")

Command = Callable[..., Any]
ROLES = ["--sensitive", "d", "--identifiers", "name", "--method", "mondrian", "--set", "k=2", "--set", "l=2"]
ROWS = {"A": "0,0,x", "B": "0,1,y", "C": "1,0,z", "D": "1,1,x", "E": "0,0,z", "F": "1,1,y"}


@pytest.fixture
def four(tmp_path: Path) -> Path:
    return write(tmp_path / "four.csv", "ABCD")


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    return tmp_path / "people.ledger"


def write(path: Path, who: str) -> Path:
    path.write_text("name,a,b,d\n" + "".join(f"Person {name},{ROWS[name]}\n" for name in who))
    return path


def test_a_second_release_is_stopped_and_may_be_forced(
    undercover: Command, four: Path, ledger: Path, tmp_path: Path
) -> None:
    done = undercover("publish", four, "--qi", "a", *ROLES, "--ledger", ledger, "--out", tmp_path / "one")
    assert done.code == 0, done.err
    again = ["publish", four, "--qi", "b", *ROLES, "--ledger", ledger, "--out", tmp_path / "two"]
    stopped = undercover(*again)
    assert stopped.code == 3
    assert "4 of the 4 rows (100.0%) are of people of release 1 (mondrian" in stopped.err
    assert "--despite-earlier" in stopped.err
    assert not (tmp_path / "two").exists()
    assert len(json.loads(ledger.read_text())["releases"]) == 1
    forced = undercover(*again, "--despite-earlier", "--json")
    assert forced.code == 0, forced.err
    earlier = json.loads(forced.out)["earlier"]
    assert (earlier["despite"], earlier["releases"][0]["shared"]) == (True, 4)
    assert earlier["does_not_hold"]
    assert "warning: Published despite earlier releases of the same people" in forced.err
    shown = json.loads(undercover("ledger", "show", ledger, "--json").out)["releases"]
    assert [(entry["number"], entry["state"]) for entry in shown] == [(1, "published"), (2, "published")]


def test_the_ledger_of_a_spec_lies_beside_it(undercover: Command, four: Path, tmp_path: Path) -> None:
    folder = tmp_path / "specs"
    folder.mkdir()
    spec = folder / "spec.toml"
    spec.write_text(
        '[roles]\nquasi_identifiers = ["a"]\nsensitive = "d"\nidentifiers = ["name"]\n'
        '[method]\nname = "mondrian"\nk = 2\n[ledger]\nfile = "people.ledger"\n'
    )
    assert undercover("publish", four, "--spec", spec, "--out", tmp_path / "one").code == 0
    assert (folder / "people.ledger").is_file()
    spec.write_text(spec.read_text().replace("file =", "fiel ="))
    wrong = undercover("publish", four, "--spec", spec, "--out", tmp_path / "two")
    assert wrong.code == 2
    assert "Key `ledger.fiel` is not known. Did you mean `file`?" in wrong.err


def test_check_add_show_and_forget(undercover: Command, four: Path, ledger: Path, tmp_path: Path) -> None:
    nothing = undercover("ledger", "show", ledger)
    assert nothing.code == 2
    assert "There is no ledger" in nothing.err
    assert undercover("publish", four, "--qi", "a", *ROLES, "--out", tmp_path / "one").code == 0
    added = undercover("ledger", "add", ledger, tmp_path / "one")
    assert added.code == 0, added.err
    assert "entered as release 1: 4 people" in added.out
    twice = undercover("ledger", "add", ledger, tmp_path / "one")
    assert twice.code == 2
    assert "is release 1 of the ledger" in twice.err
    others = write(tmp_path / "others.csv", "DEF")
    checked = undercover("ledger", "check", ledger, others)
    assert "1 of the 3 rows (33.3%) are of people of release 1" in checked.out
    found = json.loads(undercover("ledger", "check", ledger, others, "--json").out)
    assert (found["earlier"][0]["shared"], found["rows"], found["not_comparable"]) == (1, 3, [])
    nobody = undercover("ledger", "check", ledger, write(tmp_path / "new.csv", "EF"))
    assert "Nobody of the 2 rows is in any release of the ledger." in nobody.out
    shown = undercover("ledger", "show", ledger)
    assert "mondrian" in shown.out
    assert undercover("ledger", "forget", ledger, "9").code == 2
    gone = undercover("ledger", "forget", ledger, tmp_path / "one")
    assert gone.code == 0, gone.err
    assert "release 1 is withdrawn" in gone.out
    assert "withdrawn 2" in undercover("ledger", "show", ledger).out
    assert "Nobody" in undercover("ledger", "check", ledger, others).out
    assert undercover("ledger", "add", ledger, tmp_path / "one").code == 0


def test_apply_looks_into_the_ledger(undercover: Command, four: Path, ledger: Path, tmp_path: Path) -> None:
    made = undercover("publish", four, "--qi", "a", *ROLES, "--ledger", ledger, "--out", tmp_path / "one")
    assert made.code == 0, made.err
    others = write(tmp_path / "others.csv", "BDEF")
    stopped = undercover("apply", tmp_path / "one", "--to", others, "--ledger", ledger, "--out", tmp_path / "two")
    assert stopped.code == 3
    assert "2 of the 4 rows (50.0%)" in stopped.err
    forced = undercover(
        "apply", tmp_path / "one", "--to", others, "--ledger", ledger, "--despite-earlier", "--out", tmp_path / "two"
    )
    assert forced.code == 0, forced.err


def test_nothing_of_the_ledger_is_published(undercover: Command, four: Path, ledger: Path, tmp_path: Path) -> None:
    for number, name in enumerate(("one", "two")):
        options = ["--despite-earlier"] if number else []
        made = undercover(
            "publish", four, "--qi", "ab"[number], *ROLES, "--ledger", ledger, "--out", tmp_path / name, *options
        )
        assert made.code == 0, made.err
    public = "".join(path.read_text() for path in (tmp_path / "two" / "public").iterdir())
    for secret in ("ledger", "despite", "Person", str(tmp_path)):
        assert secret not in public
