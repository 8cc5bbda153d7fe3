"""The page of an experiment: what was run, what the paper says and whether it held, pictures and their figures.

The page of all experiments: every claim of every paper with its verdict, and where the figures are.

Charts are lines over numbers or bars over names, one panel or several. Where something was measured several times, the
mean is drawn with the interval that its point has, and the caption says which. Series that coincide are drawn one in
the other, the first widest, and the caption names them. A quick run is marked, and its verdicts have no colour.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from undercover.model.figures import number, risk, seconds
from undercover.model.view import GUESS, INK, Picture
from undercover.pages.jinja import drawn, render
from undercover.pages.looks import Look, lean, looks

VERDICTS: dict[str, str] = {"held": "good", "not held": "bad", "cannot be tested": "care"}
Scales = tuple[Any, Any, Any]
_WRITTEN = {"seconds": seconds, "share": risk, "number": number}
_WIDTH, _PANEL_WIDTH, _PANELS_ABREAST = 800, 370, 2
_LEGEND = 4  # entries abreast
_APART = 0.01  # of the height of a picture: about the width of a line


def experiment_html(results: Mapping[str, Any]) -> str:
    """One self-contained page; takes the content of ``results.json``."""
    plots = []
    known = looks(point["series"] for plot in results["plots"] for point in plot["points"] if _measured(plot, point))
    for plot in results["plots"]:
        chart = drawn(experiment_chart(plot, known)) if plot["points"] else None
        notes = [*interval_words(plot["points"]), *coincidence_words(plot)]
        plots.append({**plot, "chart": chart, "tables": figure_tables(plot), "notes": notes})
    counts = Counter(claim["verdict"] for claim in results["claims"])
    return render(
        "experiment.html.j2",
        results={**results, "plots": plots},
        verdicts=[(verdict, look, counts[verdict]) for verdict, look in _verdict_looks(results).items()],
        looks=_verdict_looks(results),
    )


def _verdict_looks(results: Mapping[str, Any]) -> dict[str, str]:
    """The colours of verdicts; those of a quick run have none."""
    return dict.fromkeys(VERDICTS, "") if results["quick"] else VERDICTS


def interval_words(points: Sequence[Mapping[str, Any]]) -> list[str]:
    """What the bars of a picture are: nothing where nothing was repeated.

    >>> interval_words([{"count": 3, "interval_is": "range"}])
    ['Bars span the least and the greatest of 3 repetitions; marks are their means.']
    """
    said = {
        "95%": "Bars are 95% intervals of the mean of {} repetitions (Student's t).",
        "range": "Bars span the least and the greatest of {} repetitions; marks are their means.",
    }
    words = []
    for kind, text in said.items():
        counts = [point["count"] for point in points if point["interval_is"] == kind]
        if counts:
            least, most = min(counts), max(counts)
            words.append(text.format(f"{most:,}" if least == most else f"{least:,} to {most:,}"))
    return words


def coincidence_words(plot: Mapping[str, Any]) -> list[str]:
    """Which lines lie on each other, panel by panel."""
    words: dict[str, list[str]] = {}
    for panel in dict.fromkeys(point["panel"] for point in plot["points"]) if plot["mark"] == "line" else ():
        for group in coinciding(plot, panel):
            if len(group) > 1:
                *first, last = (f"“{name}”" for name in group)
                words.setdefault(f"{', '.join(first)} and {last} coincide", []).append(panel)
    several = len({point["panel"] for point in plot["points"]}) > 1
    return [f"{text} ({'; '.join(panels)})." if several else f"{text}." for text, panels in words.items()]


def coinciding(plot: Mapping[str, Any], panel: str) -> list[list[str]]:
    """The series of a panel in groups that nobody could tell apart: at every place less than a line's width apart."""
    lines: dict[str, dict[Any, float]] = {}
    for point in plot["points"]:
        if point["panel"] == panel:
            lines.setdefault(point["series"], {})[point["x"]] = point["mean"]
    highest = max((abs(mean) for line in lines.values() for mean in line.values()), default=0.0)
    groups: list[list[str]] = []
    for name in sorted(lines, key=lambda name: name in plot["reference"]):
        alike = (group for group in groups if _alike(lines[group[0]], lines[name], highest * _APART))
        group = next(alike, None)
        if group is None:
            groups.append([name])
        else:
            group.append(name)
    return groups


def _alike(one: Mapping[Any, float], other: Mapping[Any, float], apart: float) -> bool:
    return one.keys() == other.keys() and all(abs(one[x] - other[x]) <= apart for x in one)


