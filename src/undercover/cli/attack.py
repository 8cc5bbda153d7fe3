"""``undercover attack``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from undercover import plugins
from undercover.cli.options import Json, Known, Original, names, settings_from_text
from undercover.cli.output import console, print_json, print_result, print_view, progress_on_stderr
from undercover.errors import ParameterError
from undercover.forms.case import Case
from undercover.model.about import about_of
from undercover.model.protocols import Attack
from undercover.model.run import Run
from undercover.model.view import View, Viewable, say
from undercover.model.view import table as belief_table
from undercover.parameters import make
from undercover.verbs.attack import attack, case_of
from undercover.verbs.store import load, original_of
from undercover.waiting import through

_MOST_VALUES = 12


def command(
    directory: Annotated[Path, typer.Argument(help="The release folder DIR, with its private part.")],
    known: Known = None,
    p_match: Annotated[
        float | None, typer.Option(help="He matches on each value with this probability only.", min=0, max=1)
    ] = None,
    knows_tables: Annotated[
        bool, typer.Option("--knows-tables", help="Where the run keeps output tables: he knows groups and tables, too.")
    ] = False,
    knows_algorithm: Annotated[
        bool, typer.Option("--knows-algorithm", help="He knows the method, too: exact on at most 8 people.")
    ] = False,
    knows_values: Annotated[
        int | None, typer.Option(help="With --knows-algorithm, and the values of so many others.", min=1)
    ] = None,
    victim: Annotated[
        int | None, typer.Option(help="Where values went through a channel: one input row, attacked exactly.")
    ] = None,
    corrupted: Annotated[
        str, typer.Option(help="With --victim, whose values he knows: all, none, or input rows by commas.")
    ] = "all",
    attacker: Annotated[str | None, typer.Option(help="One attack by name; an unknown one lists all.")] = None,
    set: Annotated[  # noqa: A002
        list[str] | None, typer.Option(help="With --attacker: a parameter of the attack, such as known=age,sex.")
    ] = None,
    original: Original = None,
    json: Json = False,
) -> None:
    """The options; those before ``attacker`` are the attacks most asked for, with their parameters."""
    if knows_values is not None and not knows_algorithm:
        raise ParameterError("--knows-values is about somebody who knows the method. Add --knows-algorithm.")
    if attacker is not None:
        if known or p_match is not None or knows_tables or knows_algorithm or victim is not None:
            raise ParameterError("--attacker names the attack. Give its parameters with --set, and nothing else of it.")
        _attacker(directory, make("attacks", attacker, settings_from_text(set or [])), original, json)
    elif set:
        raise ParameterError("--set is a parameter of an attack. Name the attack with --attacker.")
    elif victim is not None:
        _victim(directory, victim, corrupted, original, json)
    elif knows_tables:
        _attacker(directory, make("attacks", "informed", {}), original, json)
    elif knows_algorithm:
        _knows_algorithm(directory, knows_values, original, json)
    else:
        _usual(directory, names(known), p_match, original, json)


def _attacker(target: Run | Path, attacker: Attack[Any], original: str | None, as_json: bool) -> None:
    """Run any attack there is, and print what it shows."""
    with progress_on_stderr() as progress:
        found = attack(target, attacker, original=original, progress=progress)
    print_result(found, as_json)


def _usual(
    directory: Path, known: tuple[str, ...] | None, p_match: float | None, original: str | None, as_json: bool
) -> None:
    """Attack every row and print what the attacker gets, beside guessing."""
    with progress_on_stderr() as progress:
        progress("reading", 0.0)
        case = case_of(directory, original)
        asked: dict[str, dict[str, Any]] = {"linkage": {"known": known, "p_match": p_match}}
        if case.reading.channel is not None:
            asked["corruption"] = {}
        if case.reading.buckets is not None:
            asked["bucket-matching"] = {"known": known}
        made = [_found(case, name, **asked[name]) for name in through(progress, "attacking", list(asked))]
    found: Viewable = made[0]
    beside = {name.replace("-", "_"): one for name, one in zip(asked, made, strict=True) if one is not found}
    if as_json:
        print_json(found.to_dict() | {name: other.to_dict() for name, other in beside.items()})
        return
    for result in (found, *beside.values()):
        print_view(result.view())


def _found(case: Case, attacker: str, **parameters: Any) -> Any:
    return attack(case, plugins.load("attacks", attacker)(**parameters))


def _knows_algorithm(directory: Path, values: int | None, original: str | None, as_json: bool) -> None:
    """Attack the method itself on a table of a few people and print the worst it can give away.

    A larger table is attacked through the cuts that were refused, where the method is one that cuts and no values are
    known; else by what values of some people tell of others, sampled.
    """
    from undercover.studies.algorithm_aware.attack import MOST_PEOPLE, AlgorithmAware

    made = load(directory)
    attacker: Attack[Any] = AlgorithmAware(known=values or 0)
    if len(made.rows) > MOST_PEOPLE:
        cuts = about_of(made.release.method).through_cuts if values is None else None
        asked = "what was refused is asked" if cuts else "the method is run many times and what values tell is sampled"
        if not as_json:
            console().print(f"Tables of more than {MOST_PEOPLE} people are not gone through: {asked} instead.")
        attacker = make("attacks", *((cuts, {}) if cuts else ("known-values", {"known": values or 1})))
    _attacker(made, attacker, original, as_json)


def _victim(directory: Path, row: int, corrupted: str, original: str | None, as_json: bool) -> None:
    """Attack one person exactly and print what is believed of him before and after."""
    with progress_on_stderr() as progress:
        progress("reading", 0.0)
        made = load(directory)
        table = original_of(made, original)
        places = np.flatnonzero(table.rows == row)
        if not len(places):
            raise ParameterError(f"There is no input row {row:,} in the table that was published.")
        position = {int(number): place for place, number in enumerate(table.rows)}
        known = _corrupted(corrupted, position)
        attacker = plugins.load("attacks", "corruption")()
        progress("attacking", 0.0)
        seen, plain = attacker.victim(table, made.release, int(places[0]), corrupted=known)
    sensitive = table.schema.sensitive[0]
    value = table[sensitive].domain.labels[int(table[sensitive].codes[places[0]])]
    if as_json:
        believed = {"release": seen.to_dict(), "true_values_published": plain.to_dict()}
        asked = {"attack": "corruption", "victim": row, "corrupted": corrupted, "true_value": value}
        print_json(asked | believed)
        return
    text = f"{sensitive} = {value}; the published row is his own with {{risk}}."
    order = sorted(seen.after, key=lambda name: (-seen.after[name], name))
    shown = dict.fromkeys([*order[: _MOST_VALUES - 1], value])
    rows = [(name, *(float(belief[name]) for belief in (seen.before, seen.after, plain.after))) for name in shown]
    columns = (sensitive, "before", "after", "had true values been published")
    title = "What the attacker believes (private)"
    beliefs = belief_table(columns, "plain baseline risk risk", rows, title, private=True)
    print_view(View("victim", f"Input row {row:,}", (say(text, float(seen.ownership)), beliefs), private=True))


def _corrupted(text: str, position: Mapping[int, int]) -> list[int] | None:
    """Positions of the corrupted people; ``None`` for everybody else."""
    if text in ("all", "none"):
        return None if text == "all" else []
    try:
        rows = [int(part) for part in text.split(",")]
    except ValueError:
        raise ParameterError(f"--corrupted is all, none, or input rows by commas. Got {text!r} instead.") from None
    strange = [row for row in rows if row not in position]
    if strange:
        raise ParameterError(f"There is no input row {strange[0]:,} in the table that was published.")
    return [position[row] for row in rows]
