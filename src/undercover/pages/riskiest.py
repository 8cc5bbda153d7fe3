"""The rows an attacker still learns most about, with what he knows of them; for the holder's eyes only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from undercover.model.run import Run


def riskiest(run: Run, attacks: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """For every attack that names rows: the rows with their quasi-identifiers, worst first.

    Sensitive values and identifiers are left out: the number of the row is enough for the holder to look them up, and
    a page is passed on more easily than a table.

    Examples
    --------
    >>> import undercover as uc
    >>> schema = uc.Schema(quasi_identifiers=["age", "sex"], sensitive="income")
    >>> run = uc.publish(uc.datasets.census(1000), schema, uc.Mondrian(k=10), seed=1)
    >>> found = riskiest(run, [uc.attack(run).to_dict()])
    >>> found[0]["attack"], sorted(found[0]["rows"][0])
    ('linkage', ['attribute', 'identity', 'known', 'matches', 'row'])
    """
    found = []
    for attack in attacks:
        rows = [{**_flat(worst), "known": _known(run, int(worst["row"]))} for worst in attack.get("worst_rows", ())]
        if rows:
            found.append({"attack": str(attack["attack"]), "columns": _columns(rows), "rows": rows})
    return found


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
