"""How large the classes of a release are: a histogram and the usual figures."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from undercover.forms.classes import Classes
from undercover.model.figures import number, span
from undercover.model.view import AFTER, Part, Picture, View, say, table

_BINS = 24
_WIDTH = 800


def class_sizes(classes: Classes) -> dict[str, Any]:
    """Figures and histogram of the classes (of a release in two tables: its buckets)."""
    return sizes_of(classes.sizes, "class" if classes.boxes is None else "bucket")


def sizes_of(sizes: NDArray[np.int64], unit: str) -> dict[str, Any]:
    """The same of any sizes.

    >>> sizes_of(np.array([2, 4]), "group")["mean"]
    3.0
    """
    figures: dict[str, Any] = {"unit": unit, "count": len(sizes)}
    if not len(sizes):
        return {**figures, "min": None, "median": None, "mean": None, "max": None, "histogram": []}
    return {
        **figures,
        "min": int(sizes.min()),
        "median": float(np.median(sizes)),
        "mean": float(sizes.mean()),
        "max": int(sizes.max()),
        "histogram": histogram(sizes),
    }


def sizes_view(sizes: Mapping[str, Any]) -> View:
    """What :func:`sizes_of` found, as a section.

    >>> sizes_view(sizes_of(np.array([2, 4]), "group")).title
    'How large the groups are'
    """
    several = "classes" if sizes["unit"] == "class" else f"{sizes['unit']}s"
    parts: tuple[Part, ...] = ("There are none.",)
    if sizes["histogram"]:
        rows = [(span(bin_), bin_["classes"], bin_["rows"]) for bin_ in sizes["histogram"]]
        middle = (sizes[key] for key in ("min", "median", "mean", "max"))
        parts = (
            say("Smallest {count}, median {count}, mean {count}, largest {count} rows.", *middle),
            partial(class_size_chart, sizes),
            table(("size", several, "rows"), "plain count count", rows, "The figures", detail=2),
        )
    return View("class-sizes", f"How large the {several} are", parts, private=True)


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
    axis = alt.Axis(labelAngle=0 if sum(map(len, order)) < 90 else -45)  # upright where there is room
    chart = (
        alt.Chart(alt.NamedData("rows"), width=_WIDTH, height=180)
        .mark_bar(color=AFTER)
        .encode(
            x=alt.X("size:O", sort=order, title=f"size of the {unit} (rows)", axis=axis),
            y=alt.Y("rows:Q", title="rows published"),
        )
    )
    described = f"Rows by size of their {unit}: from {number(sizes['min'])} to {number(sizes['max'])} rows" + (
        f", half of them of at most {number(sizes['median'])}."
    )
    return Picture.of("class-sizes", chart, rows, described)


def histogram(sizes: NDArray[np.int64]) -> list[dict[str, Any]]:
    """Bins of equal width from the smallest size on; the last one is open where a few sizes lie far out.

    >>> histogram(np.array([5, 5, 6]))
    [{'from': 5, 'to': 5, 'classes': 2, 'rows': 10}, {'from': 6, 'to': 6, 'classes': 1, 'rows': 6}]
    >>> histogram(np.array([5] * 1000 + [9000]))[-1]
    {'from': 29, 'to': None, 'classes': 1, 'rows': 9000}
    """
    low, high = int(sizes.min()), int(sizes.max())
    usual = int(np.quantile(sizes, 0.99))
    width = _nice(max(1, -(-(usual - low + 1) // _BINS)))
    count = min(_BINS, (high - low) // width + 1)
    place = np.minimum((sizes - low) // width, count)
    rows = np.bincount(place, sizes, minlength=count + 1)
    classes = np.bincount(place, minlength=count + 1)
    bins = [
        {
            "from": low + position * width,
            "to": low + (position + 1) * width - 1 if position < count else None,
            "classes": int(classes[position]),
            "rows": int(rows[position]),
        }
        for position in range(count + 1)
    ]
    return bins if classes[count] else bins[:count]


def _nice(width: int) -> int:
    """The next width of the form 1, 2 or 5 times a power of ten."""
    power = 1
    while True:
        for step in (1, 2, 5):
            if step * power >= width:
                return step * power
        power *= 10
