"""Does a hierarchy fit a column? Which values it leaves out, and which leaves nobody uses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from undercover.errors import listed
from undercover.hierarchies.leaves import distinct
from undercover.model.hierarchy import Hierarchy
from undercover.model.table import write_values


@dataclass(frozen=True)
class Coverage:
    """What :func:`covers` found; true where every value is covered."""

    uncovered: tuple[str, ...]  # values without a leaf
    unused: tuple[str, ...]  # leaves without a value: harmless

    def __bool__(self) -> bool:
        return not self.uncovered

    def sentence(self) -> str:
        """The finding in words."""
        if self.uncovered:
            return f"The hierarchy does not cover {listed(self.uncovered)}. Add a row for each."
        if self.unused:
            return f"Every value is covered; {len(self.unused)} leaves do not occur in the column."
        return "Every value is covered."


def covers(hierarchy: Hierarchy, values: Any) -> Coverage:
    """Compare the leaves of ``hierarchy`` with the values of a column; missing ones need no leaf.

    Examples
    --------
    >>> towns = Hierarchy([("Bonn", "Germany"), ("Lyon", "France")])
    >>> covers(towns, ["Bonn", "Rome"]).sentence()
    'The hierarchy does not cover `Rome`. Add a row for each.'
    >>> bool(covers(towns, ["Bonn", None]))
    True
    """
    labels = write_values(distinct(values))
    used = set(labels)
    return Coverage(
        uncovered=tuple(hierarchy.uncovered(labels)),
        unused=tuple(leaf for leaf in hierarchy.leaves if leaf not in used),
    )
