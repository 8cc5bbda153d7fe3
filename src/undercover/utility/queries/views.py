"""What is shown of answers to queries, from the dicts of their results: how far counts and sums are off."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from undercover.model.figures import risk
from undercover.model.view import AFTER, GUESS, Part, Picture, View, facts, listed, say, table

NUMBERS = "`.to_dict()` has the numbers."
_ERRORS = ("queries", "median", "mean", "p90")


def answer_views(found: Mapping[str, Any]) -> list[View]:
    """How far counts and sums are off, where they were asked for."""
    kinds = {"query_errors": _errors, "sum_errors": _sum_errors}
    return [shown(found[key]) for key, shown in kinds.items() if key in found]


def _errors(results: Sequence[Mapping[str, Any]]) -> View:
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
    drawn = partial(query_error_chart, results)
    return View("query-errors", "Answers to queries", (text, drawn, table(columns, "plain count risk risk risk", rows)))


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
    parts: list[Part] = [text, partial(sum_error_chart, results)]
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


def query_error_chart(results: Sequence[Mapping[str, Any]]) -> Picture:
    """Errors of COUNT answers by how many people they count; takes the entries of ``cost["query_errors"]``.

    Only the workload about all columns together is drawn.
    """
    result = max(results, key=lambda entry: len(entry["quasi_identifiers"]))
    described = (
        f"Relative error of COUNT answers by how many people they count; over all of them the median is "
        f"{risk(result['median'])}."
    )
    caption = "Questions about all columns together, by how many people the true answer counts."
    return _error_chart("query-error", result["by_answer"], "people counted, of all", described, caption)


def sum_error_chart(results: Sequence[Mapping[str, Any]]) -> Picture:
    """Errors of SUM answers by how large they are; takes the entries of ``cost["sum_errors"]``, of which the first."""
    result = results[0]
    described = (
        f"Relative error of sums of {result['sensitive']} by how large they are; over all of them the median is "
        f"{risk(result['estimate']['median'])}."
    )
    caption = f"Sums of {result['sensitive']}, by which part of the sum over everybody the true answer is."
    return _error_chart("sum-error", result["by_answer"], "true sum, of that over everybody", described, caption)


def _error_chart(
    name: str, by_answer: Sequence[Mapping[str, Any]], title: str, described: str, caption: str
) -> Picture:
    import altair as alt

    labels = {"median": "half of the answers are closer", "p90": "9 of 10 answers are closer"}
    rows = [
        {"answer": _share(entry), "error": entry[key], "which": label}
        for entry in by_answer
        for key, label in labels.items()
    ]
    order, which = list(dict.fromkeys(row["answer"] for row in rows)), list(labels.values())
    chart = (
        alt.Chart(alt.NamedData("rows"), width=640, height=160)
        .mark_bar()
        .encode(
            x=alt.X("answer:O", sort=order, title=title, axis=alt.Axis(labelAngle=0)),
            xOffset=alt.XOffset("which:N", sort=which),
            y=alt.Y("error:Q", title="relative error", axis=alt.Axis(format=".2~%", tickCount=5)),
            color=alt.Color(
                "which:N",
                scale=alt.Scale(domain=which, range=[AFTER, GUESS]),
                sort=which,
                legend=alt.Legend(columnPadding=30),
            ),
        )
    )
    return Picture.of(name, chart, rows, described, caption)


def _share(entry: Mapping[str, Any]) -> str:
    return f"{100 * entry['from']:g}% to {100 * entry['to']:g}%"
