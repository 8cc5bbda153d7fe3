"""A column on every level of its hierarchy: which node each value lies under, what it is called, what it costs.

Deviations: a column without a hierarchy has two levels, its values and ``*``. A missing value lies under no node but
the root, and the root is then written ``*``, since it stands for more than the leaves.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from undercover.model.cells import EVERYTHING, CellForm
from undercover.model.hierarchy import Hierarchy
from undercover.model.table import EncodedColumn, write_values


@dataclass(frozen=True)
class Level:
    """One level: its nodes that occur in the column, numbered in the order of the codes below them."""

    node_of: NDArray[np.int64]  # (domain size,) node above each code
    labels: tuple[str, ...]  # (n_nodes,) how each node is written; no two alike
    loss: NDArray[np.float64]  # (n_nodes,) (leaves under the node - 1) / (all leaves - 1)
    form: CellForm

    @property
    def size(self) -> int:
        """Number of nodes."""
        return len(self.labels)


@dataclass(frozen=True)
class ColumnLevels:
    """Every level of one column, values first.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from undercover.model.schema import Column
    >>> from undercover.model.table import encode
    >>> towns = Hierarchy([("Bonn", "Germany"), ("Köln", "Germany"), ("Lyon", "France")])
    >>> column = column_levels(encode("town", pa.array(["Lyon", "Bonn"]), Column(hierarchy=towns), missing="error"))
    >>> [level.labels for level in column.levels]
    [('Bonn', 'Lyon'), ('Germany', 'France'), ('*',)]
    >>> column.levels[1].loss.tolist(), column.parent(0, 1).tolist()
    ([0.5, 0.0], [0, 1])
    """

    name: str
    levels: tuple[Level, ...]
    has_hierarchy: bool

    @property
    def height(self) -> int:
        """The top level."""
        return len(self.levels) - 1

    def parent(self, lower: int, upper: int) -> NDArray[np.int64]:
        """The node of level ``upper`` above each node of level ``lower``."""
        up = np.zeros(self.levels[lower].size, dtype=np.int64)
        up[self.levels[lower].node_of] = self.levels[upper].node_of
        return up


def column_levels(column: EncodedColumn) -> ColumnLevels:
    """The levels of a column; for an example see :class:`ColumnLevels`."""
    hierarchy = column.settings.hierarchy
    if hierarchy is None:
        size = column.domain.size
        values = Level(np.arange(size), column.domain.labels, np.zeros(size), "value")
        everything = Level(np.zeros(size, dtype=np.int64), (EVERYTHING,), np.array([float(size > 1)]), "set")
        return ColumnLevels(column.name, (values, everything), has_hierarchy=False)
    places = [hierarchy.leaf_index[label] for label in write_values(column.domain.values)]
    written = _node_labels(hierarchy)
    levels = []
    for number in range(hierarchy.n_levels):
        leaves = [hierarchy.rows[place][number] for place in places]
        top = number == hierarchy.n_levels - 1
        levels.append(_level(hierarchy, leaves, number, written[number], column.domain.has_missing, top))
    return ColumnLevels(column.name, tuple(levels), has_hierarchy=True)


def _level(
    hierarchy: Hierarchy, names: list[str], number: int, written: dict[str, str], has_missing: bool, top: bool
) -> Level:
    under: dict[str, int] = {}
    for row in hierarchy.rows:
        under[row[number]] = under.get(row[number], 0) + 1
    total = len(hierarchy.rows) + has_missing
    if top:
        label = EVERYTHING if has_missing else written[names[0]]
        return Level(np.zeros(len(names) + has_missing, dtype=np.int64), (label,), np.array([float(total > 1)]), "node")
    nodes: dict[str, int] = {}
    node_of = [nodes.setdefault(name, len(nodes)) for name in names]
    covered = [under[name] for name in nodes]
    labels = [written[name] for name in nodes]
    if has_missing:
        node_of.append(len(nodes))
        covered.append(1)
        labels.append("")
    loss = (np.array(covered, dtype=np.float64) - 1) / max(total - 1, 1)
    return Level(np.array(node_of, dtype=np.int64), tuple(labels), loss, "node")


def _node_labels(hierarchy: Hierarchy) -> list[dict[str, str]]:
    """How each node of each level is written so that it is read back as itself.

    A label that also names a lower node (an ICD category and its first code) is read as that one. The tree's own label
    of the same leaves tells the two apart.
    """
    leaves: list[dict[str, frozenset[str]]] = []
    for number in range(hierarchy.n_levels):
        below: dict[str, set[str]] = {}
        for row in hierarchy.rows:
            below.setdefault(row[number], set()).add(row[0])
        leaves.append({label: frozenset(members) for label, members in below.items()})
    read_as: dict[str, frozenset[str]] = {}
    for on_level in reversed(leaves):
        read_as |= on_level
    tree = hierarchy.tree
    own: dict[frozenset[str], str] = {}
    for label, first, last in zip(tree.labels, tree.first, tree.last, strict=True):
        members = frozenset(hierarchy.rows[place][0] for place in tree.leaf_order[first : last + 1])
        own[members] = label
        read_as[label] = members
    return [
        {label: label if read_as[label] == members else own[members] for label, members in on_level.items()}
        for on_level in leaves
    ]
