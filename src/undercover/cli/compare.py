"""``undercover compare``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from undercover.cli.options import (
    Data,
    Drop,
    Fresh,
    Identifiers,
    Insensitive,
    Json,
    Missing,
    OneRowPer,
    PolicyName,
    Population,
    Qi,
    Sensitive,
    SpecFile,
    Unit,
    Weight,
    names,
    roles,
    who,
)
from undercover.cli.output import console, print_json, print_table, progress_on_stderr, resumable
from undercover.cli.publish import parameters_of
from undercover.cli.reading import read_with_spec
from undercover.errors import SchemaError
from undercover.model.figures import baseline, counted, risk
from undercover.studies.compare.compare import compare

SAFE = "safe: from somebody who knows the algorithm. Time, memory and all other figures are on the page."


def command(
    data: Data,
    out: Annotated[Path, typer.Option(help="The folder for the results; an interrupted comparison in it goes on.")],
    spec: SpecFile = None,
    qi: Qi = None,
    sensitive: Sensitive = None,
    identifiers: Identifiers = None,
    insensitive: Insensitive = None,
    drop: Drop = None,
    unit: Unit = None,
    one_row_per: OneRowPer = None,
    weight: Weight = None,
    population: Population = None,
    missing: Missing = None,
    methods: Annotated[str | None, typer.Option(help="Only these methods, by commas.")] = None,
    queries: Annotated[int, typer.Option(min=1, help="COUNT queries about each set of columns, and sums.")] = 100,
    seed: Annotated[int, typer.Option(min=0, help="Of the methods and the queries.")] = 0,
    policy: PolicyName = None,
    fresh: Fresh = False,
    json: Json = False,
) -> None:
    """Compare all methods on a table and print one line per release."""
    given_roles = roles(qi=qi, sensitive=sensitive, identifiers=identifiers, insensitive=insensitive, drop=drop)
    people = who(unit=unit, one_row_per=one_row_per, weight=weight, population=population)
    with resumable(out), progress_on_stderr() as progress:
        progress("reading", 0.0)
        given, schema, loaded, _ = read_with_spec(data, spec, given_roles, missing, people)
        if schema is None:
            raise SchemaError("Say which columns an attacker may know: --qi age,sex,zip, or give a --spec.")
        own = None if loaded is None or loaded.method_name is None else (loaded.method_name, parameters_of(loaded))
        chosen: dict[str, Any] = {
            "methods": names(methods),
            "own": own,
            "queries": queries,
            "seed": seed,
            "policy": policy or (loaded.policy if loaded else None),
            "fresh": fresh,
        }
        results = compare(given, schema, out, progress=progress, **chosen)
    if json:
        print_json(results)
    else:
        _print(results, out)


def _print(results: Mapping[str, Any], out: Path) -> None:
    screen = console()
    lines = [_line(release) for release in results["releases"]]
    guessing = results["guessing"]
    value = baseline(guessing["attribute"]["mean"]) if guessing["attribute"] else "–"
    lines.append(["guessing", "", "", baseline(guessing["identity"]), "", value, *[""] * 4])
    columns = ["release", "verdict", "safe", "row", "worst", "value", "worst", "COUNT", "pairs", "learning"]
    title = f"{counted(results['table']['rows'], 'row')}: what the strongest attack reaches, and what it costs"
    print_table(screen, title, columns, lines, left=3)
    screen.print(SAFE, style="dim")
    if results["recommended"]:
        screen.print(results["recommended"]["sentence"], style="bold", markup=False)
    for entry in results["refused"]:
        screen.print(f"cannot run: {entry['series']} ({len(entry['titles'])}): {entry['reason']}", markup=False)
    timings = results["timings"]
    kept = f", {timings['reused']:,} of {timings['cells']:,} measurements from before" if timings["reused"] else ""
    screen.print(f"page: {out / 'compare.html'}   figures: {out / 'compare.csv'}   ({timings['seconds']:.0f} s{kept})")


def _line(release: Mapping[str, Any]) -> list[str]:
    privacy, utility = release["privacy"], release["utility"]

    def shown(part: Mapping[str, Any] | None, figure: str = "mean") -> str:
        return "–" if part is None else risk(part[figure])

    return [
        release["title"],
        release["verdict"],
        "yes" if release["algorithm_safe"] else "no",
        *(shown(privacy[what], figure) for what in ("identity", "attribute") for figure in ("mean", "worst")),
        shown(utility["count"]),
        shown(utility["pairwise"]),
        shown(utility["classification"], "error"),
    ]
