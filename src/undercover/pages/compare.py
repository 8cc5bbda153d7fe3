"""The page of a comparison: pictures of privacy against utility, a table that can be sorted, and what could not run.

One self-contained file.

Pictures show what an attacker learns against what an analyst loses, one point per release: nearer to the lower left
corner is better in both, and a thin line reaches up to the most exposed person. A mark is filled where the release
satisfies the policy, and a ring is around the one that is recommended. A dashed line joins the releases that no other
beats, the frontier, where labels say the parameter in the colour of the verdict; a dotted one shows what guessing
reaches without any release. Risks are on a logarithmic scale. Beside them what an attacker gets along the main
parameter of each method, one small picture per sweep: solid lines are means, dashed ones the worst person, dotted ones
guessing, on one scale in all pictures.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from undercover.model.figures import risk
from undercover.model.view import AFTER, BEFORE, GUESS, INK, Picture
from undercover.pages.jinja import drawn, render
from undercover.pages.looks import VERDICTS, Look, lean, looks
from undercover.pages.placing import MARK, Point, placed

ATTACKS = {
    "linkage": "linkage: the attacker knows every quasi-identifier of a person and looks for the rows that fit",
    "partial-linkage": "partial linkage: he matches on some of the quasi-identifiers only, which helps where values "
    "were drawn at random; the best of several strengths",
    "informed": "informed: he also knows the groups, the output tables and which rows are those of a person's group, "
    "and not what was drawn. Nobody outside knows as much, so this is an upper bound",
    "told-groups": "told the groups: he also knows who was put together with whom and which rows are theirs, and not "
    "how values were permuted. Nobody outside knows as much, so this is an upper bound",
}

MEASURES = (
    ("verdict", "Verdict", "Whether such a release may be published under the policy, by what happens to people: "
     "Ready, Decide, or Do not publish."),
    ("safe", "Safe from somebody who knows the algorithm", "Whether somebody who knows the algorithm, everybody's "
     "quasi-identifiers and all sensitive values, but not whose they are, learns no more than the release alone says."),
    ("identity", "Finding the row", "Probability of picking a person's own row, by the strongest attack that applies: "
     "the mean over everybody, and the worst row."),
    ("attribute", "Learning the value", "Probability the strongest attack gives to a person's true sensitive value: "
     "mean and worst row. Guessing knows how frequent values are overall."),
    ("corruption", "All others known", "The same where the attacker has learnt everybody else's sensitive value. A "
     "release that shows true values gives away the last one, however they are grouped."),
    ("iloss", "ILoss", "Mean share of a column's values that a cell stands for beyond one: 0 as it was, near 1 nothing "
     "left."),
    ("count", "COUNT", "Mean relative error of random COUNT queries on one to three quasi-identifiers and a sensitive "
     "value; answers below 0.5% of the rows count as 0.5%."),
    ("sum", "SUM", "Median relative error of random sums of a sensitive column."),
    ("marginal", "Columns", "Mean total variation distance between the true distribution of a column and the one a "
     "recipient estimates."),
    ("pairwise", "Pairs", "The same for pairs of columns."),
    ("classification", "Learning", "Share of the original rows a decision tree gets wrong that was trained on the "
     "release to tell the sensitive value (below or above the median, or which category) from quasi-identifiers."),
    ("seconds", "Time", "Seconds to anonymise, compiled beforehand."),
    ("memory", "Memory", "By how much the process grew at its peak while publishing."),
)  # fmt: skip
"""Key, heading and explanation of every column of the table."""
RISKS = {
    "identity": "probability of finding a person's row (mean, up to worst)",
    "attribute": "probability given to the true value (mean, up to worst)",
}
COSTS = {
    "pairwise": "distance of pairs of columns (mean)",
    "count": "error of COUNT queries (mean)",
    "classification": "classification error",
}
_WIDTH, _HEIGHT = 470, 330
_WIDTHS = (230, 260, 290, _WIDTH)  # that labels are placed for: what a phone leaves beside the axis, and the whole
_RING = 11.0  # half the width of the ring around what is recommended
_FAR = 4.0  # times what three quarters of the releases cost
_PANEL_WIDTH, _PANEL_HEIGHT, _ABREAST = 250, 170, 4
_KINDS = {"identity": ("finding the row", BEFORE), "attribute": ("learning the value", AFTER)}
_FINE = 0.005  # from here on there is room for labels between the powers of ten
_LEAST = 1e-6  # the smallest risk a logarithmic axis shows


def compare_html(results: Mapping[str, Any]) -> str:
    """One self-contained page; takes the content of ``compare.json``."""
    charts = [
        {"title": picture["title"], "svg": drawn(chart)}
        for picture, chart in zip(results["frontiers"], frontier_charts(results), strict=True)
    ]
    swept = sweep_chart(results["releases"], results["guessing"])
    used = {
        part["attack"]
        for release in results["releases"]
        for part in (release["privacy"]["identity"], release["privacy"]["attribute"])
        if part is not None
    }
    return render(
        "compare.html.j2",
        results=results,
        charts=charts,
        sweeps=drawn(swept) if swept else None,
        marks=[{"series": name, "look": look} for name, look in series_looks(results["releases"]).items()],
        verdicts=[verdict for verdict in VERDICTS if any(one["verdict"] == verdict for one in results["releases"])],
        colors=VERDICTS,
        measures=MEASURES,
        attacks=[text for name, text in ATTACKS.items() if name in used],
        reasons=_reasons(results),
    )


def _reasons(results: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What was not measured and why, each reason once with the releases it is about."""
    titles = {key: heading for key, heading, _ in MEASURES}
    found: dict[tuple[str, str], list[str]] = {}
    for release in results["releases"]:
        for measure, why in release["notes"].items():
            found.setdefault((titles.get(measure, measure), why), []).append(release["title"])
    everywhere = len(results["releases"])
    return [
        {"measure": measure, "why": why, "titles": [] if len(releases) == everywhere else releases}
        for (measure, why), releases in found.items()
    ]


