"""The interior point method of :mod:`undercover.methods.mutual_cover.kernels.programs`: one linear program, without allocating.

A primal-dual method after Mehrotra 1992 ("On the Implementation of a Primal-Dual Interior Point Method") for::

    min  sum_a c_a sum_j d_aj x_aj
    s.t. sum_j x_aj = 1,   s_aj = delta * S_j - x_aj >= 0,   x_aj >= 0,   S_j = sum_b c_b x_bj

with the multipliers y_a of the rows, z_aj of x >= 0 and w_aj of s >= 0. A column ties its entries together by two
numbers only, how its sum and how its price delta * sum_b c_b w_bj move, so a step costs one system of q equations in y.
``docs/theory/cover_tables.md`` derives it.

Deviations: the start is strictly feasible, so there is no first phase; the path is followed only as far as rounding
lets it tell where on the optimal face it is, and the last step goes straight to the face.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from undercover.compiled.jit import arithmetic

FLOOR = 1e-6  # objective per row, in largest distances, below which gaps are taken relative to this
_CENTRE = 1e-12  # products x z at which the path ends,
_GAP = 1e-9  # unless the relative gap is still above this
_ITERATIONS = 60
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
