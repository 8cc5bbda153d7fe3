"""What measures show, each from the dict of its result: what a release costs, and what a recipient still sees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from undercover.model.view import FigureTable, Part, View, facts, listed, say, table
from undercover.utility import pictures

_ERRORS = ("queries", "median", "mean", "p90")
_NUMBERS = "`.to_dict()` has the numbers."
_LOSSES = {"shift": "moved", "arx": "ARX loss", "iloss": "ILoss", "ncp": "NCP"}
_CLASSES = (
    "The cells of a column have lost 0 where every value is as it was, and 1 where nothing of it is left. ARX's loss "
    "and ILoss count the values a cell stands for; NCP takes the width of its range."
)
_MOVED = (
    "The table has its old shape; what it costs is how far values were moved. Moved is the distance from the person's "
    "own value over the width of the column (0: as it was, 1: from one end to the other); ILoss is the same over the "
    "number of its values, as in the paper, where it is added up over all cells. There are no classes, so "
    "discernibility does not apply."
)
_OLD_SHAPE = "The table has its old shape; there are no classes, so discernibility does not apply."
_KEPT = (
    "What somebody would estimate from the release, beside the truth: cells are spread evenly over what they cover, "
    "values of a bucket are shared, perturbed ones are corrected. Ordered columns are put into ranges of about equally "
    "many people."
)
_DISTANCE = (
    "The distance is half the sum of the differences of the shares: 0 where the distribution is as it was, 1 where "
    "nothing is in common."
)


def measures_view(found: Mapping[str, Any]) -> View:
    """Classes and what was suppressed, loss by column, and what a recipient sees where that was measured.

    >>> from undercover.utility import Measures
    >>> costs = Measures(discernibility=8, average_class_size=2.0, classes=2, rows=4, loss={}, suppressed_rows=0)
    >>> str(measures_view(costs.to_dict()).parts[0].rows[1][1])
    '2, of 2 rows on average'
    """
    lines: list[Any] = [("rows", found["rows"])]
    if found["classes"] is not None:
        sizes = say("{count}, of {count} rows on average", found["classes"], found["average_class_size"])
        lines.append(("classes", sizes))
    if found["discernibility_ratio"] is not None:
        text = "{count} (optimum {count}, ratio {cost}: no release with the same promise has less)"
        keys = ("discernibility", "discernibility_optimum", "discernibility_ratio")
        lines.append(("discernibility", say(text, *(found[key] for key in keys))))
    elif found["discernibility"] is not None:
        lines.append(("discernibility", found["discernibility"]))
    lines.append(("suppressed", say("{count} rows, {risk}", found["suppressed_rows"], found["suppressed_share"])))
    if "displacement" in found:
        moved = found["displacement"]
        lines.append(("changed", say("{risk} of the cells", moved["changed_cells"])))
        lines.append(("ILoss, sum as in the paper", say("{cost}", moved["iloss_sum"])))
    parts: list[Part] = [facts(*lines)]
    if found.get("note"):
        parts += [_OLD_SHAPE, say("Not measured: {plain}", found["note"])]
    if found["loss"]:
        parts += [_MOVED if found["classes"] is None else _CLASSES, partial(pictures.loss_chart, by_column(found))]
        parts.append(_losses(found))
    if "distances" in found:
        parts.append(_kept(found))
    elif "query_errors" in found:
        parts.append(_errors(found["query_errors"]))
    return View("cost", "What it cost", tuple(parts), following=_NUMBERS, private=True)


def by_column(found: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The losses of each column side by side.

    >>> by_column({"loss": {"arx": {"per_column": {"age": 0.1}}, "ncp": {"per_column": {"age": 0.2}}}})
    [{'name': 'age', 'arx': 0.1, 'ncp': 0.2}]
    """
    loss = found["loss"]
    names = next((list(values["per_column"]) for values in loss.values()), [])
    return [{"name": name, **{kind: values["per_column"][name] for kind, values in loss.items()}} for name in names]


