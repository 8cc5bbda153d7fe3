"""Output tables without the kernel: the same interior point method in plain numpy, and scipy's HiGHS as an oracle."""

import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import linprog

from undercover.methods.mutual_cover.kernels import Tables
from undercover.methods.mutual_cover.kernels import programs as cover
from undercover.methods.mutual_cover.kernels.programs import LANES

NO_NUMBERS, NO_NODES = np.zeros(0), np.zeros(0, np.int64)


class Solved(NamedTuple):
    objective: float
    bound: float
    origin: int
    outputs: NDArray[np.int32]
    x: NDArray[np.float64]  # (originals, outputs)
    full: NDArray[np.float64]  # (originals, all columns)


def kernel_table(counts: Any, cost: Any, delta: Any, *, uniform: bool = False) -> Solved:
    """One table by the kernel, from a matrix of costs."""
    counts, cost = np.asarray(counts, np.int32), np.ascontiguousarray(cost, np.float64)
    (q, n), delta = cost.shape, Fraction(delta)
    distance = (cover.MATRIX, NO_NUMBERS, NO_NUMBERS, NO_NODES, NO_NODES, NO_NODES, NO_NODES, cost)
    columns, kept, cells = np.arange(n, dtype=np.int32), np.zeros(1, np.int32), np.full(q * n, np.nan)
    objective, bound, spread, origin = np.zeros(1), np.zeros(1), np.zeros(1), np.zeros(1, np.uint8)
    rows, starts = np.arange(q, dtype=np.int32), (np.array([0, q]), np.array([0, n]), np.array([0, q * n]))
    tables = Tables(starts[0], rows, counts, starts[1], columns, starts[2], cells)
    least, whole = math.ceil(1 / delta), delta.numerator == 1
    solved = cover.Solved(kept, objective, bound, spread, origin, np.zeros(q))
    cover.cover_tables(np.array([0]), tables, distance, float(delta), least, whole, uniform, LANES, solved)
    x = cells[: q * kept[0]].reshape(q, kept[0])
    full = np.zeros((q, n))
    full[:, columns[: kept[0]]] = x
    return Solved(objective[0], bound[0], int(origin[0]), columns[: kept[0]], x, full)


def oracle(counts: Any, cost: Any, delta: Any) -> float:
    """The optimal objective, by the dual simplex method."""
    counts, cost = np.asarray(counts), np.asarray(cost, np.float64)
    q, n = cost.shape
    sums = sp.kron(sp.eye(q), np.ones((1, n)))
    caps = sp.eye(q * n) - sp.kron(np.ones((q, 1)) * float(delta) * counts[None, :], sp.eye(n))
    found = linprog(
        (counts[:, None] * cost).ravel(),
        A_eq=sums.tocsr(),
        b_eq=np.ones(q),
        A_ub=caps.tocsr(),
        b_ub=np.zeros(q * n),
        method="highs-ds",
    )
    assert found.status == 0, found.message
    return float(found.fun)


def objective_of(counts: Any, cost: Any, x: Any) -> float:
    return float((np.asarray(counts)[:, None] * np.asarray(cost) * x).sum())


def feasible(counts: Any, x: Any, delta: Any) -> bool:
    """Whether x is a table that keeps delta, with what rounding explains."""
    sums = np.asarray(counts) @ x
    shares = x.max(axis=0)[sums > 0] / sums[sums > 0]
    return bool(
        (x >= 0).all() and (abs(x.sum(axis=1) - 1) <= 2e-15).all() and (shares <= float(delta) * (1 + 1e-12)).all()
    )


def as_good_as(objective: float, best: float) -> bool:
    """Whether an objective is the optimal one."""
    return abs(objective - best) <= 1e-6 * best + 1e-12


