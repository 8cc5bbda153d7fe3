"""Output tables by HiGHS, for the few small programs the kernel gives up on; an oracle in tests, too.

Its interior point method without crossover ends inside the optimal face as the kernel does; a vertex would leave some
values without any chance of being released. Column sums are variables of their own, so that the matrix stays sparse.
Iterations are limited, and counted rather than timed, so that a release can be made again.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from undercover.errors import InternalError
from undercover.methods.mutual_cover.blocks import costs
from undercover.model.distance.between import ValueDistance

_ITERATIONS = 300
_TOLERANCE = 1e-10


def table_by_highs(
    distance: ValueDistance,
    originals: NDArray[np.integer],
    counts: NDArray[np.integer],
    outputs: NDArray[np.integer],
    delta: Fraction,
) -> tuple[NDArray[np.float64], float, float]:
    """The table (q, n) of (q,) originals and (n,) output codes, what it costs and what no table undercuts."""
    from undercover.methods.mutual_cover.kernels.programs import finish_table

    cost = costs(distance, originals, outputs)
    x, prices = solve_by_highs(cost, counts, float(delta))
    return x, *finish_table(x, cost, prices, counts.astype(np.float64), float(delta))


def solve_by_highs(
    cost: NDArray[np.float64], counts: NDArray[np.integer], delta: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Probabilities (q, n) and the multipliers (q, n) of ``x <= delta S``, before any repair; of costs (q, n), counts
    (q,).
    """
    import highspy

    q, n = cost.shape
    scale = float(cost.max()) or 1.0
    solver = highspy.Highs()
    solver.silent()
    for option, value in (
        ("solver", "ipm"),
        ("run_crossover", "off"),
        ("threads", 1),
        ("ipm_iteration_limit", _ITERATIONS),
        ("ipm_optimality_tolerance", _TOLERANCE),
        ("primal_feasibility_tolerance", _TOLERANCE),
        ("dual_feasibility_tolerance", _TOLERANCE),
    ):
        solver.setOptionValue(option, value)
    solver.passModel(_program(highspy, cost / scale, counts.astype(np.float64), delta))
    solver.run()
    status = solver.getModelStatus()
    ends = highspy.HighsModelStatus
    if status not in (ends.kOptimal, ends.kUnknown, ends.kIterationLimit):
        raise InternalError(f"HiGHS ends with {solver.modelStatusToString(status)} on a feasible output table.")
    solution = solver.getSolution()
    x = np.maximum(np.array(solution.col_value)[: q * n].reshape(q, n), 0.0)
    prices = np.maximum(-np.array(solution.row_dual)[q + n :].reshape(q, n), 0.0)
    return x, prices * scale / counts[:, None]


def _program(highspy: Any, cost: NDArray[np.float64], counts: NDArray[np.float64], delta: float) -> Any:
    """Variables x (row by row) and S; rows: sums of x, S = counts x, x - delta S <= 0."""
    q, n = cost.shape
    cells = np.arange(q * n)
    row, column = cells // n, cells % n
    program = highspy.HighsLp()
    program.num_col_, program.num_row_ = q * n + n, q + n + q * n
    program.col_cost_ = np.concatenate([(counts[:, None] * cost).ravel(), np.zeros(n)])
    program.col_lower_ = np.zeros(q * n + n)
    program.col_upper_ = np.full(q * n + n, np.inf)
    program.row_lower_ = np.concatenate([np.ones(q), np.zeros(n), np.full(q * n, -np.inf)])
    program.row_upper_ = np.concatenate([np.ones(q), np.zeros(n + q * n)])
    # Column by column: x_aj stands in row a, in the sum of j and in its own cap; S_j in its sum and in q caps.
    entries = np.stack([row, q + column, q + n + cells], axis=1).ravel()
    factors = np.stack([np.ones(q * n), -counts[row], np.ones(q * n)], axis=1).ravel()
    caps = q + n + np.arange(q)[None, :] * n + np.arange(n)[:, None]
    sums = np.concatenate([(q + np.arange(n))[:, None], caps], axis=1)
    program.a_matrix_.start_ = np.concatenate([np.arange(q * n) * 3, 3 * q * n + np.arange(n + 1) * (q + 1)])
    program.a_matrix_.index_ = np.concatenate([entries, sums.ravel()])
    program.a_matrix_.value_ = np.concatenate([factors, np.tile(np.append(1.0, np.full(q, -delta)), n)])
    return program
