"""Earlier releases of the same table that lie beside a new one, where no ledger remembers them.

Only a heuristic for the commonest oversight: several releases of one table, each fine by itself, in one folder. A
ledger knows of the others, too.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from undercover.errors import DataError, listed
from undercover.io.release.contents import PRIVATE, PUBLIC, read_json
from undercover.model.run import Run
from undercover.model.verdict import LINKABILITY, Reason
from undercover.waiting import Progress, no_progress

MOST_FOLDERS = 200
KIND = "second release"


def judged_beside(run: Run, directory: str | os.PathLike[str], progress: Progress = no_progress) -> Run:
    """The run with a verdict that knows of earlier releases beside the folder it is to be saved to."""
    known = any(reason.kind == KIND for reason in run.judge(progress).reasons)
    reason = None if known or not run.policy.judges else earlier_beside(directory, run)
    return run if reason is None else run.judged_as(run.verdict.with_reasons(reason))


def earlier_beside(directory: str | os.PathLike[str], run: Run) -> Reason | None:
    """That releases of the same table lie beside a folder, or in it; ``None`` where there are none, or a ledger knows.

    What is withheld is no release: nobody has it.
    """
    if run.entry is not None:
        return None
    place = Path(os.path.abspath(directory))
    found = [other.name for other in _releases(place.parent) if _same_table(run.source, _source(other))]
    if not found:
        return None
    beside = [name for name in found if name != place.name]
    said = [f"earlier releases of the same table lie beside it: {listed(beside)}"] if beside else []
    said += ["the release it replaces is of the same table"] if len(beside) < len(found) else []
    text = "; ".join(said)
    return Reason(
        kind=KIND,
        weight="ask",
        text=f"{text[0].upper()}{text[1:]}. Together they may tell more than each alone, and nobody looked.",
        regulator=LINKABILITY,
        change="Keep a ledger: publish with --ledger FILE, and enter these with `undercover ledger add FILE DIR`. Or "
        "remove what nobody has been given.",
    )


def _releases(parent: Path) -> Iterator[Path]:
    """Folders with a public release and its private part, of the first so many."""
    if parent.is_dir():
        folders = (Path(entry) for entry in sorted(os.scandir(parent), key=lambda entry: entry.name) if entry.is_dir())
        visible = (folder for folder in folders if not folder.name.startswith("."))
        yield from (folder for folder in islice(visible, MOST_FOLDERS) if (folder / PUBLIC).is_dir())


def _source(folder: Path) -> Mapping[str, Any]:
    """Where the table of a release came from; nothing where its run is not ours to read."""
    path = folder / PRIVATE / "run.json"
    if not os.access(path, os.R_OK):
        return {}
    try:
        found = read_json(path).get("source", {})
    except (DataError, AttributeError):  # not a run: nothing is known of it
        return {}
    return found if isinstance(found, Mapping) else {}


def _same_table(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two runs were made from one file, or from as many rows whose common columns are the same."""
    if one.get("sha256") is not None and one["sha256"] == other.get("sha256"):
        return True
    mine, theirs = one.get("digest", {}), other.get("digest", {})
    both = set(mine) & set(theirs)
    return one.get("rows") == other.get("rows") and bool(both) and all(mine[name] == theirs[name] for name in both)
