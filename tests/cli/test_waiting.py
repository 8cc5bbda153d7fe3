"""What whoever waits is told: shares and times by a clock of our own, a bar on a terminal, lines elsewhere."""

import io
import os
import pty
import re
import signal
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import undercover as uc
from undercover import waiting
from undercover.waiting import Lines, Moment, Watch

pytestmark = pytest.mark.usefixtures("unjudged")
Command = Callable[..., Any]
SCHEMA = uc.Schema(quasi_identifiers=["age", "sex", "zip"], sensitive="disease", identifiers=["name"])


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_time_left_is_by_the_rate_that_was_measured(clock: Clock) -> None:
    watch = Watch(clock=clock)
    watch("cutting", 0.0)
    assert watch.now() == Moment("cutting", "", None, 0.0, None)  # nobody can say yet
    clock.now = 10.0
    watch("cutting", 0.25)
    assert watch.now() == Moment("cutting", "", 0.25, 10.0, 30.0)
    clock.now = 15.0
    assert watch.now() == Moment("cutting", "", 0.25, 15.0, 25.0)  # it runs on between two calls
    clock.now = 100.0
    assert watch.now().left is None  # what was reckoned has run out, and nothing is promised


def test_what_was_done_before_is_no_rate(clock: Clock) -> None:
    watch = Watch(clock=clock)
    watch("compare: 61 of 100", 0.6)
    clock.now = 10.0
    watch("compare: 71 of 100", 0.7)
    assert watch.now() == Moment("compare", "71 of 100", 0.7, 10.0, pytest.approx(30.0))


def test_shares_never_go_back_and_end_whole(clock: Clock) -> None:
    seen: list[Moment] = []
    watch = Watch(seen.append, clock=clock)
    for stage, share in (("reading", 0.0), ("cutting", 0.5), ("cutting", 0.25), ("cutting", 1.5), ("dealing", 0.3)):
        watch(stage, share)
    watch.finish()
    assert [(moment.stage, moment.share) for moment in seen] == [
        ("reading", None),  # unknown, from its beginning to its end
        ("cutting", 0.5),
        ("cutting", 0.5),
        ("cutting", 1.0),
        ("dealing", 0.3),
        ("dealing", 1.0),
    ]


def test_whoever_shows_a_moment_may_ask_for_another(clock: Clock) -> None:
    """A bar is drawn by a thread that holds the screen and asks how far it is: nobody may wait for the other."""
    seen: list[Moment] = []

    def show(moment: Moment) -> None:
        asking = threading.Thread(target=lambda: seen.append(watch.now()), daemon=True)
        asking.start()
        asking.join(timeout=5)

    watch = Watch(show, clock=clock)
    watch("cutting", 0.5)
    watch("dealing", 0.5)
    assert [moment.stage for moment in seen] == ["cutting", "dealing", "dealing"]


def test_a_line_every_ten_seconds(clock: Clock) -> None:
    out = io.StringIO()
    lines = Lines(out, clock=clock)
    watch = Watch(lines, clock=clock)
    watch("cutting: a", 0.0)
    for second in range(1, 31):
        clock.now = float(second)
        watch("cutting: b", second / 40)
        lines.look(watch.now())
    assert out.getvalue().splitlines() == [
        "cutting …",
        "cutting: b, 25%, 10 s so far, about 30 s left …",
        "cutting: b, 50%, 20 s so far, about 20 s left …",
        "cutting: b, 75%, 30 s so far, about 10 s left …",
    ]


def test_a_stage_of_unknown_length_says_so_by_saying_no_share(clock: Clock) -> None:
    out = io.StringIO()
    lines = Lines(out, clock=clock)
    watch = Watch(lines, clock=clock)
    watch("writing", 0.0)
    clock.now = 12.0
    lines.look(watch.now())
    assert out.getvalue() == "writing …\nwriting: 12 s so far …\n"


