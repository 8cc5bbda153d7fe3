"""The lattice of full-domain generalisations, and the search for all of its nodes that pass a check.

LeFevre, DeWitt & Ramakrishnan 2005, "Incognito: Efficient Full-Domain K-Anonymity". A node says for every column on
which level of its hierarchy it is published. A check must have Incognito's two properties: whatever is more general
than a passing node passes (generalisation), and so does whatever drops a column of it (subset; a column on its top
level is one that was dropped).

Deviations: the paper goes through the subsets of columns, and through a graph of candidates for each. Here nodes are
parted into *families* by the set of columns that stay on level 0, which are the ones that make tables large. Families
are taken by the size of that set; a node is looked at only if everything one step above it in smaller families passes.
The cells of a family are filled from the rows once, as coarse as is still of use, and rolled up from there. The nodes
found are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod
from typing import Generic, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from undercover.model.protocols import Progress, no_progress

Levels = tuple[int, ...]
NodeSet = NDArray[np.bool_]  # one truth value per node, one axis per column, indexed by levels

_WORTH_A_LOOK = 4  # nodes of a subtree from which on its top is looked at first


class Cube(Protocol):
    """The cells of one node, from which those of more general nodes can be made."""

    @property
    def levels(self) -> Levels:
        """The node."""
        ...

    def rolled_up(self, axis: int, level: int) -> Self:
        """The cells with one column on a higher level."""
        ...


CubeType = TypeVar("CubeType", bound=Cube)


@dataclass(frozen=True)
class Lattice:
    """All ways to publish each column on one level of its hierarchy."""

    heights: Levels  # the top level of every column

    @property
    def shape(self) -> tuple[int, ...]:
        """Levels of every column."""
        return tuple(height + 1 for height in self.heights)

    @property
    def size(self) -> int:
        """Number of nodes."""
        return prod(self.shape)

    @property
    def top(self) -> Levels:
        """The node in which every column is on its top level."""
        return self.heights

    def __iter__(self) -> Iterator[Levels]:
        return iter(np.ndindex(self.shape))

    def none(self) -> NodeSet:
        """The empty set of nodes."""
        return np.zeros(self.shape, dtype=bool)


def above(nodes: NodeSet) -> NodeSet:
    """The nodes and everything more general."""
    for axis in range(nodes.ndim):
        nodes = np.logical_or.accumulate(nodes, axis=axis)
    return nodes


def minimal(nodes: NodeSet) -> NodeSet:
    """Those of the nodes that are more general than no other of them."""
    closed = above(nodes)
    covered = np.zeros_like(nodes)
    for axis in range(nodes.ndim):
        upper = [slice(None)] * nodes.ndim
        lower = [slice(None)] * nodes.ndim
        upper[axis], lower[axis] = slice(1, None), slice(None, -1)
        covered[tuple(upper)] |= closed[tuple(lower)]
    return nodes & ~covered


def listed_nodes(nodes: NodeSet) -> list[Levels]:
    """The nodes of a set in lexicographic order."""
    return [tuple(int(level) for level in node) for node in np.argwhere(nodes)]


def passing_nodes(
    lattice: Lattice,
    cube_at: Callable[[Levels], CubeType],
    passes: Callable[[CubeType], bool],
    *,
    progress: Progress = no_progress,
) -> NodeSet:
    """All nodes that pass a check that has the generalisation and the subset property.

    ``cube_at`` fills the cells of a node from the table.
    """
    found = lattice.none()
    axes = [axis for axis, height in enumerate(lattice.heights) if height]
    done, nodes = 0, prod(height + 1 for height in lattice.heights)
    for size in range(len(axes) + 1):
        for kept in combinations(axes, size):
            progress("searching the lattice", done / nodes)
            _Family(lattice, kept, found, cube_at, passes).search()
            done += prod(lattice.heights[axis] for axis in kept)
    progress("searching the lattice", 1.0)
    return found


def every_node(
    lattice: Lattice,
    cube_at: Callable[[Levels], CubeType],
    passes: Callable[[CubeType], bool],
    within: NodeSet,
    *,
    progress: Progress = no_progress,
) -> NodeSet:
    """Those of the nodes ``within`` that pass a check without Incognito's properties: each is looked at.

    ``within`` holds with a node everything more general. Cells are filled once per family here, too.
    """
    found = lattice.none()
    total, done = int(within.sum()), 0
    axes = [axis for axis, height in enumerate(lattice.heights) if height]

    def visit(cube: CubeType, free: Sequence[int], first: int) -> None:
        nonlocal done
        node = cube.levels
        if within[node]:
            found[node] = passes(cube)
            done += 1
        for position in range(first, len(free)):
            axis = free[position]
            top = tuple(
                lattice.heights[other] if other in free[position:] else level for other, level in enumerate(node)
            )
            if node[axis] < lattice.heights[axis] and within[top]:
                visit(cube.rolled_up(axis, node[axis] + 1), free, position)

    for size in range(len(axes) + 1):
        for kept in combinations(axes, size):
            free = [axis for axis in axes if axis not in kept]
            region = tuple(slice(1, None) if axis in free else slice(0, 1) for axis in range(len(lattice.heights)))
            inside = np.argwhere(within[region])
            if len(inside):
                least = inside.min(axis=0).tolist()
                base = tuple(level + 1 if axis in free else 0 for axis, level in enumerate(least))
                visit(cube_at(base), free, 0)
                progress("searching the lattice", done / total)
    return found


class _Family(Generic[CubeType]):
    """The nodes in which exactly the columns ``kept`` stay on level 0."""

    def __init__(
        self,
        lattice: Lattice,
        kept: Sequence[int],
        found: NodeSet,
        cube_at: Callable[[Levels], CubeType],
        passes: Callable[[CubeType], bool],
    ) -> None:
        self.lattice, self.found, self.cube_at, self.passes = lattice, found, cube_at, passes
        self.kept = kept
        self.free = [axis for axis, height in enumerate(lattice.heights) if height and axis not in kept]
        # Of the family only: one place on the axes of kept columns, levels from 1 on all others.
        self.shape = tuple(height if axis in self.free else 1 for axis, height in enumerate(lattice.heights))
        self.possible = self._possible()
        self.failed = np.zeros(self.shape, dtype=bool)

    def _possible(self) -> NodeSet:
        """The a-priori step: nodes all of whose neighbours above in smaller families pass."""
        possible = np.ones(self.shape, dtype=bool)
        for kept in self.kept:
            above = tuple(
                slice(1, 2) if axis == kept else slice(1, None) if axis in self.free else slice(0, 1)
                for axis in range(len(self.shape))
            )
            possible &= self.found[above]
        return possible

    def _place(self, node: Levels) -> Levels:
        """Where a node of the family stands in its own arrays."""
        return tuple(level - 1 if axis in self.free else 0 for axis, level in enumerate(node))

    def search(self) -> None:
        """Mark the passing nodes of the family in ``found``."""
        if not self.possible.any():
            return
        top = tuple(0 if axis in self.kept else height for axis, height in enumerate(self.lattice.heights))
        if not self.passes(self.cube_at(top)):
            return
        self._passed(top)
        least = np.argwhere(self.possible).min(axis=0).tolist()
        base = tuple(level + 1 if axis in self.free else 0 for axis, level in enumerate(least))
        if base != top:
            self._explore(self.cube_at(base), 0)

    def _explore(self, cube: CubeType, first: int) -> None:
        """Look at a node and at everything that is more general in the free columns from ``first`` on."""
        node = cube.levels
        if self.found[node]:
            return
        place = self._place(node)
        if self.possible[place] and not self.failed[place]:
            if self.passes(cube):
                self._passed(node)
                return
            self._failed(node)
        for position in range(first, len(self.free)):
            axis = self.free[position]
            if node[axis] == self.lattice.heights[axis]:
                continue
            if self._hopeless(cube, position):
                continue
            self._explore(cube.rolled_up(axis, node[axis] + 1), position)

    def _hopeless(self, cube: CubeType, first: int) -> bool:
        """Whether the most general node reached by raising the free columns from ``first`` on fails."""
        axes = self.free[first:]
        heights = self.lattice.heights
        top = tuple(heights[axis] if axis in axes else level for axis, level in enumerate(cube.levels))
        place = self._place(top)
        if not self.possible[place] or self.failed[place]:
            return True
        if self.found[top] or prod(heights[axis] - cube.levels[axis] + 1 for axis in axes) < _WORTH_A_LOOK:
            return False
        for axis in axes:
            if cube.levels[axis] < heights[axis]:
                cube = cube.rolled_up(axis, heights[axis])
        if self.passes(cube):
            self._passed(top)
            return False
        self._failed(top)
        return True

    def _passed(self, node: Levels) -> None:
        self.found[tuple(slice(level, None) if axis in self.free else level for axis, level in enumerate(node))] = True

    def _failed(self, node: Levels) -> None:
        self.failed[tuple(slice(None, level + 1) for level in self._place(node))] = True
