"""One random output table by HiGHS: for the few programs the kernel gives up on, and as an oracle in tests.

HiGHS's interior point method without crossover, which ends inside the optimal face as the kernel does; a vertex would
leave some values without any chance of being released. Column sums are variables of their own, so that the matrix
stays sparse.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from undercover.errors import InternalError

_TOLERANCE = 1e-10


def solve_by_highs(
    cost: NDArray[np.float64], counts: NDArray[np.integer], delta: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Probabilities (q, n) and the multipliers (q, n) of ``x <= delta S``, before any repair.

    Parameters
    ----------
    cost
        (q, n) distance of each original to each output value.
    counts
        (q,) rows of each original value.

    Examples
    --------
    >>> x, _ = solve_by_highs(np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([5, 4]), 0.2)
    >>> bool(abs(float((np.array([5, 4])[:, None] * np.array([[0, 1], [1, 0]]) * x).sum()) - 1) < 1e-6)
    True
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
        ("ipm_optimality_tolerance", _TOLERANCE),
        ("primal_feasibility_tolerance", _TOLERANCE),
        ("dual_feasibility_tolerance", _TOLERANCE),
    ):
        solver.setOptionValue(option, value)
    solver.passModel(_program(highspy, cost / scale, counts.astype(np.float64), delta))
    solver.run()
    status = solver.getModelStatus()
    known = (highspy.HighsModelStatus.kOptimal, highspy.HighsModelStatus.kUnknown)
    if status not in known:
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
