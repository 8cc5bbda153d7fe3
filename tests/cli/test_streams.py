"""Results that nobody reads: a closed pipe, a full disk, no stdout at all. What was made stays; nothing is a bug."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import undercover as uc

FULL = Path("/dev/full")


UNREAD = "error: the results cannot be written to stdout: {}. What was made stays."


# The command as it is, but that it draws no pictures.
UNDRAWN = """
from undercover.cli import run
from undercover.pages import jinja

jinja.drawings = lambda picture, name="": "<svg></svg>"
run()
"""


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-c", UNDRAWN, *map(str, arguments)]


def test_whoever_reads_may_go_away(people: Path, tmp_path: Path, roles: list[str]) -> None:
    """As in ``publish … | head -1``."""
    made = command("publish", people, *roles, "--method", "mondrian", "--set", "k=5", "--out", tmp_path / "out")
    reading, writing = os.pipe()
    os.close(reading)
    with subprocess.Popen(made, stdout=writing, stderr=subprocess.PIPE, text=True) as process:
        os.close(writing)
        assert process.stderr is not None
        told = process.stderr.read()
        assert process.wait(timeout=120) == 141
    assert "Traceback" not in told
    assert "bug" not in told
    assert uc.verify(tmp_path / "out").holds


def test_whoever_reads_progress_may_go_away_as_well(people: Path, tmp_path: Path) -> None:
    """As in ``inspect … 2>&1 | head -1``: the work is done all the same."""
    reading, writing = os.pipe()
    os.close(reading)
    made = command("inspect", people, "--html", tmp_path / "page.html")
    done = subprocess.run(made, stdout=writing, stderr=writing, check=False)
    os.close(writing)
    assert done.returncode == 141
    assert (tmp_path / "page.html").is_file()


@pytest.mark.skipif(not FULL.exists(), reason="There is no /dev/full on this machine.")
@pytest.mark.parametrize("more", [[], ["--json"]])
def test_a_full_disk_is_told(people: Path, more: list[str]) -> None:
    with FULL.open("w") as full:
        made = command("inspect", people, *more)
        done = subprocess.run(made, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == UNREAD.format("No space left on device")


def test_no_stdout_and_no_stderr(people: Path) -> None:
    shell = ["sh", "-c", '"$@" >&-', "sh", *command("inspect", people, "--quiet")]
    done = subprocess.run(shell, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == UNREAD.format("it is closed")
    shell = ["sh", "-c", '"$@" 2>&-', "sh", *command("inspect", people, "--json")]
    done = subprocess.run(shell, stdout=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 0
    assert done.stdout.startswith("{")  # nothing of progress among it
