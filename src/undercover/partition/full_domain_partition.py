"""A full-domain generalisation as a partition into disjoint cells, chosen by quasi-identifiers alone.

LeFevre, DeWitt & Ramakrishnan 2005, "Incognito: Efficient Full-Domain K-Anonymity": of all nodes whose cells have at
least k rows, the one of least loss. For methods that draw or perturb sensitive values within cells (Tao, Xiao, Li &
Zhang name full-domain generalisation among the ways to form them): no sensitive value is looked at.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from undercover.errors import UnreachableError
from undercover.hierarchies.lattice import Levels
from undercover.model.protocols import Progress, no_progress
from undercover.model.table import Table
from undercover.partition.cutting import CutColumn, cut_columns
from undercover.partition.full_domain import FullDomain, recode
from undercover.partition.full_domain_checks import CellCondition
from undercover.partition.full_domain_choice import Chooser, search
from undercover.partition.mondrian import Partition


def full_domain_partition(table: Table, *, k: int, progress: Progress = no_progress) -> Partition:
    """Cells of at least ``k`` rows on one level of every column; regions of the domain that do not overlap.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from undercover.model.schema import Schema
    >>> people = pa.table({"age": [34, 38, 34, 38], "sex": ["f", "f", "m", "m"]})
    >>> parts = full_domain_partition(Table.from_arrow(people, Schema(quasi_identifiers=["age", "sex"])), k=2)
    >>> parts.groups.sizes.tolist(), parts.bounds[0].tolist()
    ([2, 2], [[0, 0], [0, 1]])
    """
    if k > table.n_rows:
        raise UnreachableError(
            f"k={k} cannot be reached: the table has only {table.n_rows:,} rows, and that is the largest feasible k.",
            best={"k": table.n_rows},
        )
    domain = FullDomain(table, table.schema.quasi_identifiers)
    condition = CellCondition(table, k)
    passing = search(domain, condition, progress=progress)
    levels = Chooser(domain, condition).best(passing, suppressing=False).levels
    columns = cut_columns(table, "regions")
    groups = recode(domain, levels).groups
    member = groups.order[groups.offsets[:-1]]  # any row of a cell shows its nodes
    bounds = np.stack(
        [_ranges(table, column, levels, axis)[table[column.name].codes[member]] for axis, column in enumerate(columns)],
        axis=1,
    )
    return Partition(groups, tuple(columns), bounds)


def _ranges(table: Table, column: CutColumn, levels: Levels, axis: int) -> NDArray[np.int64]:
    """(domain size, 2) first and last cutting code of the node above each code."""
    level = levels[axis]
    everything = np.tile(np.array([0, column.size - 1]), (table[column.name].domain.size, 1))
    own = np.stack([column.recode, column.recode], axis=1)
    hierarchy = table[column.name].settings.hierarchy
    if hierarchy is None:
        return own if level == 0 else everything
    if level == hierarchy.n_levels - 1:
        return everything
    place = np.empty(len(hierarchy.rows), dtype=np.int64)
    place[hierarchy.tree.leaf_order] = np.arange(len(hierarchy.rows))
    spans: dict[str, tuple[int, int]] = {}
    for row, position in zip(hierarchy.rows, place.tolist(), strict=True):
        low, high = spans.get(row[level], (position, position))
        spans[row[level]] = (min(low, position), max(high, position))
    labels = table[column.name].domain.labels
    for code in range(len(table[column.name].domain.values)):
        own[code] = spans[hierarchy.generalize(labels[code], level)]
    return own
