"""``undercover joint-risk``."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from undercover.attacks.joint.attack import JointRelease
from undercover.attacks.joint.result import JointRisk
from undercover.cli.options import Json, Known, Original, names
from undercover.cli.output import console, print_json, print_view, progress_on_stderr
from undercover.errors import ParameterError
from undercover.model.view import Viewable
from undercover.verbs.holder import centralized_risk, joint_attack
from undercover.verbs.joint import published
from undercover.waiting import through


def command(
    tables: Annotated[list[str], typer.Argument(help="Public folders, or files with named columns, of anybody.")],
    sensitive: Annotated[str | None, typer.Option(help="The sensitive column the tables share.")] = None,
    qi: Annotated[str | None, typer.Option("--qi", help="Quasi-identifiers of files; by default all others.")] = None,
    known: Known = None,
    shared: Annotated[
        list[str] | None,
        typer.Option(help="Columns in several tables: refuse or nested. As a=b: these two are one column. Repeatable."),
    ] = None,
    distinct: Annotated[
        list[str] | None,
        typer.Option(help="As a,b: not one column, though spelled alike; one name for columns of that very name."),
    ] = None,
    suppressed: Annotated[bool, typer.Option("--suppressed", help="Suppressed rows are a class of their own.")] = False,
    worst: Annotated[int, typer.Option(help="How many of the worst combinations to list.", min=1)] = 10,
    size: Annotated[int | None, typer.Option(help="People in a combination, if the attacker knows it.", min=1)] = None,
    l: Annotated[int | None, typer.Option("--l", help="Values that must be left; exit code 4 if fewer.", min=1)] = None,  # noqa: E741
    strict: Annotated[
        bool,
        typer.Option(
            "--strict", help="Of --l: to whoever knows everybody, in any world. Real tables leave 1: see --overlap."
        ),
    ] = False,
    overlap: Annotated[
        bool, typer.Option("--overlap", help="Your own release folders: attack everybody, cells that cross included.")
    ] = False,
    centralized: Annotated[
        bool, typer.Option("--centralized", help="Your own release folders: the join by person, as a reference.")
    ] = False,
    original: Original = None,
    json: Json = False,
) -> None:
    """Join published tables and say what is left; exit code 4 if fewer values than asked for."""
    if strict and l is None:
        raise ParameterError("--strict says how --l is counted. Give --l, too.")
    if overlap or centralized:
        if strict or size or suppressed or qi or shared or distinct:
            raise ParameterError(
                "With --overlap or --centralized the original says who is who. Of the options only --sensitive, "
                "--known, --l, --original and --json go with them."
            )
        _held(tables, overlap, centralized, original, sensitive, names(known), l, json)
        return
    said = shared or []
    policy = [word for word in said if "=" not in word] or ["refuse"]
    with progress_on_stderr() as progress:
        attacker = JointRelease(
            known=names(known),
            shared=policy[-1],  # type: ignore[arg-type]
            same=tuple(word for word in said if "=" in word),
            distinct=tuple(distinct or ()),
            worst=worst,
            size=size,
        )
        columns: dict[str, Any] = {"sensitive": sensitive, "quasi_identifiers": names(qi)}
        read = [published(table, suppressed=suppressed, **columns) for table in through(progress, "reading", tables)]
        progress("joining", 0.0)
        found = attacker.run(read)
    holds = _holds(found, l, strict)
    if json:
        print_json(found.to_dict() | ({} if l is None else {"required": l, "strict": strict, "holds": holds}))
    else:
        print_view(found.view())
        if l is not None:
            whom = "to whoever knows everybody" if strict else "to whoever knows one person"
            _say_whether(f"at least {l} values {whom}", holds)
    if not holds:
        raise typer.Exit(4)


def _held(
    folders: list[str],
    overlap: bool,
    centralized: bool,
    original: str | None,
    sensitive: str | None,
    known: tuple[str, ...] | None,
    least: int | None,
    as_json: bool,
) -> None:
    """What the holder of the original sees; private."""
    found: dict[str, Viewable] = {}
    holds = True
    with progress_on_stderr() as progress:
        if centralized:
            progress("joining by person", 0.0)
            joined = centralized_risk(folders, original, sensitive=sensitive)
            found["centralized"] = joined
            holds = least is None or min(joined.left) >= least
        if overlap:
            attacked = joint_attack(folders, original, sensitive=sensitive, known=known, progress=progress)
            found["overlap"] = attacked
            holds = holds and (least is None or int(attacked.together.left.min()) >= least)
    if as_json:
        asked = {} if least is None else {"required": least, "holds": holds}
        print_json({name: result.to_dict() for name, result in found.items()} | asked)
    else:
        for result in found.values():
            print_view(result.view())
        if least is not None:
            _say_whether(f"at least {least} values for everybody", holds)
    if not holds:
        raise typer.Exit(4)


def _say_whether(asked: str, holds: bool) -> None:
    console().print(f"{asked}: {'holds' if holds else 'DOES NOT HOLD'}", style="bold" if holds else "bold red")


def _holds(found: JointRisk, least: int | None, strict: bool) -> bool:
    return least is None or (found.possible_l if strict else found.l) >= least
