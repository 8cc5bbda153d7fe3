"""``undercover attack --knows-tables``: mutual cover against somebody who knows its groups and output tables."""

from __future__ import annotations

from pathlib import Path

from undercover.cli.output import console, print_json, print_table, progress_on_stderr
from undercover.methods.mutual_cover.informed import Informed
from undercover.model.figures import baseline, risk
from undercover.verbs.attack import attack


def run(directory: Path, *, original: str | None, as_json: bool) -> None:
    """Attack every row and print what is left to chance."""
    with progress_on_stderr() as progress:
        progress("attacking", 0.0)
        found = attack(directory, Informed(), original=original).to_dict()
    if as_json:
        print_json(found)
        return
    screen = console()
    screen.print(found["story"])
    rows = [
        [
            said,
            baseline(found["baseline"][key]),
            risk(found[key]["mean"]),
            risk(found[key]["max"]),
            risk(found[key]["guess_success"]),
            f"{found[key]['certain_rows']:,}",
        ]
        for said, key in (("finds the person's row", "identity"), ("knows the sensitive value", "attribute"))
    ]
    columns = ["", "guessing in the group", "mean", "worst", "best guess right", "certain of"]
    print_table(screen, f"Groups and tables known, {found['targets']:,} people", columns, rows)
    if found["exact_share"] < 1:
        screen.print(f"Exact for {baseline(found['exact_share'])} of the people, approximate for the others.")
