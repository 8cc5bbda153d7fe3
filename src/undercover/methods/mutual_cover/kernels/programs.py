"""Random output tables of mutual cover: many small linear programs, solved without allocating in between.

Li, Wang & He, "Privacy-Preserving Data Publishing via Mutual Cover", Section 4 (``calculate_table``). For one group and
one attribute, with distinct original values a that occur c_a times (m rows in all) and output values j::

    min  sum_a c_a sum_j d_aj x_aj
    s.t. sum_j x_aj = 1,   s_aj = delta * S_j - x_aj >= 0,   x_aj >= 0,   S_j = sum_b c_b x_bj

``docs/theory/cover_tables.md`` says why rows with equal values may share a distribution, and derives the Newton step
(:mod:`undercover.methods.mutual_cover.kernels.central_path`), the repair and the certificate. The dual multipliers are y_a of the rows, z_aj
of x >= 0 and w_aj of s >= 0.

Deviations: the paper hands one row per record to a general primal-dual solver. Here the interior point method starts
from a strictly feasible point and uses that a column ties its entries together by two numbers only (how its sum moves,
how its price moves), so a step costs one system of q equations. It ends inside the optimal face, as the paper's
Figure 2 does, not at a vertex. Two cases need no iteration: a group of exactly 1/delta rows (no interior), and counts
that let every value stay (the only optimum where moving costs).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from undercover.compiled.jit import arithmetic, internal, kernel
from undercover.methods.mutual_cover.kernels import Tables
from undercover.methods.mutual_cover.kernels.central_path import (
    CELL_FIELDS,
    COLUMN_FIELDS,
    COUNTS,
    FLOOR,
    LANES,
    ROW_FIELDS,
    Room,
    interior_point,
)

NUMERIC, TREE, FLAT, MATRIX = range(4)  # kinds of distance
KEPT, SHARED, INTERIOR, UNIFORM, UNCONVERGED = range(5)  # how a table came about

RATIO_SLACK = 5e-13  # excess of a column's share over delta that is left to rounding
ACCEPTED_GAP = 1e-8  # relative gap of the certificate above which a table counts as unconverged
_DUST = 2e-13  # share of the rows, or of a column, below which mass is zero
_EPS = 2.3e-16


class Solved(NamedTuple):
    """What becomes of every table."""

    kept: Any  # output values with mass
    objectives: Any  # cost of the table
    bounds: Any  # what no table can undercut
    spreads: Any  # the largest distance between an original and an output value
    origins: Any  # KEPT, SHARED, INTERIOR, UNIFORM or UNCONVERGED


@kernel
def cover_tables(
    numbers: Any, tables: Tables, distance: Any, delta: float, least: int, whole: bool, uniform: bool, lanes: int,
    solved: Solved,
) -> None:  # fmt: skip
    """Solve the programs ``numbers``; the results go into ``solved`` and the probabilities of ``tables``.

    Of the output codes of a table those that keep mass are moved to the front. Its probabilities are (originals, kept
    outputs), row by row.

    Parameters
    ----------
    distance
        ``(kind, row_scale, column_scale, leaf_node, node_first, node_last, parent, matrix)``: numbers on the scales
        of rows and columns, the nodes of a hierarchy (the scale is the depth-first leaf), or a matrix.
    least, whole
        The smallest whole number that is at least 1/delta, and whether it is 1/delta: what is compared with counts.
    uniform
        Every output value equally likely instead of the optimum.
    lanes
        ``LANES``. An argument, because the compiler takes loops of known length apart instead of computing in blocks.
    """
    starts, values, counts, column_starts, columns, cell_starts, probabilities = tables
    most_rows, most_columns = 1, 1
    for p in numbers:
        most_rows = max(most_rows, starts[p + 1] - starts[p])
        most_columns = max(most_columns, column_starts[p + 1] - column_starts[p])
    most_blocks = (most_columns + LANES - 1) // LANES
    cost = np.empty((most_rows, most_columns))
    x, w = np.empty_like(cost), np.empty_like(cost)
    cells = np.empty((most_rows * most_blocks, CELL_FIELDS * LANES))
    column_work = np.empty((most_blocks, COLUMN_FIELDS * LANES))
    row_work = np.empty((ROW_FIELDS, most_rows))
    room = Room(cost, x, w, cells, column_work, row_work, np.empty((most_rows, most_rows)))
    total = np.empty(most_columns)
    c = row_work[COUNTS]
    for p in numbers:
        q, n = starts[p + 1] - starts[p], column_starts[p + 1] - column_starts[p]
        rows, outputs = values[starts[p] : starts[p + 1]], columns[column_starts[p] : column_starts[p + 1]]
        m = 0
        stay = True
        for a in range(q):
            c[a] = counts[starts[p] + a]
            m += counts[starts[p] + a]
            stay = stay and counts[starts[p] + a] >= least
        scale = fill_costs(cost, rows, outputs, distance, q, n)
        origin = INTERIOR
        if uniform or scale == 0.0:
            origin = UNIFORM if uniform else KEPT if n == 1 else INTERIOR
            for a in range(q):
                for j in range(n):
                    x[a, j] = 1.0 / n
            bound = 0.0
        elif stay and _keep(cost, x, q, n):
            origin, bound = KEPT, 0.0
        elif whole and m == least:
            origin = SHARED
            bound = _share(cost, x, total, c, q, n)
        else:
            interior_point(room, q, n, float(m), delta, lanes)
            repair(x, total, c, q, n, float(m), delta)
            bound = dual_bound(cost, w, total, c, q, n, delta)
        objective = 0.0
        for a in range(q):
            for j in range(n):
                objective += c[a] * cost[a, j] * x[a, j]
        if origin == INTERIOR and not objective - bound <= ACCEPTED_GAP * (objective + FLOOR * m):
            origin = UNCONVERGED
        solved.objectives[p], solved.bounds[p] = objective * scale, bound * scale
        solved.spreads[p], solved.origins[p] = scale, origin
        solved.kept[p] = _write(x, outputs, probabilities, cell_starts[p], q, n)


@kernel
def finish_table(x: Any, cost: Any, w: Any, counts: Any, delta: float) -> Any:
    """Repair a table another solver found, in place; returns its objective and the bound its multipliers give."""
    q, n = x.shape
    work = np.empty((2, n))
    m = counts.sum()
    repair(x, work[0], counts, q, n, m, delta)
    objective = 0.0
    for a in range(q):
        for j in range(n):
            objective += counts[a] * cost[a, j] * x[a, j]
    return objective, dual_bound(cost, w, work[1], counts, q, n, delta)


@kernel
def compact(tables: Tables, kept: Any) -> Any:
    """Close the gaps that columns without mass left; returns where the columns and cells of each table start now."""
    starts, _, _, column_starts, columns, cell_starts, probabilities = tables
    n_tables = len(kept)
    new_columns, new_cells = np.zeros(n_tables + 1, np.int64), np.zeros(n_tables + 1, np.int64)
    for p in range(n_tables):
        cells = (starts[p + 1] - starts[p]) * kept[p]
        for j in range(kept[p]):
            columns[new_columns[p] + j] = columns[column_starts[p] + j]
        for i in range(cells):
            probabilities[new_cells[p] + i] = probabilities[cell_starts[p] + i]
        new_columns[p + 1] = new_columns[p] + kept[p]
        new_cells[p + 1] = new_cells[p] + cells
    return new_columns, new_cells


@internal
def _write(x: Any, outputs: Any, probabilities: Any, start: int, q: int, n: int) -> int:
    """Copy the columns with mass to the result and move their codes to the front."""
    kept = 0
    for j in range(n):
        total = 0.0
        for a in range(q):
            total += x[a, j]
        if total > 0.0:
            outputs[kept] = outputs[j]
            for a in range(q):
                x[a, kept] = x[a, j]
            kept += 1
    for a in range(q):
        for j in range(kept):
            probabilities[start + a * kept + j] = x[a, j]
    return kept


@internal
def fill_costs(cost: Any, rows: Any, outputs: Any, distance: Any, q: int, n: int) -> float:
    """Distances of original and output values, divided by the largest, which is returned."""
    kind, row_scale, column_scale, leaf_node, node_first, node_last, parent, matrix = distance
    largest = 0.0
    for a in range(q):
        for j in range(n):
            u, v = rows[a], outputs[j]
            if kind == NUMERIC:
                d = abs(row_scale[u] - column_scale[v])
            elif kind == MATRIX:
                d = matrix[u, v]
            elif u == v:
                d = 0.0
            elif kind == FLAT:
                d = 1.0
            else:
                leaf, other = int(row_scale[u]), int(row_scale[v])
                d = 1.0
                if leaf < len(leaf_node) and other < len(leaf_node):  # a missing value is as far as the root
                    node = leaf_node[leaf]
                    while other < node_first[node] or other > node_last[node]:
                        node = parent[node]
                    d = (node_last[node] - node_first[node]) / (len(leaf_node) - 1)
            cost[a, j] = d
            largest = max(largest, d)
    if largest > 0.0:
        for a in range(q):
            for j in range(n):
                cost[a, j] /= largest
    return largest


@internal
def _keep(cost: Any, x: Any, q: int, n: int) -> bool:
    """Everybody keeps his value, if every row has exactly one output that costs nothing, and no two the same."""
    for a in range(q):
        free = 0
        for j in range(n):
            x[a, j] = 1.0 if cost[a, j] == 0.0 else 0.0
            free += cost[a, j] == 0.0
        if free != 1:
            return False
    for j in range(n):
        takers = 0
        for a in range(q):
            takers += x[a, j] > 0.0
        if takers > 1:
            return False
    return True


@arithmetic
def _share(cost: Any, x: Any, total: Any, c: Any, q: int, n: int) -> float:
    """delta * m = 1: one distribution for all rows, even over the cheapest columns. Returns the bound."""
    least = np.inf
    for j in range(n):
        total[j] = 0.0
        for a in range(q):
            total[j] += c[a] * cost[a, j]
        least = min(least, total[j])
    cheapest = 0
    for j in range(n):
        total[j] = 1.0 if total[j] <= least * (1.0 + 1e-12) else 0.0
        cheapest += total[j] > 0.0
    for a in range(q):
        for j in range(n):
            x[a, j] = total[j] / cheapest
    return least * (1.0 - (q + 4) * _EPS)


@arithmetic
def repair(x: Any, total: Any, c: Any, q: int, n: int, m: float, delta: float) -> None:
    """Make ``x`` a table that keeps delta, at the cost of as little optimality as that takes.

    Dust becomes zero and rows sum to one. Where a column's share is above delta, every row moves towards the mean row
    S_j / m as far as that takes, which leaves the column sums as they are; a column that holds less than this would
    move is dropped instead.
    """
    for j in range(n):
        total[j] = 0.0
        for a in range(q):
            total[j] += c[a] * x[a, j]
        for a in range(q):
            dust = total[j] < _DUST * m or m * x[a, j] < _DUST * total[j]
            x[a, j] = 0.0 if dust else x[a, j]
    _normalise(x, q, n)
    aim = delta - min(1e-13 * delta, 0.5 * (delta - 1.0 / m))
    for attempt in range(2):
        step, dropped = 0.0, False
        for j in range(n):
            total[j], most = 0.0, 0.0
            for a in range(q):
                total[j] += c[a] * x[a, j]
                most = max(most, x[a, j])
            if most > delta * (1.0 + RATIO_SLACK) * total[j]:
                needed = (most - aim * total[j]) / (most - total[j] / m)
                if attempt == 0 and total[j] < min(1e-3, needed * m):
                    dropped = True
                    for a in range(q):
                        x[a, j] = 0.0
                else:
                    step = max(step, needed)
        if not dropped:
            break
        _normalise(x, q, n)
    if step > 0.0:
        for a in range(q):
            for j in range(n):
                x[a, j] = (1.0 - step) * x[a, j] + step * total[j] / m


@arithmetic
def _normalise(x: Any, q: int, n: int) -> None:
    for a in range(q):
        row = 0.0
        for j in range(n):
            row += x[a, j]
        for j in range(n):
            x[a, j] /= row


@arithmetic
def dual_bound(cost: Any, w: Any, v: Any, c: Any, q: int, n: int, delta: float) -> float:
    """What no table can undercut: any w >= 0 gives y_a = min_j d_aj + w_aj - delta sum_b c_b w_bj and the bound c y.

    Rounding is taken off, so that the bound holds for the numbers as they stand.
    """
    for j in range(n):
        v[j] = 0.0
        for a in range(q):
            v[j] += delta * c[a] * w[a, j]
    bound, size = 0.0, 0.0
    for a in range(q):
        y = np.inf
        for j in range(n):
            error = (q + 8) * _EPS * (cost[a, j] + w[a, j] + v[j])
            y = min(y, cost[a, j] + w[a, j] - v[j] - error)
        bound += c[a] * y
        size += c[a] * abs(y)
    return max(0.0, bound - (q + 2) * _EPS * size)
