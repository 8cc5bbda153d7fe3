"""Random output tables of mutual cover: many small linear programs, solved without allocating in between.

Li, Wang & He, "Privacy-Preserving Data Publishing via Mutual Cover", Section 4 (``calculate_table``). For one group and
one attribute, with distinct original values a that occur c_a times (m rows in all) and output values j::

    min  sum_a c_a sum_j d_aj x_aj
    s.t. sum_j x_aj = 1,   s_aj = delta * S_j - x_aj >= 0,   x_aj >= 0,   S_j = sum_b c_b x_bj

``docs/theory/cover_tables.md`` says why rows with equal values may share a distribution, and derives the Newton step,
the repair and the certificate. The dual multipliers are y_a of the rows, z_aj of x >= 0 and w_aj of s >= 0.

Deviations: the paper hands one row per record to a general primal-dual solver. Here the interior point method starts
from a strictly feasible point and uses that a column ties its entries together by two numbers only (how its sum moves,
how its price moves), so a step costs one system of q equations. It ends inside the optimal face, as the paper's
Figure 2 does, not at a vertex. Two cases need no iteration: a group of exactly 1/delta rows (no interior), and counts
that let every value stay (the only optimum where moving costs).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from undercover.kernels.jit import arithmetic, internal, kernel

NUMERIC, TREE, FLAT, MATRIX = range(4)  # kinds of distance
KEPT, SHARED, INTERIOR, UNIFORM, UNCONVERGED = range(5)  # how a table came about

RATIO_SLACK = 5e-13  # excess of a column's share over delta that is left to rounding
ACCEPTED_GAP = 1e-8  # relative gap of the certificate above which a table counts as unconverged
_GAP = 1e-9  # relative gap at which the iteration ends, or earlier at
_CENTRE = 1e-12  # the product x z up to which the central path is followed
_FLOOR = 1e-6  # objective per row, in largest distances, below which gaps are taken relative to this
_ITERATIONS = 60
_STALLED = 1e-6  # step length below which no progress is to be expected
_DUST = 2e-13  # share of the rows, or of a column, below which mass is zero
_SPOILT = 1e-8  # relative change of the objective that a last step cannot have
_PIVOT = 1e-13
_EPS = 2.3e-16

# Fields of the work arrays: one number per entry, column or row of the table.
_X, _S, _Z, _W, _COST, _A, _B, _INVERSE, _PHI, _OVER_X, _OVER_S, _DX, _DS, _G, _DRIFT, _U, _T = range(17)
_KAPPA, _H, _THETA, _EXTRA, _R1, _R2, _DV, _DSUM, _SUM = range(9)
_C, _DY, _SLACK, _RIGHT = range(4)


@kernel
def cover_tables(
    tables: Any, starts: Any, values: Any, counts: Any, column_starts: Any, columns: Any, cell_starts: Any,
    distance: Any, delta: float, least: int, whole: bool, uniform: bool,
    kept: Any, probabilities: Any, objectives: Any, bounds: Any, spreads: Any, origins: Any,
) -> None:  # fmt: skip
    """Solve the programs numbered ``tables``; the results go into the arrays of the last line.

    Parameters
    ----------
    starts, values, counts
        Table p has the original codes ``values[starts[p]:starts[p + 1]]``, each ``counts`` times.
    column_starts, columns
        Its output codes; those that keep mass are moved to the front, ``kept[p]`` in number.
    cell_starts, probabilities
        Its probabilities, row by row: (originals, kept outputs) from ``cell_starts[p]`` on.
    distance
        ``(kind, row_scale, column_scale, leaf_node, node_first, node_last, parent, matrix)``: numbers on the scales
        of rows and columns, the nodes of a hierarchy (the scale is the depth-first leaf), or a matrix.
    least, whole
        The smallest whole number that is at least 1/delta, and whether it is 1/delta: what is compared with counts.
    uniform
        Every output value equally likely instead of the optimum.
    objectives, bounds
        Cost of the table, and what no table can undercut.
    spreads
        The largest distance between an original and an output value.
    origins
        KEPT, SHARED, INTERIOR, UNIFORM or UNCONVERGED.
    """
    most_rows, most_columns = 1, 1
    for p in tables:
        most_rows = max(most_rows, starts[p + 1] - starts[p])
        most_columns = max(most_columns, column_starts[p + 1] - column_starts[p])
    cells = np.empty((17, most_rows, most_columns))
    column_work = np.empty((9, most_columns))
    row_work = np.empty((4, most_rows))
    normal = np.empty((most_rows, most_rows))
    c = row_work[_C]
    for p in tables:
        q, n = starts[p + 1] - starts[p], column_starts[p + 1] - column_starts[p]
        rows, outputs = values[starts[p] : starts[p + 1]], columns[column_starts[p] : column_starts[p + 1]]
        m = 0
        stay = True
        for a in range(q):
            c[a] = counts[starts[p] + a]
            m += counts[starts[p] + a]
            stay = stay and counts[starts[p] + a] >= least
        scale = fill_costs(cells[_COST], rows, outputs, distance, q, n)
        origin = INTERIOR
        if uniform or scale == 0.0:
            origin = UNIFORM if uniform else KEPT if n == 1 else INTERIOR
            for a in range(q):
                for j in range(n):
                    cells[_X, a, j] = 1.0 / n
            bound = 0.0
        elif stay and _keep(cells, q, n):
            origin, bound = KEPT, 0.0
        elif whole and m == least:
            origin = SHARED
            bound = _share(cells, column_work, c, q, n)
        else:
            bound = interior_point(cells, column_work, row_work, normal, q, n, float(m), delta)
            repair(cells[_X], column_work[_SUM], c, q, n, float(m), delta)
        objective = 0.0
        for a in range(q):
            for j in range(n):
                objective += c[a] * cells[_COST, a, j] * cells[_X, a, j]
        if origin == INTERIOR and not objective - bound <= ACCEPTED_GAP * (objective + _FLOOR * m):
            origin = UNCONVERGED
        objectives[p], bounds[p], spreads[p], origins[p] = objective * scale, bound * scale, scale, origin
        kept[p] = _write(cells[_X], outputs, probabilities, cell_starts[p], q, n)


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
def compact(starts: Any, column_starts: Any, cell_starts: Any, kept: Any, columns: Any, probabilities: Any) -> Any:
    """Close the gaps that columns without mass left; returns where the columns and cells of each table start now."""
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
def _keep(cells: Any, q: int, n: int) -> bool:
    """Everybody keeps his value, if every row has exactly one output that costs nothing, and no two the same."""
    cost, x = cells[_COST], cells[_X]
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
def _share(cells: Any, columns: Any, c: Any, q: int, n: int) -> float:
    """delta * m = 1: one distribution for all rows, even over the cheapest columns. Returns the bound."""
    cost, x, total = cells[_COST], cells[_X], columns[_SUM]
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
def interior_point(
    cells: Any, columns: Any, rows: Any, normal: Any, q: int, n: int, m: float, delta: float
) -> float:  # fmt: skip
    """Mehrotra's predictor-corrector method; leaves x in ``cells`` and returns the dual bound.

    It follows the central path no further than rounding lets it tell where on the optimal face it is (``_CENTRE``),
    and then lands.
    """
    x, s, z, w, cost = cells[_X], cells[_S], cells[_Z], cells[_W], cells[_COST]
    A, B, over_x, over_s, drift = cells[_A], cells[_B], cells[_OVER_X], cells[_OVER_S], cells[_DRIFT]
    dx, ds, g, extra, total = cells[_DX], cells[_DS], cells[_G], columns[_EXTRA], columns[_SUM]
    c, dy, slack, dv = rows[_C], rows[_DY], rows[_SLACK], columns[_DV]
    price = 1.0 / (delta * m - 1.0)
    for a in range(q):
        for j in range(n):
            x[a, j] = 1.0 / n
            s[a, j] = (delta * m - 1.0) / n
            z[a, j] = cost[a, j] + 0.5
            w[a, j] = price
    pairs = 2.0 * m * n
    bound = 0.0
    for _ in range(_ITERATIONS):
        gap, objective = 0.0, 0.0
        for j in range(n):
            total[j], extra[j] = 0.0, 0.0
        for a in range(q):
            row_gap, row_cost, row_sum = 0.0, 0.0, 0.0
            for j in range(n):
                row_gap += x[a, j] * z[a, j] + s[a, j] * w[a, j]
                row_cost += cost[a, j] * x[a, j]
                row_sum += x[a, j]
                total[j] += c[a] * x[a, j]
            gap += c[a] * row_gap
            objective += c[a] * row_cost
            slack[a] = 1.0 - row_sum
        aim = min(_CENTRE, _GAP * (objective + _FLOOR * m) / pairs)
        mu = gap / pairs
        _factor(cells, columns, c, normal, q, n, delta)

        # Predictor: straight for x z = 0 and s w = 0. What rounding left between s and delta S - x is made good.
        for a in range(q):
            for j in range(n):
                drift[a, j] = delta * total[j] - x[a, j] - s[a, j]
                rs = -w[a, j] - B[a, j] * drift[a, j]
                g[a, j] = -z[a, j] - rs
                extra[j] += delta * c[a] * rs
        _solve(cells, columns, rows, normal, q, n, delta)
        primal, dual = 0.0, 0.0
        for a in range(q):
            for j in range(n):
                ds[a, j] += drift[a, j]
                rx, rs = -dx[a, j] * over_x[a, j], -ds[a, j] * over_s[a, j]
                primal = max(primal, max(rx, rs))
                dual = max(dual, max(1.0 - rx, 1.0 - rs))  # dz / z = -1 - dx / x
        alpha, beta = min(1.0, 1.0 / primal), min(1.0, 1.0 / dual)
        if mu <= 2.0 * aim:
            bound = dual_bound(cost, w, columns[_DV], c, q, n, delta)
            _land(x, dx, cost, c, q, n, gap + _SPOILT * (objective + _FLOOR * m), min(1.0, (1.0 - 1e-9) / primal))
            break
        affine = 0.0
        for a in range(q):
            part = 0.0
            for j in range(n):
                dz = -z[a, j] - A[a, j] * dx[a, j]
                dw = -w[a, j] - B[a, j] * ds[a, j]
                part += (x[a, j] + alpha * dx[a, j]) * (z[a, j] + beta * dz)
                part += (s[a, j] + alpha * ds[a, j]) * (w[a, j] + beta * dw)
            affine += c[a] * part
        sigma = min(1.0, max(aim / mu, max(1e-6, (affine / gap) ** 3)))

        # Corrector: towards x z = s w = sigma mu, less what the predictor's products would add.
        for j in range(n):
            extra[j] = 0.0
        for a in range(q):
            for j in range(n):
                dz = -z[a, j] - A[a, j] * dx[a, j]
                dw = -w[a, j] - B[a, j] * ds[a, j]
                rx = (sigma * mu - dx[a, j] * dz) * over_x[a, j] - z[a, j]
                rs = (sigma * mu - ds[a, j] * dw) * over_s[a, j] - w[a, j] - B[a, j] * drift[a, j]
                g[a, j] = rx - rs
                over_x[a, j] = rx  # from here on the right-hand sides over x and over s
                over_s[a, j] = rs
                extra[j] += delta * c[a] * rs
        _solve(cells, columns, rows, normal, q, n, delta)
        primal, dual = 0.0, 0.0
        for a in range(q):
            for j in range(n):
                rs = over_s[a, j]
                over_x[a, j] -= A[a, j] * dx[a, j]  # dz
                if B[a, j] > A[a, j]:
                    # s is about to vanish: ds = delta dS - dx has lost the digits that B would magnify.
                    over_s[a, j] = over_x[a, j] + dy[a] + dv[j]  # dw
                    ds[a, j] = (rs - over_s[a, j]) / B[a, j] + drift[a, j]
                else:
                    over_s[a, j] = rs - B[a, j] * ds[a, j]
                    ds[a, j] += drift[a, j]
                primal = max(primal, max(-dx[a, j] / x[a, j], -ds[a, j] / s[a, j]))
                dual = max(dual, max(-over_x[a, j] / z[a, j], -over_s[a, j] / w[a, j]))
        near = min(1.0 - 1e-6, max(0.995, 1.0 - 100.0 * mu))
        alpha, beta = min(1.0, near / primal), min(1.0, near / dual)
        if not (alpha > _STALLED and beta > _STALLED):
            break
        for a in range(q):
            for j in range(n):
                x[a, j] += alpha * dx[a, j]
                s[a, j] += alpha * ds[a, j]
                z[a, j] += beta * over_x[a, j]
                w[a, j] += beta * over_s[a, j]
    return bound


@arithmetic
def _land(x: Any, dx: Any, cost: Any, c: Any, q: int, n: int, most: float, alpha: float) -> None:
    """The last step of x, straight to the face: what is zero there becomes dust. Left out where rounding spoilt it."""
    change = 0.0
    for a in range(q):
        for j in range(n):
            change += alpha * c[a] * cost[a, j] * dx[a, j]
    if abs(change) <= most:
        for a in range(q):
            for j in range(n):
                x[a, j] += alpha * dx[a, j]


@arithmetic
def _factor(cells: Any, columns: Any, c: Any, normal: Any, q: int, n: int, delta: float) -> None:
    """The Newton matrix in y and its Cholesky factor; what a column contributes goes through two numbers."""
    x, s, z, w, A, B = cells[_X], cells[_S], cells[_Z], cells[_W], cells[_A], cells[_B]
    over_x, over_s, inverse, phi = cells[_OVER_X], cells[_OVER_S], cells[_INVERSE], cells[_PHI]
    U, T, kappa, h, theta = cells[_U], cells[_T], columns[_KAPPA], columns[_H], columns[_THETA]
    for j in range(n):
        kappa[j], h[j], theta[j] = 1.0, 0.0, 0.0
    for a in range(q):
        for j in range(n):
            over_x[a, j], over_s[a, j] = 1.0 / x[a, j], 1.0 / s[a, j]
            A[a, j], B[a, j] = z[a, j] * over_x[a, j], w[a, j] * over_s[a, j]
            inverse[a, j] = 1.0 / (A[a, j] + B[a, j])
            phi[a, j] = B[a, j] * inverse[a, j]
            kappa[j] -= delta * c[a] * phi[a, j]
            h[j] += delta * delta * c[a] * A[a, j] * phi[a, j]
            theta[j] += c[a] * inverse[a, j]
    for j in range(n):
        determinant = kappa[j] * kappa[j] + h[j] * theta[j]
        kappa[j] /= determinant
        h[j] /= determinant
        theta[j] /= determinant
    for a in range(q):
        for j in range(n):
            U[a, j] = c[a] * (kappa[j] * delta * phi[a, j] - h[j] * inverse[a, j])
            T[a, j] = c[a] * delta * (kappa[j] * inverse[a, j] + theta[j] * delta * phi[a, j])
    for a in range(q):
        for b in range(a + 1):
            total = 0.0
            for j in range(n):
                total += inverse[a, j] * U[b, j] + phi[a, j] * T[b, j]
            normal[a, b] = c[a] * total
        total = 0.0
        for j in range(n):
            total += inverse[a, j]
        normal[a, a] += c[a] * total
    for a in range(q):
        diagonal = normal[a, a]
        for b in range(a):
            total = normal[a, b]
            for k in range(b):
                total -= normal[a, k] * normal[b, k]
            normal[a, b] = total * normal[b, b]
            normal[a, a] -= normal[a, b] * normal[a, b]
        # The diagonal holds reciprocals; a pivot lost to rounding leaves its y where it is.
        normal[a, a] = 1.0 / np.sqrt(normal[a, a]) if normal[a, a] > _PIVOT * diagonal else 0.0


@arithmetic
def _solve(cells: Any, columns: Any, rows: Any, normal: Any, q: int, n: int, delta: float) -> None:
    """Newton's dx, ds and dy for the right-hand sides in ``_G`` and ``_EXTRA``."""
    g, inverse, phi, dx, ds = cells[_G], cells[_INVERSE], cells[_PHI], cells[_DX], cells[_DS]
    kappa, h, theta, extra = columns[_KAPPA], columns[_H], columns[_THETA], columns[_EXTRA]
    r1, r2, dv, dsum = columns[_R1], columns[_R2], columns[_DV], columns[_DSUM]
    c, dy, slack, right = rows[_C], rows[_DY], rows[_SLACK], rows[_RIGHT]
    for j in range(n):
        r1[j], r2[j] = extra[j], 0.0
    for a in range(q):
        for j in range(n):
            r1[j] += delta * c[a] * phi[a, j] * g[a, j]
            r2[j] += c[a] * inverse[a, j] * g[a, j]
    for j in range(n):
        dv[j] = kappa[j] * r1[j] - h[j] * r2[j]
        dsum[j] = delta * (theta[j] * r1[j] + kappa[j] * r2[j])
    for a in range(q):
        total = slack[a]
        for j in range(n):
            total -= inverse[a, j] * (g[a, j] + dv[j]) + phi[a, j] * dsum[j]
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
        for j in range(n):
            r1[j] += delta * c[a] * phi[a, j] * dy[a]
            r2[j] += c[a] * inverse[a, j] * dy[a]
    for j in range(n):
        dv[j] = kappa[j] * r1[j] - h[j] * r2[j]
        dsum[j] = delta * (theta[j] * r1[j] + kappa[j] * r2[j])
    for a in range(q):
        for j in range(n):
            dx[a, j] = inverse[a, j] * (g[a, j] + dy[a] + dv[j]) + phi[a, j] * dsum[j]
            ds[a, j] = dsum[j] - dx[a, j]


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
