"""What the refused cuts of one group say of its members: exact where the arrangements can be counted, drawn otherwise.

See :mod:`undercover.attacks.minimality` for the attacker and :mod:`undercover.kernels.refusals` for the counting.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from undercover.errors import DataError
from undercover.partition.tries import Node

Floats = NDArray[np.float64]
How = Literal["exact", "drawn", "given up"]
MOST_COUNTED = 300  # rows of a group whose arrangements are counted: binomials of more leave the range of floats late
FEWEST = 100  # draws that agree, below which nothing is concluded
STEADY_FROM = 0.3  # share of draws that agree


@dataclass(frozen=True)
class Belief:
    """The probability of every value for every member of a group."""

    rows: NDArray[np.int64]  # (m,)
    values: NDArray[np.int64]  # (m,) the true values, numbered within the group
    alone: Floats  # (values,) share of each value in the group
    posterior: Floats  # (m, values)
    how: How
    agreeing: float  # share of the arrangements that agree with what was refused
    accepted: int = 0  # draws that agreed
    drawn: int = 0
    found: Floats | None = None  # (m, values) mean over the draws that agreed
    rest: Floats | None = None  # and over the others

    @property
    def hits(self) -> Floats:
        """(m,) probability that the most probable value is the true one, shared among equals."""
        best = self.posterior >= self.posterior.max(axis=1, keepdims=True) - 1e-12
        hits: Floats = best[np.arange(len(self.rows)), self.values] / best.sum(axis=1)
        return hits

    @property
    def informed(self) -> Floats:
        """(m,) probability of the true value."""
        informed: Floats = self.posterior[np.arange(len(self.rows)), self.values]
        return informed

    def interval(self, doubt: float) -> tuple[Floats, Floats]:
        """(m,) where the probabilities of the true values lie, but for a chance of exp(-doubt) on each of six sides."""
        informed = self.informed
        if self.found is None or self.rest is None:
            return informed, informed
        members, drawn, accepted = np.arange(len(self.rows)), self.drawn, self.accepted
        found, rest = self.found[members, self.values], self.rest[members, self.values]
        low, high = chernoff(found, accepted, doubt)
        if drawn > accepted:
            # E[x | agrees] - E[x] = (1 - agreeing) (E[x | agrees] - E[x | does not]).
            rest_low, rest_high = chernoff(rest, drawn - accepted, doubt)
            ends = chernoff(np.array([accepted / drawn]), drawn, doubt)
            least, most = (low - rest_high, high - rest_low)
            changes = [(1 - agreeing) * change for agreeing in ends for change in (least, most)]
            alone = self.alone[self.values]
            low = np.maximum(low, alone + np.minimum(changes[0], changes[2]))
            high = np.minimum(high, alone + np.maximum(changes[1], changes[3]))
        else:
            ends = chernoff(np.array([1.0]), drawn, doubt)
            alone = self.alone[self.values]
            low, high = np.maximum(low, alone - (1 - ends[0])), np.minimum(high, alone + (1 - ends[0]))
        return np.minimum(low, informed), np.maximum(high, informed)


def believe(
    node: Node,
    codes: NDArray[Any],
    checks: Any,
    *,
    draws: int,
    wanted: int,
    most_draws: int,
    most_steps: int,
    seed: int,
) -> Belief:
    """Weigh all arrangements of a group's sensitive ``codes`` (of the whole table) by the cuts that were refused."""
    from undercover.kernels.refusals import count_all, draw, first_allowed

    present, values, totals = np.unique(codes[node.rows], return_inverse=True, return_counts=True)
    values, present = values.reshape(-1).astype(np.int64), present.astype(np.int64)
    parts = node.refused
    n_parts = parts.max(axis=1).astype(np.int64) + 1
    if first_allowed(parts, n_parts, values, present, checks) >= 0:
        raise DataError("The table does not explain the release: a cut that it allows was not made.")
    _, first, cells = np.unique(parts, axis=1, return_index=True, return_inverse=True)
    cells = cells.reshape(-1).astype(np.int64)
    sizes = np.bincount(cells)
    alone = totals / len(values)
    if len(values) <= MOST_COUNTED and most_steps:
        cell_parts = np.ascontiguousarray(parts[:, first])
        order, decided = _filling_order(cell_parts, n_parts, sizes)
        sums, share, excluded, complete = count_all(
            cell_parts, n_parts, decided, sizes, order, totals.astype(np.int64), present, checks, most_steps
        )
        if complete:
            # Where nothing is excluded the shares are left untouched by rounding.
            found = (sums / sizes[:, None] / share)[cells] if excluded else np.tile(alone, (len(values), 1))
            return Belief(node.rows, values, alone, found, "exact", share if excluded else 1.0)
    sums, accepted, drawn = draw(
        parts, n_parts, cells, len(sizes), values, present, checks, draws, wanted, most_draws, np.uint64(seed)
    )
    if accepted < min(FEWEST, wanted):
        return Belief(
            node.rows, values, alone, np.tile(alone, (len(values), 1)), "given up", accepted / drawn, 0, drawn
        )
    rest = sums[0] / sizes[:, None] / max(drawn - accepted, 1)
    found = sums[1] / sizes[:, None] / accepted
    return Belief(
        node.rows,
        values,
        alone,
        _steadied(found, rest, alone, accepted, drawn)[cells],
        "drawn",
        accepted / drawn,
        accepted,
        drawn,
        found[cells],
        rest[cells],
    )


