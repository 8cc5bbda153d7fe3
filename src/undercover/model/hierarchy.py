"""Generalisation hierarchies: a tree over the values of a column, held as levels from the leaves to the root.

A hierarchy is checked when it is made: every level must be a function of the one below, so that each node stands
for a fixed set of leaves. A root (``*``) is added where the levels do not end in one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from undercover.errors import HierarchyError, described, shape_of

ROOT = "*"


@dataclass(frozen=True)
class Hierarchy:
    """Labels of every leaf on every level.

    Parameters
    ----------
    rows
        One row per leaf: its label, the label of its parent, and so on to the root.
    observed
        Whether the leaves are values that stand in a table, rather than all that there are.

    Examples
    --------
    >>> towns = Hierarchy([("Bonn", "Germany"), ("Köln", "Germany"), ("Lyon", "France")])
    >>> towns.n_levels, towns.leaves
    (3, ('Bonn', 'Köln', 'Lyon'))
    >>> towns.generalize("Lyon", level=1)
    'France'
    >>> Hierarchy([("a", "x"), ("b", "x", "y")])
    Traceback (most recent call last):
    undercover.errors.HierarchyError: Leaf 2 has 3 levels where the first leaf has 2.
    """

    rows: tuple[tuple[str, ...], ...]
    observed: bool = field(default=False, compare=False)

    def __init__(self, rows: Iterable[Sequence[str]], *, observed: bool = False) -> None:
        object.__setattr__(self, "observed", observed)
        complete = _with_root(tuple(tuple(str(label) for label in row) for row in rows))
        object.__setattr__(self, "rows", complete)

    @property
    def leaves(self) -> tuple[str, ...]:
        """Labels of level 0, in the order given."""
        return tuple(row[0] for row in self.rows)

    @property
    def n_levels(self) -> int:
        """Number of levels, leaves and root included."""
        return len(self.rows[0])

    @cached_property
    def leaf_index(self) -> dict[str, int]:
        """Position of each leaf label."""
        return {row[0]: position for position, row in enumerate(self.rows)}

    def generalize(self, leaf: str, level: int) -> str:
        """Label of the node above ``leaf`` on ``level``."""
        return self.rows[self.leaf_index[leaf]][level]

    def uncovered(self, values: Iterable[str]) -> list[str]:
        """Those of ``values`` that are no leaf."""
        return [value for value in values if value not in self.leaf_index]

    @cached_property
    def tree(self) -> Tree:
        """The same hierarchy as arrays, leaves in depth-first order."""
        return _tree(self)

    def __repr__(self) -> str:
        return f"<Hierarchy of {len(self.rows)} leaves on {self.n_levels} levels; .rows lists them>"


@dataclass(frozen=True)
class Tree:
    """Nodes as ranges of leaves in depth-first order; parents precede their children, node 0 is the root.

    A node with a single child stands for the same leaves as that child and is left out, so every inner node has
    at least two children.
    """

    leaf_order: NDArray[np.int64]  # (n_leaves,) given position of the leaf at each depth-first position
    first: NDArray[np.int64]  # (n_nodes,) first depth-first leaf under the node
    last: NDArray[np.int64]  # (n_nodes,) last one, included
    parent: NDArray[np.int64]  # (n_nodes,) -1 for the root
    children_start: NDArray[np.int64]  # (n_nodes + 1,) into children
    children: NDArray[np.int64]
    leaf_node: NDArray[np.int64]  # (n_leaves,) node of each depth-first leaf
    labels: tuple[str, ...]  # (n_nodes,) unambiguous: no two nodes share one

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return len(self.leaf_node)


def _with_root(rows: tuple[tuple[str, ...], ...]) -> tuple[tuple[str, ...], ...]:
    if not rows or not rows[0]:
        raise HierarchyError("A hierarchy needs at least one leaf.")
    problems = []
    depth = len(rows[0])
    seen: set[str] = set()
    for number, row in enumerate(rows, 1):
        if len(row) != depth:
            problems.append(f"Leaf {number:,} has {len(row)} levels where the first leaf has {depth}.")
        if row and row[0] in seen:
            problems.append(f"Leaf {number:,} is listed twice.")
        seen.update(row[:1])
    if problems:
        raise HierarchyError(problems)
    for level in range(1, depth):
        above: dict[str, str] = {}
        torn: dict[str, set[str]] = {}
        for row in rows:
            below, label = row[level - 1], row[level]
            if above.setdefault(below, label) != label:
                torn.setdefault(below, {above[below]}).add(label)
        problems += [
            f"Level {level} is not a function of level {level - 1}: {shape_of(below)} lies under {len(labels)} labels."
            for below, labels in torn.items()
        ]
        roots = sum(row[level] == ROOT for row in rows)
        if 0 < roots < len(rows):
            problems.append(f"`{ROOT}` stands for everything, but on level {level} only {roots} leaves lie under it.")
    if ROOT in seen:
        problems.append(f"`{ROOT}` stands for everything and cannot be a leaf.")
    if problems:
        raise HierarchyError(problems)
    if len({row[-1] for row in rows}) > 1 or depth == 1:
        rows = tuple((*row, ROOT) for row in rows)
    return rows


def _tree(hierarchy: Hierarchy) -> Tree:
    rows = hierarchy.rows
    # Depth-first order: by the first appearance of the node on each level, from the root down.
    keys = []
    for level in range(hierarchy.n_levels):
        appearance: dict[str, int] = {}
        keys.append([appearance.setdefault(row[level], len(appearance)) for row in rows])
    leaf_order = np.lexsort(np.array(keys))
    first, last, parent = [0], [len(rows) - 1], [-1]
    labels = [_Label(rows[0][-1], hierarchy.n_levels - 1)]
    node_of = np.zeros(len(rows), dtype=np.int64)
    for level in range(hierarchy.n_levels - 2, -1, -1):
        column = [rows[position][level] for position in leaf_order]
        start = 0
        for position in range(1, len(rows) + 1):
            if position < len(rows) and column[position] == column[start]:
                continue
            above = int(node_of[start])
            if (first[above], last[above]) != (start, position - 1):
                first.append(start)
                last.append(position - 1)
                parent.append(above)
                labels.append(_Label(column[start], level))
                node_of[start:position] = len(first) - 1
            elif level == 0 or labels[above].level != hierarchy.n_levels - 1:
                # A chain of single children: the lowest label names it, except that the root stays the root.
                labels[above] = _Label(column[start], level)
            start = position
    order = np.argsort(np.array(parent), kind="stable")
    counts = np.bincount(np.array(parent)[1:], minlength=len(parent)) if len(parent) > 1 else np.zeros(1, np.int64)
    return Tree(
        leaf_order=leaf_order.astype(np.int64),
        first=np.array(first),
        last=np.array(last),
        parent=np.array(parent),
        children_start=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        children=order[1:].astype(np.int64),
        leaf_node=node_of,
        labels=_unambiguous(labels),
    )


@dataclass(frozen=True)
class _Label:
    text: str
    level: int


def _unambiguous(labels: list[_Label]) -> tuple[str, ...]:
    """Tell apart nodes that share a label (an ICD category and its first code) by naming the level of the upper one."""
    lowest: dict[str, int] = {}
    for label in labels:
        lowest[label.text] = min(label.level, lowest.get(label.text, label.level))
    texts = []
    for label in labels:
        text = label.text if label.level == lowest[label.text] else f"{label.text} (level {label.level})"
        texts.append(text)
    repeated = {text for text in texts if texts.count(text) > 1} if len(set(texts)) < len(texts) else set()
    if repeated:
        raise HierarchyError(f"Different nodes of one level share a label: {described(sorted(repeated))}.")
    return tuple(texts)
