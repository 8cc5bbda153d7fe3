"""Random output tables of mutual cover: many small linear programs, solved without allocating in between.

Li, Wang & He, "Privacy-Preserving Data Publishing via Mutual Cover", Section 4 (``calculate_table``). For one group and
one attribute, with distinct original values a that occur c_a times (m rows in all) and output values j::

    min  sum_a c_a sum_j d_aj x_aj
    s.t. sum_j x_aj = 1,   s_aj = delta * S_j - x_aj >= 0,   x_aj >= 0,   S_j = sum_b c_b x_bj

``docs/theory/cover_tables.md`` says why rows with equal values may share a distribution, and derives the Newton step,
the repair and the certificate. The dual multipliers are y_a of the rows, z_aj of x >= 0 and w_aj of s >= 0. The
interior point method is primal-dual, after Mehrotra 1992 ("On the Implementation of a Primal-Dual Interior Point
Method").

Deviations: the paper hands one row per record to a general primal-dual solver. Here the method starts from a strictly
feasible point, without a first phase, and uses that a column ties its entries together by two numbers only (how its sum
and how its price delta * sum_b c_b w_bj move), so a step costs one system of q equations in y. The path is followed
only as far as rounding lets it tell where on the optimal face it is, and the last step goes straight to the face. It
ends inside the optimal face, as the paper's Figure 2 does, not at a vertex. Two cases need no iteration: a group of
exactly 1/delta rows (no interior), and counts that let every value stay (the only optimum where moving costs).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from undercover.compiled.jit import arithmetic, internal, kernel
from undercover.methods.mutual_cover.kernels import Tables

NUMERIC, TREE, FLAT, MATRIX = range(4)  # kinds of distance
KEPT, SHARED, INTERIOR, UNIFORM, UNCONVERGED = range(5)  # how a table came about

RATIO_SLACK = 5e-13  # excess of a column's share over delta that is left to rounding
ACCEPTED_GAP = 1e-8  # relative gap of the certificate above which a table counts as unconverged
_DUST = 2e-13  # share of the rows, or of a column, below which mass is zero
_EPS = 2.3e-16
FLOOR = 1e-6  # objective per row, in largest distances, below which gaps are taken relative to this
_CENTRE = 1e-12  # products x z at which the path ends,
_GAP = 1e-9  # unless the relative gap is still above this
_ITERATIONS = 60
MOST_ROWS, MOST_CELLS = 256, 2**18  # of a table that is iterated; larger ones come in blocks
_STALLED = 1e-6  # step length below which no progress is to be expected
_SPOILT = 1e-8  # relative change of the objective that the last step cannot have
_PIVOT = 1e-13  # share of its diagonal below which a pivot is rounding, and taken as this

# Blocks: eight columns of one row, field by field, side by side in memory, which is what the processor computes at
# once. The last block is filled up with columns too dear to be used.
LANES = 8
_TOO_DEAR = 2.0
CELL_FIELDS, COLUMN_FIELDS, ROW_FIELDS = 19, 11, 4
_X, _S, _Z, _W, _COST, _A, _B, _INVERSE, _PHI, _OVER_X, _OVER_S, _DX, _DS, _G, _DRIFT, _U, _T, _RX, _RS = range(
    0, CELL_FIELDS * LANES, LANES
)
_KAPPA, _H, _THETA, _EXTRA, _R1, _R2, _DV, _DSUM, _SUM, _PRIMAL, _DUAL = range(0, COLUMN_FIELDS * LANES, LANES)
COUNTS, _DY, _SLACK, _RIGHT = range(ROW_FIELDS)


class Room(NamedTuple):
    """Where programs are solved, one after the other."""

    cost: Any  # (most rows, most columns)
    x: Any  # the table found
    w: Any  # and its multipliers
    cells: Any  # (rows * blocks, CELL_FIELDS * LANES)
    columns: Any  # (blocks, COLUMN_FIELDS * LANES)
    rows: Any  # (ROW_FIELDS, most rows)
    normal: Any  # (most rows, most rows)


class Solved(NamedTuple):
    """What becomes of every table."""

    kept: Any  # output values with mass
    objectives: Any  # cost of the table
    bounds: Any  # what no table can undercut
    spreads: Any  # the largest distance between an original and an output value
    origins: Any  # KEPT, SHARED, INTERIOR, UNIFORM or UNCONVERGED
    prices: Any  # y of every original, where a program was iterated


@kernel
def cover_tables(
    numbers: Any, tables: Tables, distance: Any, delta: float, least: int, whole: bool, uniform: bool, lanes: int,
    solved: Solved,
) -> None:  # fmt: skip
    """Solve the programs ``numbers``; the results go into ``solved`` and the probabilities of ``tables``.

    Of the output codes of a table those that keep mass are moved to the front. Its probabilities are (originals, kept
    outputs), row by row. ``distance`` is ``(kind, row_scale, column_scale, leaf_node, node_first, node_last, parent,
    matrix)``: numbers on the scales of rows and columns, the nodes of a hierarchy (the scale is the depth-first leaf),
    or a matrix. ``least`` is the smallest whole number that is at least 1/delta, ``whole`` whether it is 1/delta.
    ``uniform`` makes every output value equally likely. A table too large to iterate is shared, for want of a better
    one. ``lanes`` is ``LANES``: an argument, because the compiler takes
    loops of known length apart instead of computing in blocks.
    """
    starts, values, counts, column_starts, columns, cell_starts, probabilities = tables
    most_rows, most_columns = 1, 1
    for p in numbers:
        most_rows = max(most_rows, starts[p + 1] - starts[p])
        most_columns = max(most_columns, column_starts[p + 1] - column_starts[p])
    most_blocks = (most_columns + LANES - 1) // LANES
    cost = np.empty((most_rows, most_columns))
    x, w = np.empty_like(cost), np.empty_like(cost)
    lines = min(most_rows * most_blocks, MOST_CELLS // LANES + MOST_ROWS)  # of the blocks of what is iterated
    cells = np.empty((lines, CELL_FIELDS * LANES))
    column_work = np.empty((most_blocks, COLUMN_FIELDS * LANES))
    row_work = np.empty((ROW_FIELDS, most_rows))
    iterated = min(most_rows, MOST_ROWS)
    room = Room(cost, x, w, cells, column_work, row_work, np.empty((iterated, iterated)))
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
        elif q > MOST_ROWS or q * n > MOST_CELLS:
            origin, bound = UNCONVERGED, 0.0
            _share(cost, x, total, c, q, n)
        else:
            interior_point(room, q, n, float(m), delta, lanes)
            repair(x, total, c, q, n, float(m), delta)
            bound = dual_bound(cost, w, total, row_work[_DY], c, q, n, delta)
            for a in range(q):
                solved.prices[starts[p] + a] = scale * row_work[_DY, a]
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
    total = np.empty(n)
    repair(x, total, counts, q, n, counts.sum(), delta)
    objective = 0.0
    for a in range(q):
        for j in range(n):
            objective += counts[a] * cost[a, j] * x[a, j]
    return objective, dual_bound(cost, w, total, np.empty(q), counts, q, n, delta)


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
def dual_bound(cost: Any, w: Any, v: Any, prices: Any, c: Any, q: int, n: int, delta: float) -> float:
    """What no table can undercut: any w >= 0 gives y_a = min_j d_aj + w_aj - delta sum_b c_b w_bj and the bound c y.

    Rounding is taken off, so that the bound holds for the numbers as they stand. ``prices`` becomes y.
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
        prices[a] = y
        bound += c[a] * y
        size += c[a] * abs(y)
    return max(0.0, bound - (q + 2) * _EPS * size)


