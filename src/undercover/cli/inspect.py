"""``undercover inspect``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from undercover.cli.options import Data, Force, Identifiers, Json, Qi, Sensitive, SpecFile, read_with_spec, roles
from undercover.cli.output import console, print_json, print_view, progress_on_stderr, warn
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
        write_spec_file(found, write_spec, force=force, data=given)
    content = {**found.to_dict(), "read_as": given.source.get("read_as")}
    if json:
        print_json(content)
        return
    console().print(f"read as: {str(content['read_as']).removeprefix('read as: ')}", style="dim")
    print_view(found.view())
    warn(found.warnings)
    if write_spec is not None:
        console().print(
            f"wrote {write_spec}; look at it, then: undercover publish {data} --spec {write_spec} --out out"
        )
