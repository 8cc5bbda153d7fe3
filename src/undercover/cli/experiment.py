"""``undercover experiment``."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from undercover import plugins
from undercover.cli.inputs import read_with_spec, settings_from_text
from undercover.cli.output import console, print_json, print_table, progress_on_stderr
from undercover.errors import ParameterError
from undercover.pages.experiment import VERDICTS
from undercover.studies.experiments.everything import BROKEN, FINISHED, PAGE, exit_code, run_everything
from undercover.studies.experiments.request import Request
from undercover.studies.experiments.runner import run_experiment

ALL = "all"
_INTERRUPTED = 130


def run(
    name: str,
    out: Path,
    *,
    data: str | None,
    spec: Path | None,
    roles: Mapping[str, tuple[str, ...]],
    missing: str | None,
    rows: int | None,
    quick: bool,
    repetitions: int | None,
    seed: int,
    settings: Sequence[str],
    fresh: bool,
    as_json: bool,
) -> None:
    """Run an experiment and say which claims held."""
    if name == ALL and settings:
        raise ParameterError("--set is a choice of one experiment. Name that one instead of `all`.")
    if data is None and (spec is not None or roles or missing):
        raise ParameterError("--spec, --qi, --sensitive and --missing speak of a table. Name it with --data.")
    try:
        with progress_on_stderr() as progress:
            given = schema = None
            if data is not None:
                progress("reading", 0.0)
                given, schema, _, _ = read_with_spec(data, spec, roles, missing)
            request = Request(
                given=given,
                schema=schema,
                rows=rows,
                quick=quick,
                repetitions=repetitions,
                seed=seed,
                options=settings_from_text(settings),
            )
            if name == ALL:
                results = run_everything(request, out, fresh=fresh, progress=progress)
            else:
                experiment = plugins.load("experiments", name)(request)
                results = run_experiment(experiment, out, fresh=fresh, progress=progress)
    except KeyboardInterrupt:
        print(f"interrupted; what is finished is kept in {out}: the same command goes on from there", file=sys.stderr)
        raise typer.Exit(_INTERRUPTED) from None
    if as_json:
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
    screen.print(f"{results['title']}: {timings['cells']:,} cells in {timings['seconds']:.0f} s{kept}")
    lines = [[claim["id"], claim["verdict"], claim["figures"]] for claim in results["claims"]]
    print_table(screen, "What the paper says", ["claim", "verdict", "figures"], lines, left=3)
    if results["refused"]:
        screen.print(f"{len(results['refused']):,} cells could not be run on this table; the page says why.")
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
    screen.print(f"page: {out / PAGE}")


def _explain(overview: Mapping[str, Any]) -> None:
    """Say on stderr what kept experiments from running."""
    for entry in overview["experiments"]:
        if "reason" in entry:
            print(f"error: {entry['experiment']} {entry['state']}: {entry['reason']}", file=sys.stderr)
        if entry["state"] == BROKEN:
            print(entry["traceback"], file=sys.stderr)
