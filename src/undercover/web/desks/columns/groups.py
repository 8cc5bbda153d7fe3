"""A hierarchy edited by hand: values are put into groups, groups into larger ones.

Rows are those of a hierarchy: a value, the group it lies in on each level, and everything (``*``). Each function
returns other rows in which every level is still a function of the one below.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from undercover.errors import HierarchyError
from undercover.model.hierarchy import ROOT

Row = tuple[str, ...]
MOST_LEVELS = 8


def members(rows: Sequence[Row], level: int) -> dict[str, list[str]]:
    """What lies in each group of a level: values, or groups of the level below.

    >>> members([("Bonn", "DE", "*"), ("Köln", "DE", "*"), ("Lyon", "FR", "*")], 1)
    {'DE': ['Bonn', 'Köln'], 'FR': ['Lyon']}
    """
    found: dict[str, dict[str, None]] = {}
    for row in rows:
        found.setdefault(row[level], {})[row[level - 1]] = None
    return {group: list(inside) for group, inside in found.items()}


def put(rows: Sequence[Row], level: int, chosen: Iterable[str], group: str) -> list[Row]:
    """Put values, or groups of the level below, into a group; a new one lies where the first of them lay.

    >>> put([("a", "a", "*"), ("b", "b", "*")], 1, ["a", "b"], "both")
    [('a', 'both', '*'), ('b', 'both', '*')]
    """
    _inner(rows, level)
    group, moved = _label(group), set(chosen)
    inside = [row for row in rows if row[level - 1] in moved]
    if not inside:
        raise HierarchyError("Choose at least one value that is to go into the group.")
    above = next((row[level + 1 :] for row in rows if row[level] == group), inside[0][level + 1 :])
    return [(*row[:level], group, *above) if row[level - 1] in moved else row for row in rows]


def rename(rows: Sequence[Row], level: int, group: str, name: str) -> list[Row]:
    """Call a group something else."""
    _inner(rows, level)
    name, labels = _label(name), {row[level] for row in rows}
    if group not in labels:
        raise HierarchyError(f"There is no group `{group}` on this level any more.")
    if name != group and name in labels:
        raise HierarchyError(f"There is a group `{name}` on this level already. Put values into it instead.")
    return [(*row[:level], name, *row[level + 1 :]) if row[level] == group else row for row in rows]


def dissolve(rows: Sequence[Row], level: int, group: str) -> list[Row]:
    """Take a group away: what lay in it stands by itself on this level.

    >>> dissolve([("a", "both", "*"), ("b", "both", "*")], 1, "both")
    [('a', 'a', '*'), ('b', 'b', '*')]
    """
    _inner(rows, level)
    if group not in {row[level] for row in rows}:
        raise HierarchyError(f"There is no group `{group}` on this level any more.")
    freed = {row[level - 1] for row in rows if row[level] == group}
    taken = freed & {row[level] for row in rows if row[level] != group}
    if taken:
        raise HierarchyError(f"There is another group `{min(taken)}` on this level. Rename it first.")
    return [(*row[:level], row[level - 1], *row[level + 1 :]) if row[level] == group else row for row in rows]


def add_level(rows: Sequence[Row]) -> list[Row]:
    """One more level below everything, on which everything below stands by itself."""
    if len(rows[0]) >= MOST_LEVELS:
        raise HierarchyError(f"A hierarchy edited here has at most {MOST_LEVELS} levels.")
    return [(*row[:-1], row[-2], row[-1]) for row in rows]


def remove_level(rows: Sequence[Row], level: int) -> list[Row]:
    """The same without a level."""
    _inner(rows, level)
    return [(*row[:level], *row[level + 1 :]) for row in rows]


def _inner(rows: Sequence[Row], level: int) -> None:
    if not 0 < level < len(rows[0]) - 1:
        raise HierarchyError("There is no such level any more. Look at what is there now.")


def _label(text: str) -> str:
    name = " ".join(text.split())
    if not name or name == ROOT:
        raise HierarchyError(f"Give the group a name; `{ROOT}` stands for everything.")
    return name
