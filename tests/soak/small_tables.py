"""Tables whose values say whose they are, commands that publish them, and what is wrong with what came of it."""

from __future__ import annotations

import csv
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.web import write_small

import undercover as uc
from undercover.errors import UndercoverError
from undercover.io.release.contents import public_part

ROLES = ("--qi", "age,sex,zip", "--sensitive", "disease", "--identifiers", "name", "--policy", "none")
METHODS: Sequence[tuple[str, Mapping[str, str]]] = (
    ("mondrian", {"k": "5"}),
    ("mondrian", {"k": "4", "l": "2"}),
    ("incognito", {"k": "5", "suppression": "0.5"}),
    ("anatomy", {"l": "3"}),
    ("streamliner", {"l": "3"}),
    ("mutual-cover", {"delta": "0.5", "l": "2"}),
    ("cross-bucket", {"k": "3", "l": "2"}),
)
"""By which they are published; sensitive values are those of the table in all of them."""
_BARE = """
import sys
import undercover as uc
from undercover.io.release import folder
schema = uc.Schema(quasi_identifiers=["age", "sex", "zip"], sensitive="disease", identifiers=["name"])
folder.save(uc.publish(sys.argv[1], schema, uc.Mondrian(k=5), policy="none"), sys.argv[2])
"""


def write_table(path: Path, rows: int, number: int) -> Path:
    """So many people of whom each has a disease of this number."""
    write_small(path, rows, number)
    return path


def publish(table: Path, out: Path, method: int = 0, *more: str) -> list[str]:
    """The command that publishes it."""
    name, settings = METHODS[method]
    sets = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    command = [sys.executable, "-m", "undercover", "publish", str(table), *ROLES, "--method", name, *sets]
    return [*command, "--out", str(out), "--quiet", *more]


def publish_bare(table: Path, out: Path) -> list[str]:
    """The same by Mondrian, in a process that draws no pages."""
    return [sys.executable, "-c", _BARE, str(table), str(out)]


def begun(command: Sequence[str], env: Mapping[str, str]) -> subprocess.Popen[str]:
    """A command in a process of its own."""
    return subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wrong_with(out: Path, table: Path) -> str:
    """What is wrong with a release: it does not verify, or has values that are not its table's."""
    try:
        found = uc.verify(out)
        run = uc.load(out)
    except UndercoverError as error:
        return f"{out.name}: {error}"
    if found.problems or not found.holds:
        return f"{out.name}: does not verify: {found.problems}"
    with table.open(encoding="utf-8") as content:
        own = Counter(row["disease"] for row in csv.DictReader(content))
    left = run.release.suppressed_rows
    for path in sorted(public_part(out).glob("*.csv")):
        with path.open(encoding="utf-8") as content:
            rows = list(csv.DictReader(content))
        if rows and "disease" in rows[0]:
            counts = Counter({})
            for row in rows:
                counts[row["disease"]] += int(row.get("count") or 1)
            if counts - own or (own - counts).total() > left:
                return f"{out.name}: {path.name} has other values than its table"
    return ""
