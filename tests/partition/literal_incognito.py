"""Incognito as its paper writes it down: subset by subset, a graph of candidates for each, breadth first.

LeFevre, DeWitt & Ramakrishnan 2005, Figure 8 (basic Incognito): the check is asked about a set of columns on levels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations, product

Node = tuple[tuple[int, int], ...]  # (column, level), by column
Check = Callable[[Node], bool]


def literal_incognito(heights: Sequence[int], check: Check) -> tuple[set[tuple[int, ...]], int]:
    """The passing nodes over all columns, and how many nodes were checked against the table."""
    survivors: set[Node] = {((column, level),) for column, height in enumerate(heights) for level in range(height + 1)}
    checked = 0
    for size in range(1, len(heights) + 1):
        if size > 1:
            survivors = _joined(survivors, size)
        passed: set[Node] = set()
        failed: set[Node] = set()
        # Breadth first by height: a node is checked only if no node below it has passed.
        for node in sorted(survivors, key=lambda node: (sum(level for _, level in node), node)):
            if node in passed:
                continue
            checked += 1
            if check(node):
                passed.update(above for above in _generalisations(node, heights) if above in survivors)
            else:
                failed.add(node)
        survivors = survivors - failed
    return {tuple(level for _, level in node) for node in survivors}, checked


def _generalisations(node: Node, heights: Sequence[int]) -> Iterable[Node]:
    for levels in product(*(range(level, heights[column] + 1) for column, level in node)):
        yield tuple((column, level) for (column, _), level in zip(node, levels, strict=True))


def _joined(survivors: set[Node], size: int) -> set[Node]:
    """Join nodes that agree but for the last column, and prune those with a smaller node that did not survive."""
    found = set()
    for first in survivors:
        for second in survivors:
            if first[:-1] == second[:-1] and first[-1][0] < second[-1][0]:
                node = (*first, second[-1])
                if all(part in survivors for part in combinations(node, size - 1)):
                    found.add(node)
    return found
