"""What is to be known of Incognito beyond its class: words, and a picture of the lattice it searched.

LeFevre, DeWitt & Ramakrishnan 2005, "Incognito: Efficient Full-Domain K-Anonymity", Figures 3 and 5. A lattice of few
nodes is drawn node by node, the least general at the bottom; of a large one it is counted how many nodes of every
height keep the promise.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from math import prod
from typing import Any

import numpy as np

from undercover.model.about import About, Drawing, Example, Stop, Sweep
from undercover.model.figures import cost, number
from undercover.model.form import Generalized
from undercover.model.run import Run
from undercover.model.view import AFTER, BEFORE, BROAD, GUESS, INK, Picture
from undercover.steps.lattice.choice import searched, with_levels
from undercover.steps.reach import checked, groups_of

MOST_NODES = 150
_WIDTH = 800
_FRAME = "candidates"
_COLORS = (BEFORE, AFTER, "var(--series-6, #56a0d9)", GUESS)
_SHAPES = ("diamond", "square", "circle", "cross")
KINDS = ("chosen", "minimal", "keeps the promise", "does not")
DONE = (
    "Every quasi-identifier was put on one level of its hierarchy, the same for all rows. All combinations of levels "
    "that keep the promise were found, and the best of them was taken. Rows with the same cells form a class. "
    "Sensitive values were not changed."
)
_TWO_DIVERSE = {"k": 1, "l": 2, "diversity": "distinct"}


def lattice_facts(run: Run) -> dict[str, Any] | None:
    """What is known of the lattice; ``None`` where the passing nodes were not all looked for.

    ``columns`` (``name``, ``level`` taken, ``height``), ``nodes``, ``passing``, ``minimal`` (how many), ``loss`` of the
    node taken, ``by_height`` (``height``, ``passing``, ``failing``) and, of a small lattice, ``listed``: every node
    with its ``levels``, ``kind`` and ``loss`` where it keeps the promise.
    """
    frame = run.frames.get(_FRAME)
    taken = (run.release.parameters.get("used") or {}).get("levels")
    if frame is None or not taken:
        return None
    names = list(taken)
    parts = [text.split(" of ") for text in taken.values()]
    levels, heights = tuple(int(part[0]) for part in parts), tuple(int(part[1]) for part in parts)
    nodes = np.stack([frame.column(name).to_numpy() for name in names], axis=1)  # (n_passing, n_columns)
    minimal = np.asarray(frame.column("minimal").to_numpy(zero_copy_only=False))
    by_height = _by_height(heights)
    passing = np.bincount(nodes.sum(axis=1), minlength=len(by_height))
    facts: dict[str, Any] = {
        "columns": [
            {"name": name, "level": level, "height": height}
            for name, level, height in zip(names, levels, heights, strict=True)
        ],
        "nodes": prod(height + 1 for height in heights),
        "passing": len(nodes),
        "minimal": int(minimal.sum()),
        "height": sum(levels),
        "loss": float(run.diagnostics["loss"]),
        "by_height": [
            {"height": height, "passing": int(passing[height]), "failing": int(count - passing[height])}
            for height, count in enumerate(by_height.tolist())
        ],
        "listed": [],
    }
    if facts["nodes"] <= MOST_NODES:
        losses = dict(zip(map(tuple, nodes.tolist()), frame.column("loss").to_pylist(), strict=True))
        least = {tuple(node) for node in nodes[minimal].tolist()}
        for node in product(*(range(height + 1) for height in heights)):
            kind = "does not" if node not in losses else "minimal" if node in least else "keeps the promise"
            kind = "chosen" if node == levels else kind
            facts["listed"].append({"levels": list(node), "kind": kind, "loss": losses.get(node)})
    return facts


def lattice_chart(facts: Mapping[str, Any], name: str = "lattice") -> Picture:
    """The picture of a lattice; takes what :func:`lattice_facts` returns."""
    taken = ", ".join(f"{column['name']} {number(column['level'])}" for column in facts["columns"])
    described = (
        f"{number(facts['passing'])} of {number(facts['nodes'])} combinations of levels keep the promise, "
        f"{number(facts['minimal'])} of them minimal; taken was {taken}, with a loss of detail of "
        f"{cost(facts['loss'])} (geometric mean)."
    )
    return Picture(name, _nodes(facts) if facts["listed"] else _heights(facts), described)


def _nodes(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Every node at its height, joined with those one step above it."""
    import altair as alt

    short = all(column["height"] <= 9 for column in facts["columns"])
    rows: dict[int, list[Mapping[str, Any]]] = {}
    for node in facts["listed"]:
        rows.setdefault(sum(node["levels"]), []).append(node)
    place = {
        tuple(node["levels"]): (position + 0.5) / len(row) for row in rows.values() for position, node in enumerate(row)
    }
    values: list[dict[str, Any]] = []
    for node in facts["listed"]:
        levels = tuple(node["levels"])
        here = {"x": place[levels], "y": sum(levels)}
        values += [
            {**here, "x2": place[upper], "y2": sum(upper)}
            for upper in ((*levels[:axis], level + 1, *levels[axis + 1 :]) for axis, level in enumerate(levels))
            if upper in place
        ]
    for node in facts["listed"]:
        levels = tuple(node["levels"])
        text = ("" if short else "·").join(map(str, levels))
        values.append({"x": place[levels], "y": sum(levels), "kind": node["kind"], "text": text, "loss": node["loss"]})
    widest = max(len(row) for row in rows.values())
    height = max(rows)
    base = alt.Chart(alt.NamedData("values"), width=_WIDTH, height=max(90, 46 * height))
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[0, 1]))
    y = alt.Y("y:Q", title="sum of levels", scale=alt.Scale(domain=[-0.4, height + 0.4], nice=False),
              axis=alt.Axis(values=list(range(height + 1)), format="d", grid=False))  # fmt: skip
    kinds = list(KINDS)
    size = 190 if widest <= 14 else 130
    legend = alt.Legend(title=None, symbolOpacity=1, symbolSize=110, columnPadding=22)
    edges = base.transform_filter("isValid(datum.x2)").mark_rule(color=INK, opacity=0.16).encode(
        x=x, y=y, x2=alt.X2("x2:Q"), y2=alt.Y2("y2:Q")
    )  # fmt: skip
    points = base.transform_filter("isValid(datum.kind)")
    marks = points.mark_point(filled=True, opacity=1, size=size).encode(
        x=x,
        y=y,
        color=alt.Color("kind:N", scale=alt.Scale(domain=kinds, range=list(_COLORS)), sort=kinds, legend=legend),
        shape=alt.Shape("kind:N", scale=alt.Scale(domain=kinds, range=list(_SHAPES)), sort=kinds, legend=legend),
    )
    layers = [edges, marks]
    letters = widest * max(len(row["text"]) for row in values if "text" in row)
    if letters <= 130:
        words = points.mark_text(fontSize=11, color=INK, dy=-14).encode(x=x, y=y, text=alt.Text("text:N"))
        layers.append(words if letters <= 40 else words.properties(name=BROAD))
    return {**alt.layer(*layers).to_dict(validate=False), "data": {"values": values}}


