"""The picture of ``docs/guide/peers.md``, drawn from the page's own table: time against loss, every package a mark."""

import re
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parent.parent / "guide" / "peers.md"
ROW = re.compile(
    r"^\| ([\d,]+) \| ([^|]+) \| ([\d.]+)(?: \([\d.]+\))? \| [\d.]+ \|(?:[^|]*\|){3} ([\d.]+) \|", re.MULTILINE
)


def marks(rows: str = "30,000") -> list[dict[str, Any]]:
    """What ended on a table of so many rows with k = 10: the package, its processor seconds and its loss.

    >>> [mark["package"] for mark in marks() if mark["loss"] < 0.11]
    ['undercover, Mondrian', 'undercover, medians']
    """
    first = PAGE.read_text("utf-8").split("\n## ")[1]
    found = [(size, package, float(seconds), float(loss)) for size, package, seconds, loss in ROW.findall(first)]
    return [
        {
            "package": package,
            "seconds": seconds,
            "loss": loss,
            "whose": "undercover" if package.startswith("undercover") else "others",
        }
        for size, package, seconds, loss in found
        if size == rows
    ]


def picture() -> str:
    """Processor seconds against loss of detail; near the lower left corner is better."""
    import altair as alt

    from undercover.model.view import AFTER, BEFORE, INK, Picture
    from undercover.pages.svg import drawings

    rows = sorted(marks(), key=lambda mark: mark["seconds"])
    for place, mark in enumerate(rows):
        mark |= {"label": mark["package"].removeprefix("undercover, "), "above": place % 2 == 0}
    seconds = alt.Scale(type="log", domain=[0.05, 400])
    base = alt.Chart(alt.NamedData("rows"), width=560, height=300).encode(
        x=alt.X("seconds:Q", title="processor seconds", scale=seconds, axis=alt.Axis(values=[0.1, 1, 10, 100])),
        y=alt.Y("loss:Q", title="loss of detail", scale=alt.Scale(domain=[0, 0.7]), axis=alt.Axis(format="~%")),
    )
    hue = alt.Color("whose:N", scale=alt.Scale(domain=["undercover", "others"], range=[AFTER, BEFORE]))
    chart = base.mark_point(filled=True, size=90, opacity=1).encode(color=hue)
    for above, lower in ((True, -9), (False, 11)):
        named = base.transform_filter(alt.datum.above == above)
        chart += named.mark_text(align="left", dx=6, dy=lower, color=INK, fontSize=11).encode(text="label:N")
    said = "; ".join(f"{one['package']}: {one['seconds']:g} s, {one['loss']:.0%}" for one in rows)
    return drawings(Picture.of("peers", chart, rows, f"Time and loss with k = 10 on 30,000 rows. {said}."), "peers")
