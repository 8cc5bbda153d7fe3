"""What measures show, each from the dict of its result: what a release costs, and what a recipient still sees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from undercover.model.figures import LOSSES, cost, counted
from undercover.model.kinds.orders import in_order
from undercover.model.view import (
    AFTER,
    BEFORE,
    GUESS,
    FigureTable,
    Part,
    Picture,
    View,
    facts,
    room,
    say,
    table,
)
from undercover.utility.queries.views import NUMBERS, answer_views

_CLASSES = (
    "The cells of a column have lost 0 where every value is as it was, and 1 where nothing of it is left. Loss of "
    "detail (ARX's) and ILoss count the values a cell stands for; NCP takes the width of its range."
)
_MOVED = (
    "The table has its old shape; what it costs is how far values were moved: the distance from the person's own "
    "value over the width of the column (0: as it was, 1: from one end to the other). ILoss of moving is the same over "
    "the number of its values, as in the paper, where it is added up over all cells. There are no classes, so "
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
    """Classes and what was suppressed, loss by column, and what a recipient sees where that was measured."""
    lines: list[Any] = [("rows", found["rows"])]
    if found["classes"] is not None:
        several = "row" if found["average_class_size"] == 1 else "rows"
        sizes = say(f"{{count}}, of {{count}} {several} on average", found["classes"], found["average_class_size"])
        lines.append(("classes", sizes))
    if found["discernibility_ratio"] is not None:
        text = "{count} (optimum {count}, ratio {cost}: no release with the same promise has less)"
        keys = ("discernibility", "discernibility_optimum", "discernibility_ratio")
        lines.append(("discernibility", say(text, *(found[key] for key in keys))))
    elif found["discernibility"] is not None:
        lines.append(("discernibility", found["discernibility"]))
    if "discernibility_by_groups" in found:
        text = "{count}, with groups that are published with the same cells counted apart"
        lines.append(("discernibility by groups", say(text, found["discernibility_by_groups"])))
    lines.append(("suppressed", say("{count} rows, {risk}", found["suppressed_rows"], found["suppressed_share"])))
    if "displacement" in found:
        moved = found["displacement"]
        lines.append(("cells changed", say("{risk}", moved["changed_cells"])))
        lines.append((f"{_name('iloss', moved)}, sum as in the paper", say("{cost}", moved["iloss_sum"])))
    if "moved_quasi_identifiers" in found:
        cells, text = found["moved_quasi_identifiers"], "by {cost}, {risk} of cells; loss is against the value's owner"
        lines.append(("quasi-identifiers moved", say(text, cells["shift"], cells["changed_cells"])))
    parts: list[Part] = [facts(*lines)]
    if found.get("note"):
        parts += [_OLD_SHAPE, say("Not measured: {plain}", found["note"])]
    if found["loss"]:
        parts += [_MOVED if found["classes"] is None else _CLASSES, partial(loss_chart, by_column(found))]
        parts.append(_losses(found))
    if "distances" in found:
        parts.append(_kept(found))
    else:
        parts += answer_views(found)
    return View("cost", "What it cost", tuple(parts), following=NUMBERS, private=True)


def by_column(found: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The losses of each column side by side."""
    loss = found["loss"]
    names = next((list(values["per_column"]) for values in loss.values()), [])
    return [{"name": name, **{kind: values["per_column"][name] for kind, values in loss.items()}} for name in names]


def _name(kind: str, moved: Any) -> str:
    """What a loss is called; a paper's ILoss is another where values were moved than where they were joined."""
    return f"{LOSSES[kind]} of moving" if kind == "iloss" and moved else LOSSES[kind]


def _losses(found: Mapping[str, Any]) -> FigureTable:
    """Every loss, altogether and by column; of moved values also how many changed."""
    loss, moved = found["loss"], found.get("displacement")
    kinds = [kind for kind in LOSSES if kind in loss]
    named = [_name(kind, moved) for kind in kinds]
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
        distributions = [in_their_order(column) for column in found["distributions"]]
        bins = [
            (f"`{column['name']}`", bin_["label"], bin_["before"], bin_["after"])
            for column in distributions
            for bin_ in column["bins"]
        ]
        columns, title = ("column", "value", "people", "estimated"), "The figures of every column"
        shares.insert(0, partial(distribution_chart, distributions, each))
        shares.append(table(columns, "plain plain count count", bins, title, detail=2))
    parts: list[Part] = [_KEPT, View("distributions", "Distributions", tuple(shares))]
    if found["associations"]:
        parts.append(_associations(found["associations"]))
    parts += answer_views(found)
    return View("kept", "What a recipient still sees", tuple(parts))


