"""``undercover joint-risk``."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Annotated, Any

import typer

from undercover.attacks import JointRelease, JointRisk
from undercover.cli.options import Json, Known, names
from undercover.cli.output import console, print_json, print_table, progress_on_stderr
from undercover.errors import ParameterError
from undercover.model.figures import baseline, risk
from undercover.verbs.joint import published

_SHOWN = 5


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
    """The options."""
    run(
        tables,
        sensitive=sensitive,
        qi=names(qi),
        known=names(known),
        shared=shared,
        suppressed=suppressed,
        worst=worst,
        size=size,
        least=l,
        strict=strict,
        as_json=json,
    )


def run(
    sources: Sequence[str],
    *,
    sensitive: str | None,
    qi: tuple[str, ...] | None,
    known: tuple[str, ...] | None,
    shared: str,
    suppressed: bool,
    worst: int,
    size: int | None,
    least: int | None,
    strict: bool,
    as_json: bool,
) -> None:
    """Join published tables and say what is left; exit code 4 if fewer values than asked for."""
    if strict and least is None:
        raise ParameterError("--strict says how --l is counted. Give --l, too.")
    with progress_on_stderr() as progress:
        progress("reading", 0.0)
        attacker = JointRelease(known=known, shared=shared, worst=worst, size=size)  # type: ignore[arg-type]
        tables = [
            published(source, sensitive=sensitive, quasi_identifiers=qi, suppressed=suppressed) for source in sources
        ]
        progress("joining", 0.0)
        found = attacker.run(tables)
    holds = _holds(found, least, strict)
    if as_json:
        print_json(found.to_dict() | ({} if least is None else {"required": least, "strict": strict, "holds": holds}))
    else:
        _print(found, least, strict, holds)
    if not holds:
        raise typer.Exit(4)


def _holds(found: JointRisk, least: int | None, strict: bool) -> bool:
    if least is None:
        return True
    if strict and found.possible_l is None:
        raise ParameterError("There are too many combinations for --strict. Ask without it.")
    return (found.possible_l if strict else found.l) >= least  # type: ignore[operator]


def _print(found: JointRisk, least: int | None, strict: bool, holds: bool) -> None:
    screen = console()
    screen.print(found.story)
    rows = [
        [table.name, ", ".join(table.quasi_identifiers), f"{table.n_classes:,}", str(own), risk(sure)]
        for table, own, sure in zip(found.tables, found.alone, found.alone_probability, strict=True)
    ]
    rows.append(["together", "", f"{found.combinations:,}", str(found.l), _highest(found)])
    rows.append(["guessing", "", "", str(len(found.values)), baseline(found.baseline)])
    name = found.tables[0].column
    columns = ["table", "known", "classes", f"values of {name} left", "surest"]
    print_table(screen, f"What {len(found.tables)} tables say of {name}", columns, rows, left=2)
    worst = [
        [
            *(_cells(cells) for cells in combination.cells),
            str(combination.l),
            _shares(combination.probabilities),
            *(_known_size(found, number)),
        ]
        for number, combination in enumerate(found.worst[:_SHOWN])
    ]
    headings = [*(table.name for table in found.tables), "left", "probabilities"]
    headings += (
        [f"with {found.correlation[0].size if found.correlation[0] else '?'} people"] if found.correlation else []
    )
    print_table(screen, "Worst combinations of classes", headings, worst, left=len(found.tables))
    if found.impossible:
        screen.print(f"{found.impossible:,} combinations have no value in common: nobody can be in them.")
    screen.print("All combinations count, also those nobody is in: no holder can know which.", style="dim")
    if found.possible_l is not None:
        screen.print(
            f"Values that stay possible for somebody who knows how many people are in a combination: {found.possible_l}"
        )
    if not found.exhaustive:
        screen.print("Too many combinations to go through: l is exact, the surest value at least what is shown.")
    if least is not None:
        asked = f"at least {least} values, {'strictly' if strict else 'by intersections'}"
        screen.print(f"{asked}: {'holds' if holds else 'DOES NOT HOLD'}", style="bold green" if holds else "bold red")


def _highest(found: JointRisk) -> str:
    return ("" if found.exhaustive else "at least ") + risk(float(found.max_probability))


def _cells(cells: Any) -> str:
    return ", ".join(f"{name} = {cell}" for name, cell in cells.items()) or "(nothing known)"


def _shares(probabilities: Any, most: int = 3) -> str:
    ranked = sorted(probabilities.items(), key=lambda entry: (-entry[1], entry[0]))
    shown = [f"{label} {_share(share)}" for label, share in ranked[:most]]
    return ", ".join(shown) + (f" and {len(ranked) - most} more" if len(ranked) > most else "") or "impossible"


def _share(share: Fraction) -> str:
    return str(share) if share.denominator <= 100 else risk(float(share))


def _known_size(found: JointRisk, number: int) -> list[str]:
    if not found.correlation:
        return []
    known = found.correlation[number]
    if known is None:
        return ["impossible"]
    shares = dict(zip(found.values, known.by_instances, strict=True))
    return [_shares({label: share for label, share in shares.items() if share})]
