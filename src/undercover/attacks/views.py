"""What linkage shows, from the dict of its result: with the original, with the release, by guessing.

A view is bad where somebody's row or value is certain after the release, good where nobody is found or known with more
than the 20% commonly used as a threshold, and plain in between.

Of lines the solid ones are means, the dashed ones the worst person; a rule shows guessing, or what was promised. Altair
is imported when the first picture is made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

from undercover.model.figures import counted, number, risk, span
from undercover.model.view import (
    AFTER,
    BEFORE,
    GUESS,
    Figure,
    FigureTable,
    Part,
    Picture,
    Sense,
    View,
    certainty,
    facts,
    listed,
    say,
    table,
)

NUMBERS = "`.to_dict()` has the numbers, `.story` says what the attacker knows."
WORST_ROWS = "Rows he learns most about (private)"
OUTCOMES = (
    "Rows fit by chance here, so what they show is no belief: figures of values say how often he is right. What may be "
    "believed of a person is weighed by the attackers who know how values were moved."
)
SHOWN = 5  # of the worst rows and combinations


def outcomes_of(figures: Mapping[str, Any]) -> dict[str, Any]:
    """Figures of a sensitive column where rows fit by chance: how often he is right; nobody is sure of anything.

    >>> outcomes_of({"mean": 0.2, "max": 1.0, "guess_success": 0.3, "certain_rows": 7})
    {'mean': 0.2, 'max': None, 'guess_success': 0.3, 'certain_rows': None}
    """
    return {name: None if name in ("max", "certain_rows", "at_most") else value for name, value in figures.items()}


def without_beliefs(entry: Mapping[str, Any]) -> dict[str, Any]:
    """The same for what is reached at one P."""
    return {**entry, "attribute": {name: outcomes_of(figures) for name, figures in entry["attribute"].items()}}


def linkage_view(found: Mapping[str, Any]) -> View:
    """Finding the row and learning the values: with the original, with the release, by guessing."""
    was, now, guess = found["before"], found["after"], found["baseline"]
    old, new = was["identity"], now["identity"]
    rows: list[Any] = [
        ("finds the person's row, on average", _mean(old, "before"), _mean(new), guess["identity"]),
        ("finds the person's row, worst case", old["max"], new["max"], guess["identity"]),
        ("people found with more than 20%", old["at_risk_share"], new["at_risk_share"], None),
        ("people with a single match", old["unique_rows"], new["unique_rows"], None),
    ]
    charts: list[Part] = [partial(match_size_chart, found)] if "match_sizes" in found else []
    beliefs = found.get("beliefs", True)
    notes: list[Part] = [] if beliefs else [OUTCOMES]
    for name, new in now["attribute"].items():
        old, base = was["attribute"][name], guess["attribute"][name]
        right = Figure(new["guess_success"], "risk", interval=new.get("guess_interval"))
        if not beliefs:
            rows += [
                (f"takes a row that shows the own `{name}`", _mean(old, "before"), _mean(new), base["mean"]),
                (f"guesses `{name}` right", old["guess_success"], right, base["guess_success"]),
            ]
            continue
        rows += [
            (f"sure of `{name}`, on average", _mean(old, "before"), _mean(new), base["mean"]),
            (f"sure of `{name}`, worst case", old["max"], new["max"], base["guess_success"]),
            (f"guesses `{name}` right", old["guess_success"], right, base["guess_success"]),
            (f"people whose `{name}` is certain", old["certain_rows"], new["certain_rows"], None),
        ]
        charts.append(partial(attribute_chart, found, name))
        if new.get("missing_rows"):
            text = "{count} people have no value of {plain}: they are not among those of whom figures speak."
            notes.append(say(text, new["missing_rows"], f"`{name}`"))
        if "guess_sample" in new and "of" not in found:
            text = "Guesses of {plain} were looked at for {count} people drawn at random, since so many rows fit (95%)."
            notes.append(say(text, f"`{name}`", new["guess_sample"]))
    lines: list[Any] = [("people", found["targets"]), ("known of each", listed(found["known"]))]
    if "of" in found:
        lines[0] = ("people", say("{count} of {count}, drawn at random", found["targets"], found["of"]))
        notes.append(_sampled(found))
    if "p_match" in found:
        lines.append(("matches on", say("each column with probability {risk}", found["p_match"])))
        charts.append(_sweep(found, "By how many of the values he matches on", detail=1))
    names = list(now["attribute"]) if beliefs else []
    worst = [
        (row["row"], row["matches"], row["identity"], *row["attribute"].values()) for row in found["worst_rows"][:SHOWN]
    ]
    columns = ("input row", "matches", "found", *(f"`{name}`" for name in names))
    parts = (
        facts(*lines),
        table(("the attacker", "original", "release", "guessing"), "plain before risk baseline", rows),
        *notes,
        *charts,
        table(columns, "count count risk" + " risk" * len(names), worst, WORST_ROWS, private=True, detail=1),
    )
    highest = max([now["identity"]["max"], *(now["attribute"][name]["max"] for name in names)])
    return View("linkage", "Linkage", parts, *certainty(highest), found["story"], NUMBERS, private=True)


def _mean(entry: Mapping[str, Any], sense: Sense = "risk") -> Figure:
    """A mean, of a sample with its interval."""
    return Figure(entry["mean"], sense, interval=entry.get("interval"))


def _sampled(found: Mapping[str, Any]) -> Part:
    """What a sample says of everybody, and what is known of everybody without it."""
    text = (
        "Means come with a 95% interval, numbers of people are estimates for all of them. {count} people whose own "
        "class gives away most were looked for besides, and are among the worst cases."
    )
    values: list[Any] = [found["worst_off"]]
    bounds = [("finds the row", found["after"]["identity"])]
    if found.get("beliefs", True):
        bounds += [(f"is sure of `{name}`", entry) for name, entry in found["after"]["attribute"].items()]
    told = [(what, entry["at_most"]) for what, entry in bounds if entry.get("at_most", 1.0) < 1.0]
    if told:
        bounded = ", and ".join(f"{what} with more than {{risk}}" for what, _ in told)
        text += f" Of nobody, looked for or not, he {bounded}."
        values += [bound for _, bound in told]
    return say(text, *values)


def partial_view(found: Mapping[str, Any]) -> View:
    """What is reached by knowing, or matching on, each column with some probability only."""
    known = found["known"]
    if found.get("drawn", True):
        title, doing = "Matching on some of the values", "Matching on everything"
        story = (
            "Where values were moved, an attacker does better not to match on everything he knows: a single changed "
            f"value makes him miss the row. Here he matches on each of {len(known)} values with probability P; the "
            f"figures are exact means over all subsets.{found.get('told', '')}"
        )
    else:
        title, doing = "Knowing some of the values", "Knowing everything"
        story = (
            f"Hardly anybody knows all of {', '.join(known)} of a person. Here the attacker knows each of these "
            f"{len(known)} with probability P; the figures are exact means over everything he may know."
        )
    reached = f"{doing} he finds the row with {{risk}} on average (original: {{before}}, guessing: {{baseline}})."
    means = (found[side][-1]["identity"]["mean"] for side in ("sweep", "sweep_before"))
    parts: list[Part] = [facts(("people", found["targets"])), say(reached, *means, found["baseline"]["identity"])]
    if not found.get("beliefs", True):
        parts.append(OUTCOMES)
    if not found.get("everybody", True):
        parts.append(
            "They were chosen by chance: means come with a 95% interval, and the worst is the worst of those attacked."
        )
    parts += [partial(p_match_chart, found), _sweep(found, "The figures", detail=2)]
    each = [part for entry in found["sweep"] for part in (entry["identity"], *entry["attribute"].values())]
    highest = max(part["max"] for part in each if part["max"] is not None)
    return View("p-match", title, tuple(parts), *certainty(highest), story, NUMBERS, private=True)


def _sweep(found: Mapping[str, Any], title: str, *, detail: int) -> FigureTable:
    """What is reached for every P, with the original and with the release."""
    names = list(found["sweep"][0]["attribute"])
    guesses = bool(names) and "guess_success" in found["sweep"][0]["attribute"][names[0]]
    columns = ["P", "", "finds the row, mean", "worst"]
    for name in names:
        columns += [f"true `{name}`, mean", "worst", *(["best guess right"] if guesses else [])]
    rows = []
    for entry, raw in zip(found["sweep"], found["sweep_before"], strict=True):
        for side, values in (("original", raw), ("release", entry)):
            row: list[Any] = [entry["p"] if side == "original" else None, side]
            for part in (values["identity"], *(values["attribute"][name] for name in names)):
                interval = (part["low"], part["high"]) if "low" in part else None
                row += [Figure(part["mean"], "risk", interval=interval), part["max"]]
                row += [part["guess_success"]] if "guess_success" in part else []
            rows.append(row)
    return table(columns, "plain plain" + " risk" * (len(columns) - 2), rows, title, detail=detail)


_WIDTH, _PANEL = 800, 360
_PRIORS = {"uniform": "he believes nothing", "overall": "the overall shares", "worst": "what helps him most"}
MEAN, WORST = "mean", "worst"
_SIDES = ("before", "after")


def match_size_chart(attack: Mapping[str, Any]) -> Picture:
    """How many published rows match a person, before and after; takes the dict of a linkage attack."""
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
        f"Published rows that match a person: {counted(unique[0], 'person matches', 'people match')} exactly one row "
        f"in the original, {number(unique[1])} in the release."
    )
    caption = "How many published rows fit a person. The farther to the right, the better hidden."
    return Picture.of("match-sizes", chart, rows, described, caption)


def attribute_chart(attack: Mapping[str, Any], column: str) -> Picture:
    """How sure an attacker is of the true sensitive value, before and after; takes the dict of a linkage attack."""
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
    caption = f"How sure the attacker is of the true {column}. The farther to the left, the less he learns."
    return Picture.of("attribute", chart, rows, described, caption)


def p_match_chart(attack: Mapping[str, Any]) -> Picture:
    """Disclosure against the probability that a value is known: a panel for the row and one per sensitive column."""
    columns = list(attack["sweep"][0]["attribute"])
    guess = attack["baseline"]
    panels: dict[str, tuple[tuple[str, ...], float]] = {"finding the row": (("identity",), guess["identity"])}
    panels |= {f"learning {column}": (("attribute", column), guess["attribute"][column]["mean"]) for column in columns}
    rows = [
        {"panel": panel, "x": entry["p"], "y": _figures(entry, path)[key], "side": side, "of": of, "guess": guessing}
        for panel, (path, guessing) in panels.items()
        for side, sweep in (("original", attack["sweep_before"]), ("release", attack["sweep"]))
        for entry in sweep
        for key, of in (("mean", MEAN), ("max", WORST))
        if _figures(entry, path)[key] is not None
    ]
    told = [
        f"{panel} {risk(_figures(attack['sweep'][-1], path)['mean'])} on average, "
        f"{risk(_figures(attack['sweep_before'][-1], path)['mean'])} with the original"
        for panel, (path, _) in panels.items()
    ]
    x_title = "P: probability that each of his columns is known"
    colors = {"original": BEFORE, "release": AFTER}
    spec = _panels(list(panels), rows, x_title, "probability", colors, "guessing")
    caption = (
        "How likely he finds the row and how sure he is of the true value, against how much he knows. Lower is better; "
        "the dotted line is guessing."
    )
    return Picture("known", spec, f"If he knows everything: {'; '.join(told)}.", caption)


def ordinary_corruption_chart(attack: Mapping[str, Any]) -> Picture:
    """Confidence in the true value against the share of the others whose value is known, a panel per column."""
    columns = list(attack["sweep"][0]["attribute"])
    rows = [
        {"panel": f"sure of the true {column}", "x": entry["share"], "y": entry["attribute"][column][key],
         "side": "release", "of": of, "guess": attack["baseline"][column]}
        for column in columns
        for entry in attack["sweep"]
        for key, of in (("mean", MEAN), ("max", WORST))
    ]  # fmt: skip
    first, last = attack["sweep"][0], attack["sweep"][-1]
    told = [
        f"Sure of the true {column}: {risk(first['attribute'][column]['mean'])} on average if {risk(first['share'])} "
        f"of the others are known, {risk(last['attribute'][column]['mean'])} if {risk(last['share'])} are"
        for column in columns
    ]
    panels = [f"sure of the true {column}" for column in columns]
    spec = _panels(panels, rows, "share of the others whose value he knows", "probability", {"release": AFTER},
                   "guessing")  # fmt: skip
    caption = (
        "How sure he is of the true value against the share of the others he knows. A release that shows true values "
        "gives away the last one, however they are grouped; the dotted line is guessing."
    )
    return Picture("corrupted", spec, f"{'; '.join(told)}.", caption)


def growth_chart(attack: Mapping[str, Any]) -> Picture:
    """By how much confidence rises at most against the share corrupted, one panel per prior, the promise as a rule."""
    priors = list(dict.fromkeys(entry["prior"] for entry in attack["sweep"]))
    rows = [
        {"panel": _PRIORS[entry["prior"]], "x": entry["share"], "y": entry["growth"]["max"], "side": "release",
         "of": WORST, "guess": entry["bound"]}
        for entry in attack["sweep"]
    ]  # fmt: skip
    told = []
    for prior in priors:
        entries = [entry for entry in attack["sweep"] if entry["prior"] == prior]
        highest = max(entry["growth"]["max"] for entry in entries)
        told.append(f"{_PRIORS[prior]} {risk(highest)}, promised {risk(entries[0]['bound'])}")
    spec = _panels([_PRIORS[prior] for prior in priors], rows, "share of the others corrupted", "surer by, worst",
                   {"release": AFTER}, "promised")  # fmt: skip
    caption = (
        "By how much the most exposed person's value becomes surer, for three beliefs beforehand, beside what is "
        "promised."
    )
    return Picture("growth", spec, f"Surer by at most: {'; '.join(told)}.", caption)


def confidence_chart(attack: Mapping[str, Any]) -> Picture:
    """Mean confidence in the true value against the share corrupted: this release beside the same cells in full."""
    prior = "overall" if any(entry["prior"] == "overall" for entry in attack["sweep"]) else attack["sweep"][0]["prior"]
    own = [entry for entry in attack["sweep"] if entry["prior"] == prior]
    guess = own[0]["baseline"]["mean"]
    panel = "sure of the true value, mean"
    ordinary = "the same cells with true values"
    rows = [
        {
            "panel": panel,
            "x": entry["share"],
            "y": entry["confidence"]["mean"],
            "side": side,
            "of": MEAN,
            "guess": guess,
        }
        for side, entries in (("this release", own), (ordinary, attack["plain"]))
        for entry in entries
    ]
    described = (
        f"Sure of the true value if all others are corrupted: {risk(own[-1]['confidence']['mean'])} on average, "
        f"{risk(attack['plain'][-1]['confidence']['mean'])} if the same cells showed true values."
    )
    colors = {"this release": AFTER, ordinary: BEFORE}
    spec = _panels([panel], rows, "share of the others corrupted", "probability", colors, "before")
    caption = (
        "How sure he is of the true value on average: this release beside the same cells with everybody's true value."
    )
    return Picture("confidence", spec, described, caption)


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


def _figures(entry: Mapping[str, Any], path: Sequence[str]) -> Mapping[str, Any]:
    found: Any = entry
    for step in path:
        found = found[step]
    return dict(found)


def _panels(
    panels: Sequence[str], rows: list[dict[str, Any]], x_title: str, y_title: str, colors: Mapping[str, str], rule: str
) -> dict[str, Any]:
    """Lines by ``side`` (colour) and ``of`` (dash) in panels two abreast, each with its rule.

    Written out: Altair copies every layer of every panel several times over, longer than all other pictures take.
    """
    sides, forms = list(colors), [form for form in (MEAN, WORST) if any(row["of"] == form for row in rows)]
    for row in rows:
        row["series"] = f"{row['side']}, {row['of']}" if len(forms) > 1 or len(sides) == 1 else row["side"]
    order = list(dict.fromkeys(row["series"] for row in rows))
    by_series = {row["series"]: row for row in rows}
    looks = [colors[by_series[series]["side"]] for series in order]
    dashes = [[5, 4] if by_series[series]["of"] == WORST and len(forms) > 1 else [1, 0] for series in order]
    legend = {"title": None, "symbolStrokeWidth": 2, "symbolSize": 300, "symbolType": "stroke", "labelLimit": 300,
              "columnPadding": 22}  # fmt: skip
    series = {"field": "series", "type": "nominal", "sort": order, "legend": legend if len(order) > 1 else None}
    color = {**series, "scale": {"domain": order, "range": looks}}
    dash = {**series, "scale": {"domain": order, "range": dashes}}
    xs = sorted({row["x"] for row in rows})
    abreast = 3 if len(panels) == 3 else 2
    width = {1: _WIDTH - 80, 3: 200}.get(len(panels), _PANEL - 30)
    x = {"field": "x", "type": "quantitative", "title": x_title,
         "axis": {"values": xs, "format": "~%", "grid": False, "labelOverlap": True},
         "scale": {"domain": [xs[0], xs[-1] if xs[-1] > xs[0] else xs[0] + 1]}}  # fmt: skip
    guess = {"field": "guess", "type": "quantitative"}
    ruler = {"mark": {"type": "rule", "color": GUESS, "strokeDash": [2, 3], "strokeWidth": 1.5},
             "encoding": {"y": {**guess, "aggregate": "max"}}}  # fmt: skip
    label = {"mark": {"type": "text", "color": GUESS, "align": "left", "dx": 5, "dy": 1, "fontSize": 11, "text": rule},
             "encoding": {"x": {"value": "width"}, "y": guess}}  # fmt: skip
    highest = {"aggregate": [{"op": "max", "field": "guess", "as": "guess"}]}
    drawn = []
    for place, panel in enumerate(panels):
        y = {"field": "y", "type": "quantitative", "title": y_title if place % abreast == 0 else None,
             "axis": {"format": ".3~%", "tickCount": 5}, "scale": {"zero": True}}  # fmt: skip
        lines = {"mark": {"type": "line", "strokeWidth": 2},
                 "encoding": {"x": x, "y": y, "color": color, "strokeDash": dash}}  # fmt: skip
        dots = {"mark": {"type": "point", "filled": True, "size": 28, "opacity": 1},
                "encoding": {"x": x, "y": y, "color": color}}  # fmt: skip
        mine = {"filter": {"field": "panel", "equal": panel}}
        layers = [
            {**layer, "title": panel, "transform": [mine, highest] if layer is label else [mine]}
            for layer in (ruler, label, lines, dots)
        ]
        drawn.append({"layer": layers, "width": width, "height": 190})
    return {
        "data": {"values": rows},
        "concat": drawn,
        "columns": abreast,
        "spacing": 70 if abreast == 2 else 62,
        "resolve": {"scale": {"color": "shared", "strokeDash": "shared"}},
    }
