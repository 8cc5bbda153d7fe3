"""``undercover measure``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from undercover.cli.options import Json, SpecFile, read_with_spec
from undercover.cli.output import print_result
from undercover.io.release.manifest import load_release
from undercover.model.release import Release
from undercover.utility.queries.counts import QueryError, about_each
from undercover.verbs.measure import measure
from undercover.verbs.store import load


def command(
    directory: Annotated[Path, typer.Argument(help="The release folder DIR, or DIR/public.")],
    original: Annotated[str, typer.Option(help="The original table: a file or database URL.")],
    spec: SpecFile = None,
    queries: Annotated[int, typer.Option(min=0, help="Also ask so many random COUNT queries.")] = 0,
    json: Json = False,
) -> None:
    """Measure a release against its original."""
    if spec is None and (directory / "private").is_dir():
        made = load(directory)
        found = measure(original, made, query_error=_queries(made.release, queries))
    else:
        given, schema, _, _ = read_with_spec(original, spec, {})
        release, _ = load_release(directory / "public" if (directory / "public").is_dir() else directory)
        found = measure(given, release, schema=schema, query_error=_queries(release, queries))
    print_result(found, json)


def _queries(release: Release, queries: int) -> tuple[QueryError, ...]:
    return about_each(release, queries) if queries else ()
