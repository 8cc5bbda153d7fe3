"""How far k, l and t can go on a table, before anything is made of it: what methods say who group rows by them.

The figures are those of the errors that publishing raises: :func:`~undercover.steps.cutting.checks.require_rows`,
:func:`~undercover.steps.cutting.checks.require_whole_table`, :func:`~undercover.steps.dealing.groups.require_eligible`.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import floor
from typing import Any, get_args

import numpy as np

from undercover.errors import UndercoverError
from undercover.exact import exact
from undercover.model.about import Holding, Reach
from undercover.model.figures import baseline, counted, number, rows
from undercover.model.schema import Schema
from undercover.steps.cutting.checks import Check, Diversity, largest_feasible


def one_sensitive(schema: Schema) -> list[str]:
    """Why a method cannot run that protects exactly one sensitive column."""
    many = len(schema.sensitive)
    return [] if many == 1 else [f"It protects exactly one sensitive column, and the table has {many or 'none'}."]


def dealt(given: Mapping[str, Any], holding: Holding) -> list[Reach]:
    """k rows that look alike, and l as the share of the most frequent value: of methods that deal rows into groups."""
    return [_rows(holding), *_by_share(holding, "l")]


def checked(given: Mapping[str, Any], holding: Holding) -> list[Reach]:
    """k rows that look alike, l by its ``diversity`` in every sensitive column, and t: of methods that check groups."""
    diversity = given.get("diversity", "frequency")
    found = [_rows(holding)]
    if diversity in get_args(Diversity):
        found += _by_share(holding, "l") if diversity == "frequency" else _by_check(given, holding, diversity)
    return [*found, *_closeness(holding)]


def distinct(given: Mapping[str, Any], holding: Holding) -> list[Reach]:
    """l as the number of different values."""
    return _by_check({}, holding, "distinct")


def groups_of(size: int | None, holding: Holding) -> list[str]:
    """How many groups of at least so many rows there can be."""
    if not size or size > holding.rows:
        return []
    most = counted(holding.rows // size, "group")
    return [f"Groups of at least {rows(size)}: at most {most}, and in each a row is found with at most 1/{size}."]


def _rows(holding: Holding) -> Reach:
    if holding.schema.unit_column is not None and holding.most_of_one > 1:
        most = holding.rows // holding.most_of_one
        why = f"One person has {number(holding.most_of_one)} of the {rows(holding.rows)}"
    else:
        most, why = holding.rows, f"The table has {rows(holding.rows)}"
    return Reach("k", f"{why}: k is at most {number(most)}.", most=Fraction(most))


def _by_share(holding: Holding, parameter: str) -> list[Reach]:
    """The narrowest column decides."""
    shares = {name: Fraction(counts[0], holding.rows) for name, counts in holding.counts.items()}
    if not shares:
        return []
    name = max(shares, key=lambda column: shares[column])
    most = floor(1 / shares[name])
    why = f"{baseline(float(shares[name]))} of the rows have the same `{name}`: {parameter} is at most {number(most)}."
    return [Reach(parameter, why, most=1 / shares[name])]


def _by_check(given: Mapping[str, Any], holding: Holding, diversity: Diversity) -> list[Reach]:
    try:
        c = float(exact(given.get("c") or 0))
    except (UndercoverError, ValueError, TypeError, ArithmeticError):
        return []  # what is wrong with c is said beside it
    found = {
        name: largest_feasible(np.array(counts), Check(column=name, kind=diversity, limit=1, c=c))
        for name, counts in holding.counts.items()
    }
    if not found:
        return []
    name = min(found, key=lambda column: found[column])
    most = f"{np.floor(found[name] * 100) / 100:g}"
    values = counted(len(holding.counts[name]), "different value")
    why = f"`{name}` has {values}: l ({diversity}) is at most {most}."
    return [Reach("l", why, most=Fraction(found[name]))]


def _closeness(holding: Holding) -> list[Reach]:
    """Every t can be reached; from some t on nothing is limited."""
    least = min((Fraction(counts[-1], holding.rows) for counts in holding.counts.values()), default=None)
    if least is None:
        return []
    why = (
        "Every t can be reached; the smaller, the larger the groups. By equal distance "
        f"{baseline(float(1 - least))} and more limits nothing."
    )
    return [Reach("t", why)]
