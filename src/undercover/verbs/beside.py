"""Earlier releases of the same table that lie beside a new one, or where it is to be written.

Only a heuristic for the commonest oversights: several releases of one table, each fine by itself, in one folder, which
a ledger would remember; and a release that was made again until it passed, whose label must say so.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from undercover.errors import DataError, listed
from undercover.io.release.contents import PRIVATE, PUBLIC, WITHHELD, read_json
from undercover.model.release import Choice
from undercover.model.run import Run
from undercover.model.verdict import LINKABILITY, Reason
from undercover.verbs.unknowns import choice
from undercover.waiting import Progress, no_progress

MOST_FOLDERS = 200
KIND = "second release"


def judged_beside(run: Run, directory: str | os.PathLike[str], progress: Progress = no_progress) -> Run:
    """The run with a verdict that knows of earlier releases beside the folder it is to be saved to."""
    run = chosen_after(run, directory)
    known = any(reason.kind == KIND for reason in run.judge(progress).reasons)
    reason = None if known or not run.policy.judges else earlier_beside(directory, run)
    return run if reason is None else run.judged_as(run.verdict.with_reasons(reason))


def chosen_after(run: Run, directory: str | os.PathLike[str]) -> Run:
    """The run, chosen by looking where an earlier release of the same table was refused by what attacks reach.

    Whoever changes parameters, or draws again, until a release passes tells by what he publishes that others did not.
    One that passes at the first attempt keeps its label.
    """
    if run.release.choice.has_looked or run.original is None:  # said already, or made long ago
        return run
    refused = refused_beside(directory, run)
    if not refused:
        return run
    chosen = run.chosen(Choice("looked", refused))
    return chosen if run.judged is None else chosen.judged_as(run.judged.with_reasons(*choice(chosen)))


def refused_beside(directory: str | os.PathLike[str], run: Run) -> int:
    """How many releases of the same table beside a folder, or in it, were refused by what attacks reach."""
    place = Path(os.path.abspath(directory))
    found = (_run(other) for other in _folders(place.parent, (PUBLIC, WITHHELD)))
    return sum(_is_refused(other) and _same_table(run.source, _mapping(other, "source")) for other in found)


def _is_refused(run: Mapping[str, Any]) -> bool:
    """Whether a verdict that was written down stops, or asks, for a reason that attacks on people gave."""
    reasons = _mapping(run, "judged").get("reasons", ())
    try:
        read = [Reason(**reason) for reason in reasons]
    except TypeError:  # not a verdict of ours: nothing is known of it
        return False
    return any(reason.weight != "note" and reason.is_measured for reason in read)


def earlier_beside(directory: str | os.PathLike[str], run: Run) -> Reason | None:
    """That releases of the same table lie beside a folder, or in it; ``None`` where there are none, or a ledger knows.

    What is withheld is no release: nobody has it.
    """
    if run.entry is not None:
        return None
    place = Path(os.path.abspath(directory))
    found = [
        other.name
        for other in _folders(place.parent, (PUBLIC,))
        if _same_table(run.source, _mapping(_run(other), "source"))
    ]
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


def _folders(parent: Path, parts: Sequence[str]) -> Iterator[Path]:
    """Folders that have one of some parts of a release, of the first so many."""
    if parent.is_dir():
        folders = (Path(entry) for entry in sorted(os.scandir(parent), key=lambda entry: entry.name) if entry.is_dir())
        visible = (folder for folder in folders if not folder.name.startswith("."))
        some = islice(visible, MOST_FOLDERS)
        yield from (folder for folder in some if any((folder / part).is_dir() for part in parts))


def _run(folder: Path) -> Mapping[str, Any]:
    """What is written down of the run of a release; nothing where it is not ours to read."""
    path = folder / PRIVATE / "run.json"
    if not os.access(path, os.R_OK):
        return {}
    try:
        found = read_json(path)
    except DataError:  # not a run: nothing is known of it
        return {}
    return found if isinstance(found, Mapping) else {}


def _mapping(content: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = content.get(key)
    return found if isinstance(found, Mapping) else {}


def _same_table(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two runs were made from one file, or from as many rows whose common columns are the same."""
    if one.get("sha256") is not None and one["sha256"] == other.get("sha256"):
        return True
    mine, theirs = one.get("digest", {}), other.get("digest", {})
    both = set(mine) & set(theirs)
    return one.get("rows") == other.get("rows") and bool(both) and all(mine[name] == theirs[name] for name in both)