def _heights(facts: Mapping[str, Any]) -> dict[str, Any]:
    """How many nodes of every height keep the promise."""
    import altair as alt

    kinds = ["keep the promise", "do not"]
    values = [
        {"height": entry["height"], "kind": kind, "nodes": entry[key], "taken": facts["height"]}
        for entry in facts["by_height"]
        for kind, key in zip(kinds, ("passing", "failing"), strict=True)
    ]
    base = alt.Chart(alt.NamedData("values"), width=_WIDTH, height=200)
    x = alt.X("height:O", title="sum of levels (the right end says nothing)", axis=alt.Axis(labelAngle=0))
    bars = base.mark_bar().encode(
        x=x,
        y=alt.Y("nodes:Q", title="combinations of levels", axis=alt.Axis(format="~s", tickCount=5)),
        color=alt.Color(
            "kind:N",
            scale=alt.Scale(domain=kinds, range=[AFTER, GUESS]),
            sort=kinds,
            legend=alt.Legend(columnPadding=22),
        ),
        order=alt.Order("kind:N", sort="descending"),
    )
    mark = (
        base.transform_filter(alt.datum.height == alt.datum.taken)
        .mark_text(color=BEFORE, fontSize=12, dy=-8, fontWeight="bold", text="taken")
        .encode(x=x, y=alt.Y("sum(nodes):Q"))
    )
    return {**alt.layer(bars, mark).to_dict(validate=False), "data": {"values": values}}


def _by_height(heights: tuple[int, ...]) -> Any:
    """Nodes of every height: the coefficients of prod (1 + x + ... + x^h)."""
    counts = np.ones(1, dtype=np.int64)
    for height in heights:
        counts = np.convolve(counts, np.ones(height + 1, dtype=np.int64))
    return counts


ABOUT = About(
    unstated_form=lambda parameters: Generalized(one_level=True),
    title="Incognito",
    idea="Every column is generalised to one level of its hierarchy, the same for all rows, and the best are found.",
    when="Take it where all cells of a column must be of one kind (all ages in decades) and columns have hierarchies.",
    did=lambda release: with_levels(DONE, release),
    stages=searched,
    pictures=(Drawing("lattice", lattice_facts, lambda facts: [lattice_chart(facts)]),),
    sweeps=(Sweep("Incognito", "k", (5, 10, 20)),),
    candidates=lambda wanted: [{"k": k, "suppression": 0.01} for k in wanted.ks[::2]],
    reach=checked,
    outlook=lambda method, holding: groups_of(method.k, holding),
    tour=(
        Stop("incognito-k10", "Incognito k=10", {"k": 10}, hierarchies=True, ahead=1),
        Stop(
            "office-revenue",
            "Revenue office",
            _TWO_DIVERSE,
            hierarchies=True,
            quasi_identifiers=("age", "hours"),
            place=2,
        ),
        Stop(
            "office-census-alone",
            "Census office, alone",
            _TWO_DIVERSE,
            hierarchies=True,
            quasi_identifiers=("education", "race", "sex"),
            beside="office-revenue",
            place=2,
        ),
    ),
    examples=(
        Example({"k": 2}, "safe"),
        Example({"k": 2, "suppression": 0.5}, "safe"),
        Example({"k": 3, "choose": "dm"}, "safe"),
        Example({"k": 2, "l": 2}, "unsafe"),
        Example({"k": 2, "l": 2, "diversity": "distinct"}, "unsafe"),
        Example({"k": 2, "t": 0.5}, "unsafe"),
        Example({"k": 100}, "unreachable"),
    ),
)
