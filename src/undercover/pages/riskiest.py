"""The rows an attacker still learns most about, with what he knows of them; for the holder's eyes only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from undercover.model.run import Run
from undercover.model.view import FigureTable, View, table

_ATTACKERS = {
    "linkage": "an attacker who links",
    "informed": "an attacker who knows groups and tables",
    "p-match": "an attacker who matches on some of the values",
}
_NUMBERED = (
    "Rows are numbered from 0 as they stand in the input. Found is the probability of finding the person's row, the "
    "columns behind it that of the true value. Sensitive values and identifiers are not shown here."
)


def riskiest(run: Run, attacks: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """For every attack that names rows: the rows with their quasi-identifiers, worst first.

    Sensitive values and identifiers are left out: the number of the row is enough for the holder to look them up, and
    a page is passed on more easily than a table.
    """
    found = []
    for attack in attacks:
        rows = [{**_flat(worst), "known": _known(run, int(worst["row"]))} for worst in attack.get("worst_rows", ())]
        if rows:
            found.append({"attack": str(attack["attack"]), "columns": _columns(rows), "rows": rows})
    return found


def riskiest_view(found: Sequence[Mapping[str, Any]]) -> View:
    """The rows of :func:`riskiest`, a table for each attack.

    >>> row = {"row": 3, "known": {"age": "30"}, "matches": 2, "identity": 0.5, "attribute": {"": 0.5}}
    >>> riskiest_view([{"attack": "informed", "columns": [""], "rows": [row]}]).parts[0].columns
    ('input row', '`age`', 'matches', 'found', 'value')
    """
    title = "The riskiest rows that remain"
    if not found:
        return View("riskiest", title, ("No attack named any.",), private=True)
    return View("riskiest", title, (*map(_table, found, range(len(found))), _NUMBERED), private=True)


def _table(found: Mapping[str, Any], place: int) -> FigureTable:
    rows = found["rows"]
    who = _ATTACKERS.get(found["attack"], f"the attacker of {found['attack']}")
    known = [f"`{name}`" for name in rows[0]["known"]]
    columns = (
        "input row",
        *known,
        "matches",
        "found",
        *(f"`{name}`" if name else "value" for name in found["columns"]),
    )
    senses = "count" + " plain" * len(known) + " count risk" + " risk" * len(found["columns"])
    lines = [
        (
            row["row"],
            *(value or "missing" for value in row["known"].values()),
            row["matches"],
            row["identity"],
            *(row["attribute"][name] for name in found["columns"]),
        )
        for row in rows
    ]
    title = f"The {len(rows)} rows {who} learns most about"
    return table(columns, senses, lines, title, private=True, detail=2 if place else 0)


def _flat(worst: Mapping[str, Any]) -> dict[str, Any]:
    """The figures of a row; what is not measured of it is ``None``."""
    attribute = worst.get("attribute")
    named = attribute if isinstance(attribute, Mapping) else {} if attribute is None else {"": attribute}
    return {
        "row": int(worst["row"]),
        "matches": worst.get("matches"),
        "identity": worst.get("identity"),
        "attribute": {str(name): value for name, value in named.items()},
    }


def _columns(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row["attribute"]))


def _known(run: Run, row: int) -> dict[str, str]:
    original = run.original
    if original is None:
        return {}
    places = np.flatnonzero(original.rows == row)
    if not len(places):
        return {}
    columns = {name: original[name] for name in original.schema.quasi_identifiers}
    return {name: column.domain.labels[int(column.codes[places[0]])] for name, column in columns.items()}