def figure_tables(plot: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The figures of a plot, a table per panel: a line per x, a column per series."""
    tables = []
    for panel in dict.fromkeys(point["panel"] for point in plot["points"]):
        points = [point for point in plot["points"] if point["panel"] == panel]
        series = list(dict.fromkeys(point["series"] for point in points))
        found = {(point["x"], point["series"]): point for point in points}
        xs = list(dict.fromkeys(point["x"] for point in points))
        lines = [{"x": x, "cells": [found.get((x, name)) for name in series]} for x in xs]
        tables.append({"panel": panel, "series": series, "lines": lines})
    return tables


def experiments_overview_html(overview: Mapping[str, Any]) -> str:
    """One self-contained page that links to those of the experiments; takes the content of ``overview.json``."""
    entries = []
    for entry in overview["experiments"]:
        found = Counter(claim["verdict"] for claim in entry.get("claims", ()))
        entries.append({**entry, "verdicts": {verdict: found[verdict] for verdict in VERDICTS}})
    counts = {verdict: sum(entry["verdicts"][verdict] for entry in entries) for verdict in VERDICTS}
    finished = sum(entry["state"] == "finished" for entry in entries)
    waiting = sum(entry["state"] == "not run yet" for entry in entries)
    return render(
        "experiments_overview.html.j2",
        overview={**overview, "experiments": entries},
        verdicts=[(verdict, look, counts[verdict]) for verdict, look in _verdict_looks(overview).items()],
        looks=_verdict_looks(overview),
        total=sum(counts.values()),
        finished=finished,
        failed=len(entries) - finished - waiting,
    )


def experiment_chart(plot: Mapping[str, Any], known: Mapping[str, Look] | None = None) -> Picture:
    """The picture of one plot; takes an entry of ``results["plots"]`` that has points, and how series look."""
    import altair as alt

    points: list[dict[str, Any]] = [
        {**point, **dict(zip(("low", "high"), point["interval"] or (), strict=False))} for point in plot["points"]
    ]
    series = list(dict.fromkeys(point["series"] for point in points))
    panels = list(dict.fromkeys(point["panel"] for point in points))
    width = _WIDTH if len(panels) == 1 else _PANEL_WIDTH
    draw = _bars if plot["mark"] == "bar" else _lines
    known = known or looks(point["series"] for point in points if _measured(plot, point))
    drawn = []
    for panel in panels:
        base = alt.Chart(width=width, height=230, title=panel or alt.Undefined)
        shown = [point for point in points if point["panel"] == panel]
        drawn.append(draw(base.transform_filter(alt.datum.panel == panel), plot, shown, _scales(plot, series, known)))
    chart = alt.concat(*drawn, columns=_PANELS_ABREAST, data=alt.NamedData("rows"), spacing=24)
    return Picture(f"plot-{plot['id']}", {**chart.to_dict(validate=False), "data": {"values": points}}, described(plot))


def described(plot: Mapping[str, Any]) -> str:
    """A sentence that stands in for the picture: where each series starts and ends."""
    write = _WRITTEN[plot["unit"]]
    parts: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for point in plot["points"]:
        parts.setdefault((point["panel"], point["series"]), []).append(point)
    sentences = []
    for (panel, series), points in parts.items():
        first, last = points[0], points[-1]
        where = f"{panel}, {series}" if panel else series
        if len(points) == 1:
            sentences.append(f"{where} {write(first['mean'])}")
        else:
            sentences.append(
                f"{where} {write(first['mean'])} at {_x(first['x'])} to {write(last['mean'])} at {_x(last['x'])}"
            )
    return f"{plot['title']}: {'; '.join(sentences)}."


def _lines(base: Any, plot: Mapping[str, Any], points: Sequence[Mapping[str, Any]], scales: Scales) -> Any:
    import altair as alt

    xs = sorted({point["x"] for point in points})
    whole = all(isinstance(x, int) for x in xs)
    ticks: Any = list(xs) if whole and len(xs) <= 12 else alt.Undefined
    shown = "~s" if max(map(abs, xs)) >= 10_000 else ",d" if whole else "~g"
    axis = lean(
        alt.Axis(
            values=ticks, format=shown, grid=False, labelFlush=False, tickCount=6, labelOverlap=True, labelPadding=10
        )
    )
    x = alt.X("x:Q", title=plot["x_title"], axis=axis, scale=lean(alt.Scale(zero=False, nice=False, padding=10)))
    y = alt.Y("mean:Q", title=plot["y_title"], axis=_y_axis(plot), scale=lean(alt.Scale(zero=True)))
    colors, shapes, dashes = scales
    panel = points[0]["panel"]
    layers = [_bars_of_intervals(base, x, colors)] if any(point["interval"] for point in points) else []
    layers += [
        one.mark_line(strokeWidth=2 + 2.5 * inside, opacity=0.35 if inside else 1).encode(
            x=x, y=y, color=colors, strokeDash=dashes
        )
        for inside, one in _nested(base, coinciding(plot, panel))
    ]
    measured = [[name for name in group if name not in plot["reference"]] for group in coinciding(plot, panel)]
    layers += [
        one.mark_point(filled=not inside, size=90 * (1 + 0.4 * inside) ** 2, strokeWidth=1.5, opacity=1).encode(
            x=x, y=y, color=colors, shape=shapes
        )
        for inside, one in _nested(base, measured)
    ]
    return alt.layer(*layers)


def _nested(base: Any, groups: Sequence[Sequence[str]]) -> list[tuple[int, Any]]:
    """The parts of a picture, each with how many others lie inside: the widest first."""
    import altair as alt

    inside: dict[int, list[str]] = {}
    for group in groups:
        for place, name in enumerate(group):
            inside.setdefault(len(group) - 1 - place, []).append(name)
    return [
        (within, base.transform_filter(alt.FieldOneOfPredicate("series", inside[within])))
        for within in sorted(inside, reverse=True)
    ]


def _bars(base: Any, plot: Mapping[str, Any], points: Sequence[Mapping[str, Any]], scales: Scales) -> Any:
    import altair as alt

    order = list(dict.fromkeys(str(point["x"]) for point in points))
    axis = lean(alt.Axis(labelAngle=0 if sum(map(len, order)) < 90 else -30, grid=False))
    x = alt.X("x:N", title=plot["x_title"], sort=order, axis=axis)
    y = alt.Y("mean:Q", title=plot["y_title"], axis=_y_axis(plot))
    offset = alt.XOffset("series:N", sort=list(dict.fromkeys(point["series"] for point in points)))
    colors, _, _ = scales
    bars = base.mark_bar().encode(x=x, y=y, xOffset=offset, color=colors)
    if not any(point["interval"] for point in points):
        return bars
    return alt.layer(bars, _bars_of_intervals(base, x, None, xOffset=offset))


def _bars_of_intervals(base: Any, x: Any, colors: Any, **place: Any) -> Any:
    """A rule with an end above and below, along the interval of every point that has one."""
    import altair as alt

    shown = base.transform_filter("isValid(datum.low)")
    ink = {"color": INK} if colors is None else {"opacity": 0.8}
    hue = {} if colors is None else {"color": colors}
    rule = shown.mark_rule(strokeWidth=1.3, **ink).encode(x=x, y=alt.Y("low:Q"), y2=alt.Y2("high:Q"), **hue, **place)
    ends = (
        shown.mark_tick(orient="horizontal", size=8, thickness=1.3, **ink).encode(
            x=x, y=alt.Y(f"{end}:Q"), **hue, **place
        )
        for end in ("low", "high")
    )
    return alt.layer(rule, *ends)


def _measured(plot: Mapping[str, Any], point: Mapping[str, Any]) -> bool:
    return point["series"] not in plot["reference"]


def _scales(plot: Mapping[str, Any], series: Sequence[str], known: Mapping[str, Look]) -> Scales:
    """Colour, mark and dash of each series; a reference is a grey dashed line."""
    import altair as alt

    reference = Look(GUESS, "stroke", [6, 4])
    seen = [reference if name in plot["reference"] else known[name] for name in series]
    colors, shapes, dashes = ([getattr(look, key) for look in seen] for key in Look._fields)
    names = list(series)
    legend = lean(
        alt.Legend(
            title=None,
            columns=_LEGEND,
            columnPadding=30,
            labelLimit=220,
            symbolSize=130,
            symbolOpacity=1,
            symbolStrokeWidth=2 if plot["reference"] else 0,  # dashes would eat into marks
        )
    )
    return (
        alt.Color("series:N", scale=lean(alt.Scale(domain=names, range=colors)), sort=names, legend=legend),
        alt.Shape("series:N", scale=lean(alt.Scale(domain=names, range=shapes)), sort=names, legend=legend),
        alt.StrokeDash("series:N", scale=lean(alt.Scale(domain=names, range=dashes)), sort=names, legend=None),
    )


def _y_axis(plot: Mapping[str, Any]) -> Any:
    import altair as alt

    formats = {"share": ".3~%", "seconds": "~g", "number": "~s"}
    return lean(alt.Axis(format=formats[plot["unit"]], tickCount=6))


def _x(x: Any) -> str:
    return x if isinstance(x, str) else number(x)
