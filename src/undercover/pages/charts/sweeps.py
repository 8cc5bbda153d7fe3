"""What an attacker gets against the main parameter of each method: one small picture per sweep of a comparison.

Takes the releases of ``compare.json``. Solid lines are means, dashed ones the worst person, dotted ones guessing; risks
are on one logarithmic scale in all pictures, so that methods can be compared by eye.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from undercover.model.figures import risk
from undercover.model.view import AFTER, BEFORE, Picture

_PANEL_WIDTH, _HEIGHT, _ABREAST = 250, 170, 4
_LEAST = 1e-6  # the smallest risk a logarithmic axis shows
_KINDS = {"identity": ("finding the row", BEFORE), "attribute": ("learning the value", AFTER)}


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
    looks = dict(_KINDS.values())
    legend = alt.Legend(title=None, symbolType="stroke", symbolStrokeWidth=2, symbolSize=300, columnPadding=22)
    colors = alt.Scale(domain=lines, range=[looks[line.rpartition(", ")[0]] for line in lines])
    dashes = alt.Scale(domain=lines, range=[[5, 4] if line.endswith("worst") else [1, 0] for line in lines])
    color = alt.Color("line:N", scale=colors, sort=lines, legend=legend)
    dash = alt.StrokeDash("line:N", scale=dashes, sort=lines, legend=legend)
    lowest = min(min(row["shown"] for row in rows), *(row["guess"] for row in rows if row["guess"]))
    scale = alt.Scale(type="log", domain=[max(lowest * 0.7, _LEAST), 1.0], nice=False)
    ticks = [tick for tick in (1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 1.0) if tick >= lowest * 0.7]
    drawn = []
    for place, (series, made) in enumerate(shown.items()):
        order = [str(release["value"]) for release in made]
        base = alt.Chart(width=_PANEL_WIDTH, height=_HEIGHT, title=alt.Title(series, fontSize=12, limit=_PANEL_WIDTH))
        base = base.transform_filter(alt.datum.series == series)
        x = alt.X("value:O", sort=order, title=made[0]["parameter"], axis=alt.Axis(labelAngle=0, grid=False))
        y = alt.Y("shown:Q", scale=scale, title="probability" if place % _ABREAST == 0 else None,
                  axis=alt.Axis(values=ticks, format="~%"))  # fmt: skip
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
    described = f"Worst disclosure along the main parameter: {'; '.join(told)}."
    return Picture(name, {**whole.to_dict(validate=False), "data": {"values": rows}}, described)


def _guess(guessing: Mapping[str, Any], kind: str) -> float | None:
    found = guessing.get(kind)
    return found["mean"] if isinstance(found, Mapping) else found
