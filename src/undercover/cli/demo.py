"""``undercover demo``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from undercover import plugins
from undercover.cli.options import Force
from undercover.cli.output import console, print_table, progress_on_stderr
from undercover.model.figures import LOSSES, baseline, cost, risk
from undercover.studies.tour import OVERVIEW, Made, tour


def command(
    out: Annotated[Path, typer.Option(help="Where to write the releases.")] = Path("undercover-demo"),
    rows: Annotated[int, typer.Option(help="People in the built-in census.", min=1000)] = 30_000,
    force: Force = False,
) -> None:
    """Take the tour and print one line per release: the figures of the overview page."""
    with progress_on_stderr() as progress:
        stops = tour(out, rows, force=force, progress=progress)
    screen = console()
    found = next(stop.summary["headline"] for stop in stops if stop.summary["headline"])
    row, value = found["identity"], found["attribute"]
    lines = [
        *(_line(stop) for stop in stops),
        [
            "the table as it is",
            "",
            "",
            *(risk(figures[key]) for figures in (row, value) for key in ("before_mean", "before")),
            cost(0.0),
        ],
        [
            "guessing without it",
            "",
            "",
            *(baseline(row["baseline"]) for _ in range(2)),
            baseline(value["baseline_mean"]),
            baseline(value["baseline"]),
            "",
        ],
    ]
    name = value["column"]
    lost = LOSSES["arx"].replace(" detail", "\ndetail")
    columns = ["release", "verdict", "verified", "row", "worst", name, "worst", lost]
    title = f"{rows:,} people who do not exist: linkage finds a person's row and learns the {name}, mean and worst"
    print_table(screen, title, columns, lines, left=3, whole=2)
    joined = [
        [f"with: {stop.title}", str(stop.joint["alone"]), str(stop.joint["l"]), f"{stop.joint['certain']:,}"]
        for stop in stops
        if stop.joint is not None
    ]
    titles = ["revenue office", "values left, each alone", "joined", f"people whose {name} is certain"]
    print_table(screen, "Two offices publish tables about the same people: what their join leaves", titles, joined)
    screen.print(f"Everything is in {out}/; start with {out / OVERVIEW}.")
    screen.print(f"Try it yourself: undercover inspect {out / 'people.csv'}")


def _line(stop: Made) -> list[str]:
    headline = stop.summary["headline"] or {}
    figures = [
        risk(part[key]) if part else "–"
        for part in (headline.get("identity"), headline.get("attribute"))
        for key in ("after_mean", "after")
    ]
    losses = stop.summary["cost"]["loss"] if stop.summary["cost"] else {}
    kind = next((kind for kind in ("arx", "shift") if kind in losses), None)
    verified = ", ".join(filter(None, map(_found, stop.summary["holds"]["findings"])))
    shown = "–" if kind is None else cost(losses[kind]["arithmetic"]) + (" moved" if kind == "shift" else "")
    return [stop.title, stop.summary["verdict"], verified, *figures, shown]


def _found(finding: Mapping[str, Any]) -> str:
    """What a guarantee came to, by its parameter; nothing of one without a number."""
    known = finding["name"] in plugins.names("guarantees")
    name = getattr(plugins.load("guarantees", finding["name"]), "shown_as", None) if known else None
    if name is None:
        name = next(iter(finding["parameters"]), finding["name"])
    if not name:
        return ""
    if finding["holds"] is None:
        return f"{name}: private"
    return f"{name}={finding['shown']}" + ("" if finding["holds"] else " FAILS")