def test_whoever_no_longer_listens_does_not_stop_the_work(clock: Clock) -> None:
    class Gone(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    watch = Watch(Lines(Gone(), clock=clock), clock=clock)
    watch("cutting", 0.0)
    watch("dealing", 0.0)


def test_python_is_quiet_unless_asked(people: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    uc.publish(people, SCHEMA, uc.Mondrian(k=5))
    assert capsys.readouterr() == ("", "")
    run = uc.publish(people, SCHEMA, uc.Mondrian(k=5), progress=True)
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("reading …\nencoding …\nanonymising with mondrian …\n")
    assert re.search(r"\ntook [\d.]+ s\n$", told.err)
    uc.save(run, tmp_path / "out", progress=True)
    assert "attacking …\nmeasuring …\n" in capsys.readouterr().err


ASKED: dict[str, Callable[[Path, uc.Run, Path, bool], object]] = {
    "attack": lambda people, run, out, progress: uc.attack(run, progress=progress),
    "measure": lambda people, run, out, progress: uc.measure(
        people, run, query_error=uc.QueryError(queries=5), progress=progress
    ),
    "report": lambda people, run, out, progress: uc.report(run, out / "report.html", progress=progress),
    "inspect": lambda people, run, out, progress: uc.inspect(people, progress=progress),
    "joint_attack": lambda people, run, out, progress: uc.joint_attack([run, run], progress=progress),
    "apply": lambda people, run, out, progress: uc.apply(run, people, progress=progress),
}


@pytest.mark.parametrize("verb", ASKED)
def test_every_long_verb_tells_whoever_asks(
    verb: str, people: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = uc.publish(people, SCHEMA, uc.Mondrian(k=5))
    ASKED[verb](people, run, tmp_path, False)
    assert capsys.readouterr().err == ""
    ASKED[verb](people, run, tmp_path, True)
    *stages, took = capsys.readouterr().err.splitlines()
    assert stages
    assert all(line.endswith(" …") for line in stages)
    assert took.startswith("took ")


def test_piped_output_is_lines_on_stderr_and_the_total_is_last(
    undercover: Command, people: Path, roles: list[str], tmp_path: Path
) -> None:
    arguments = [people, *roles, "--method", "mondrian", "--set", "k=5", "--out", tmp_path / "out"]
    done = undercover("publish", *arguments, "--json")
    assert done.out.startswith("{")
    assert "…" not in done.out
    assert done.err.startswith("reading …\n")
    assert re.fullmatch(r"took [\d.]+ s", done.err.splitlines()[-1])


def test_quiet_says_nothing_of_progress(undercover: Command, people: Path, roles: list[str], tmp_path: Path) -> None:
    arguments = [people, *roles, "--method", "mondrian", "--set", "k=5", "--out", tmp_path / "out"]
    quiet = undercover("publish", *arguments, "--quiet", "--seed", "1")
    assert quiet.code == 0
    assert quiet.err.splitlines() == [
        "warning: Reproducible: not for publication. Whoever knows the seed can undo the shuffling."
    ]
    assert undercover("inspect", people).err.startswith("reading …\n")  # the next one is not


SLOW = """
import sys, time
from undercover.waiting import on_stderr
with on_stderr() as watch:
    for done in range(5000):
        watch("cutting", done / 5000)
        time.sleep(0.002)
        if done == 600: print("ready", flush=True)
"""


def on_terminal(code: str, **environment: str) -> tuple[subprocess.Popen[bytes], int]:
    """A program whose stderr is a terminal; its stdout is not."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 80))
    known = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR", "COLUMNS")}
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=theirs,
        env={**known, "TERM": "xterm", **environment},
    )
    os.close(theirs)
    return process, ours


def ended(process: subprocess.Popen[bytes], terminal: int) -> str:
    """What stood on the terminal, after Ctrl-C in the middle of it."""
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    process.send_signal(signal.SIGINT)
    shown = b""
    while True:
        try:
            read = os.read(terminal, 65536)
        except OSError:  # the other end is closed
            break
        if not read:
            break
        shown += read
    process.wait(timeout=20)
    process.stdout.close()
    os.close(terminal)
    return shown.decode()


HIDE, SHOW = "\x1b[?25l", "\x1b[?25h"


@cache
def terminals() -> dict[str, str]:
    """What stood on three terminals, on which a second passed at the same time."""
    kinds: dict[str, dict[str, str]] = {"usual": {}, "colourless": {"NO_COLOR": "1"}, "dumb": {"TERM": "dumb"}}
    running = {kind: on_terminal(SLOW, **environment) for kind, environment in kinds.items()}
    return {kind: ended(*one) for kind, one in running.items()}


def test_a_bar_on_a_terminal_that_interrupting_leaves_sane() -> None:
    shown = terminals()["usual"]
    plain = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown)
    assert re.search(r"cutting .* \d+%, 1 s so far, about \d+ s left", plain)
    assert shown.rindex(SHOW) > shown.rindex(HIDE)  # the cursor is back
    assert "\x1b[3" in shown


def test_no_color_is_heeded() -> None:
    shown = terminals()["colourless"]
    assert "so far" in shown
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]", shown)


def test_a_dumb_terminal_gets_lines() -> None:
    shown = terminals()["dumb"]
    assert shown.startswith("cutting …\r\n")
    assert "\x1b" not in shown.split("Traceback")[0]


def test_telling_costs_nothing_to_speak_of(clock: Clock) -> None:
    """Kernels tell some hundreds of times a second at most: 1 % of it would be some 30 microseconds a call."""
    watch = Watch(Lines(io.StringIO(), clock=clock), clock=clock)
    watch("cutting", 0.0)
    started = time.perf_counter()
    for done in range(10_000):
        watch("cutting", done / 10_000)
    assert (time.perf_counter() - started) / 10_000 < 100e-6


def test_lines_come_while_the_work_says_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(waiting, "BETWEEN_LINES", 0.05)
    monkeypatch.setattr(waiting, "_LOOK", 0.01)
    with waiting.on_stderr() as watch:
        watch("writing", 0.0)
        time.sleep(0.3)
    assert capsys.readouterr().err.count("writing: 0 s so far …") >= 2
