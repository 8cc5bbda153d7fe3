"""The charts of the pages, each from one part of the summary.

Every chart is an Altair specification whose data are the figures of the summary, unrounded;
:mod:`undercover.pages.svg` draws it. Altair is imported when the first chart is made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from undercover.model.figures import cost, number, risk, span
from undercover.model.view import AFTER, BEFORE, GUESS, Picture, room

if TYPE_CHECKING:
    import altair as alt

_WIDTH = 800


def class_size_chart(sizes: Mapping[str, Any]) -> Picture:
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
    return Picture.of("class-sizes", chart, rows, described)


def comparison_chart(entries: Sequence[Mapping[str, Any]]) -> Picture:
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
        extent = 0 if position else room(titles)
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
    return Picture.of("comparison", chart, rows, f"{described}.")


def _level_labels(order: Sequence[str]) -> alt.Axis:
    """Labels upright where there is room for them."""
    import altair as alt

    return alt.Axis(labelAngle=0 if sum(map(len, order)) < 90 else -45)
