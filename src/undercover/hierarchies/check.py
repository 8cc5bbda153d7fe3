"""Looking at a hierarchy: does it fit a column, and what does it look like?

Which values it leaves out, and which leaves nobody uses; how many nodes each level has, the way up from one value, and
a picture of the tree.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from undercover.errors import HierarchyError, described
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
            return f"The hierarchy does not cover {described(self.uncovered)}. Add a row for each."
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


@dataclass(frozen=True)
class Level:
    """One level: its nodes, how many values they stand for, and the label above the example."""

    level: int
    nodes: int
    smallest: int  # values under the smallest node
    largest: int
    example: str


@dataclass(frozen=True)
class Preview:
    """What :func:`preview` found."""

    values: int
    levels: tuple[Level, ...]
    picture: tuple[str, ...]  # lines of the tree, from the root down to the lowest level that fits
    drawn: int  # levels in the picture

    @property
    def path(self) -> tuple[str, ...]:
        """One value and all that stands above it."""
        return tuple(level.example for level in self.levels)


def preview(hierarchy: Hierarchy, *, lines: int = 24) -> Preview:
    """Look at a hierarchy; the picture leaves out the lowest levels where it would be longer than ``lines``."""
    columns = list(zip(*hierarchy.rows, strict=True))  # labels of all leaves, level by level
    example = hierarchy.rows[len(hierarchy.rows) // 2]
    counts = [Counter(labels) for labels in columns]
    levels = tuple(
        Level(number, len(nodes), min(nodes.values()), max(nodes.values()), example[number])
        for number, nodes in enumerate(counts)
    )
    needed = list(accumulate(len(nodes) for nodes in reversed(counts)))  # lines from the root down
    drawn = max(1, sum(total <= lines for total in needed))
    lowest = hierarchy.n_levels - drawn
    return Preview(len(hierarchy.rows), levels, tuple(_picture(hierarchy, lowest, counts)), drawn)


def _picture(hierarchy: Hierarchy, lowest: int, counts: list[Counter[str]]) -> list[str]:
    """The tree down to level ``lowest``; nodes there say how many values they stand for."""
    children: list[dict[str, list[str]]] = [{} for _ in range(hierarchy.n_levels)]
    for row in hierarchy.rows:
        for level in range(lowest + 1, hierarchy.n_levels):
            below = children[level].setdefault(row[level], [])
            if row[level - 1] not in below:
                below.append(row[level - 1])
    lines: list[str] = []

    def draw(label: str, level: int, lead: str, branch: str, following: str) -> None:
        values = counts[level][label]
        size = f" ({values:,} value{'s' * (values != 1)})" if level == lowest and level else ""
        lines.append(f"{lead}{branch}{label}{size}")
        if level == lowest:
            return
        below = children[level][label]
        for position, child in enumerate(below):
            last = position == len(below) - 1
            draw(child, level - 1, lead + following, "└─ " if last else "├─ ", "   " if last else "│  ")

    for root in dict.fromkeys(row[-1] for row in hierarchy.rows):
        draw(root, hierarchy.n_levels - 1, "", "", "")
    return lines