@arithmetic
def interior_point(room: Room, q: int, n: int, m: float, delta: float, lanes: int) -> None:
    """Mehrotra's predictor-corrector method for ``cost`` (q, n); leaves the table in ``x`` and its multipliers in ``w``.

    It follows the central path no further than rounding lets it tell where on the optimal face it is (``_CENTRE``),
    and then lands.
    """
    cost, x, w, cells, columns, rows, normal = room
    blocks = (n + LANES - 1) // LANES
    c, dy = rows[COUNTS], rows[_DY]
    _start(cost, cells, q, n, blocks, m, delta)
    pairs = 2.0 * m * blocks * LANES
    for _ in range(_ITERATIONS):
        gap, objective = _measure(cells, columns, rows, q, blocks, lanes)
        mu = gap / pairs
        aim = min(_CENTRE, _GAP * (objective + FLOOR * m) / pairs)
        _factor(cells, columns, c, normal, q, blocks, delta, lanes)

        # Predictor: straight for x z = 0 and s w = 0. What rounding left between s and delta S - x is made good.
        for b in range(blocks):
            for j in range(lanes):
                columns[b, _EXTRA + j] = 0.0
        for a in range(q):
            for b in range(blocks):
                e, v = cells[a * blocks + b], columns[b]
                for j in range(lanes):
                    drift = delta * v[_SUM + j] - e[_X + j] - e[_S + j]
                    rs = -e[_W + j] - e[_B + j] * drift
                    e[_DRIFT + j] = drift
                    e[_G + j] = -e[_Z + j] - rs
                    v[_EXTRA + j] += delta * c[a] * rs
        _solve(cells, columns, rows, normal, q, blocks, delta, lanes)
        for b in range(blocks):
            for j in range(lanes):
                columns[b, _PRIMAL + j], columns[b, _DUAL + j] = 0.0, 0.0
        for a in range(q):
            for b in range(blocks):
                e, v = cells[a * blocks + b], columns[b]
                for j in range(lanes):
                    ds = e[_DS + j] + e[_DRIFT + j]
                    to_x, to_s = e[_DX + j] * e[_OVER_X + j], ds * e[_OVER_S + j]
                    low, high = (to_x, to_s) if to_x < to_s else (to_s, to_x)
                    e[_DS + j] = ds
                    v[_PRIMAL + j] = -low if -low > v[_PRIMAL + j] else v[_PRIMAL + j]
                    v[_DUAL + j] = 1.0 + high if 1.0 + high > v[_DUAL + j] else v[_DUAL + j]  # dz / z = -1 - dx / x
        primal, dual = _largest(columns, blocks)
        if mu <= 2.0 * aim:
            # Where rounding spoilt the step, the objective shows it.
            _land(cells, c, q, blocks, gap + _SPOILT * (objective + FLOOR * m), min(1.0, (1.0 - 1e-9) / primal), lanes)
            break
        alpha, beta = min(1.0, 1.0 / primal), min(1.0, 1.0 / dual)
        affine = 0.0
        for a in range(q):
            part = 0.0
            for b in range(blocks):
                e = cells[a * blocks + b]
                for j in range(lanes):
                    dz = -e[_Z + j] - e[_A + j] * e[_DX + j]
                    dw = -e[_W + j] - e[_B + j] * e[_DS + j]
                    part += (e[_X + j] + alpha * e[_DX + j]) * (e[_Z + j] + beta * dz)
                    part += (e[_S + j] + alpha * e[_DS + j]) * (e[_W + j] + beta * dw)
            affine += c[a] * part
        if not affine < np.inf:  # the Newton matrix has lost all its digits: what was found before it did stays
            break
        target = mu * min(1.0, max(aim / mu, max(1e-6, (affine / gap) ** 3)))

        # Corrector: towards x z = s w = target, less what the predictor's products would add.
        for b in range(blocks):
            for j in range(lanes):
                columns[b, _EXTRA + j], columns[b, _PRIMAL + j], columns[b, _DUAL + j] = 0.0, 0.0, 0.0
        for a in range(q):
            for b in range(blocks):
                e, v = cells[a * blocks + b], columns[b]
                for j in range(lanes):
                    dz = -e[_Z + j] - e[_A + j] * e[_DX + j]
                    dw = -e[_W + j] - e[_B + j] * e[_DS + j]
                    rx = (target - e[_DX + j] * dz) * e[_OVER_X + j] - e[_Z + j]
                    rs = (target - e[_DS + j] * dw) * e[_OVER_S + j] - e[_W + j] - e[_B + j] * e[_DRIFT + j]
                    e[_RX + j] = rx
                    e[_RS + j] = rs
                    e[_G + j] = rx - rs
                    v[_EXTRA + j] += delta * c[a] * rs
        _solve(cells, columns, rows, normal, q, blocks, delta, lanes)
        for a in range(q):
            for b in range(blocks):
                e, v = cells[a * blocks + b], columns[b]
                for j in range(lanes):
                    dz = e[_RX + j] - e[_A + j] * e[_DX + j]
                    # Where s is about to vanish, ds = delta dS - dx has lost the digits that B would magnify.
                    tight = e[_B + j] > e[_A + j]
                    dw = dz + dy[a] + v[_DV + j] if tight else e[_RS + j] - e[_B + j] * e[_DS + j]
                    ds = ((e[_RS + j] - dw) / e[_B + j] if tight else e[_DS + j]) + e[_DRIFT + j]
                    to_x, to_s = -e[_DX + j] * e[_OVER_X + j], -ds * e[_OVER_S + j]
                    to_z, to_w = -dz / e[_Z + j], -dw / e[_W + j]
                    primal, dual = to_x if to_x > to_s else to_s, to_z if to_z > to_w else to_w
                    e[_DS + j] = ds
                    e[_RX + j] = dz
                    e[_RS + j] = dw
                    v[_PRIMAL + j] = primal if primal > v[_PRIMAL + j] else v[_PRIMAL + j]
                    v[_DUAL + j] = dual if dual > v[_DUAL + j] else v[_DUAL + j]
        primal, dual = _largest(columns, blocks)
        near = min(1.0 - 1e-6, max(0.995, 1.0 - 100.0 * mu))
        alpha, beta = min(1.0, near / primal), min(1.0, near / dual)
        if not (alpha > _STALLED and beta > _STALLED):
            break
        for i in range(q * blocks):
            e = cells[i]
            for j in range(lanes):
                e[_X + j] += alpha * e[_DX + j]
                e[_S + j] += alpha * e[_DS + j]
                e[_Z + j] += beta * e[_RX + j]
                e[_W + j] += beta * e[_RS + j]
    for a in range(q):
        for j in range(n):
            e = cells[a * blocks + j // LANES]
            x[a, j], w[a, j] = e[_X + j % LANES], e[_W + j % LANES]


@arithmetic
def _start(cost: Any, cells: Any, q: int, n: int, blocks: int, m: float, delta: float) -> None:
    """A point that satisfies all equations, with everything positive."""
    width = blocks * LANES
    for a in range(q):
        for k in range(width):
            e, j = cells[a * blocks + k // LANES], k % LANES
            e[_COST + j] = cost[a, k] if k < n else _TOO_DEAR
            e[_X + j] = 1.0 / width
            e[_S + j] = (delta * m - 1.0) / width
            e[_Z + j] = e[_COST + j] + 0.5
            e[_W + j] = 1.0 / (delta * m - 1.0)


@arithmetic
def _measure(cells: Any, columns: Any, rows: Any, q: int, blocks: int, lanes: int) -> Any:
    """The gap and the objective; fills in the sums of the columns and what rows lack to one."""
    c, slack = rows[COUNTS], rows[_SLACK]
    gap, objective = 0.0, 0.0
    for b in range(blocks):
        for j in range(lanes):
            columns[b, _SUM + j] = 0.0
    for a in range(q):
        row_gap, row_cost, row_sum = 0.0, 0.0, 0.0
        for b in range(blocks):
            e, v = cells[a * blocks + b], columns[b]
            for j in range(lanes):
                row_gap += e[_X + j] * e[_Z + j] + e[_S + j] * e[_W + j]
                row_cost += e[_COST + j] * e[_X + j]
                row_sum += e[_X + j]
                v[_SUM + j] += c[a] * e[_X + j]
        gap += c[a] * row_gap
        objective += c[a] * row_cost
        slack[a] = 1.0 - row_sum
    return gap, objective


@arithmetic
def _largest(columns: Any, blocks: int) -> Any:
    """The largest of what the columns found to be the inverse step lengths."""
    primal, dual = 0.0, 0.0
    for b in range(blocks):
        for j in range(LANES):
            primal, dual = max(primal, columns[b, _PRIMAL + j]), max(dual, columns[b, _DUAL + j])
    return primal, dual


@arithmetic
def _land(cells: Any, c: Any, q: int, blocks: int, most: float, alpha: float, lanes: int) -> None:
    """The last step of x, straight to the face: what is zero there becomes dust. Left out if it changes too much."""
    change = 0.0
    for a in range(q):
        for b in range(blocks):
            e = cells[a * blocks + b]
            for j in range(lanes):
                change += alpha * c[a] * e[_COST + j] * e[_DX + j]
    if abs(change) <= most:
        for i in range(q * blocks):
            for j in range(lanes):
                cells[i, _X + j] += alpha * cells[i, _DX + j]


@arithmetic
def _factor(cells: Any, columns: Any, c: Any, normal: Any, q: int, blocks: int, delta: float, lanes: int) -> None:
    """The Newton matrix in y and its Cholesky factor; what a column contributes goes through two numbers."""
    for b in range(blocks):
        for j in range(lanes):
            columns[b, _KAPPA + j], columns[b, _H + j], columns[b, _THETA + j] = 1.0, 0.0, 0.0
    for a in range(q):
        for b in range(blocks):
            e, v = cells[a * blocks + b], columns[b]
            for j in range(lanes):
                over_x, over_s = 1.0 / e[_X + j], 1.0 / e[_S + j]
                A, B = e[_Z + j] * over_x, e[_W + j] * over_s
                inverse = 1.0 / (A + B)
                phi = B * inverse
                e[_OVER_X + j] = over_x
                e[_OVER_S + j] = over_s
                e[_A + j] = A
                e[_B + j] = B
                e[_INVERSE + j] = inverse
                e[_PHI + j] = phi
                v[_KAPPA + j] -= delta * c[a] * phi
                v[_H + j] += delta * delta * c[a] * A * phi
                v[_THETA + j] += c[a] * inverse
    for b in range(blocks):
        v = columns[b]
        for j in range(lanes):
            over = 1.0 / (v[_KAPPA + j] * v[_KAPPA + j] + v[_H + j] * v[_THETA + j])
            v[_KAPPA + j] *= over
            v[_H + j] *= over
            v[_THETA + j] *= over
    for a in range(q):
        diagonal = 0.0
        for b in range(blocks):
            e, v = cells[a * blocks + b], columns[b]
            for j in range(lanes):
                covering = delta * e[_PHI + j]
                e[_U + j] = c[a] * (v[_KAPPA + j] * covering - v[_H + j] * e[_INVERSE + j])
                e[_T + j] = c[a] * delta * (v[_KAPPA + j] * e[_INVERSE + j] + v[_THETA + j] * covering)
                diagonal += e[_INVERSE + j]
        for other in range(a + 1):
            total = 0.0
            for b in range(blocks):
                e, f = cells[a * blocks + b], cells[other * blocks + b]
                for j in range(lanes):
                    total += e[_INVERSE + j] * f[_U + j] + e[_PHI + j] * f[_T + j]
            normal[a, other] = c[a] * total
        normal[a, a] += c[a] * diagonal
    for a in range(q):
        diagonal = normal[a, a]
        for b in range(a):
            total = normal[a, b]
            for k in range(b):
                total -= normal[a, k] * normal[b, k]
            normal[a, b] = total * normal[b, b]
            normal[a, a] -= normal[a, b] * normal[a, b]
        normal[a, a] = 1.0 / np.sqrt(max(normal[a, a], _PIVOT * diagonal))  # the diagonal holds reciprocals


@arithmetic
def _solve(cells: Any, columns: Any, rows: Any, normal: Any, q: int, blocks: int, delta: float, lanes: int) -> None:
    """Newton's dx, ds and dy for the right-hand sides in ``_G`` and ``_EXTRA``."""
    c, dy, slack, right = rows[COUNTS], rows[_DY], rows[_SLACK], rows[_RIGHT]
    for b in range(blocks):
        for j in range(lanes):
            columns[b, _R1 + j], columns[b, _R2 + j] = columns[b, _EXTRA + j], 0.0
    for a in range(q):
        for b in range(blocks):
            e, v = cells[a * blocks + b], columns[b]
            for j in range(lanes):
                v[_R1 + j] += delta * c[a] * e[_PHI + j] * e[_G + j]
                v[_R2 + j] += c[a] * e[_INVERSE + j] * e[_G + j]
    _column_steps(columns, blocks, delta, lanes)
    for a in range(q):
        total = slack[a]
        for b in range(blocks):
            e, v = cells[a * blocks + b], columns[b]
            for j in range(lanes):
                total -= e[_INVERSE + j] * (e[_G + j] + v[_DV + j]) + e[_PHI + j] * v[_DSUM + j]
        right[a] = c[a] * total
    for a in range(q):
        total = right[a]
        for b in range(a):
            total -= normal[a, b] * dy[b]
        dy[a] = total * normal[a, a]
    for a in range(q - 1, -1, -1):
        dy[a] *= normal[a, a]
        for b in range(a):
            dy[b] -= normal[a, b] * dy[a]
    for a in range(q):
        for b in range(blocks):
            e, v = cells[a * blocks + b], columns[b]
            for j in range(lanes):
                v[_R1 + j] += delta * c[a] * e[_PHI + j] * dy[a]
                v[_R2 + j] += c[a] * e[_INVERSE + j] * dy[a]
    _column_steps(columns, blocks, delta, lanes)
    for a in range(q):
        for b in range(blocks):
            e, v = cells[a * blocks + b], columns[b]
            for j in range(lanes):
                dx = e[_INVERSE + j] * (e[_G + j] + dy[a] + v[_DV + j]) + e[_PHI + j] * v[_DSUM + j]
                e[_DX + j] = dx
                e[_DS + j] = v[_DSUM + j] - dx


@arithmetic
def _column_steps(columns: Any, blocks: int, delta: float, lanes: int) -> None:
    """How the price and delta times the sum of every column move, from its two equations."""
    for b in range(blocks):
        v = columns[b]
        for j in range(lanes):
            r1, r2 = v[_R1 + j], v[_R2 + j]
            v[_DV + j] = v[_KAPPA + j] * r1 - v[_H + j] * r2
            v[_DSUM + j] = delta * (v[_THETA + j] * r1 + v[_KAPPA + j] * r2)
