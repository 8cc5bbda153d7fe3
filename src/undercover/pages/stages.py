"""What was done, stage by stage, in words and with the numbers of this run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

from undercover.forms import read
from undercover.forms.classes import Classes
from undercover.forms.drawn.words import ORDER_KEPT
from undercover.model.figures import cost, number
from undercover.model.run import Run
from undercover.pages.words import method_words


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
        left = f"{_rows(counts['dropped'])} had a missing value in a quasi-identifier or sensitive column and"
        found.append(_stage("Left out", f'{left} {_were(counts["dropped"])} left out, as missing = "drop" asks.'))
    if run.original is not None:
        found.append(_stage("Encoded", _encoded(run), run, "encode"))
    grouped = " ".join([method_words(run.release.method, run.release.parameters), _grouped(run, counts, classes)])
    found.append(_stage("Grouped", f"{grouped}{_sizes(run)}", run, "anonymize"))
    found += [_stage(title, text) for title, text in _own_stages(run)]
    if counts["suppressed"]:
        text = f"{_rows(counts['suppressed'])} fitted into no class and {_are(counts['suppressed'])} not published."
        found.append(_stage("Suppressed", text))
    tables = " and ".join(f"{table.name} ({_rows(table.rows)})" for table in run.release.tables)
    kept = run.release.parameters.get("keep_order")
    order = f"The order of the rows {ORDER_KEPT if kept else 'carries no information'}."
    found.append(_stage("Published", f"{tables}. {order}"))
    found.append(_stage("Verified", verdict, run, "verify"))
    if attacks:
        names = dict.fromkeys(str(attack["attack"]) for attack in attacks)
        everybody = _rows(max(int(attack.get("targets", 0)) for attack in attacks))
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
    return f"{_rows(counts['read'])} {_were(counts['read'])} read{origin}."


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


def _own_stages(run: Run) -> list[tuple[str, str]]:
    """What a method has to say of itself beyond its groups."""
    found = run.diagnostics
    said = []
    if "tables_by_origin" in found:
        made = found["tables_by_origin"]
        solved = made["interior"] + made["highs"]
        said.append(
            (
                "Output tables",
                f"{number(sum(made.values()))} random output tables, one for each group and quasi-identifier: "
                f"{number(made['kept'])} need not change anything, {number(made['shared'])} follow from a formula, "
                f"{number(solved)} were optimised, {number(made['uniform'])} are uniform.",
            )
        )
        said.append(
            (
                "Drawn",
                f"All values of {_rows(found['rows_that_came_through'])} came through the first draw unchanged; they "
                f"were drawn again, and {_rows(found['rows_left_unchanged'])} still look as they did.",
            )
        )
    if "nodes" in found and "passing" in found:
        least = len(found.get("minimal", ()))
        text = (
            f"{number(found['nodes'])} combinations of levels were in question; {number(found['passing'])} of them "
            f"keep the promise, {number(least)} of these so that no column can go down a level."
        )
        loss = found.get("loss")
        said.append(("Searched", text if loss is None else f"{text} The one taken has a loss of {cost(loss)}."))
    if "p" in found:
        said.append(("Perturbed", f"Every published sensitive value was kept with probability {float(found['p']):g}."))
    return said


def _measured(measures: Mapping[str, Any]) -> str:
    columns = len(measures.get("distributions", ()))
    pairs = len(measures.get("associations", ()))
    queries = sum(int(result["queries"]) for result in measures.get("query_errors", ()))
    asked = f", and {number(queries)} random COUNT queries" if queries else ""
    return f"Against the original: loss of detail, {number(columns)} distributions, {number(pairs)} pairs{asked}."


def _rows(count: int) -> str:
    return f"{number(count)} row{'' if count == 1 else 's'}"


def _were(count: int) -> str:
    return "was" if count == 1 else "were"


def _are(count: int) -> str:
    return "is" if count == 1 else "are"
