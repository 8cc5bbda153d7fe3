"""``undercover experiment``."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from undercover import plugins
from undercover.characters import visible
from undercover.cli.options import Fresh, Json, Missing, Qi, Sensitive, SpecFile, roles, settings_from_text
from undercover.cli.output import console, print_json, print_table, progress_on_stderr, resumable
from undercover.cli.reading import read_with_spec
from undercover.errors import ParameterError
from undercover.model.figures import counted
from undercover.pages.experiment import VERDICTS
from undercover.studies.experiments.request import Request
from undercover.studies.experiments.runner import (
    BROKEN,
    FINISHED,
    PAGE,
    build,
    exit_code,
    run_everything,
    run_experiment,
)

ALL = "all"
_FIRST = plugins.names("experiments")[0]


def command(
    name: Annotated[str, typer.Argument(help=f"Whose evaluation to run again, such as {_FIRST}; all runs every one.")],
    out: Annotated[Path, typer.Option(help="The folder for the results; an interrupted run in it goes on.")],
    data: Annotated[str | None, typer.Option(help="A table of your own; by default the built-in census.")] = None,
    spec: SpecFile = None,
    qi: Qi = None,
    sensitive: Sensitive = None,
    missing: Missing = None,
    rows: Annotated[int | None, typer.Option(help="Use so many rows.")] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="A small variant that takes seconds; no verdict on the paper.")
    ] = False,
    repetitions: Annotated[int | None, typer.Option(help="How often what varies is measured.")] = None,
    seed: Annotated[int, typer.Option(help="Of the census, the methods and the queries.")] = 0,
    set: Annotated[list[str] | None, typer.Option(help="A choice of this experiment, NAME=VALUE.")] = None,  # noqa: A002
    fresh: Fresh = False,
    json: Json = False,
) -> None:
    """Run an experiment and say which claims held."""
    given_roles = roles(qi=qi, sensitive=sensitive)
    if name == ALL and set:
        raise ParameterError("--set is a choice of one experiment. Name that one instead of `all`.")
    if data is None and (spec is not None or given_roles or missing):
        raise ParameterError("--spec, --qi, --sensitive and --missing speak of a table. Name it with --data.")
    with resumable(out), progress_on_stderr() as progress:
        given = schema = None
        if data is not None:
            progress("reading", 0.0)
            given, schema, _, _ = read_with_spec(data, spec, given_roles, missing)
        request = Request(
            given=given,
            schema=schema,
            rows=rows,
            quick=quick,
            repetitions=repetitions,
            seed=seed,
            options=settings_from_text(set or []),
        )
        if name == ALL:
            results = run_everything(request, out, fresh=fresh, progress=progress)
        else:
            results = run_experiment(build(name, request), out, fresh=fresh, progress=progress)
    if json:
        print_json(results)
    elif name == ALL:
        _print_all(results, out)
    else:
        _print(results, out)
    if name == ALL and exit_code(results):
        _explain(results)
        raise typer.Exit(exit_code(results))


def _print(results: Mapping[str, Any], out: Path) -> None:
    screen = console()
    timings = results["timings"]
    kept = f", {timings['reused']:,} of them from before" if timings["reused"] else ""
    screen.print(f"{results['title']}: {counted(timings['cells'], 'cell')} in {timings['seconds']:.0f} s{kept}")
    lines = [[claim["id"], claim["verdict"], claim["figures"]] for claim in results["claims"]]
    verdict = "in this quick run" if results["quick"] else "verdict"
    print_table(screen, "What the paper says", ["claim", verdict, "figures"], lines, left=3)
    if results["quick"]:
        screen.print(results["says"])
        less = (f"{one['what']}: {one['quick']}; whole: {one['whole']}" for one in results["shortened"])
        screen.print("\n".join(["Shortened:", *(f"  {line}" for line in less)]))
    if results["refused"]:
        screen.print(f"{counted(len(results['refused']), 'cell')} could not be run on this table; the page says why.")
    screen.print(f"page: {out / 'experiment.html'}   figures: {out / 'results.csv'}")


def _print_all(overview: Mapping[str, Any], out: Path) -> None:
    screen = console()
    lines = []
    for entry in overview["experiments"]:
        verdicts = [claim["verdict"] for claim in entry.get("claims", ())]
        counts = [str(verdicts.count(verdict)) if entry["state"] == FINISHED else "–" for verdict in VERDICTS]
        seconds = f"{entry['timings']['seconds']:.0f}" if entry["state"] == FINISHED else "–"
        lines.append([entry["experiment"], entry["state"], *counts, seconds])
    print_table(screen, "What the papers say", ["experiment", "", *VERDICTS, "seconds"], lines, left=2)
    if overview["quick"]:
        screen.print(overview["says"])
    screen.print(f"page: {out / PAGE}")


def _explain(overview: Mapping[str, Any]) -> None:
    """Say on stderr what kept experiments from running."""
    for entry in overview["experiments"]:
        if "reason" in entry:
            print(visible(f"error: {entry['experiment']} {entry['state']}: {entry['reason']}"), file=sys.stderr)
        if entry["state"] == BROKEN:
            print(visible(entry["traceback"]), file=sys.stderr)
