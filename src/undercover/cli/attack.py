"""``undercover attack``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from undercover.attacks import AlgorithmAware, BucketMatching, Corruption, Linkage
from undercover.attacks.algorithm_aware import MOST_PEOPLE
from undercover.cli.corruption import print_sweep, run_victim
from undercover.cli.informed import run as run_with_tables
from undercover.cli.minimality import run as run_minimality
from undercover.cli.options import Json, Known, Original, names, settings_from_text
from undercover.cli.output import console, print_json, print_table, progress_on_stderr
from undercover.errors import ParameterError
from undercover.model.about import about_of
from undercover.model.figures import baseline, number, risk
from undercover.model.protocols import Attack
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
        run_with_tables(directory, original=original, as_json=json)
    elif knows_algorithm:
        run_informed(directory, original=original, as_json=json)
    else:
        run(directory, known=names(known), original=original, as_json=json, p_match=p_match)


def run_attacker(directory: Path, attacker: Attack[Any], original: str | None, as_json: bool) -> None:
    """Run any attack there is."""
    with progress_on_stderr() as progress:
        progress("attacking", 0.0)
        found = attack_run(directory, attacker, original=original, progress=progress)
    print_json(found.to_dict())


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
        found = attack_run(case, Linkage(known=known, p_match=p_match)).to_dict()
        if case.reading.channel is not None:
            found["corruption"] = attack_run(case, Corruption()).to_dict()
        if case.reading.buckets is not None:
            found["bucket_matching"] = attack_run(case, BucketMatching(known=known)).to_dict()
    if as_json:
        print_json(found)
        return
    screen = console()
    screen.print(found["story"])
    print_table(
        screen,
        f"Linkage on {found['targets']:,} people",
        ["", "guessing", "original", "release"],
        linkage_rows(found),
    )
    if "sweep" in found:
        print_table(screen, "The release, by how many of the values he matches on", *sweep_rows(found))
    if "bucket_matching" in found:
        print_table(screen, "The buckets the release leaves him with", ["", "mean", "worst"], bucket_rows(found))
    rows = [
        [
            f"{worst['row']:,}",
            number(worst["matches"]),
            risk(worst["identity"]),
            *(risk(value) for value in worst["attribute"].values()),
        ]
        for worst in found["worst_rows"][:5]
    ]
    columns = ["input row", "matches", "identity", *found["after"]["attribute"]]
    print_table(screen, "Rows he learns most about (private)", columns, rows, left=0)
    if "corruption" in found:
        print_sweep(found["corruption"])


def run_informed(directory: Path, *, original: str | None, as_json: bool) -> None:
    """Attack the method itself on a table of a few people and print the worst it can give away.

    A larger table is attacked through the cuts that were refused, where the method is one that cuts.
    """
    made = load(directory)
    if len(made.rows) > MOST_PEOPLE and "minimality" in about_of(made.release.method).attacks:
        run_minimality(made, original=original, as_json=as_json)
        return
    with progress_on_stderr() as progress:
        progress("attacking", 0.0)
        found = attack_run(made, AlgorithmAware(), original=original).to_dict()
    if as_json:
        print_json(found)
        return
    screen = console()
    screen.print(found["story"])
    rows = [
        [said, f"{worst['row']:,}", worst["value"], worst["fraction"], risk(worst["release_alone"])]
        for said, worst in (("surest", found["worst"]), ("most beyond the release", found["largest_gain"]))
    ]
    print_table(
        screen,
        f"{found['releases']:,} releases of {found['tables']:,} tables of {found['people']} people (private)",
        ["", "row", "value", "probability", "from the release alone"],
        rows,
    )
    verdict = "nothing beyond the release" if found["safe"] else "more than the release alone shows"
    screen.print(f"Knowing the algorithm tells {verdict}.")


def sweep_rows(found: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Columns and lines of the P_match attack: one line for every P."""
    names = list(found["after"]["attribute"])
    columns = ["P", "finds the row, mean", "worst"]
    for name in names:
        columns += [f"true {name}, mean", f"guesses {name}"]
    lines = []
    for entry in found["sweep"]:
        line = [f"{entry['p']:g}", risk(entry["identity"]["mean"]), risk(entry["identity"]["max"])]
        for name in names:
            figures = entry["attribute"][name]
            line += [risk(figures["mean"]), risk(figures["guess_success"])]
        lines.append(line)
    return columns, lines


def bucket_rows(found: dict[str, Any]) -> list[list[str]]:
    """The figures of bucket matching, a line each: mean and worst row."""
    matching = found["bucket_matching"]
    rows = [
        [said, number(matching[key]["mean"]), number(matching[key]["min"])]
        for said, key in (("rows that fit a person", "matches"), ("buckets they lie in", "buckets"))
    ]
    for name, breach in matching["breach"].items():
        rows.append([f"probability of the true {name}", risk(breach["mean"]), risk(breach["max"])])
    return rows


def linkage_rows(found: dict[str, Any]) -> list[list[str]]:
    """The figures of a linkage attack, a line each: guessing, on the original, on the release."""
    before, after, guess = found["before"], found["after"], found["baseline"]
    rows = [
        [
            "finds the person's row, mean",
            baseline(guess["identity"]),
            risk(before["identity"]["mean"]),
            risk(after["identity"]["mean"]),
        ],
        ["finds the person's row, worst", "", risk(before["identity"]["max"]), risk(after["identity"]["max"])],
        [
            "people singled out",
            "",
            f"{before['identity']['unique_rows']:,}",
            f"{after['identity']['unique_rows']:,}",
        ],
    ]
    for name, figures in after["attribute"].items():
        raw, blind = before["attribute"][name], guess["attribute"][name]
        rows.append(
            [
                f"guesses {name}",
                baseline(blind["guess_success"]),
                risk(raw["guess_success"]),
                risk(figures["guess_success"]),
            ]
        )
        rows.append([f"is sure of {name}, worst", "", risk(raw["max"]), risk(figures["max"])])
    return rows
