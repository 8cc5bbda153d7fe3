"""The page of an experiment: what was run, what the paper says and whether it held, pictures and their figures.

The page of all experiments: every claim of every paper with its verdict, and where the figures are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from undercover.pages.charts.experiment import experiment_chart
from undercover.pages.jinja import drawn, render

VERDICTS = {"held": "good", "not held": "bad", "cannot be tested": "care"}


def experiment_html(results: Mapping[str, Any]) -> str:
    """One self-contained page; takes the content of ``results.json``."""
    plots = []
    for plot in results["plots"]:
        chart = drawn(experiment_chart(plot)) if plot["points"] else None
        plots.append({**plot, "chart": chart, "tables": figure_tables(plot)})
    counts = Counter(claim["verdict"] for claim in results["claims"])
    return render(
        "experiment.html.j2",
        results={**results, "plots": plots},
        verdicts=[(verdict, look, counts[verdict]) for verdict, look in VERDICTS.items()],
        looks=VERDICTS,
    )


def figure_tables(plot: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The figures of a plot, a table per panel: a line per x, a column per series.

    >>> points = [{"panel": "", "series": s, "x": 1, "mean": m} for s, m in (("a", 2.0), ("b", 3.0))]
    >>> figure_tables({"points": points})[0]["lines"][0]["cells"][1]["mean"]
    3.0
    """
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
        verdicts=[(verdict, look, counts[verdict]) for verdict, look in VERDICTS.items()],
        looks=VERDICTS,
        total=sum(counts.values()),
        finished=finished,
        failed=len(entries) - finished - waiting,
    )
