"""The charts of the pages, each from one part of the summary.

Every chart is an Altair specification whose data are the figures of the summary, unrounded;
:mod:`undercover.pages.svg` draws it. Altair is imported when the first chart is made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from undercover.model.figures import cost, number, risk, span
from undercover.pages.svg import AFTER, BEFORE, GUESS, Chart

if TYPE_CHECKING:
    import altair as alt

_WIDTH = 800
_SIDES = ("before", "after")


def class_size_chart(sizes: Mapping[str, Any], name: str = "class-sizes") -> Chart:
    """How many rows live in classes of which size; takes ``summary["class_sizes"]``.

    >>> bins = [{"from": 5, "to": 5, "classes": 2, "rows": 10}]
    >>> class_size_chart({"unit": "class", "min": 5, "median": 5.0, "max": 5, "histogram": bins}).values
    [{'size': '5', 'rows': 10, 'classes': 2}]
    """
    import altair as alt

    rows = [{"size": span(bin_), "rows": bin_["rows"], "classes": bin_["classes"]} for bin_ in sizes["histogram"]]
    order = [row["size"] for row in rows]
    unit = sizes["unit"]
    chart = (
        alt.Chart(alt.NamedData("rows"), width=_WIDTH, height=180)
        .mark_bar(color=AFTER)
        .encode(
            x=alt.X("size:O", sort=order, title=f"size of the {unit} (rows)", axis=_level_labels(order)),
            y=alt.Y("rows:Q", title="rows published"),
        )
    )
    described = f"Rows by size of their {unit}: from {number(sizes['min'])} to {number(sizes['max'])} rows" + (
        f", half of them of at most {number(sizes['median'])}."
    )
    return _chart(name, chart, rows, described)


def match_size_chart(attack: Mapping[str, Any], name: str = "match-sizes") -> Chart:
    """How many published rows match a person, before and after; takes the dict of a linkage attack.

    >>> bins = [{"from": 1, "to": 1, "rows": 9}]
    >>> unique = {"identity": {"unique_rows": 9}}
    >>> match_size_chart({"match_sizes": {"before": bins, "after": []}, "before": unique, "after": unique}).values
    [{'matches': '1', 'release': 'before', 'rows': 9}]
    """
    rows = [
        {"matches": span(bin_), "release": side, "rows": bin_["rows"]}
        for side in _SIDES
        for bin_ in attack["match_sizes"][side]
    ]
    bins = {(bin_["from"], span(bin_)) for side in _SIDES for bin_ in attack["match_sizes"][side]}
    order = [label for _, label in sorted(bins)]
    chart = _before_after(rows, "matches", order, "published rows that match a person", "people", level=True)
    unique = [attack[side]["identity"]["unique_rows"] for side in _SIDES]
    described = (
        f"Published rows that match a person: {number(unique[0])} people match exactly one row in the original, "
        f"{number(unique[1])} in the release."
    )
    return _chart(name, chart, rows, described)


def attribute_chart(attack: Mapping[str, Any], column: str, name: str = "attribute") -> Chart:
    """How sure an attacker is of the true sensitive value, before and after; takes the dict of a linkage attack.

    >>> found = {"attribute": {"ill": {"mean": 0.5}}}
    >>> counts = {"ill": {"edges": [0, 0.5, 1], "before": [1, 2], "after": [3, 0]}}
    >>> attribute_chart({"attribute_histogram": counts, "before": found, "after": found}, "ill").values[1]
    {'probability': '50–100%', 'release': 'before', 'rows': 2}
    """
    found = attack["attribute_histogram"][column]
    edges = found["edges"]
    order = [f"{100 * low:g}–{100 * high:g}%" for low, high in pairwise(edges)]
    rows = [
        {"probability": label, "release": side, "rows": count}
        for side in _SIDES
        for label, count in zip(order, found[side], strict=True)
    ]
    chart = _before_after(rows, "probability", order, f"probability given to the true {column}", "people", level=False)
    means = [attack[side]["attribute"][column]["mean"] for side in _SIDES]
    described = (
        f"Probability the attacker gives to the true value of {column}: on average {risk(means[0])} with the original, "
        f"{risk(means[1])} with the release."
    )
    return _chart(name, chart, rows, described)


def loss_chart(columns: Sequence[Mapping[str, Any]], name: str = "loss") -> Chart:
    """Loss per column, largest first; takes ``summary["cost"]["columns"]``.

    >>> chart = loss_chart([{"name": "age", "arx": 0.1, "ncp": 0.2}])
    >>> chart.values
    [{'column': 'age', 'measure': 'ARX loss', 'loss': 0.1}, {'column': 'age', 'measure': 'NCP', 'loss': 0.2}]
    """
    import altair as alt

    moved = "shift" in columns[0]
    measures = {"shift": "moved", "iloss": "ILoss"} if moved else {"arx": "ARX loss", "ncp": "NCP"}
    first = next(iter(measures))
    ordered = sorted(columns, key=lambda column: -float(column[first]))
    rows = [
        {"column": column["name"], "measure": label, "loss": column[key]}
        for column in ordered
        for key, label in measures.items()
    ]
    names, labels = [str(column["name"]) for column in ordered], list(measures.values())
    axis_title = "share of the scale, mean" if moved else "loss (0: as it was, 1: nothing left)"
    chart = (
        alt.Chart(alt.NamedData("rows"), width=_WIDTH - 160, height=alt.Step(13))
        .mark_bar()
        .encode(
            y=alt.Y("column:N", sort=names, title=None, axis=alt.Axis(minExtent=_room(names))),
            yOffset=alt.YOffset("measure:N", sort=labels),
            x=alt.X("loss:Q", title=axis_title, axis=alt.Axis(tickCount=6)),
            color=alt.Color("measure:N", scale=alt.Scale(domain=labels, range=[AFTER, GUESS]), sort=labels),
        )
    )
    worst = ", ".join(f"{column['name']} {cost(column[first])}" for column in ordered[:3])
    return _chart(name, chart, rows, f"{measures[first]} per column, largest first: {worst}.")


def comparison_chart(entries: Sequence[Mapping[str, Any]], name: str = "comparison") -> Chart:
    """Methods side by side: mean identity and attribute disclosure beside guessing, and the loss.

    Each entry has a ``title`` and the ``headline`` and ``cost`` of its summary; what one lacks is left out.

    >>> comparison_chart([{"title": "Ours", "cost": {"loss": {"arx": {"arithmetic": 0.1}}}}]).values
    [{'method': 'Ours', 'measure': 'loss of detail', 'value': 0.1, 'guess': None}]
    """
    import altair as alt

    rows: list[dict[str, Any]] = []
    for entry in entries:
        found = entry.get("headline") or {}
        for key, label in (("identity", "finding the row"), ("attribute", "learning the value")):
            if found.get(key):
                mean, guess = (
                    found[key]["after_mean"],
                    found[key]["baseline_mean" if key == "attribute" else "baseline"],
                )
                rows.append({"method": entry["title"], "measure": label, "value": mean, "guess": guess})
        losses = entry["cost"]["loss"] if entry.get("cost") else {}
        if losses:
            loss = losses["arx" if "arx" in losses else "shift"]["arithmetic"]
            rows.append({"method": entry["title"], "measure": "loss of detail", "value": loss, "guess": None})
    measures = list(dict.fromkeys(row["measure"] for row in rows))
    titles = [str(entry["title"]) for entry in entries]
    panels = []
    for position, measure in enumerate(measures):
        extent = 0 if position else _room(titles)
        labels = alt.Axis(labels=not position, ticks=False, domain=False, title=None, minExtent=extent)
        base = alt.Chart(width=210, height=alt.Step(26), title=measure).transform_filter(alt.datum.measure == measure)
        y = alt.Y("method:N", sort=titles, axis=labels)
        axis = alt.Axis(format=".3~%" if measure != "loss of detail" else "~g", tickCount=4)
        bars = base.mark_bar(color=AFTER if measure != "loss of detail" else GUESS).encode(
            x=alt.X("value:Q", title=None, axis=axis), y=y
        )
        ticks = base.mark_tick(color=BEFORE, thickness=3, size=22).encode(x="guess:Q", y=y)
        panels.append(bars + ticks if measure != "loss of detail" else bars)
    chart = alt.hconcat(*panels, data=alt.NamedData("rows"), spacing=24)
    described = "Mean disclosure after the release and loss of detail, for each method: " + "; ".join(
        f"{title}: "
        + ", ".join(
            f"{row['measure']} {cost(row['value']) if row['guess'] is None else risk(row['value'])}"
            for row in rows
            if row["method"] == title
        )
        for title in titles
    )
    return _chart(name, chart, rows, f"{described}.")


def _before_after(
    rows: list[dict[str, Any]], field: str, order: list[str], title: str, unit: str, *, level: bool
) -> Any:
    import altair as alt

    return (
        alt.Chart(alt.NamedData("rows"), width=_WIDTH, height=180)
        .mark_bar()
        .encode(
            x=alt.X(f"{field}:O", sort=order, title=title, axis=alt.Axis(labelAngle=0 if level else -45)),
            xOffset=alt.XOffset("release:N", sort=list(_SIDES)),
            y=alt.Y("rows:Q", title=unit),
            color=alt.Color(
                "release:N", scale=alt.Scale(domain=list(_SIDES), range=[BEFORE, AFTER]), sort=list(_SIDES)
            ),
        )
    )


def _room(labels: Sequence[str]) -> float:
    """Pixels to keep for labels beside an axis, in a wide font."""
    return min(220.0, 7.5 * max((len(label) for label in labels), default=0))


def _level_labels(order: Sequence[str]) -> alt.Axis:
    """Labels upright where there is room for them."""
    import altair as alt

    return alt.Axis(labelAngle=0 if sum(map(len, order)) < 90 else -45)


def _chart(name: str, chart: Any, rows: list[dict[str, Any]], description: str) -> Chart:
    return Chart(name, {**chart.to_dict(validate=False), "data": {"values": rows}}, description)
