"""How belief in the truth is spread over people: which share of them an attacker is at least so sure of.

A mean hides who stands out, a worst case how many do; the curve has both ends and what lies between. It falls from
everybody, at least 0, to those of whom he is as sure as of anybody.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from undercover.model.figures import risk
from undercover.model.view import AFTER, GUESS, FigureTable, Picture, table

EDGES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
MOST_POINTS = 60
_NEAR = 1e-12  # beliefs that differ by less are alike
_WIDTH = 800


def belief_curve(beliefs: NDArray[np.float64]) -> list[dict[str, float]]:
    """Beliefs in ascending order, and of each the share of people he is at least so sure of.

    Every belief that occurs where they are few, else those at even steps of belief and at even steps of people, the
    least and the greatest among them; there the curve is exact.

    >>> belief_curve(np.array([0.5, 0.25, 0.25, 1.0]))
    [{'belief': 0.25, 'share': 1.0}, {'belief': 0.5, 'share': 0.5}, {'belief': 1.0, 'share': 0.25}]
    """
    ascending = np.sort(beliefs)
    first = np.flatnonzero(np.append(True, np.diff(ascending) > _NEAR))  # of those that are alike
    if len(first) > MOST_POINTS:
        beliefs_of, half = ascending[first], MOST_POINTS // 2
        even = np.searchsorted(beliefs_of, np.linspace(beliefs_of[0], beliefs_of[-1], half))
        people = np.searchsorted(first, np.linspace(0, first[-1], half))
        first = first[np.union1d(even, people)]
    return [{"belief": float(ascending[at]), "share": 1.0 - float(at) / len(ascending)} for at in first]


def shares_at_least(beliefs: NDArray[np.float64], edges: Sequence[float] = EDGES) -> dict[str, float]:
    """The share of people he is at least so sure of, for a few beliefs."""
    return {f"{edge:g}": float((beliefs >= edge - _NEAR).mean()) for edge in edges}


def shares_table(found: Mapping[str, Mapping[str, float]]) -> FigureTable:
    """The shares of :func:`shares_at_least`, a column for each sensitive one; without beliefs nobody reaches."""
    reached = [edge for edge in next(iter(found.values())) if any(shares[edge] > 0 for shares in found.values())]
    rows = [(f"{100 * float(edge):g}% sure", *(shares[edge] for shares in found.values())) for edge in reached]
    columns = ("at least", *(f"people, by `{name}`" for name in found))
    return table(columns, "plain" + " risk" * len(found), rows, "How many people he is so sure of", detail=1)


def belief_chart(curves: Mapping[str, Sequence[Mapping[str, float]]], guessing: Mapping[str, float]) -> Picture:
    """The curves, a panel for each sensitive column, with guessing as a rule."""
    import altair as alt

    rows = [
        {"column": name, "belief": point["belief"], "share": point["share"], "guess": guessing[name]}
        for name, curve in curves.items()
        for point in ({"belief": 0.0, "share": 1.0}, *curve)
    ]
    width = _WIDTH - 80 if len(curves) == 1 else _WIDTH // 2 - 70
    panels = []
    for name in curves:
        base = alt.Chart(width=width, height=190, title=name).transform_filter(
            alt.FieldEqualPredicate(field="column", equal=name)
        )
        x = alt.X("belief:Q", title="belief in the true value", axis=alt.Axis(format=".3~%", tickCount=6, grid=False))
        y = alt.Y("share:Q", title="people, at least so sure", axis=alt.Axis(format=".3~%", tickCount=5))
        ruler = base.mark_rule(color=GUESS, strokeDash=[2, 3], strokeWidth=1.5).encode(x=alt.X("max(guess):Q"))
        label = (
            base.transform_aggregate(guess="max(guess)")
            .mark_text(color=GUESS, align="left", dx=4, dy=8, fontSize=11, text="guessing", baseline="top")
            .encode(x=alt.X("guess:Q"), y=alt.value(0))
        )
        line = base.mark_line(color=AFTER, strokeWidth=2, interpolate="step-before").encode(
            x=x, y=y, order=alt.Order("belief:Q")
        )
        panels.append(alt.layer(ruler, label, line))
    chart = alt.concat(*panels, columns=2, spacing=40, data=alt.NamedData("rows"))
    told = [
        f"of {name} he is {risk(curve[-1]['belief'])} sure at worst, which are {risk(curve[-1]['share'])} of the people"
        for name, curve in curves.items()
    ]
    caption = "Of which share of the people he is at least so sure. The sooner it falls, the better; dotted: guessing."
    return Picture.of("beliefs", chart, rows, f"How belief is spread: {'; '.join(told)}.", caption)
