"""``undercover attack --knows-algorithm`` on a Mondrian release of any size: why were its groups not cut further?"""

from __future__ import annotations

from typing import Any

from undercover.cli.output import console, print_json, print_table, progress_on_stderr
from undercover.methods.mondrian.minimality.attack import Minimality
from undercover.model.figures import baseline, number, risk
from undercover.model.run import Run
from undercover.verbs.attack import attack


def run(made: Run, *, original: str | None, as_json: bool) -> None:
    """Attack every row and print what the refused cuts say, beside the release alone."""
    with progress_on_stderr() as progress:
        found = attack(made, Minimality(), original=original, progress=progress).to_dict()
    if as_json:
        print_json(found)
        return
    screen = console()
    screen.print(found["story"])
    title = f"Minimality on {found['targets']:,} people (tables of more than 8 people are not gone through)"
    print_table(screen, title, ["", "release alone", "informed"], lines(found))
    groups, people = found["groups"], found["people"]
    screen.print(
        f"Refused cuts say something about {groups['with_evidence']:,} of {groups['all']:,} groups: "
        f"{groups['exact']:,} counted exactly, {groups['drawn']:,} by drawing, {groups['given_up']:,} given up (the "
        f"release alone is believed). In {groups['own_evidence_only']:,} what was refused on the way was too much to "
        "use, so he may learn more."
    )
    if people["drawn_share"] > 0:
        low, high = found["attribute"]["max_interval"]
        screen.print(
            f"Of the {people['with_evidence']:,} people in them {baseline(people['drawn_share'])} rest on draws. With "
            f"{found['confidence']:g} confidence the surest belief lies in [{low:.3f}, {high:.3f}]."
        )
    if people["with_evidence"]:
        rows = [
            [f"{worst['row']:,}", number(worst["group_size"]), risk(worst["release_alone"]), risk(worst["informed"])]
            for worst in found["worst_rows"][:5]
        ]
        columns = ["input row", "group size", "release alone", "informed"]
        print_table(screen, "Rows he learns most about (private)", columns, rows, left=0)


def lines(found: dict[str, Any]) -> list[list[str]]:
    """The figures of the attack, a line each: from the release alone, and informed."""
    alone, informed = found["baseline"], found["attribute"]
    rows = [
        ["believes the true value, mean", risk(alone["mean"]), risk(informed["mean"])],
        ["believes the true value, worst", risk(alone["max"]), risk(informed["max"])],
        ["best guess is right", risk(alone["guess_success"]), risk(informed["guess_success"])],
        ["people he is certain of", f"{alone['certain_rows']:,}", f"{informed['certain_rows']:,}"],
    ]
    if "promised" in found:
        rows.append([f"people believed beyond 1/l = {risk(found['promised'])}", "0", f"{found['beyond_promise']:,}"])
    return rows