def in_their_order(column: Mapping[str, Any]) -> Mapping[str, Any]:
    """A column whose categories are bands, periods or codes, with these in their order; any other as it is.

    >>> bins = [{"label": label} for label in ("100+", "20-99", "", "0-19")]
    >>> [bin_["label"] for bin_ in in_their_order({"name": "pay", "ordered": False, "bins": bins})["bins"]]
    ['0-19', '20-99', '100+', '']
    """
    order = None if column["ordered"] else in_order([bin_["label"] for bin_ in column["bins"] if bin_["label"]])
    if order is None:
        return column
    place = {label: position for position, label in enumerate(order)}
    bins = sorted(column["bins"], key=lambda bin_: place.get(bin_["label"], len(order)))
    return {**column, "ordered": True, "bins": bins}


def _associations(pairs: Sequence[Mapping[str, Any]]) -> View:
    rows = [
        (" × ".join(pair["columns"]), *(pair[key] for key in ("kind", "before", "after", "change"))) for pair in pairs
    ]
    columns = ("columns", "measure", "before", "after", "change")
    parts: list[Part] = [
        table(columns, "plain plain signed signed signed", rows, f"The figures of {counted(len(rows), 'pair')}")
    ]
    if any(pair["change"] is not None for pair in pairs):
        parts.insert(0, partial(association_chart, pairs))
    return View("associations", "How columns go together", tuple(parts))


MOST_COLUMNS = 16  # drawn; the rest is in the table
MOST_CATEGORIES = 10
MOST_PAIRS = 24
_SIDES = ("before", "after")
_PANEL = 300


def loss_chart(columns: Sequence[Mapping[str, Any]]) -> Picture:
    """Loss per column, largest first; takes ``summary["cost"]["columns"]``."""
    import altair as alt

    moved = "shift" in columns[0]
    measures = {kind: _name(kind, moved) for kind in (("shift", "iloss") if moved else ("arx", "ncp"))}
    first = next(iter(measures))
    ordered = sorted(columns, key=lambda column: -float(column[first]))
    rows = [
        {"column": column["name"], "measure": label, "loss": column[key]}
        for column in ordered
        for key, label in measures.items()
    ]
    names, labels = [str(column["name"]) for column in ordered], list(measures.values())
    axis_title = "share of the scale, mean" if moved else "0: as it was, 1: nothing left"
    chart = (
        alt.Chart(alt.NamedData("rows"), width=640, height=alt.Step(13))
        .mark_bar()
        .encode(
            y=alt.Y("column:N", sort=names, title=None, axis=alt.Axis(minExtent=room(names))),
            yOffset=alt.YOffset("measure:N", sort=labels),
            x=alt.X("loss:Q", title=axis_title, axis=alt.Axis(tickCount=6)),
            color=alt.Color("measure:N", scale=alt.Scale(domain=labels, range=[AFTER, GUESS]), sort=labels),
        )
    )
    worst = ", ".join(f"{column['name']} {cost(column[first])}" for column in ordered[:3])
    return Picture.of("loss", chart, rows, f"{measures[first]} per column, largest first: {worst}.")


