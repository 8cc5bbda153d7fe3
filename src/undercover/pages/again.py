"""How to make a release once more: the command, the spec it needs, and what will and will not be the same."""

from __future__ import annotations

import os
import shlex
from pathlib import PurePath
from typing import Any

from undercover.io.spec.write import SPEC, spec_files
from undercover.model.formats import ROWS_PER_FILE, Files
from undercover.model.run import Run

_AGAIN = "again"
_IN_MEMORY = "people.csv"


def again(run: Run, *, folder: str | os.PathLike[str] | None = None, file_format: str = "csv") -> dict[str, Any]:
    """The command and what stands around it; private, because it names paths and the seed.

    ``folder`` is where the run is saved, as the holder calls it; its private part has the spec.
    """
    path, seed = run.source.get("path"), run.randomness.get("seed")
    spec = SPEC if folder is None else (PurePath(folder) / "private" / SPEC).as_posix()
    words = ["undercover", "publish", str(path or _IN_MEMORY), "--spec", spec, "--out", _AGAIN]
    words += [] if seed is None else ["--seed", str(seed)]
    words += [] if file_format == "csv" else ["--format", str(file_format)]
    tables = Files(file_format)
    words += ["--safe-for-spreadsheets"] if tables.escaped else []
    words += [] if tables.rows in (None, ROWS_PER_FILE) else ["--rows-per-file", str(tables.rows)]
    files = spec_files(run)
    return {
        "command": shlex.join(words),
        "spec": files[SPEC],
        "files": [name for name in files if name != SPEC],
        "notes": [*_parts(run, tables), *_notes(run, seed is not None)],
    }


def _parts(run: Run, files: Files) -> list[str]:
    """Which tables lie in several files."""
    each = [(files.pattern(table.name, table.rows), files.parts(table.rows)) for table in run.release.tables]
    named = " and ".join(f"{pattern} ({count:,} files)" for pattern, count in each if count > 1)
    return [f"Published in parts: {named}."] if named else []


def _notes(run: Run, seeded: bool) -> list[str]:
    said = []
    if run.source.get("path") is None:
        said.append(f"The table was given in memory. Write it to a file first, here called {_IN_MEMORY}.")
    elif run.source.get("sha256"):
        said.append("The digest of the input, under Time and source, tells whether the file is still the same.")
    if seeded:
        said.append("With the seed, the tables come out the same, cell by cell.")
    else:
        said.append(
            "Randomness came from the operating system and was not kept, as it should be for publication: the promises "
            "will hold again, and whatever was drawn (at least the order of the rows) will differ. Do not publish both."
        )
    return said
