"""``undercover serve``."""

from __future__ import annotations

import os
import sys
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from undercover import ending
from undercover.errors import MissingExtraError, ParameterError

_GRACE = 8.0  # seconds in which pages are told, and jobs clear away what is half-written


def command(
    port: Annotated[int, typer.Option(help="Where it listens; 0 takes any port that is free.")] = 8765,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Do not open a browser.")] = False,
    workspace: Annotated[Path | None, typer.Option(help="Where tables are kept; by default ~/.undercover/web.")] = None,
    folder: Annotated[list[Path] | None, typer.Option(help="A folder whose files may be opened.")] = None,
    desk: Annotated[list[str] | None, typer.Option(help="Who works here; each gets an address.")] = None,
    most_megabytes: Annotated[int, typer.Option(help="Of one uploaded file.", min=1)] = 2048,
    most_rows: Annotated[int, typer.Option(help="Of one table.", min=1)] = 20_000_000,
    workers: Annotated[int | None, typer.Option(help="Jobs at the same time.", min=1)] = None,
    host: Annotated[str, typer.Option(help="Beyond this machine only with the three options below.")] = "127.0.0.1",
    certificate: Annotated[Path | None, typer.Option(help="Of TLS, in PEM.")] = None,
    name: Annotated[list[str] | None, typer.Option(help="By which browsers ask for it, if not by its host.")] = None,
    key: Annotated[Path | None, typer.Option(help="Of the certificate, in PEM.")] = None,
    passphrase_file: Annotated[Path | None, typer.Option(help="Whose first line everybody must say.")] = None,
    behind_proxy: Annotated[
        str | None, typer.Option(help="Address of a proxy here that ends TLS: https://name. Needs a passphrase.")
    ] = None,
    audit_log: Annotated[
        Path | None, typer.Option(help="For sign-ins, decisions, downloads; by default beside the workspace.")
    ] = None,
) -> None:
    """Serve until interrupted."""
    try:
        import python_multipart  # noqa: F401 - forms are read by it

        from undercover.web.serve import serve
        from undercover.web.settings import MEGABYTE, Settings, home
    except ModuleNotFoundError as error:
        raise MissingExtraError(str(error.name), "web", "The web application") from error
    said = _passphrase(passphrase_file) if passphrase_file else None
    settings = Settings(
        workspace=workspace or home(),
        host=host,
        port=port,
        names=tuple(name or ()),
        desks=tuple(desk or ("own",)),
        folders=tuple(place.resolve() for place in folder or ()),
        most_bytes=most_megabytes * MEGABYTE,
        most_rows=most_rows,
        workers=workers or max(1, (os.cpu_count() or 1) // 2),
        certificate=certificate,
        key=key,
        passphrase=said,
        behind_proxy=None if behind_proxy is None else behind_proxy.rstrip("/").lower(),
        audit_log=audit_log,
    )

    def tell(name: str, address: str) -> None:
        print(f"{name}: {address}" if len(settings.desks) > 1 else address, flush=True)
        if not no_browser and name == settings.desks[0]:
            webbrowser.open(address)

    ending.allow(_GRACE)
    try:
        serve(settings, tell, _warn)
    except KeyboardInterrupt as error:
        ending.say(error, f"Stopped. Tables and releases are kept in {settings.workspace}.")
        raise typer.Exit(130) from None


def _passphrase(file: Path) -> str:
    """The first line of a file that nobody else should be able to read."""
    try:
        if file.stat().st_mode & 0o077:
            _warn(f"Others on this machine may read `{file}`: chmod 600 {file}")
        return file.read_text(encoding="utf-8").partition("\n")[0].strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ParameterError(
            f"`{file}` cannot be read: {getattr(error, 'strerror', None) or 'it is no text'}."
        ) from error


def _warn(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)