def frontier_charts(results: Mapping[str, Any]) -> list[Picture]:
    """One chart for each entry of ``results["frontiers"]``; a release that is recommended has a ring."""
    known, recommended = series_looks(results["releases"]), (results["recommended"] or {}).get("title")
    return [_chart(picture, known, recommended) for picture in results["frontiers"]]


def series_looks(releases: Sequence[Mapping[str, Any]]) -> dict[str, Look]:
    """How every series of a comparison looks."""
    methods = {release["series"]: release["method"] for release in releases}
    return looks(methods, methods)


def described(picture: Mapping[str, Any]) -> str:
    """A sentence that stands in for the picture: who is on the frontier."""
    best = [
        f"{point['title']} ({risk(point['risk'])}, cost {risk(point['cost'])})"
        for point in sorted(picture["points"], key=lambda point: float(point["cost"]))
        if point["frontier"]
    ]
    guessing = "" if picture["guessing"] is None else f" Guessing reaches {risk(picture['guessing'])}."
    return f"{picture['title']}: nobody beats {'; '.join(best)}.{guessing}"


def _chart(picture: Mapping[str, Any], known: Mapping[str, Look], recommended: str | None) -> Picture:
    import altair as alt

    rows: list[dict[str, Any]] = [
        {
            **point,
            "place": place,
            "shown": max(float(point["risk"]), _LEAST),
            "highest": max(float(point["worst"]), _LEAST),
            "filled": float(point["satisfies"]),
            "recommended": point["title"] == recommended,
        }
        for place, point in enumerate(picture["points"])
    ]
    least = min([row["shown"] for row in rows] + ([picture["guessing"]] if picture["guessing"] else []))
    across = _across([float(row["cost"]) for row in rows], zero=picture["utility"] != "classification")
    upwards = Axis("log", least * 0.75, min(1.15, max(row["highest"] for row in rows) * 1.5))
    present = [name for name in known if name in {row["series"] for row in rows}]
    colors = lean(alt.Scale(domain=present, range=[known[name].color for name in present]))
    shapes = lean(alt.Scale(domain=present, range=[known[name].mark for name in present]))
    base = alt.Chart(alt.NamedData("rows"), width=_WIDTH, height=_HEIGHT)
    axis = lean(alt.Axis(format="~%", values=_decades(least), gridOpacity=0.12))
    x = alt.X("cost:Q", title=picture.get("measured", COSTS[picture["utility"]]), scale=across.scale(),
              axis=lean(alt.Axis(format="~%", tickCount=6, grid=False)))  # fmt: skip
    y = alt.Y("shown:Q", title=RISKS[picture["privacy"]], axis=axis, scale=upwards.scale())
    hue = alt.Color("series:N", scale=colors, legend=None)
    reach = base.mark_rule(strokeWidth=1, opacity=0.4).encode(x=x, y=y, y2=alt.Y2("highest:Q"), color=hue)
    ends = base.mark_tick(orient="horizontal", size=9, thickness=1.5, opacity=0.7).encode(
        x=x, y=alt.Y("highest:Q"), color=hue
    )
    lines = base.mark_line(strokeWidth=1.2, opacity=0.45).encode(x=x, y=y, order=alt.Order("place:Q"), color=hue)
    best = (
        base.transform_filter(alt.datum.frontier)
        .mark_line(color=INK, strokeDash=[5, 4], strokeWidth=1.4, opacity=0.7, interpolate="step-after")
        .encode(x=x, y=y, order=alt.Order("cost:Q"))
    )
    marks = base.mark_point(filled=True, size=130, opacity=1, strokeWidth=1.5).encode(
        x=x,
        y=y,
        stroke=alt.Stroke("series:N", scale=colors, legend=None),
        fill=alt.Fill("series:N", scale=colors, legend=None),
        fillOpacity=alt.FillOpacity("filled:Q", scale=lean(alt.Scale(domain=[0, 1], range=[0, 1])), legend=None),
        shape=alt.Shape("series:N", scale=shapes, legend=None),
    )
    ring = (
        base.transform_filter(alt.datum.recommended)
        .mark_point(shape="circle", filled=False, size=380, strokeWidth=1.8, color=INK, opacity=1)
        .encode(x=x, y=y)
    )
    layers = [reach, ends, lines, best, marks, ring, *_labels(rows, base, across, upwards)]
    if picture["guessing"]:
        rule = base.mark_rule(color=GUESS, strokeDash=[2, 3]).encode(y=alt.YDatum(picture["guessing"]))
        layers.insert(0, rule)
    spec = {**alt.layer(*layers).to_dict(validate=False), "data": {"values": rows}}
    return Picture(f"frontier-{picture['id']}", spec, described(picture))


