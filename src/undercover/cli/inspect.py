"""``undercover inspect``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from undercover.cli.options import (
    Data,
    Drop,
    Force,
    Identifiers,
    Insensitive,
    Json,
    Qi,
    Sensitive,
    SpecFile,
    Unit,
    roles,
)
from undercover.cli.output import console, print_json, print_view, progress_on_stderr, warn
from undercover.cli.reading import read_with_spec
from undercover.studies.inspect.inspection import inspect
from undercover.studies.inspect.spec import write_spec as write_spec_file
from undercover.whole import check_file, is_page, is_spec, write_whole


def command(
    data: Data,
    spec: SpecFile = None,
    qi: Qi = None,
    sensitive: Sensitive = None,
    identifiers: Identifiers = None,
    insensitive: Insensitive = None,
    unit: Unit = None,
    drop: Drop = None,
    write_spec: Annotated[Path | None, typer.Option(help="Write a commented spec to start from.")] = None,
    html: Annotated[Path | None, typer.Option(help="Write a page about the table, for you alone.")] = None,
    population_fraction: Annotated[float, typer.Option(help="Share of the population that is in the table.")] = 1.0,
    force: Force = False,
    json: Json = False,
) -> None:
    """Inspect a table and print what was found."""
    for place, ours in ((write_spec, is_spec), (html, is_page)):
        if place is not None:
            check_file(place, force=force, ours=ours)
    with progress_on_stderr() as progress:
        progress("reading", 0.0)
        named = roles(qi=qi, sensitive=sensitive, identifiers=identifiers, insensitive=insensitive, drop=drop)
        given, schema, _, _ = read_with_spec(data, spec, named, who={} if unit is None else {"unit": unit})
        found = inspect(given, schema=schema, population_fraction=population_fraction, progress=progress)
        if write_spec is not None:
            progress("choosing a method", 0.0)
            write_spec_file(found, write_spec, force=force, data=given)
    if html is not None:
        from undercover.pages.render import inspection_html

        write_whole(html, inspection_html(found.to_dict(), found.risks(), Path(data).name), private=True)
    content = {**found.to_dict(), "read_as": given.source.get("read_as"), "notes": list(given.notes.values())}
    if json:
        print_json(content)
        return
    console().print(f"read as: {str(content['read_as']).removeprefix('read as: ')}", style="dim")
    print_view(found.view())
    warn([*given.notes.values(), *found.warnings])
    if html is not None:
        console().print(f"wrote {html}: a page for you alone")
    if write_spec is not None:
        console().print(
            f"wrote {write_spec}; look at it, then: undercover publish {data} --spec {write_spec} --out out"
        )
