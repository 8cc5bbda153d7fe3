"""Cells of a shared column read by its hierarchy: which of them can be about the same person."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from undercover.forms.meaning import Values
from undercover.model.hierarchy import Hierarchy


class CellReader:
    """The leaves of a hierarchy that the cells of a shared column stand for.

    Examples
    --------
    >>> towns = CellReader([("Bonn", "Germany"), ("Köln", "Germany"), ("Lyon", "France")])
    >>> sorted(towns.leaves("Germany")), sorted(towns.leaves("{Bonn, Lyon}")), sorted(towns.leaves(""))
    ([0, 1], [0, 2], [0, 1, 2])
    """

    def __init__(self, rows: Sequence[Sequence[str]]) -> None:
        tree = Hierarchy(rows)
        leaves = tree.leaves
        numeric = all(_is_number(leaf) for leaf in leaves)
        ordered = tuple(sorted(leaves, key=float)) if numeric else leaves
        self.values = Values(ordered, "numeric" if numeric else "categorical", False, tree)
        self._read: dict[str, frozenset[int]] = {}

    def leaves(self, cell: str) -> frozenset[int]:
        """What a cell covers, written as a node, an interval, a set or a value.

        One that is none of these, such as a missing value, may be anything: whoever is in it can be in every cell.
        """
        if cell not in self._read:
            forms = ("node", "interval", "set", "value")
            found = [covered for form in forms if (covered := self._positions(cell, form))]
            self._read[cell] = found[0] if found else frozenset(range(self.values.size))
        return self._read[cell]

    def _positions(self, cell: str, form: Any) -> frozenset[int]:
        meaning = self.values.read(cell, form)
        if meaning.members is not None:
            return frozenset(meaning.members)
        return frozenset(range(meaning.low, meaning.high + 1))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
