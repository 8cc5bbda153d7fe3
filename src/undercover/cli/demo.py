"""``undercover demo``."""

from __future__ import annotations

import time
from pathlib import Path

from undercover.cli.output import console, percent, print_table, progress_on_stderr
from undercover.studies.demo import OVERVIEW, Stop, tour


def run(out: Path, rows: int, *, force: bool) -> None:
    """Take the tour and print one line per method."""
    started = time.perf_counter()
    with progress_on_stderr() as progress:
        stops = tour(out, rows, force=force, progress=progress)
    screen = console()
    first = stops[0].summary["attacks"][0]
    (sensitive,) = first["after"]["attribute"]
    guess, raw = first["baseline"], first["before"]
    lines = [
        ["guessing", "", "", "", percent(guess["attribute"][sensitive]["guess_success"]), "", ""],
        [
            "the table as it is",
            "",
            percent(raw["identity"]["max"]),
            percent(raw["identity"]["mean"]),
            percent(raw["attribute"][sensitive]["guess_success"]),
            "0",
            "",
        ],
        *(_line(stop, sensitive) for stop in stops),
    ]
    columns = ["release", "verified", "found, worst", "found, mean", f"{sensitive} guessed", "loss", "seconds"]
    print_table(screen, f"{rows:,} people who do not exist, attacked by linkage", columns, lines, left=2)
    screen.print(f"Everything is in {out}/; start with {out / OVERVIEW}. Took {time.perf_counter() - started:.0f} s.")
    screen.print(f"Try it yourself: undercover inspect {out / 'people.csv'}")


def _line(stop: Stop, sensitive: str) -> list[str]:
    attack = stop.summary["attacks"][0]["after"]
    found = [f"{finding['name']} {finding['shown']}" for finding in stop.summary["holds"]["findings"]]
    return [
        stop.title,
        ", ".join(found),
        percent(attack["identity"]["max"]),
        percent(attack["identity"]["mean"]),
        percent(attack["attribute"][sensitive]["guess_success"]),
        f"{stop.summary['cost']['loss']['arx']['arithmetic']:.3f}",
        f"{stop.seconds:.1f}",
    ]
