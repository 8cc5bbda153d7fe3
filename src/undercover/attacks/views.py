"""What linkage shows, from the dict of its result: with the original, with the release, by guessing.

A view is bad where somebody's row or value is certain after the release, good where nobody is found or known with more
than the 20% commonly used as a threshold, and plain in between.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from undercover.attacks import pictures
from undercover.model.view import Figure, FigureTable, Part, View, certainty, facts, listed, say, table

NUMBERS = "`.to_dict()` has the numbers, `.story` says what the attacker knows."
WORST_ROWS = "Rows he learns most about (private)"
SHOWN = 5  # of the worst rows and combinations


def linkage_view(found: Mapping[str, Any]) -> View:
    """Finding the row and learning the values: with the original, with the release, by guessing."""
    if found["attack"] == "p-match":
        return partial_view(found)
    was, now, guess = found["before"], found["after"], found["baseline"]
    old, new = was["identity"], now["identity"]
    rows: list[Any] = [
        ("finds the person's row, on average", old["mean"], new["mean"], guess["identity"]),
        ("finds the person's row, worst case", old["max"], new["max"], guess["identity"]),
        ("people found with more than 20%", old["at_risk_share"], new["at_risk_share"], None),
        ("people with a single match", old["unique_rows"], new["unique_rows"], None),
    ]
    charts: list[Part] = [partial(pictures.match_size_chart, found)] if "match_sizes" in found else []
    notes: list[Part] = []
    for name, new in now["attribute"].items():
        old, base = was["attribute"][name], guess["attribute"][name]
        right = Figure(new["guess_success"], "risk", interval=new.get("guess_interval"))
        rows += [
            (f"sure of `{name}`, on average", old["mean"], new["mean"], base["mean"]),
            (f"sure of `{name}`, worst case", old["max"], new["max"], base["guess_success"]),
            (f"guesses `{name}` right", old["guess_success"], right, base["guess_success"]),
            (f"people whose `{name}` is certain", old["certain_rows"], new["certain_rows"], None),
        ]
        charts.append(partial(pictures.attribute_chart, found, name))
        if "guess_sample" in new:
            text = "Guesses of {plain} were looked at for {count} people drawn at random, since so many rows fit (95%)."
            notes.append(say(text, f"`{name}`", new["guess_sample"]))
    lines: list[Any] = [("people", found["targets"]), ("known of each", listed(found["known"]))]
    if "p_match" in found:
        lines.append(("matches on", say("each column with probability {risk}", found["p_match"])))
        charts.append(_sweep(found, "By how many of the values he matches on", detail=1))
    names = list(now["attribute"])
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
    highest = max([now["identity"]["max"], *(entry["max"] for entry in now["attribute"].values())])
    return View("linkage", "Linkage", parts, *certainty(highest), found["story"], NUMBERS, private=True)


def partial_view(found: Mapping[str, Any]) -> View:
    """What is reached by knowing, or matching on, each column with some probability only.

    >>> def at(p):
    ...     return {"p": p, "identity": {"mean": p / 5, "max": p / 4}, "attribute": {}}
    >>> both = {"sweep": [at(0.5), at(1.0)], "sweep_before": [at(0.5), at(1.0)]}
    >>> guess = {"identity": 0.01, "attribute": {}}
    >>> view = partial_view({**both, "attack": "p-match", "known": ["age"], "targets": 9, "baseline": guess})
    >>> view.title
    'Matching on some of the values'
    >>> str(view.parts[1])
    'Matching on everything he finds the row with 20% on average (original: 20%, guessing: 1%).'
    """
    known = found["known"]
    if found.get("drawn", True):
        title, doing = "Matching on some of the values", "Matching on everything"
        story = (
            "Where values were drawn, an attacker does better not to match on everything he knows: a single changed "
            f"value makes him miss the row. Here he matches on each of {len(known)} values with probability P; the "
            "figures are exact means over all subsets."
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
    if not found.get("everybody", True):
        parts.append(
            "They were chosen by chance: means come with a 95% interval, and the worst is the worst of those attacked."
        )
    parts += [partial(pictures.p_match_chart, found), _sweep(found, "The figures", detail=2)]
    highest = max(part["max"] for entry in found["sweep"] for part in (entry["identity"], *entry["attribute"].values()))
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
