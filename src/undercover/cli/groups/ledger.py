"""``undercover ledger``: look into the private ledger, enter a release, see who of a table is in it, withdraw one.

The commands are declared here; what does the work is imported when one of them runs.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from undercover.io.ledger.book import Before, Entry

app = typer.Typer(
    name="ledger",
    help="A private record of who was published in which release, without any value of anybody.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

File = Annotated[Path, typer.Argument(help="The ledger; `publish --ledger` makes it.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]


@app.command()
def show(file: File, json: Json = False) -> None:
    """List the releases: when, where, by which method, how many people, and how these are known."""
    from dataclasses import asdict

    from undercover.cli.output import console, print_json, print_table

    entries = _existing(file).entries()
    if json:
        print_json({"ledger": str(file), "releases": [asdict(entry) for entry in entries]})
        return
    rows = [[str(entry.number), entry.made[:10], *_described(entry)] for entry in entries]
    print_table(
        console(), "", ["release", "made", "method", "people", "known by", "folder", ""], rows, left=(1, 2, 4, 5, 6)
    )


@app.command()
def add(
    file: File,
    directory: Annotated[Path, typer.Argument(help="A release folder with its private part.")],
    original: Annotated[str | None, typer.Option(help="The table it was made of, if it is no longer there.")] = None,
    json: Json = False,
) -> None:
    """Enter a release that was made without the ledger."""
    from dataclasses import asdict

    from undercover.cli.output import console, print_json, progress_on_stderr
    from undercover.verbs.ledger import enter_folder

    with progress_on_stderr() as progress:
        progress("reading and entering", 0.0)
        entry = enter_folder(file, directory, original=original)
    if json:
        print_json(asdict(entry))
    else:
        console().print(f"entered as release {entry.number}: {entry.people:,} people of `{directory}`", markup=False)


@app.command()
def check(
    file: File,
    data: Annotated[str, typer.Argument(help="The table to be published: a file or database URL.")],
    spec: Annotated[Path | None, typer.Option("--spec", help="How to read it: a spec in TOML.")] = None,
    json: Json = False,
) -> None:
    """Say how many people of a table are in which release already; nothing is published."""
    from undercover.cli.output import print_json, progress_on_stderr
    from undercover.cli.reading import read_with_spec

    ledger = _existing(file)
    with progress_on_stderr() as progress:
        progress("reading", 0.0)
        given, _, _, _ = read_with_spec(data, spec, {})
        progress("looking into the ledger", 0.0)
        before = ledger.before(given.data, progress)
    if json:
        found = [entry.to_dict() for entry in before.earlier]
        print_json({"rows": given.data.num_rows, "earlier": found, "not_comparable": list(before.unknown)})
    else:
        _print_overlap(before, given.data.num_rows)


@app.command()
def forget(
    file: File,
    release: Annotated[str, typer.Argument(help="Its number, its folder, or the beginning of its hash.")],
) -> None:
    """Withdraw a release: it stays noted and is not counted any more."""
    from undercover.cli.output import console

    gone = _existing(file).forget(release)
    console().print(
        f"release {gone.number} is withdrawn and not counted any more; whoever has a copy of it still knows it",
        markup=False,
    )


def _existing(file: Path) -> Any:
    from undercover.errors import DataError
    from undercover.io.ledger.book import Ledger

    if not file.is_file():
        raise DataError(f"There is no ledger `{file}`. The first `publish --ledger {file}` makes it.")
    return Ledger(file)


def _described(entry: Entry) -> list[str]:
    known = " or ".join(", ".join(key) for key in entry.known_by)
    state = f"withdrawn {entry.withdrawn[:10]}" if entry.withdrawn else "" if entry.counts else "not finished"
    folder = "" if entry.folder is None else min(entry.folder, os.path.relpath(entry.folder), key=len)
    return [entry.method, f"{entry.people:,}", known, folder, state]


def _print_overlap(before: Before, rows: int) -> None:
    from undercover.cli.output import console

    screen = console()
    for entry in before.earlier:
        screen.print(f"{entry.sentence()}.", markup=False)
    for sentence in before.unknown:
        screen.print(f"{sentence}.", markup=False)
    if not before.earlier and not before.unknown:
        screen.print(f"Nobody of the {rows:,} rows is in any release of the ledger.", markup=False)
