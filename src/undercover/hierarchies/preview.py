"""What a hierarchy looks like: how many nodes each level has, the way up from one value, a picture of the tree."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import accumulate

from undercover.model.hierarchy import Hierarchy


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