def distribution_chart(distributions: Sequence[Mapping[str, Any]], distances: Mapping[str, float]) -> Picture:
    """Every column before and after, farthest first; takes ``cost["distributions"]`` and the distance of each."""
    import altair as alt

    drawn = sorted(distributions, key=lambda column: -distances[column["name"]])[:MOST_COLUMNS]
    rows: list[dict[str, Any]] = []
    panels = []
    for column in drawn:
        bins = column["bins"] if column["ordered"] else _most_frequent(column["bins"])
        totals = {side: sum(max(0.0, bin_[side]) for bin_ in bins) for side in _SIDES}
        rows += [
            {
                "column": column["name"],
                "bin": bin_["label"],
                "release": side,
                "share": max(0.0, bin_[side]) / totals[side] if totals[side] else 0.0,
            }
            for bin_ in bins
            for side in _SIDES
        ]
        panels.append(_distribution(column, [bin_["label"] for bin_ in bins]))
    chart = alt.concat(*panels, columns=2, data=alt.NamedData("rows"), spacing=24)
    apart = "; ".join(f"{column['name']}, {cost(distances[column['name']])} apart" for column in drawn)
    caption = "Shares of the people, column by column, the farthest apart first."
    return Picture.of("distributions", chart, rows, f"Shares before and after: {apart}.", caption)


def _distribution(column: Mapping[str, Any], order: list[str]) -> Any:
    import altair as alt

    base = alt.Chart(title=column["name"], width=_PANEL).transform_filter(
        alt.FieldEqualPredicate(field="column", equal=column["name"])
    )
    colour = alt.Color("release:N", scale=alt.Scale(domain=list(_SIDES), range=[BEFORE, AFTER]), sort=list(_SIDES))
    share = alt.Axis(format=".2~%", tickCount=4)
    if column["ordered"]:
        step = -(-len(order) // 5)
        axis = alt.Axis(labelAngle=0, values=order[::step], labelLimit=90, labelOverlap=True)
        return (
            base.mark_bar()
            .properties(height=120)
            .encode(
                x=alt.X("bin:O", sort=order, title=None, axis=axis),
                xOffset=alt.XOffset("release:N", sort=list(_SIDES)),
                y=alt.Y("share:Q", title=None, axis=share),
                color=colour,
            )
        )
    return (
        base.mark_bar()
        .properties(height=alt.Step(7))
        .encode(
            y=alt.Y("bin:N", sort=order, title=None, axis=alt.Axis(labelLimit=130)),
            yOffset=alt.YOffset("release:N", sort=list(_SIDES)),
            x=alt.X("share:Q", title=None, axis=share),
            color=colour,
        )
    )


def _most_frequent(bins: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The categories most people have; the others together."""
    ordered = sorted(bins, key=lambda bin_: -bin_["before"])
    if len(ordered) <= MOST_CATEGORIES:
        return ordered
    rest = ordered[MOST_CATEGORIES - 1 :]
    together = {side: sum(bin_[side] for bin_ in rest) for side in _SIDES}
    return [*ordered[: MOST_CATEGORIES - 1], {"label": "all others", **together}]


def association_chart(associations: Sequence[Mapping[str, Any]]) -> Picture:
    """How strongly columns go together, before and after, strongest first; takes ``cost["associations"]``."""
    import altair as alt

    known = [entry for entry in associations if entry["change"] is not None]
    ordered = sorted(known, key=lambda entry: -max(abs(entry["before"]), abs(entry["after"])))[:MOST_PAIRS]
    rows = [
        {"pair": " × ".join(entry["columns"]), "before": entry["before"], "after": entry["after"]} for entry in ordered
    ]
    pairs = [row["pair"] for row in rows]
    base = alt.Chart(alt.NamedData("rows"), width=560, height=alt.Step(20))
    y = alt.Y("pair:N", sort=pairs, title=None)
    title = "rank correlation, or Cramér's V (0: independent)"
    lines = base.mark_rule(color=GUESS, strokeWidth=2).encode(
        y=y, x=alt.X("before:Q", title=title), x2=alt.X2("after:Q")
    )
    folded = base.transform_fold(list(_SIDES), as_=["release", "strength"])
    dots = folded.mark_circle(size=70, opacity=1).encode(
        y=y,
        x=alt.X("strength:Q", title=title),
        color=alt.Color("release:N", scale=alt.Scale(domain=list(_SIDES), range=[BEFORE, AFTER]), sort=list(_SIDES)),
    )
    most = max((abs(row["after"] - row["before"]) for row in rows), default=0.0)
    described = (
        f"How strongly {counted(len(rows), 'pair')} of columns go together before and after; the largest change is "
        f"{cost(most)}."
    )
    caption = "Before and after, the strongest first. A short line is a connection that can still be seen."
    return Picture.of("associations", lines + dots, rows, described, caption)