def plain_interior_point(counts: Any, cost: Any, delta: Any, *, theta_sign: float = 1.0) -> NDArray[np.float64]:
    """Mehrotra's method on the reduced system, with matrices; ``theta_sign=-1`` plants a fault.

    As in the kernel, columns too dear to be used fill up a multiple of eight: they shift the path a little.
    """
    c, delta = np.asarray(counts, np.float64)[:, None], float(delta)
    columns = np.shape(cost)[1]
    cost = np.pad(cost / np.max(cost), ((0, 0), (0, -columns % LANES)), constant_values=2.0)
    (q, n), m = cost.shape, c.sum()
    x, s = np.full((q, n), 1 / n), np.full((q, n), (delta * m - 1) / n)
    z, w = cost + 0.5, np.full((q, n), 1 / (delta * m - 1))
    for _ in range(60):
        gap, objective = (c * (x * z + s * w)).sum(), (c * cost * x).sum()
        mu, aim = gap / (2 * m * n), min(1e-12, 1e-9 * (objective + 1e-6 * m) / (2 * m * n))
        a, b = z / x, w / s
        inverse = 1 / (a + b)
        phi = b * inverse
        kappa, h = 1 - delta * (c * phi).sum(axis=0), delta**2 * (c * a * phi).sum(axis=0)
        theta = theta_sign * (c * inverse).sum(axis=0)
        kappa, h, theta = (part / (kappa**2 + h * theta) for part in (kappa, h, theta))
        p, f = c * inverse, delta * c * phi
        normal = p @ (kappa * f - h * p).T + f @ (kappa * p + theta * f).T + np.diag((c * inverse).sum(axis=1))

        def column_steps(r1: Any, r2: Any, kappa: Any = kappa, h: Any = h, theta: Any = theta) -> Any:
            return kappa * r1 - h * r2, delta * (theta * r1 + kappa * r2)

        def step(rx: Any, rs: Any, x: Any = x, inverse: Any = inverse, phi: Any = phi, normal: Any = normal) -> Any:
            g = rx - rs
            r1, r2 = delta * (c * (phi * g + rs)).sum(axis=0), (c * inverse * g).sum(axis=0)
            dv, ds = column_steps(r1, r2)
            right = c[:, 0] * (1 - x.sum(axis=1) - (inverse * (g + dv) + phi * ds).sum(axis=1))
            dy = np.linalg.lstsq(normal, right, rcond=1e-15)[0][:, None]
            dv, ds = column_steps(r1 + delta * (c * phi * dy).sum(axis=0), r2 + (c * inverse * dy).sum(axis=0))
            dx = inverse * (g + dy + dv) + phi * ds
            return dx, ds - dx, dy + dv

        drift = delta * (c * x).sum(axis=0) - x - s
        dx, ds, _ = step(-z, -w - b * drift)
        dz, dw, ds = -z - a * dx, -w - b * (ds + drift), ds + drift
        alpha, beta = longest(x, dx, s, ds), longest(z, dz, w, dw)
        if mu <= 2 * aim:
            x = x + min(1.0, (1 - 1e-9) * longest(x, dx, s, ds, 2.0)) * dx
            break
        affine = (c * ((x + alpha * dx) * (z + beta * dz) + (s + alpha * ds) * (w + beta * dw))).sum()
        target = min(1.0, max(aim / mu, 1e-6, (affine / gap) ** 3)) * mu
        rx, rs = (target - dx * dz) / x - z, (target - ds * dw) / s - w - b * drift
        dx, ds, price = step(rx, rs)
        dz = rx - a * dx
        dw = np.where(b > a, dz + price, rs - b * ds)
        ds = np.where(b > a, (rs - dw) / b, ds) + drift
        near = min(1 - 1e-6, max(0.995, 1 - 100 * mu))
        alpha, beta = min(1.0, near * longest(x, dx, s, ds, 2.0)), min(1.0, near * longest(z, dz, w, dw, 2.0))
        x, s, z, w = x + alpha * dx, s + alpha * ds, z + beta * dz, w + beta * dw
    return x[:, :columns] / x[:, :columns].sum(axis=1, keepdims=True)


def longest(u: Any, du: Any, v: Any, dv: Any, most: float = 1.0) -> float:
    """The longest step up to ``most`` that leaves u and v non-negative."""
    return 1 / max(1 / most, (-du / u).max(), (-dv / v).max())
