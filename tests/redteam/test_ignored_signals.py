"""`nohup make test` once hung for ever: tests wait for processes that end by SIGHUP, which `nohup` has them ignore.

Whatever signals the parent of the suite ignores or blocks, the tests heed them; and a child of undercover's own that
was told to end does end.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
IGNORING = textwrap.dedent(
    """
    import os, signal, sys

    for name in ("SIGHUP", "SIGINT", "SIGTERM", "SIGQUIT", "SIGPIPE", "SIGCHLD"):
        signal.signal(getattr(signal, name), signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGHUP, signal.SIGTERM])
    os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
    """
)


def ignoring(*arguments: str, seconds: float = 300) -> subprocess.CompletedProcess[str]:
    """Run Python below a parent that ignores every signal it may."""
    return subprocess.run(
        [sys.executable, "-c", IGNORING, *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )


@pytest.mark.long
def test_tests_that_send_signals_pass_whatever_their_parent_ignores() -> None:
    chosen = "writing-Signals.SIGHUP or writing-1-129 or cannot_leave or nohup"
    done = ignoring("-m", "pytest", "-q", "-p", "no:randomly", "tests/cli/test_signals.py", "-k", chosen)
    assert done.returncode == 0, done.stdout[-3000:]
    assert " passed" in done.stdout
    assert int(done.stdout.split(" passed")[0].split()[-1]) >= 5


def test_the_planted_fault_is_seen() -> None:
    """Without a reset, a child of an ignoring parent does not end by SIGHUP: it is this that hung."""
    child = "import signal; print(signal.getsignal(signal.SIGHUP) == signal.SIG_IGN)"
    assert ignoring("-c", child).stdout == "True\n"
    begun = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    reset = f"import runpy; runpy.run_path('conftest.py'); {begun}"
    assert ignoring("-c", reset).stdout == "False\n"


def test_a_process_that_compiles_is_ended_although_it_ignores_sigterm() -> None:
    code = textwrap.dedent(
        """
        import subprocess, sys
        from undercover.studies import warm_up

        warm_up._GRACE = 0.2
        other = subprocess.Popen([sys.executable, "-c", "import time; print('ready', flush=True); time.sleep(600)"],
                                 stdout=subprocess.PIPE, text=True)
        other.stdout.readline()
        warm_up._ended(other)
        print("ended")
        """
    )
    assert ignoring("-c", code, seconds=60).stdout == "ended\n"


def test_the_command_knows_how_its_children_ended() -> None:
    """Where SIGCHLD is ignored, every child seems to have ended well."""
    failing = "subprocess.run([sys.executable, '-c', 'raise SystemExit(3)']).returncode"
    code = f"import subprocess, sys\nfrom undercover.ending import heed\nif len(sys.argv) > 1: heed()\nprint({failing})"
    assert ignoring("-c", code).stdout == "0\n"
    assert ignoring("-c", code, "heed").stdout == "3\n"


def test_the_chart_child_ends_by_what_its_parent_ignores() -> None:
    code = textwrap.dedent(
        f"""
        import os, signal
        from undercover.pages import chart_process

        spec = {{"data": {{"values": [{{"x": 1}}]}}, "mark": "point", "encoding": {{"x": {{"field": "x"}}}}}}
        chart_process.draw_chart(spec)
        child = chart_process._process._child
        os.kill(child.pid, {int(signal.SIGHUP)})
        print(child.wait(20) is not None, "<svg" in chart_process.draw_chart(spec))
        """
    )
    assert ignoring("-c", code, seconds=60).stdout == "True True\n"
