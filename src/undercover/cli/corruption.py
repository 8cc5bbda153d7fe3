"""``undercover attack`` on perturbed generalization: what corruption adds, on everybody and on one victim."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from undercover.attacks import Corruption
from undercover.cli.output import console, print_json, print_table, progress_on_stderr
from undercover.errors import ParameterError
from undercover.model.figures import baseline, risk
from undercover.verbs.store import load, original_of

_PRIORS = {"uniform": "nothing", "overall": "the overall shares", "worst": "what helps him most"}
_MOST_VALUES = 12


def print_sweep(found: Mapping[str, Any]) -> None:
    """The sweep over everybody, for people."""
    screen = console()
    screen.print(found["story"])
    rows = [
        [
            f"{entry['share']:.0%}",
            _PRIORS[entry["prior"]],
            risk(entry["growth"]["max"]),
            risk(entry["bound"]),
            baseline(entry["baseline"]["max"]),
            risk(entry["confidence"]["max"]),
        ]
        for entry in found["sweep"]
    ]
    columns = ["others corrupted", "he believes beforehand", "surer by, worst", "promised", "sure before", "sure after"]
    print_table(screen, f"Corruption, each of {found['targets']:,} people as the victim", columns, rows, left=2)
    plain = [
        [f"{entry['share']:.0%}", risk(entry["confidence"]["mean"]), f"{entry['certain_rows']:,}"]
        for entry in found["plain"]
    ]
    title = "The same cells published with everybody's true value"
    print_table(screen, title, ["others corrupted", "sure of the value, mean", "people he is certain of"], plain)
    if not found["within_bounds"]:
        screen.print("A confidence rose by more than is promised.", style="bold")


def run_victim(directory: Path, *, row: int, corrupted: str, original: str | None, as_json: bool) -> None:
    """Attack one person exactly and print what is believed of him before and after."""
    with progress_on_stderr() as progress:
        progress("attacking", 0.0)
        made = load(directory)
        table = original_of(made, original)
        places = np.flatnonzero(table.rows == row)
        if not len(places):
            raise ParameterError(f"There is no input row {row:,} in the table that was published.")
        position = {int(number): place for place, number in enumerate(table.rows)}
        known = _corrupted(corrupted, position)
        seen, plain = Corruption().victim(table, made.release, int(places[0]), corrupted=known)
    sensitive = table.schema.sensitive[0]
    value = table[sensitive].domain.labels[int(table[sensitive].codes[places[0]])]
    found = {
        "attack": "corruption",
        "victim": row,
        "corrupted": corrupted,
        "true_value": value,
        "release": seen.to_dict(),
        "true_values_published": plain.to_dict(),
    }
    if as_json:
        print_json(found)
        return
    screen = console()
    assert seen.ownership is not None
    screen.print(
        f"Input row {row:,}, {sensitive} = {value}; the published row is his own with {risk(float(seen.ownership))}."
    )
    order = sorted(seen.after, key=lambda name: (-seen.after[name], name))
    shown = list(dict.fromkeys([*order[: _MOST_VALUES - 1], value]))
    rows = [
        [name, baseline(float(seen.before[name])), risk(float(seen.after[name])), risk(float(plain.after[name]))]
        for name in shown
    ]
    columns = [sensitive, "before", "after", "had true values been published"]
    print_table(screen, "What the attacker believes (private)", columns, rows)


def _corrupted(text: str, position: Mapping[int, int]) -> list[int] | None:
    """Positions of the corrupted people; ``None`` for everybody else."""
    if text == "all":
        return None
    if text == "none":
        return []
    try:
        rows = [int(part) for part in text.split(",")]
    except ValueError:
        raise ParameterError(f"--corrupted is all, none, or input rows by commas. Got {text!r} instead.") from None
    strange = [row for row in rows if row not in position]
    if strange:
        raise ParameterError(f"There is no input row {strange[0]:,} in the table that was published.")
    return [position[row] for row in rows]
