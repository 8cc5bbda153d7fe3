"""``undercover accept``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from undercover.cli.options import By, Json
from undercover.cli.output import console, print_json
from undercover.io.release.contents import PUBLIC
from undercover.verbs.accept import accept


def command(
    directory: Annotated[Path, typer.Argument(help="The release folder DIR that is withheld.")],
    because: Annotated[str, typer.Option(help="Why it may be published although the verdict says not to.")],
    by: By = None,
    json: Json = False,
) -> None:
    """Make a withheld release public and keep who decided so, when and why."""
    decision = accept(directory, because=because, by=by)
    if json:
        print_json({"out": str(directory), **decision.to_dict()})
        return
    screen = console()
    screen.print(decision.sentence(), markup=False)
    screen.print(f"for the world:  {directory / PUBLIC}", markup=False)
