"""A signal in the middle of publishing leaves no half release behind, and what stood there before stands."""

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import undercover as uc
from undercover.io.release.manifest import load_release

pytestmark = pytest.mark.usefixtures("unjudged")

# The command as it is, but that it announces one of its steps, dawdles until the signal comes, and draws no pictures.
DAWDLING = textwrap.dedent(
    """
    import sys, time
    from undercover.io.release import tables
    from undercover.pages import jinja
    from undercover.verbs import publish

    def dawdling(function):
        def wrapped(*arguments, **options):
            result = function(*arguments, **options)
            print("ready", flush=True)
            time.sleep(60)
            return result
        return wrapped

    jinja.drawings = lambda picture, name="": "<svg></svg>"
    if sys.argv.pop(1) == "writing":
        tables.write_csv = dawdling(tables.write_csv)
    else:
        publish.verify_release = dawdling(publish.verify_release)
    from undercover.cli import run
    run()
    """
)


def publish(people: Path, out: Path, *options: str) -> list[str]:
    roles = ["--qi", "age,sex,zip", "--sensitive", "disease", "--identifiers", "name"]
    return ["publish", str(people), *roles, "--method", "mondrian", "--set", "k=5", "--out", str(out), *options]


def interrupted(arguments: list[str], step: str, number: signal.Signals) -> tuple[int, str]:
    command = [sys.executable, "-c", DAWDLING, step, *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "ready\n", process.stderr.read()
        process.send_signal(number)
        told = process.stderr.read()
        return process.wait(timeout=30), told


@pytest.mark.parametrize(
    ("step", "number", "code"),
    [("verifying", signal.SIGINT, 130), ("writing", signal.SIGINT, 130), ("writing", signal.SIGTERM, 143)],
)
def test_nothing_is_left_behind(people: Path, tmp_path: Path, step: str, number: signal.Signals, code: int) -> None:
    left, told = interrupted(publish(people, tmp_path / "out"), step, number)
    assert left == code
    assert os.listdir(tmp_path) == ["people.csv"]
    assert ("interrupted; nothing was written" in told) == (number == signal.SIGINT)
    assert "Traceback" not in told


def test_the_old_release_stays(people: Path, tmp_path: Path) -> None:
    schema = uc.Schema(quasi_identifiers=["age", "sex", "zip"], sensitive="disease", identifiers=["name"])
    uc.save(uc.publish(people, schema, uc.Mondrian(k=5)), tmp_path / "out")
    before = (tmp_path / "out" / "public" / "table.csv").read_bytes()
    left, _ = interrupted(publish(people, tmp_path / "out", "--force"), "writing", signal.SIGTERM)
    assert left == 143
    assert sorted(os.listdir(tmp_path)) == ["out", "people.csv"]
    assert (tmp_path / "out" / "public" / "table.csv").read_bytes() == before
    assert load_release(tmp_path / "out" / "public")[1] == []


def test_whenever_it_comes_the_release_is_whole_or_not_there(people: Path, tmp_path: Path) -> None:
    """No dawdling here: the signal comes when the first stage after cutting is told, in time or too late."""
    header, *rows = people.read_text().splitlines()
    people.write_text("\n".join([header, *rows * 100]) + "\n")
    arguments = publish(people, tmp_path / "out")
    command = [sys.executable, "-m", "undercover.cli.main", *arguments]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith("cutting"):
                process.send_signal(signal.SIGTERM)
                break
        process.stderr.read()
        code = process.wait(timeout=60)
    assert code in (0, 143)
    assert sorted(os.listdir(tmp_path)) == (["out", "people.csv"] if code == 0 else ["people.csv"])
    if code == 0:
        assert load_release(tmp_path / "out" / "public")[1] == []
