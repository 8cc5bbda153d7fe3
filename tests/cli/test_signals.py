"""A signal in the middle of publishing leaves no half release behind, and what stood there before stands."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from forked import started

import undercover as uc
from undercover.io.release.manifest import load_release

MOMENTS = (0.35, 1.2)
"""Seconds after the beginning at which Ctrl-C is pressed."""
Interrupted = Callable[[list[str], str, signal.Signals], tuple[int, str]]

pytestmark = pytest.mark.usefixtures("unjudged")


def publish(people: Path, out: Path, *options: str) -> list[str]:
    roles = ["--qi", "age,sex,zip", "--sensitive", "disease", "--identifiers", "name"]
    return ["publish", str(people), *roles, "--method", "mondrian", "--set", "k=5", "--out", str(out), *options]


@pytest.fixture
def interrupted(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., tuple[int, str]]:
    """Starts the command, sends it a signal at a step; the code it left with and what it said."""
    place = tmp_path_factory.mktemp("told")

    def ended(arguments: list[str], step: str, number: signal.Signals) -> tuple[int, str]:
        os.mkfifo(place / "stdout")
        process = started(step, arguments, place / "stdout", place / "stderr")
        with (place / "stdout").open() as told:
            assert told.readline() == "ready\n", (place / "stderr").read_text()
            os.kill(process.pid, number)
            process.join(timeout=30)
        return process.exitcode, (place / "stderr").read_text()

    return ended


@pytest.mark.parametrize(
    ("step", "number", "code"),
    [
        ("verifying", signal.SIGINT, 130),
        ("writing", signal.SIGINT, 130),
        ("writing", signal.SIGTERM, 143),
        ("writing", signal.SIGHUP, 129),
    ],
)
def test_nothing_is_left_behind(
    interrupted: Interrupted, people: Path, tmp_path: Path, step: str, number: signal.Signals, code: int
) -> None:
    left, told = interrupted(publish(people, tmp_path / "out"), step, number)
    assert left == code
    assert os.listdir(tmp_path) == ["people.csv"]
    how = "interrupted" if number == signal.SIGINT else f"ended by {number.name}"
    assert told.splitlines()[-1] == f"{how}; nothing was written"
    assert "Traceback" not in told


def test_the_old_release_stays(interrupted: Interrupted, people: Path, tmp_path: Path) -> None:
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


def test_whatever_the_moment(people: Path, tmp_path: Path) -> None:
    """While it is loaded, while it computes: it ends within seconds, and nothing half is there."""
    for moment in MOMENTS:
        ended_at(moment, people, tmp_path)


@pytest.mark.soak
def test_whatever_the_moment_over_and_over(people: Path, tmp_path: Path) -> None:
    for moment in range(100):
        ended_at(moment * 0.03, people, tmp_path)


def ended_at(moment: float, people: Path, place: Path) -> None:
    command = [sys.executable, "-m", "undercover", *publish(people, place / "out", "--force")]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        time.sleep(moment)
        process.send_signal(signal.SIGINT)
        told = process.stderr.read()
        code = process.wait(timeout=20)
    if code not in (0, 130):
        assert code in (1, -signal.SIGINT), told
        assert "undercover" not in told or "; nothing was written" in told, told  # else before Python itself was ready
    assert code != 130 or "; nothing was written" in told or "was written before" in told, told
    assert set(os.listdir(place)) <= {"out", "people.csv"}
    if (place / "out").exists():
        assert load_release(place / "out" / "public")[1] == []


# A main thread that cannot leave, whatever it is told.
STUCK = """
import pathlib, signal, sys, time
from undercover.ending import HEEDED, allow, heed, unfinished

heed()
allow(float(sys.argv[1]))
for number in HEEDED:
    if signal.getsignal(number) != signal.SIG_IGN:
        signal.signal(number, lambda number, frame: None)
half = pathlib.Path(sys.argv[2])
with unfinished(half.unlink):
    half.touch()
    print("ready", flush=True)
    while True:
        time.sleep(60)
"""


def stuck(grace: float, half: Path, signals: list[signal.Signals], ignored: bool = False) -> tuple[int, str]:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN) if ignored else None  # as nohup does
    try:
        command = [sys.executable, "-c", STUCK, str(grace), str(half)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    finally:
        if ignored:
            signal.signal(signal.SIGHUP, before)
    with process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "ready\n"
        for number in signals:
            process.send_signal(number)
            time.sleep(0.1)
        return process.wait(timeout=20), process.stderr.read()


@pytest.mark.parametrize(
    ("number", "code", "how"),
    [
        (signal.SIGINT, 130, "interrupted"),
        (signal.SIGTERM, 143, "ended by SIGTERM"),
        (signal.SIGHUP, 129, "ended by SIGHUP"),
    ],
)
def test_a_main_thread_that_cannot_leave(tmp_path: Path, number: signal.Signals, code: int, how: str) -> None:
    assert stuck(0.2, tmp_path / "half", [number]) == (code, f"{how}; nothing was written\n")
    assert os.listdir(tmp_path) == []


def test_the_second_word_is_the_last(tmp_path: Path) -> None:
    began = time.monotonic()
    assert stuck(60, tmp_path / "half", [signal.SIGINT, signal.SIGINT])[0] == 130
    assert time.monotonic() - began < 30
    assert os.listdir(tmp_path) == []


def test_what_nohup_ignores_stays_ignored(tmp_path: Path) -> None:
    code, told = stuck(0.2, tmp_path / "half", [signal.SIGHUP, signal.SIGHUP, signal.SIGTERM], ignored=True)
    assert (code, told) == (143, "ended by SIGTERM; nothing was written\n")