def _labels(rows: Sequence[Mapping[str, Any]], base: Any, across: Axis, upwards: Axis) -> list[Any]:
    """The parameter beside every release of the frontier and the one that is recommended, in the colour of its verdict.

    A label stands so many pixels from its point, which only a layer of its own can say.
    """
    import altair as alt

    points = [
        Point(
            across.at(float(row["cost"])),
            1 - upwards.at(row["shown"]),
            row["title"].rpartition(", ")[2] if row["frontier"] or row["recommended"] or row.get("labelled") else "",
            _RING if row["recommended"] else MARK,
        )
        for row in rows
    ]
    layers = []
    for row, point, box in zip(rows, points, placed(points, _WIDTHS, _HEIGHT), strict=True):
        if box is None:
            continue
        one = base.transform_filter(f"datum.place == {row['place']}")
        x, y = box.nearest()
        if max(abs(x), abs(y)) > 2 * point.half:
            lead = one.mark_rule(color=INK, strokeWidth=0.8, opacity=0.6, x2Offset=x, y2Offset=y)
            layers.append(lead.encode(x=alt.X("cost:Q"), y=alt.Y("shown:Q"), x2=alt.X2("cost:Q"), y2=alt.Y2("shown:Q")))
        color, middle = VERDICTS.get(row["verdict"], INK), (box.top + box.bottom) / 2
        text = one.mark_text(align="left", baseline="middle", fontSize=12, color=color, dx=box.left, dy=middle)
        layers.append(text.encode(x=alt.X("cost:Q"), y=alt.Y("shown:Q"), text=alt.TextValue(point.text)))
    return layers


class Axis(NamedTuple):
    """An axis whose ends are known beforehand, so that labels can be placed: a share of its length for a value."""

    kind: Literal["linear", "log"]
    low: float
    high: float

    def at(self, value: float) -> float:
        """Where a value is, from 0 to 1.

        >>> Axis("log", 0.01, 1.0).at(0.1), Axis("linear", 0.0, 4.0).at(1.0)
        (0.5, 0.25)
        """
        low, high = self._turned(self.low), self._turned(self.high)
        return (self._turned(value) - low) / (high - low)

    def _turned(self, value: float) -> float:
        return math.log(value) if self.kind == "log" else value

    def scale(self) -> Any:
        """The same for a picture."""
        import altair as alt

        return lean(alt.Scale(type=self.kind, domain=[self.low, self.high], nice=False))