def _losses(found: Mapping[str, Any]) -> FigureTable:
    """Every loss, altogether and by column; of moved values also how many changed."""
    loss, moved = found["loss"], found.get("displacement")
    kinds = [kind for kind in _LOSSES if kind in loss]
    named = [_LOSSES[kind] for kind in kinds]
    if moved is None:
        rows = [
            (f"all columns, {mean} mean", *(loss[kind][mean] for kind in kinds))
            for mean in ("arithmetic", "weighted", "geometric")
        ]
        rows += [(f"`{column['name']}`", *(column[kind] for kind in kinds)) for column in by_column(found)]
        return table(("column", *named), "plain" + " cost" * len(kinds), rows)
    changed = moved["changed_per_column"]
    rows = [("all columns, mean", moved["changed_cells"], *(loss[kind]["arithmetic"] for kind in kinds))]
    rows += [
        (f"`{column['name']}`", changed[column["name"]], *(column[kind] for kind in kinds))
        for column in by_column(found)
    ]
    return table(("column", "cells changed", *named), "plain risk" + " cost" * len(kinds), rows)


def _kept(found: Mapping[str, Any]) -> View:
    """What a recipient still sees: distributions, connections, answers to queries."""
    distances, each = found["distances"], found["distances"]["columns"]["each"]
    rows = [(f"`{name}`", value) for name, value in each.items()]
    rows.append(("all columns, mean", distances["columns"]["mean"]))
    if distances["pairs"]["mean"] is not None:
        rows.append(("all pairs of columns, mean", distances["pairs"]["mean"]))
    shares: list[Part] = [table(("column", "distance"), "plain cost", rows), _DISTANCE]
    if found["distributions"]:
        bins = [
            (f"`{column['name']}`", bin_["label"], bin_["before"], bin_["after"])
            for column in found["distributions"]
            for bin_ in column["bins"]
        ]
        columns, title = ("column", "value", "people", "estimated"), "The figures of every column"
        shares.insert(0, partial(pictures.distribution_chart, found["distributions"], each))
        shares.append(table(columns, "plain plain count count", bins, title, detail=2))
    parts: list[Part] = [_KEPT, View("distributions", "Distributions", tuple(shares))]
    if found["associations"]:
        parts.append(_associations(found["associations"]))
    if "query_errors" in found:
        parts.append(_errors(found["query_errors"]))
    return View("kept", "What a recipient still sees", tuple(parts))


def _associations(pairs: Sequence[Mapping[str, Any]]) -> View:
    rows = [
        (" × ".join(pair["columns"]), *(pair[key] for key in ("kind", "before", "after", "change"))) for pair in pairs
    ]
    columns = ("columns", "measure", "before", "after", "change")
    parts: list[Part] = [table(columns, "plain plain signed signed signed", rows, f"The figures of {len(rows)} pairs")]
    if any(pair["change"] is not None for pair in pairs):
        parts.insert(0, partial(pictures.association_chart, pairs))
    return View("associations", "How columns go together", tuple(parts))


def _errors(results: Sequence[Mapping[str, Any]]) -> View:
    text = (
        f"Random questions of the kind “how many people of these values have this {results[0]['sensitive']}”, answered "
        "from the release and set against the truth. Small answers are divided by half a percent of the people instead "
        "of by themselves."
    )
    rows = [
        (f"{', '.join(one['quasi_identifiers'])}, with {one['sensitive']}", *(one[key] for key in _ERRORS))
        for one in results
    ]
    columns = ("asked about", "queries", "median error", "mean", "9 of 10 below")
    drawn = partial(pictures.query_error_chart, results)
    return View("query-errors", "Answers to queries", (text, drawn, table(columns, "plain count risk risk risk", rows)))


def error_view(found: Mapping[str, Any]) -> View:
    """How far off the COUNT or SUM queries of one workload are; of bounded sums, how far apart their bounds."""
    sums = "bounded" in found
    title = "Sums from the release" if sums else "Counts from the release"
    title += ", distance of their bounds" if sums and found["bounded"] else ""
    asked = listed([*found.get("quasi_identifiers", ()), found["sensitive"]])
    lines = facts(
        ("queries", say("{count} on {plain}", found["queries"], asked)),
        ("off by", say("{risk} on average", found["mean"])),
        ("half of them by", say("{risk} at most", found["median"])),
    )
    return View("query-error", title, (lines,), following=_NUMBERS, private=True)
