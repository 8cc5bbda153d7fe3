"""``undercover apply``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from undercover import plugins
from undercover.cli.options import (
    Accept,
    By,
    DespiteEarlier,
    Engine,
    Force,
    Json,
    LedgerFile,
    NewRelease,
    Parts,
    PolicyName,
    RowsPerFile,
    SafeForSpreadsheets,
    Seed,
)
from undercover.cli.output import console, print_json, print_table, print_view, progress_on_stderr, warn
from undercover.cli.publish import as_dict, check_output, leave, print_places
from undercover.cli.publish import found as found_now
from undercover.errors import ParameterError
from undercover.io.release.contents import public_part
from undercover.io.release.formulas import formula_note
from undercover.io.release.tables import file_notes, format_of
from undercover.io.source import read
from undercover.memory import Store
from undercover.model.finding import shown
from undercover.model.formats import check_size
from undercover.model.run import Run
from undercover.verbs.accept import decider
from undercover.verbs.apply import Changes, apply, changes, load_recipe, recipe_of
from undercover.verbs.beside import judged_beside
from undercover.verbs.publish import engine_of
from undercover.verbs.store import save


def command(
    directory: Annotated[Path, typer.Argument(help="The release folder DIR whose recipe is used.")],
    to: Annotated[str, typer.Option(help="The new table: a file, a folder of parts, or a database URL.")],
    out: NewRelease,
    original: Annotated[
        str | None, typer.Option(help="The table of DIR, if it is no longer where it was: people are compared.")
    ] = None,
    format: Annotated[  # noqa: A002
        str | None, typer.Option(help="Of the published tables: csv, parquet, xlsx, dta or sav; by default as in DIR.")
    ] = None,
    rows_per_file: RowsPerFile = None,
    safe_for_spreadsheets: SafeForSpreadsheets = False,
    seed: Seed = None,
    engine: Engine = "local",
    parts: Parts = None,
    ledger: LedgerFile = None,
    despite_earlier: DespiteEarlier = False,
    policy: PolicyName = None,
    accept: Accept = None,
    by: By = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Publish a new table by an earlier recipe and say what is different."""
    written = format or format_of(public_part(directory))
    files = check_output(out, written, force, rows_per_file, safe_for_spreadsheets)
    if out.exists() and directory.exists() and out.samefile(directory):
        raise ParameterError(f"`{out}` holds the recipe itself and is not replaced. Choose another folder with --out.")
    if accept is not None:
        decider(accept, by)
    with progress_on_stderr() as progress:
        before = load_recipe(directory)
        progress("reading", 0.0)
        given = read(to, options=recipe_of(before).options, store=Store(), progress=progress)
        given = replace(given, once=True)
        check_size(given.data.num_rows, len(before.schema.published), written)
        place = engine_of(engine, parts)
        known: dict[str, Any] = {"ledger": ledger, "despite_earlier": despite_earlier, "policy": policy}
        after = apply(before, given, original=original, seed=seed, engine=place, progress=progress, **known)
        after = judged_beside(after, out, progress)
        kept: dict[str, Any] = {"format": files, "force": force, "accept": accept, "by": by}
        save(after, out, progress=progress, **kept)
    found = changes(before, after)
    warn([*after.warnings, *file_notes(after.release, files), *formula_note(after.release, files)])
    if json:
        print_json({"recipe": str(directory), **as_dict(after, out, changes=found.to_dict())})
    else:
        print_view(after.verdict.view())
        _print(directory, out, after, found)
    leave(out)


def _print(directory: Path, out: Path, after: Run, found: Changes) -> None:
    screen = console()
    screen.print(f"{_recipe(after.release.method, after.release.parameters)}: the recipe of {directory}")
    rows = [
        [
            entry.finding.name + (" (required)" if entry.required else ""),
            shown(entry.finding.required, entry.finding.sense),
            "–" if entry.before is None else shown(entry.before, entry.finding.sense),
            *found_now(entry.finding),
        ]
        for entry in found.promises
    ]
    print_table(screen, "Verified again", ["guarantee", "asked", "found before", "found now", ""], rows)
    for sentence in found.sentences():
        screen.print(sentence)
    print_places(after, out)


def _recipe(method: str, parameters: Mapping[str, Any]) -> str:
    """The method as one would ask for it: what is as it is by default is left out."""
    usual = {field.name: field.default for field in fields(plugins.load("methods", method))}
    said = [f"{name}={value}" for name, value in parameters.items() if name in usual and value != usual[name]]
    return ", ".join([method, *said])
