"""Moving rows between groups after cutting, where that saves loss: groups that are published as boxes.

A cut is never taken back, so a greedy partition leaves rows where a group beside it, cut off early, would suit them
better. Rows with equal quasi-identifiers, which stay together, go over to the group where they cost least, and small
groups are dissolved, as long as every group keeps k rows and the checks; see
:mod:`undercover.steps.cutting.regrouping_kernels`. Nothing is done that does not save loss, so no partition gets worse.
Without checks every move follows from the quasi-identifiers.

Who may go where: the groups are taken in the order of cutting, in which neighbours were cut from one another late, and
rows are moved within :data:`NEIGHBOURS` of them at a time, fewer in large tables, down to :data:`FEWEST`. So the time
does not outgrow the rows. Neighbourhoods are looked at on every core; which thread did what does not show in the
result.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from undercover.model.groups import Groups
from undercover.model.protocols import Progress, no_progress
from undercover.model.table import Table
from undercover.steps.cutting.checks import Check, kernel_checks
from undercover.steps.cutting.columns import CutColumn, kernel_columns, packed_codes
from undercover.steps.cutting.partition import Partition
from undercover.threads import in_turn

if TYPE_CHECKING:
    from undercover.steps.cutting.regrouping_kernels import Layout

NEIGHBOURS = 512  # groups between which rows are moved, at most
FEWEST = 64  # and at least, however large the table is
ROUNDS = 3  # how often every row is looked at, at most; what is left to save then is hardly anything
_PAIRS = 1 << 26  # of equal quasi-identifiers and a group that are looked at in a round: a fraction of a second
_LARGEST_KEY = 1 << 62


def has_hierarchies(table: Table) -> bool:
    """Whether some quasi-identifier has one: there greedy cuts leave most to save."""
    return any(table[name].settings.hierarchy is not None for name in table.schema.quasi_identifiers)


def regrouped(
    parts: Partition,
    table: Table,
    *,
    k: int,
    checks: Sequence[Check] = (),
    threads: int = 1,
    progress: Progress = no_progress,
) -> Partition:
    """The partition after rows were moved between its groups, which are published as boxes."""
    from undercover.compiled.jit import needs_compiling
    from undercover.steps.cutting.regrouping_kernels import Tuples, regroup

    if needs_compiling(regroup):
        progress("compiling the moving kernel (once on this machine, some 10 seconds)", 0.0)
    columns = parts.columns
    codes, _ = packed_codes(table, columns)  # (n, at least d)
    order, starts = _tuples(parts.groups, columns, codes)
    of_tuple = codes[order[starts[:-1]], : len(columns)]  # (m, d)
    group = parts.groups.labels[order[starts[:-1]]].astype(np.int64)
    predicates = kernel_checks(table, checks)
    sensitive = predicates.sensitive[order] if checks else predicates.sensitive
    layout = _layout(table, columns)
    neighbours = min(NEIGHBOURS, max(FEWEST, _PAIRS // len(group)))
    edges = np.append(np.arange(0, parts.groups.count, neighbours), parts.groups.count)

    def one(number: int) -> None:
        first, last = edges[number], edges[number + 1]
        here = slice(*np.searchsorted(group_before, [first, last]))
        rows = slice(starts[here.start], starts[here.stop])
        own = group[here] - first
        tuples = Tuples(of_tuple[here].astype(np.int64), starts[here.start : here.stop + 1] - rows.start, own)
        asked = predicates._replace(sensitive=sensitive[rows]) if checks else predicates
        regroup(tuples, int(last - first), k, layout, asked, ROUNDS)
        group[here] = own + first

    group_before = group.copy()
    for number, _ in enumerate(in_turn(one, range(len(edges) - 1), threads), 1):
        progress("moving rows between groups", number / (len(edges) - 1))
    kept, group = np.unique(group, return_inverse=True)
    by_row = np.empty(len(order), dtype=np.int32)
    by_row[order] = np.repeat(group.reshape(-1).astype(np.int32), np.diff(starts))
    return Partition(Groups(by_row, len(kept)), columns, None)


def _tuples(
    groups: Groups, columns: Sequence[CutColumn], codes: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows by group and then by quasi-identifiers, and where each combination begins and the last ends."""
    key, span = groups.labels.astype(np.int64), groups.count
    for j, column in enumerate(columns):
        if span * column.size > _LARGEST_KEY:
            distinct, key = np.unique(key, return_inverse=True)
            key, span = key.reshape(-1), len(distinct)
        key, span = key * column.size + codes[:, j], span * column.size
    order = np.argsort(key, kind="stable")
    ordered = key[order]
    return order, np.concatenate([[0], np.flatnonzero(ordered[1:] != ordered[:-1]) + 1, [len(order)]])


def _layout(table: Table, columns: Sequence[CutColumn]) -> Layout:
    """The ``layout`` argument of ``regroup``, the kernel."""
    from undercover.steps.cutting.regrouping_kernels import Layout

    asked = kernel_columns(table, columns)
    node_starts, first, last = asked.node_starts, asked.first, asked.last
    trees = [j for j, column in enumerate(columns) if column.kind == "tree"]
    column_of_node = np.repeat(trees, np.diff(np.append(node_starts[trees], len(first)))).astype(np.int64)
    column_of_leaf = np.repeat(trees, [columns[j].size for j in trees]).astype(np.int64)
    words = [-(-column.size // 64) if column.kind == "set" else 0 for column in columns]
    return Layout(
        *asked[:6],
        first,
        last,
        asked.parent + node_starts[column_of_node],  # nobody asks for the parent of a root
        asked.leaf_node + node_starts[column_of_leaf],
        asked.weights[column_of_node] * np.minimum(1.0, (last - first) * asked.units[column_of_node]),
        np.concatenate([[0], np.cumsum(words)]).astype(np.int64),
        np.argsort([column.size for column in columns], kind="stable"),
    )
