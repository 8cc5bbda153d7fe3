"""A server in a process of its own, as `undercover serve` starts it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Running:
    """The process, and the addresses it printed, one a desk."""

    process: subprocess.Popen[str]
    addresses: tuple[str, ...]

    @property
    def base(self) -> str:
        return self.addresses[0].rpartition("/?")[0].rpartition(" ")[2]

    def stopped(self, number: int) -> tuple[int, str, str]:
        """End it by a signal: its exit code, and what it still said."""
        self.process.send_signal(number)
        out, told = self.process.communicate(timeout=30)
        return self.process.returncode, out, told


def begun(workspace: Path, *options: str, program: str = "undercover", **env: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", program, "serve", "--no-browser", "--workspace", str(workspace), *options]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, env={**os.environ, **env}, **pipes)  # type: ignore[call-overload,no-any-return]


@contextmanager
def running(workspace: Path, *options: str, desks: int = 1, framed: bool = False) -> Iterator[Running]:
    """Until the end of the block, or until somebody stops it; where it is ``framed``, its jobs draw no pictures."""
    wanted = options if "--port" in options else (*options, "--port", "0")
    other = {"program": "framed_server", "PYTHONPATH": os.pathsep.join(sys.path)} if framed else {}
    with begun(workspace, *wanted, **other) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        addresses = tuple(process.stdout.readline().strip() for _ in range(desks))
        try:
            assert all("?token=" in address for address in addresses), process.stderr.read()
            yield Running(process, addresses)
        finally:
            process.kill()
