"""``undercover attack --victim``: what corruption adds to what is believed of one person."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from undercover.attacks.corruption.channel import Corruption
from undercover.cli.output import print_json, print_view, progress_on_stderr
from undercover.errors import ParameterError
from undercover.model.view import View, say
from undercover.model.view import table as belief_table
from undercover.verbs.store import load, original_of

_MOST_VALUES = 12


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
    assert seen.ownership is not None
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
