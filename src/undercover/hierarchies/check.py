"""Does a hierarchy fit a column? Which values it leaves out, and which leaves nobody uses."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from undercover.errors import HierarchyError, listed
from undercover.hierarchies.build import distinct
from undercover.hierarchies.file import leaf_labels, read_hierarchy
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
    """Compare the leaves of ``hierarchy`` with the values of a column; missing ones need no leaf."""
    labels = write_values(distinct(values))
    used = set(labels)
    return Coverage(tuple(hierarchy.uncovered(labels)), tuple(leaf for leaf in hierarchy.leaves if leaf not in used))


@dataclass(frozen=True)
class FileCheck:
    """What :func:`check_file` found; ``problems`` is empty where the file is a hierarchy that fits."""

    problems: tuple[str, ...]
    leaves: int
    levels: int
    uncovered: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()

    def sentence(self) -> str:
        """How well it covers the column, in words."""
        return Coverage(self.uncovered, self.unused).sentence()

    def to_dict(self) -> dict[str, Any]:
        """Everything, ready for JSON."""
        return {
            "values": self.leaves,
            "levels": self.levels,
            "uncovered": list(self.uncovered),
            "unused": list(self.unused),
            "problems": list(self.problems),
        }


def check_file(path: str | os.PathLike[str], values: Any = None) -> FileCheck:
    """Check a file and whether it covers a column, if there is one, whatever other faults it has; all together."""
    try:
        hierarchy = read_hierarchy(path)
    except HierarchyError as error:
        labels = leaf_labels(path)
        outside = tuple(_outside(labels, values)) if labels and values is not None else ()
        covering = [Coverage(outside, ()).sentence()] if outside else []
        return FileCheck((*error.problems, *covering), len(labels), 0, outside)
    if values is None:
        return FileCheck((), len(hierarchy.rows), hierarchy.n_levels)
    found = covers(hierarchy, values)
    problems = () if found else (found.sentence(),)
    return FileCheck(problems, len(hierarchy.rows), hierarchy.n_levels, found.uncovered, found.unused)


def _outside(labels: list[str], values: Any) -> list[str]:
    known = set(labels)
    return [label for label in write_values(distinct(values)) if label not in known]
