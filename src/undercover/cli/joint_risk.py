"""``undercover joint-risk``."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from undercover.attacks.joint.attack import JointRelease, JointRisk
from undercover.cli.options import Json, Known, names
from undercover.cli.output import console, print_json, print_view, progress_on_stderr
from undercover.errors import ParameterError
from undercover.verbs.joint import published


def command(
    tables: Annotated[list[str], typer.Argument(help="Public folders, or files with named columns, of anybody.")],
    sensitive: Annotated[str | None, typer.Option(help="The sensitive column the tables share.")] = None,
    qi: Annotated[str | None, typer.Option("--qi", help="Quasi-identifiers of files; by default all others.")] = None,
    known: Known = None,
    shared: Annotated[str, typer.Option(help="Quasi-identifiers in several tables: refuse or nested.")] = "refuse",
    suppressed: Annotated[bool, typer.Option("--suppressed", help="Suppressed rows are a class of their own.")] = False,
    worst: Annotated[int, typer.Option(help="How many of the worst combinations to list.", min=1)] = 10,
    size: Annotated[int | None, typer.Option(help="People in a combination, if the attacker knows it.", min=1)] = None,
    l: Annotated[int | None, typer.Option("--l", help="Values that must be left; exit code 4 if fewer.", min=1)] = None,  # noqa: E741
    strict: Annotated[
        bool, typer.Option("--strict", help="Count values possible whatever the attacker knows.")
    ] = False,
    json: Json = False,
) -> None:
    """Join published tables and say what is left; exit code 4 if fewer values than asked for."""
    if strict and l is None:
        raise ParameterError("--strict says how --l is counted. Give --l, too.")
    with progress_on_stderr() as progress:
        progress("reading", 0.0)
        attacker = JointRelease(known=names(known), shared=shared, worst=worst, size=size)  # type: ignore[arg-type]
        columns: dict[str, Any] = {"sensitive": sensitive, "quasi_identifiers": names(qi)}
        read = [published(table, suppressed=suppressed, **columns) for table in tables]
        progress("joining", 0.0)
        found = attacker.run(read)
    holds = _holds(found, l, strict)
    if json:
        print_json(found.to_dict() | ({} if l is None else {"required": l, "strict": strict, "holds": holds}))
    else:
        print_view(found.view())
        if l is not None:
            asked = f"at least {l} values, {'strictly' if strict else 'by intersections'}"
            style = "bold green" if holds else "bold red"
            console().print(f"{asked}: {'holds' if holds else 'DOES NOT HOLD'}", style=style)
    if not holds:
        raise typer.Exit(4)


def _holds(found: JointRisk, least: int | None, strict: bool) -> bool:
    if least is None:
        return True
    if strict and found.possible_l is None:
        raise ParameterError("There are too many combinations for --strict. Ask without it.")
    return (found.possible_l if strict else found.l) >= least  # type: ignore[operator]
