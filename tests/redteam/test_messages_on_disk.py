"""`publish` without a sensitive column once crashed after writing and said "Nothing was written".

An interrupted `accept` said the same of a release that was public by then.

What a command says of its files at the end is now read off the disk at that moment.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import undercover as uc
from undercover import ending
from undercover.whole import whole_folder, write_whole

ROLES = ["--qi", "age,sex,zip", "--identifiers", "name"]


def command(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "undercover", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.long
@pytest.mark.parametrize("method", ["mondrian", "incognito"])
def test_without_a_sensitive_column_everything_works(method: str, people: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    drop = ["--drop", "disease"]
    done = command("publish", people, *ROLES, *drop, "--method", method, "--set", "k=5", "--out", out)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
    assert "attack: at worst finds a row with" in done.stdout
    assert "learns" not in done.stdout
    for arguments in (
        ["verify", out],
        ["verify", out / "public"],
        ["attack", out],
        ["measure", out, "--original", people],
        ["apply", out, "--to", people, "--out", tmp_path / "again"],
    ):
        found = command(*arguments)
        assert found.returncode == 0, (arguments, found.stdout, found.stderr)
    assert 'class="chart' in (out / "private" / "report.html").read_text("utf-8")
    report = json.loads((out / "private" / "report.json").read_text("utf-8"))
    assert report["headline"]["attribute"] is None


@pytest.mark.long
def test_methods_are_compared_and_recommended_without_a_sensitive_column(people: Path, tmp_path: Path) -> None:
    drop = ["--drop", "disease"]
    compared = command("compare", people, *ROLES, *drop, "--out", tmp_path / "compared")
    assert compared.returncode == 0, compared.stderr
    sought = ["--time", "3", "--publish", tmp_path / "out"]
    found = command("recommend", people, *ROLES, *drop, *sought)
    assert found.returncode == 0, found.stderr
    assert uc.verify(tmp_path / "out").holds


BROKEN = textwrap.dedent(
    """
    import sys
    from undercover.cli import publish, run

    def broken(*given, **options):
        raise TypeError("a bug")

    setattr(publish, sys.argv.pop(1), broken)
    run()
    """
)


@pytest.mark.parametrize(("step", "stays"), [("summarize", False), ("print_end", True)])
def test_a_bug_says_what_stands_on_the_disk(step: str, stays: bool, people: Path, tmp_path: Path) -> None:
    made = ["--sensitive", "disease", "--policy", "none", "--method", "anatomy", "--set", "l=2"]
    done = subprocess.run(
        [sys.executable, "-c", BROKEN, step, "publish", people, *ROLES, *made, "--out", tmp_path / "out"],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    said = done.stderr.splitlines()[-1]
    assert done.returncode == 1
    assert (tmp_path / "out").exists() == stays
    assert ("Nothing was written" in said) != stays, said
    assert ("was written before, and stays. Verify it before you use it." in said) == stays, said


ACCEPT = textwrap.dedent(
    """
    import os, signal, sys
    from pathlib import Path
    from undercover import ending
    from undercover.cli import run
    from undercover.io.release import decision, folder
    from undercover.verbs import accept, ledger, verify

    home, at, number = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    steps = [(os, "fsync"), (os, "replace"), (Path, "replace"), (Path, "rename"), (Path, "chmod"), (Path, "unlink")]
    left = [at]

    def told(call):
        def step(*arguments, **options):
            for work in (lambda: None, lambda: call(*arguments, **options)):
                done = work()
                left[0] -= 1
                if left[0] == 0:
                    os.kill(os.getpid(), number)
            return done
        return step

    for owner, name in steps:
        setattr(owner, name, told(getattr(owner, name)))
    sys.argv = ["undercover", "accept", str(home / "out"), "--because", "Because.", "--by", "somebody"]
    run()
    """
)
STRIDE = 11
"""Of some ninety moments one in so many is tried, another in each test."""


def contents(home: Path) -> dict[str, str]:
    """Every file of a folder by its hash, but for locks."""
    return {
        str(path.relative_to(home)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(home.rglob("*"))
        if path.is_file() and path.suffix != ".lock"
    }


@pytest.fixture(scope="module")
def withheld(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A withheld release that was made with a ledger."""
    home = tmp_path_factory.mktemp("withheld")
    (home / "people.csv").write_text(
        "name,age,disease\n" + "".join(f"P{i},{20 + i},{'abc'[i % 3]}\n" for i in range(12))
    )
    schema = uc.Schema(quasi_identifiers=["age"], sensitive="disease", identifiers=["name"])
    uc.save(uc.publish(home / "people.csv", schema, uc.Mondrian(k=2), ledger=home / "people.ledger"), home / "out")
    return home


@pytest.mark.long
@pytest.mark.parametrize(("number", "first"), [(signal.SIGINT, 1), (signal.SIGTERM, 2)])
def test_an_interrupted_accept_says_what_it_wrote(
    number: signal.Signals, first: int, withheld: Path, tmp_path: Path
) -> None:
    outcomes = set()
    home, kept = withheld, tmp_path / "kept"  # the ledger is known by its place
    shutil.copytree(home, kept)
    for at in range(first, 200, STRIDE):
        shutil.rmtree(home)
        shutil.copytree(kept, home)
        before = contents(home)
        done = subprocess.run(
            [sys.executable, "-c", ACCEPT, str(home), str(at), str(int(number))],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        changed = contents(home) != before
        said = done.stderr.splitlines()[-1] if done.stderr else ""
        if done.returncode == 0:
            break
        assert done.returncode == 128 + number, done.stderr
        assert ("nothing was written" in said) != changed, (at, said)
        assert ("written before, and stay" in said) == changed, (at, said)
        outcomes.add(changed)
    shutil.rmtree(home)
    shutil.copytree(kept, home)
    assert outcomes == {False, True}


def test_what_was_written_and_taken_back_was_not_written(tmp_path: Path) -> None:
    (tmp_path / "ledger").write_text("before")
    ending.begin()
    write_whole(tmp_path / "ledger", "meanwhile")
    assert ending.changed() == [f"`{tmp_path / 'ledger'}`"]
    write_whole(tmp_path / "ledger", "before")
    assert ending.outcome() == "nothing was written"


def test_a_folder_that_is_replaced_counts_as_written(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    ending.begin()
    with whole_folder(tmp_path / "out", force=True) as made:
        (made / "table.csv").touch()
        assert ending.outcome() == "nothing was written"
    assert ending.outcome() == f"`{tmp_path / 'out'}` was written before, and stays"


def test_of_many_files_a_message_names_some(tmp_path: Path) -> None:
    ending.begin()
    for number in range(5):
        write_whole(tmp_path / str(number), "new")
    said = ending.outcome()
    assert said.endswith(" and 3 more were written before, and stay")
    assert os.fspath(tmp_path / "0") in said
