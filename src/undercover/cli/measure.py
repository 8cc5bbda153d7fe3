"""``undercover measure``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from undercover.cli.options import Json, SpecFile
from undercover.cli.output import print_result, progress_on_stderr
from undercover.cli.reading import read_with_spec
from undercover.io.release.contents import PRIVATE, public_part
from undercover.io.release.manifest import load_release
from undercover.model.release import Release
from undercover.model.run import Run
from undercover.utility.queries.counts import about_each
from undercover.utility.queries.sums import sums_of_each
from undercover.verbs.measure import measure
from undercover.verbs.same_table import check_same_table
from undercover.verbs.store import load, original_of, table_of


def command(
    directory: Annotated[Path, typer.Argument(help="The release folder DIR, or DIR/public.")],
    original: Annotated[str, typer.Option(help="The original table: a file or database URL.")],
    spec: SpecFile = None,
    queries: Annotated[
        int, typer.Option(min=0, help="Also ask so many random COUNT queries, and for as many sums of numbers.")
    ] = 0,
    json: Json = False,
) -> None:
    """Measure a release against its original."""
    made: Release | Run
    with progress_on_stderr() as progress:
        progress("reading", 0.0)
        if spec is None and (directory / PRIVATE).is_dir():
            made = load(directory)
            release, table = made.release, original_of(made, original)
        else:
            given, schema, _, _ = read_with_spec(original, spec, {})
            if (directory / PRIVATE).is_dir():
                check_same_table(load(directory), given)
            release, _ = load_release(public_part(directory))
            made, table = release, table_of(given, schema, release)
        counts, sums = (about_each(release, queries), sums_of_each(table, release, queries)) if queries else ((), ())
        progress("measuring", 0.0)
        found = measure(table, made, query_error=counts, sum_error=sums, progress=progress)
    print_result(found, json)
