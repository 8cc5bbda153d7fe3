"""``undercover inspect``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from undercover.cli.options import Data, Force, Identifiers, Json, Qi, Sensitive, SpecFile, read_with_spec, roles
from undercover.cli.output import console, print_json, print_table, progress_on_stderr, warn
from undercover.model import figures
from undercover.studies.inspect.inspection import inspect
from undercover.studies.inspect.spec import write_spec as write_spec_file


def command(
    data: Data,
    spec: SpecFile = None,
    qi: Qi = None,
    sensitive: Sensitive = None,
    identifiers: Identifiers = None,
    write_spec: Annotated[Path | None, typer.Option(help="Write a commented spec to start from.")] = None,
    population_fraction: Annotated[float, typer.Option(help="Share of the population that is in the table.")] = 1.0,
    force: Force = False,
    json: Json = False,
) -> None:
    """Inspect a table and print what was found."""
    with progress_on_stderr() as progress:
        progress("reading", 0.0)
        given, schema, _, _ = read_with_spec(data, spec, roles(qi=qi, sensitive=sensitive, identifiers=identifiers))
        progress("looking at columns and combinations", 0.0)
        found = inspect(given.data, schema=schema, population_fraction=population_fraction)
    if write_spec is not None:
        write_spec_file(found, write_spec, force=force)
    content = {**found.to_dict(), "read_as": given.source.get("read_as")}
    if json:
        print_json(content)
        return
    _print(content)
    warn(found.warnings)
    if write_spec is not None:
        console().print(
            f"wrote {write_spec}; look at it, then: undercover publish {data} --spec {write_spec} --out out"
        )


def _print(content: dict[str, Any]) -> None:
    screen = console()
    read_as = str(content["read_as"]).removeprefix("read as: ")
    screen.print(f"{content['rows']:,} rows, {len(content['columns'])} columns; read as: {read_as}")
    rows = [
        [
            column["name"],
            column["kind"],
            column["role"],
            column["reason"],
            f"{column['distinct']:,}",
            f"{column['missing']:,}",
        ]
        for column in content["columns"]
    ]
    print_table(screen, "Columns", ["name", "kind", "role", "why", "distinct", "missing"], rows, left=4)
    combinations = content["combinations"]
    if combinations:
        shown = [
            [
                " + ".join(entry["columns"]),
                f"{entry['unique_rows']:,}",
                f"{entry['share']:.1%}",
                f"{entry['classes']:,}",
            ]
            for entry in combinations[:10]
        ]
        print_table(
            screen,
            f"What singles people out (best of {content['combinations_tried']:,} combinations of up to three columns)",
            ["columns", "singled out", "of all", "combinations"],
            shown,
        )
    if content["quasi_identifiers"]:
        sizes = [
            [_size(entry), f"{entry['classes']:,}", f"{entry['rows']:,}", f"{entry['rows'] / content['rows']:.1%}"]
            for entry in content["class_sizes"]
            if entry["classes"]
        ]
        names = ", ".join(content["quasi_identifiers"])
        print_table(screen, f"People alike in {names}", ["people alike", "groups", "rows", "of all"], sizes, left=0)
        risk = content["risk"]
        rows = [
            [
                kind,
                figures.risk(risk[kind]["highest"]),
                figures.risk(risk[kind]["mean"]),
                figures.risk(risk[kind]["share_above_threshold"]),
            ]
            for kind in ("prosecutor", "journalist")
        ]
        rows.append(["marketer", "", figures.risk(risk["marketer"]), ""])
        above = f"above {risk['prosecutor']['threshold']:g}"
        print_table(screen, "Risk if published as it is", ["attacker", "highest", "mean", above], rows)


def _size(entry: dict[str, Any]) -> str:
    if entry["to"] is None:
        return f"{entry['from']}+"
    return str(entry["from"]) if entry["from"] == entry["to"] else f"{entry['from']}-{entry['to']}"