def chernoff(mean: Floats, draws: int, doubt: float) -> tuple[Floats, Floats]:
    """Where the expectations lie of which ``mean`` was seen in so many draws, each in [0, 1].

    Hoeffding 1963, Theorem 1: an expectation p shows a mean q or one further away with at most exp(-draws * KL(q, p)).

    >>> low, high = chernoff(np.array([0.5]), 1000, 5.0)
    >>> bool(0.44 < low[0] < 0.46), bool(0.54 < high[0] < 0.56)
    (True, True)
    """

    def far(p: Floats) -> NDArray[np.bool_]:
        with np.errstate(divide="ignore", invalid="ignore"):
            entropy = np.where(mean > 0, mean * np.log(mean / p), 0.0)
            entropy += np.where(mean < 1, (1 - mean) * np.log((1 - mean) / (1 - p)), 0.0)
        found: NDArray[np.bool_] = draws * entropy > doubt
        return found

    ends = []
    for edge in (0.0, 1.0):
        outside, inside = np.full(len(mean), edge), mean.copy()
        for _ in range(50):
            middle = (outside + inside) / 2
            beyond = far(middle)
            outside, inside = np.where(beyond, middle, outside), np.where(beyond, inside, middle)
        ends.append(np.where(mean == edge, edge, outside))
    return ends[0], ends[1]


def _steadied(found: Floats, rest: Floats, alone: Floats, accepted: int, drawn: int) -> Floats:
    """The posterior from the means over draws that agree (``found``) and over the others (``rest``).

    The mean over all draws is known beforehand: it is the share in the group. By how much it was missed is taken off,
    which leaves the fraction (1 - agreeing) of the variance; worth it where not too few agree. What never or always
    happened in draws that agree stays so.
    """
    if drawn == accepted:
        return np.tile(alone, (len(found), 1))
    agreeing = accepted / drawn
    if agreeing < STEADY_FROM:
        return found
    steadied = np.clip(alone + (1 - agreeing) * (found - rest), 0.0, 1.0)
    return np.where((found == 0) | (found == 1), found, steadied)


def _filling_order(
    cell_parts: NDArray[np.uint16], n_parts: NDArray[np.int64], sizes: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Cells in an order in which cuts are decided early, and after how many of them each cut is.

    A cut is decided when all its parts but one are filled.
    """
    smallest = [
        min((int(sizes[cut == part].sum()), part) for part in range(n))
        for cut, n in zip(cell_parts, n_parts, strict=True)
    ]
    turns = [np.flatnonzero(cell_parts[q] == smallest[q][1]) for q in np.argsort([rows for rows, _ in smallest])]
    order = np.array(list(dict.fromkeys(np.concatenate([*turns, np.arange(len(sizes))]).tolist())), dtype=np.int64)
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(1, len(order) + 1)
    decided = [
        sorted(int(place[cut == part].max()) for part in range(n))[-2]
        for cut, n in zip(cell_parts, n_parts, strict=True)
    ]
    return order, np.array(decided, dtype=np.int64)
