"""``undercover attack``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from undercover.attacks.algorithm_aware import MOST_PEOPLE, AlgorithmAware
from undercover.attacks.bucket_matching import BucketMatching
from undercover.attacks.corruption.channel import Corruption
from undercover.attacks.linkage import Linkage
from undercover.cli.corruption import run_victim
from undercover.cli.options import Json, Known, Original, names, settings_from_text
from undercover.cli.output import console, print_json, print_view, progress_on_stderr
from undercover.errors import ParameterError
from undercover.model.about import about_of
from undercover.model.protocols import Attack
from undercover.model.run import Run
from undercover.model.view import Viewable
from undercover.parameters import make
from undercover.verbs.attack import attack as attack_run
from undercover.verbs.attack import case_of
from undercover.verbs.store import load


def command(
    directory: Annotated[Path, typer.Argument(help="The release folder DIR, with its private part.")],
    known: Known = None,
    p_match: Annotated[
        float | None, typer.Option(help="He matches on each value with this probability only.", min=0, max=1)
    ] = None,
    knows_tables: Annotated[
        bool, typer.Option("--knows-tables", help="Of mutual cover: he knows groups and output tables, too.")
    ] = False,
    knows_algorithm: Annotated[
        bool, typer.Option("--knows-algorithm", help="He knows the method, too: Mondrian, or at most 8 people.")
    ] = False,
    victim: Annotated[
        int | None, typer.Option(help="Of perturbed generalization: one input row, attacked exactly.")
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
    if attacker is not None:
        if known or p_match is not None or knows_tables or knows_algorithm or victim is not None:
            raise ParameterError("--attacker names the attack. Give its parameters with --set, and nothing else of it.")
        run_attacker(directory, make("attacks", attacker, settings_from_text(set or [])), original, json)
    elif set:
        raise ParameterError("--set is a parameter of an attack. Name the attack with --attacker.")
    elif victim is not None:
        run_victim(directory, row=victim, corrupted=corrupted, original=original, as_json=json)
    elif knows_tables:
        run_attacker(directory, make("attacks", "informed", {}), original, json)
    elif knows_algorithm:
        run_informed(directory, original=original, as_json=json)
    else:
        run(directory, known=names(known), original=original, as_json=json, p_match=p_match)


def run_attacker(target: Run | Path, attacker: Attack[Any], original: str | None, as_json: bool) -> None:
    """Run any attack there is, and print what it shows."""
    with progress_on_stderr() as progress:
        progress("attacking", 0.0)
        found = attack_run(target, attacker, original=original, progress=progress)
    if as_json:
        print_json(found.to_dict())
    else:
        print_view(found.view())


def run(
    directory: Path,
    *,
    known: tuple[str, ...] | None,
    original: str | None,
    as_json: bool,
    p_match: float | None = None,
) -> None:
    """Attack every row and print what the attacker gets, beside guessing."""
    with progress_on_stderr() as progress:
        progress("attacking", 0.0)
        case = case_of(directory, original)
        found = attack_run(case, Linkage(known=known, p_match=p_match))
        beside: dict[str, Viewable] = {}
        if case.reading.channel is not None:
            beside["corruption"] = attack_run(case, Corruption())
        if case.reading.buckets is not None:
            beside["bucket_matching"] = attack_run(case, BucketMatching(known=known))
    if as_json:
        print_json(found.to_dict() | {name: other.to_dict() for name, other in beside.items()})
        return
    for result in (found, *beside.values()):
        print_view(result.view())


def run_informed(directory: Path, *, original: str | None, as_json: bool) -> None:
    """Attack the method itself on a table of a few people and print the worst it can give away.

    A larger table is attacked through the cuts that were refused, where the method is one that cuts.
    """
    made = load(directory)
    large = len(made.rows) > MOST_PEOPLE and "minimality" in about_of(made.release.method).attacks
    if large and not as_json:
        console().print("Tables of more than 8 people are not gone through: what was refused is asked instead.")
    run_attacker(made, make("attacks", "minimality", {}) if large else AlgorithmAware(), original, as_json)