def _across(costs: Sequence[float], *, zero: bool) -> Axis:
    """The axis of the costs: logarithmic where a few are far off, or all others would stand on one spot."""
    if min(costs) > 0 and max(costs) > _FAR * sorted(costs)[len(costs) * 3 // 4]:
        return Axis("log", min(costs) * 0.8, max(costs) * 1.2)
    low, high = (0.0 if zero else min(costs)), max(costs)
    room = (high - low or high or 1.0) * 0.05
    return Axis("linear", low if zero else low - room, high + room)


def _decades(least: float) -> list[float]:
    """Where a logarithmic axis from ``least`` to 1 is labelled."""
    within = (1.0, 0.7, 0.5, 0.3, 0.2, 0.15) if least >= _FINE else (1.0,)
    ticks: list[float] = []
    decade = 1.0
    while not ticks or ticks[-1] > least * 0.8:
        ticks += [float(f"{decade * step:.6g}") for step in within]
        decade /= 10
    kept = [tick for tick in ticks if tick > least * 0.8]
    return [*kept, *(tick for tick in ticks[len(kept) :][:1])][::-1]


def sweep_chart(
    releases: Sequence[Mapping[str, Any]], guessing: Mapping[str, Any], name: str = "sweeps"
) -> Picture | None:
    """The pictures; ``None`` where no method was run with several values of a parameter."""
    import altair as alt

    by_series: dict[str, list[Mapping[str, Any]]] = {}
    for release in releases:
        if release["parameter"]:
            by_series.setdefault(release["series"], []).append(release)
    shown = {series: made for series, made in by_series.items() if len(made) > 1}
    rows, told = [], []
    for series, made in shown.items():
        for kind, (words, _) in _KINDS.items():
            found = [(release, release["privacy"][kind]) for release in made if release["privacy"][kind] is not None]
            rows += [
                {"series": series, "value": str(release["value"]), "line": f"{words}, {of}", "of": of, "risk": part[of],
                 "shown": max(float(part[of]), _LEAST), "guess": _guess(guessing, kind)}
                for release, part in found
                for of in ("mean", "worst")
            ]  # fmt: skip
            if found:
                (first, one), (last, other) = found[0], found[-1]
                told.append(
                    f"{series}, {words} {risk(one['worst'])} at {first['parameter']}={first['value']} to "
                    f"{risk(other['worst'])} at {last['parameter']}={last['value']}"
                )
    if not rows:
        return None
    lines = [f"{words}, {of}" for words, _ in _KINDS.values() for of in ("mean", "worst")]
    lines = [line for line in lines if any(row["line"] == line for row in rows)]
    hues = dict(_KINDS.values())
    legend = lean(alt.Legend(title=None, symbolType="stroke", symbolStrokeWidth=2, symbolSize=300, columnPadding=22))
    colors = lean(alt.Scale(domain=lines, range=[hues[line.rpartition(", ")[0]] for line in lines]))
    dashes = lean(alt.Scale(domain=lines, range=[[5, 4] if line.endswith("worst") else [1, 0] for line in lines]))
    color = alt.Color("line:N", scale=colors, sort=lines, legend=legend)
    dash = alt.StrokeDash("line:N", scale=dashes, sort=lines, legend=legend)
    lowest = min(min(row["shown"] for row in rows), *(row["guess"] for row in rows if row["guess"]))
    scale = lean(alt.Scale(type="log", domain=[max(lowest * 0.7, _LEAST), 1.0], nice=False))
    ticks = [tick for tick in (1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 1.0) if tick >= lowest * 0.7]
    drawn = []
    for place, (series, made) in enumerate(shown.items()):
        order = [str(release["value"]) for release in made]
        base = alt.Chart(
            width=_PANEL_WIDTH, height=_PANEL_HEIGHT, title=alt.Title(series, fontSize=12, limit=_PANEL_WIDTH)
        )
        base = base.transform_filter(alt.datum.series == series)
        x = alt.X("value:O", sort=order, title=made[0]["parameter"], axis=lean(alt.Axis(labelAngle=0, grid=False)))
        y = alt.Y("shown:Q", scale=scale, title="probability" if place % _ABREAST == 0 else None,
                  axis=lean(alt.Axis(values=ticks, format="~%")))  # fmt: skip
        rules = (
            base.transform_filter("isValid(datum.guess)")
            .mark_rule(strokeDash=[2, 3], strokeWidth=1.2)
            .encode(y=alt.Y("max(guess):Q", scale=scale), color=color)
        )
        drawn_lines = base.mark_line(strokeWidth=2).encode(x=x, y=y, color=color, strokeDash=dash)
        dots = base.mark_point(filled=True, size=30, opacity=1).encode(x=x, y=y, color=color)
        drawn.append(alt.layer(rules, drawn_lines, dots))
    whole = alt.concat(*drawn, columns=_ABREAST, spacing=22, data=alt.NamedData("rows")).resolve_scale(
        color="shared", strokeDash="shared"
    )
    sentence = f"Worst disclosure along the main parameter: {'; '.join(told)}."
    return Picture(name, {**whole.to_dict(validate=False), "data": {"values": rows}}, sentence)


def _guess(guessing: Mapping[str, Any], kind: str) -> float | None:
    found = guessing.get(kind)
    return found["mean"] if isinstance(found, Mapping) else found
