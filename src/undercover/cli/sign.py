"""``undercover sign``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from undercover.cli.output import console
from undercover.errors import ParameterError
from undercover.verbs.sign import new_key, sign


def command(
    folder: Annotated[Path | None, typer.Argument(help="The release folder, or its public part.")] = None,
    key: Annotated[Path | None, typer.Option(help="The file of your private key.")] = None,
    new: Annotated[Path | None, typer.Option("--new-key", help="Make a key pair: FILE, and FILE.pub.")] = None,
) -> None:
    """Sign a release, or make the keys to do so."""
    if new is not None:
        if folder is not None or key is not None:
            raise ParameterError("--new-key makes keys and signs nothing. Sign in a second command, with --key.")
        public = new_key(new)
        console().print(f"for you alone:  {new}", markup=False)
        console().print(f"for the world:  {public}", markup=False)
        return
    if folder is None or key is None:
        raise ParameterError("Say what to sign and with which key: undercover sign DIR --key FILE.")
    console().print(f"signed: {sign(folder, key)}", markup=False)
