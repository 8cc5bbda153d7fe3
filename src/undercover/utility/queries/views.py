"""What is shown of answers to queries, from the dicts of their results: how far counts and sums are off."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from undercover.model.figures import risk
from undercover.model.view import AFTER, GUESS, FigureTable, Part, Picture, View, facts, listed, say, table

NUMBERS = "`.to_dict()` has the numbers."
_ERRORS = ("queries", "median", "mean", "p90")


def answer_views(found: Mapping[str, Any]) -> list[View]:
    """How far counts and sums are off, where they were asked for."""
    counts, sums = found.get("query_errors"), found.get("sum_errors")
    views = [_errors(counts, found["query_errors_by_answer"])] if counts else []
    return [*views, _sum_errors(sums)] if sums else views


def _errors(results: Sequence[Mapping[str, Any]], together: Sequence[Mapping[str, Any]]) -> View:
    text = (
        f"Random questions of the kind “how many people of these values have this {results[0]['sensitive']}”, answered "
        "from the release and set against the truth. Small answers are divided by half a percent of the people instead "
        "of by themselves."
    )
    rows = [
        (f"{', '.join(one['quasi_identifiers'])}, with {one['sensitive']}", *(one[key] for key in _ERRORS))
        for one in results
    ]
    columns = ("asked about", "queries", "median error", "mean", "9 of 10 below")
    parts = (
        text,
        *_drawn(partial(query_error_chart, together), together),
        table(columns, "plain count risk risk risk", rows),
        _sizes("people counted, of all", together, "The figures by size of the answer"),
    )
    return View("query-errors", "Answers to queries", parts)


def _sum_errors(results: Sequence[Mapping[str, Any]]) -> View:
    about = results[0]["columns"]
    text = (
        f"Random questions of the kind “what does the {results[0]['sensitive']} of people of these values add up to”, "
        f"about {about} quasi-identifier{'s' if about > 1 else ''} at a time, answered from the release and set "
        "against the truth. Small answers are divided by half a percent of the sum over everybody instead of by "
        "themselves."
    )
    columns = ["added up", "queries", "median error", "mean", "9 of 10 below"]
    rows: list[list[Any]] = [
        [f"`{one['sensitive']}`", one["queries"], *(one["estimate"][key] for key in _ERRORS[1:])] for one in results
    ]
    parts: list[Part] = [text, *_drawn(partial(sum_error_chart, results), results[0]["by_answer"])]
    bounded = results[0]["bounded"]
    if bounded:
        columns.append("bounds apart, median")
        rows = [[*row, one["median"]] for row, one in zip(rows, results, strict=True)]
    parts.append(table(columns, "plain count" + " risk" * (len(columns) - 2), rows))
    parts.append(
        "The bounds are what the sum surely lies between; their distance is divided by the sum itself."
        if bounded
        else "The release gives no bounds for these sums."
    )
    return View("sum-errors", "Sums", tuple(parts))


def error_view(found: Mapping[str, Any]) -> View:
    """How far off the COUNT or SUM queries of one workload are; of bounded sums, how far apart their bounds."""
    sums = "bounded" in found
    title = "Sums from the release" if sums else "Counts from the release"
    title += ", distance of their bounds" if sums and found["bounded"] else ""
    asked = listed([*found.get("quasi_identifiers", ()), found["sensitive"]])
    lines = facts(
        ("queries", say("{count} on {plain}", found["queries"], asked)),
        ("off by", say("{risk} on average", found["mean"])),
        ("half of them by", say("{risk} at most", found["median"])),
    )
    return View("query-error", title, (lines,), following=NUMBERS, private=True)


def _drawn(chart: Callable[[], Picture], by_answer: Sequence[Mapping[str, Any]]) -> tuple[Part, ...]:
    """The picture, or that there is nothing to draw."""
    asked = [entry for entry in by_answer if entry["to"]]
    if not asked:
        return ("None of the questions has a true answer above 0: the table is too small for them.",)
    wrong = any(entry["p90"] for entry in asked)
    return (chart,) if wrong else ("Of every size, at least 9 of 10 answers above 0 are right.",)


def _sizes(title: str, by_answer: Sequence[Mapping[str, Any]], what: str) -> FigureTable:
    rows = [(_share(entry), *(entry[key] for key in ("queries", "median", "p90"))) for entry in by_answer]
    return table((title, "queries", "median error", "9 of 10 below"), "plain count risk risk", rows, what, detail=2)


def query_error_chart(by_answer: Sequence[Mapping[str, Any]]) -> Picture:
    """Errors of COUNT answers by how many people they count; takes ``cost["query_errors_by_answer"]``."""
    caption = "All questions together, by which part of the people the true answer counts."
    return _error_chart("query-error", by_answer, "people counted, of all", "COUNT answers", caption)


def sum_error_chart(results: Sequence[Mapping[str, Any]]) -> Picture:
    """Errors of SUM answers by how large they are; takes the entries of ``cost["sum_errors"]``, of which the first."""
    of = f"sums of {results[0]['sensitive']}"
    caption = f"S{of[1:]}, by which part of the sum over everybody the true answer is."
    return _error_chart("sum-error", results[0]["by_answer"], "true sum, of that over everybody", of, caption)


def _error_chart(name: str, by_answer: Sequence[Mapping[str, Any]], title: str, what: str, caption: str) -> Picture:
    """Medians and 90th percentiles side by side; questions whose true answer is nothing have no relative error."""
    import altair as alt

    labels = {"median": "half of the answers are closer", "p90": "9 of 10 answers are closer"}
    asked = [entry for entry in by_answer if entry["to"]]
    rows = [
        {"answer": _share(entry), "error": entry[key], "which": label}
        for entry in asked
        for key, label in labels.items()
    ]
    order, which = list(dict.fromkeys(row["answer"] for row in rows)), list(labels.values())
    chart = (
        alt.Chart(alt.NamedData("rows"), width=640, height=160)
        .mark_bar()
        .encode(
            x=alt.X("answer:O", sort=order, title=title, axis=alt.Axis(labelAngle=0)),
            xOffset=alt.XOffset("which:N", sort=which),
            y=alt.Y("error:Q", title="relative error", axis=alt.Axis(format=".3~p", tickCount=5)),
            color=alt.Color(
                "which:N",
                scale=alt.Scale(domain=which, range=[AFTER, GUESS]),
                sort=which,
                legend=alt.Legend(columnPadding=30),
            ),
        )
    )
    each = "; ".join(f"{_share(entry)}: {risk(entry['median'])} and {risk(entry['p90'])}" for entry in asked)
    described = f"Relative error of {what} by how large they are, median and 90th percentile: {each}."
    return Picture.of(name, chart, rows, described, caption)


def _share(entry: Mapping[str, Any]) -> str:
    low, high = (f"{100 * entry[end]:g}%" for end in ("from", "to"))
    if not entry["from"]:
        return f"below {high}" if entry["to"] else "nothing"
    return f"{low} to {high}" if entry["to"] < 1 else f"{low} and more"
