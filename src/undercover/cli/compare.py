"""``undercover compare``."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from undercover.cli.inputs import read_with_spec
from undercover.cli.output import console, print_json, print_table, progress_on_stderr
from undercover.cli.publish import parameters_of
from undercover.errors import SchemaError
from undercover.io.spec.load import Spec
from undercover.model.figures import baseline, memory, risk, seconds
from undercover.studies.compare.compare import compare

_INTERRUPTED = 130


def run(
    data: str,
    out: Path,
    *,
    spec: Path | None,
    roles: Mapping[str, tuple[str, ...]],
    missing: str | None,
    methods: Sequence[str] | None,
    queries: int,
    seed: int,
    fresh: bool,
    as_json: bool,
) -> None:
    """Compare all methods on a table and print one line per release."""
    try:
        with progress_on_stderr() as progress:
            progress("reading", 0.0)
            given, schema, loaded, _ = read_with_spec(data, spec, roles, missing)
            if schema is None:
                raise SchemaError("Say which columns an attacker may know: --qi age,sex,zip, or give a --spec.")
            results = compare(
                given,
                schema,
                out,
                methods=methods,
                own=_own(loaded),
                queries=queries,
                seed=seed,
                fresh=fresh,
                progress=progress,
            )
    except KeyboardInterrupt:
        print(f"interrupted; what is finished is kept in {out}: the same command goes on from there", file=sys.stderr)
        raise typer.Exit(_INTERRUPTED) from None
    if as_json:
        print_json(results)
    else:
        _print(results, out)


def _own(spec: Spec | None) -> tuple[str, Mapping[str, Any]] | None:
    """The method of the spec, where it names one."""
    return None if spec is None or spec.method_name is None else (spec.method_name, parameters_of(spec))


def _print(results: Mapping[str, Any], out: Path) -> None:
    screen = console()
    lines = [_line(release) for release in results["releases"]]
    guessing = results["guessing"]
    lines.append(
        [
            "guessing",
            "",
            baseline(guessing["identity"]),
            baseline(guessing["attribute"]["mean"]) if guessing["attribute"] else "–",
            *[""] * 6,
        ]
    )
    columns = ["release", "safe", "row", "value", "corrupted", "COUNT", "pairs", "learning", "time", "memory"]
    title = f"{results['table']['rows']:,} rows: what the strongest attack reaches on average, and what it costs"
    print_table(screen, title, columns, lines, left=2)
    for entry in results["refused"]:
        screen.print(f"cannot run: {entry['series']} ({len(entry['titles'])}): {entry['reason']}", markup=False)
    timings = results["timings"]
    kept = f", {timings['reused']:,} of {timings['cells']:,} measurements from before" if timings["reused"] else ""
    screen.print(f"page: {out / 'compare.html'}   figures: {out / 'compare.csv'}   ({timings['seconds']:.0f} s{kept})")


def _line(release: Mapping[str, Any]) -> list[str]:
    privacy, utility, cost = release["privacy"], release["utility"], release["cost"]

    def shown(part: Mapping[str, Any] | None, figure: str = "mean") -> str:
        return "–" if part is None else risk(part[figure])

    return [
        release["title"],
        "yes" if release["algorithm_safe"] else "no",
        shown(privacy["identity"]),
        shown(privacy["attribute"]),
        shown(privacy["corruption"]),
        shown(utility["count"]),
        shown(utility["pairwise"]),
        shown(utility["classification"], "error"),
        seconds(cost["seconds"]),
        "–" if cost["memory"] is None else memory(cost["memory"]),
    ]
