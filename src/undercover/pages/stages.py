"""What was done, stage by stage, in words and with the numbers of this run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

from undercover.forms import read
from undercover.forms.classes import Classes
from undercover.model.about import about_of
from undercover.model.figures import number, rows
from undercover.model.run import Run


def stages(
    run: Run,
    counts: Mapping[str, int],
    classes: Classes,
    verdict: str,
    attacks: Sequence[Mapping[str, Any]],
    measures: Mapping[str, Any] | None,
) -> list[dict[str, Any]]:
    """A title and a text for every stage, and the seconds it took where they were taken."""
    found = [_stage("Read", _read(run, counts), run, "read")]
    if counts["dropped"]:
        left = f"{rows(counts['dropped'])} had a missing value in a quasi-identifier or sensitive column and"
        found.append(_stage("Left out", f'{left} {_were(counts["dropped"])} left out, as missing = "drop" asks.'))
    if run.original is not None:
        found.append(_stage("Encoded", _encoded(run), run, "encode"))
    about = about_of(run.release.method)
    grouped = " ".join([about.did(run.release), _grouped(run, counts, classes)])
    found.append(_stage("Grouped", f"{grouped}{_sizes(run)}", run, "anonymize"))
    found += [_stage(title, text) for title, text in about.stages(run)]
    if counts["suppressed"]:
        text = f"{rows(counts['suppressed'])} fitted into no class and {_are(counts['suppressed'])} not published."
        found.append(_stage("Suppressed", text))
    tables = " and ".join(f"{table.name} ({rows(table.rows)})" for table in run.release.tables)
    order = f"The order of the rows {read(run.release).order}."
    found.append(_stage("Published", f"{tables}. {order}"))
    found.append(_stage("Verified", verdict, run, "verify"))
    if attacks:
        names = dict.fromkeys(str(attack["attack"]) for attack in attacks)
        everybody = rows(max(int(attack.get("targets", 0)) for attack in attacks))
        attackers = ", ".join(names)
        found.append(
            _stage(
                "Attacked",
                f"By everybody who has the original's quasi-identifiers ({attackers}): {everybody}, one by one.",
            )
        )
    if measures is not None:
        found.append(_stage("Measured", _measured(measures)))
    return found


def _stage(title: str, text: str, run: Run | None = None, timing: str = "") -> dict[str, Any]:
    seconds = None if run is None else run.timings.get(timing)
    return {"title": title, "text": text, "seconds": None if seconds is None else float(seconds)}


def _read(run: Run, counts: Mapping[str, int]) -> str:
    source = run.source.get("path")
    origin = f" from {PurePath(str(source)).name}" if source else ""
    return f"{rows(counts['read'])} {_were(counts['read'])} read{origin}."


def _encoded(run: Run) -> str:
    """How many different values the published columns have."""
    assert run.original is not None
    columns = run.original.columns
    known = [f"{name} {number(columns[name].domain.size)}" for name in run.schema.published if name in columns]
    return f"Different values: {', '.join(known)}."


def _grouped(run: Run, counts: Mapping[str, int], classes: Classes) -> str:
    reading = read(run.release)
    if reading.charged is not None and reading.charged is not classes:
        return (
            f"This gave {number(counts['classes'])} classes of rows that are written alike, and across them "
            f"{number(classes.count)} buckets."
        )
    unit = reading.unit
    several = "" if counts["classes"] == 1 else "es" if unit == "class" else "s"
    return f"This gave {number(counts['classes'])} {unit}{several}."


def _sizes(run: Run) -> str:
    sizes = run.groups.sizes
    if len(sizes) < 2:
        return ""
    low, high = int(sizes.min()), int(sizes.max())
    return f" The groups that were made have {number(low)}{f' to {number(high)}' if high > low else ''} rows."


def _measured(measures: Mapping[str, Any]) -> str:
    columns = len(measures.get("distributions", ()))
    pairs = len(measures.get("associations", ()))
    queries = sum(int(result["queries"]) for result in measures.get("query_errors", ()))
    asked = f", and {number(queries)} random COUNT queries" if queries else ""
    return f"Against the original: loss of detail, {number(columns)} distributions, {number(pairs)} pairs{asked}."


def _were(count: int) -> str:
    return "was" if count == 1 else "were"


def _are(count: int) -> str:
    return "is" if count == 1 else "are"
