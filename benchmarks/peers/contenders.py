"""Who takes part: a package of others in an environment of its own, or a method of ours in this one."""

from __future__ import annotations

import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path

HOME = Path(__file__).parents[2] / ".peers"
"""Environments, tables and outputs; git does not look at it."""

OLDER, NEWER = ("pandas==2.3.3", "numpy==2.0.2"), ("pandas==3.1.1", "numpy==2.4.6")


@dataclass(frozen=True)
class Contender:
    """One line of the table: a package with what it needs, and what it is asked to do."""

    name: str
    does: str
    adapter: str
    needs: tuple[str, ...] = ()  # none: ours, in the environment that runs this
    task: str = "publish"
    variant: str = ""
    diverse: bool = True  # whether it knows l-diversity

    @property
    def ours(self) -> bool:
        return not self.needs

    def python(self) -> Path:
        """The interpreter to run its adapter with; its environment is made where there is none."""
        if self.ours:
            return Path(sys.executable)
        home = HOME / "environments" / self.adapter
        python, done = home / "bin" / "python", home / "installed.txt"
        if not done.exists() or done.read_text() != "\n".join(self.needs):
            venv.create(home, with_pip=True, clear=True)
            command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *self.needs]
            ended = subprocess.run(command, capture_output=True, text=True, timeout=600)
            if ended.returncode:
                said = [line for line in ended.stderr.splitlines() if line.startswith("ERROR")] or [ended.stderr]
                raise OSError(f"not installed: {said[-1].strip()}")
            done.write_text("\n".join(self.needs))
        return python


CONTENDERS = (
    Contender("undercover, Mondrian", "own groups, sets and ranges", "undercover", variant="mondrian"),
    Contender("undercover, medians", "own groups, sets and ranges", "undercover", variant="mondrian-median"),
    Contender("undercover, Mondrian with trees", "own groups, nodes", "undercover", variant="mondrian-nodes"),
    Contender(
        "undercover, Incognito", "one level per column, the best, 5 % left out", "undercover", variant="incognito"
    ),
    Contender(
        "anjana", "one level per column, greedy, 5 % left out", "anjana", ("anjana==1.2.3", "pycanon==1.3.5", *OLDER)
    ),
    Contender(
        "crowds", "one level per column, the best, 5 % left out", "crowds", ("crowds==0.0.1", *NEWER), diverse=False
    ),
    Contender("anonypy", "own groups, sets and ranges", "anonypy", ("anonypy==0.2.1", *OLDER)),
    Contender(
        "anonypyx",
        "own groups, sets and ranges",
        "anonypyx",
        ("anonypyx==0.2.11", *NEWER, "scikit-learn==1.9.1", "scipy==1.17.1"),
    ),
    Contender("anonymity-api", "own groups, cut at numbers only", "anonymity_api", ("anonymity-api==1.0.4", *OLDER)),
    Contender("undercover, verify_table", "tells k and l of a table", "undercover", task="verify"),
    Contender(
        "pycanon", "tells k and l of a table", "pycanon", ("pycanon==1.3.6", *OLDER, "scipy==1.15.3"), task="verify"
    ),
)
