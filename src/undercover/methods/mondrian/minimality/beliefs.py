"""What refused cuts say of the members of a group: exact where the arrangements can be counted, drawn otherwise.

See :mod:`undercover.methods.mondrian.minimality.attack` for the attacker and
:mod:`undercover.methods.mondrian.minimality.kernels` for the counting.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from undercover.errors import DataError
from undercover.methods.mondrian.minimality.cases import JOINT, OUTSIDE, Case
from undercover.steps.cutting.arrays import Checks

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
    alone: Floats  # (m, values) share of each value in the group
    posterior: Floats  # (m, values)
    how: How
    agreeing: float  # share of the arrangements that agree with what was refused
    accepted: int = 0  # draws that agreed
    drawn: int = 0
    found: Floats | None = None  # (m, values) mean over the draws that agreed
    rest: Floats | None = None  # and over the others, where all arrangements were equally likely to be drawn

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

    @property
    def error(self) -> Floats:
        """(m,) standard error of that probability."""
        if self.found is None:
            return np.zeros(len(self.rows))
        informed = self.informed
        left = 1.0 - self.agreeing if self.rest is not None and self.agreeing >= STEADY_FROM else 1.0
        error: Floats = np.sqrt(informed * (1.0 - informed) * left / self.accepted)
        return error

    def interval(self, doubt: float) -> tuple[Floats, Floats]:
        """(m,) where the probabilities of the true values lie, but for a chance of exp(-doubt) on each of six sides."""
        informed = self.informed
        if self.found is None:
            return informed, informed
        members, drawn, accepted = np.arange(len(self.rows)), self.drawn, self.accepted
        low, high = chernoff(self.found[members, self.values], accepted, doubt)
        alone = self.alone[members, self.values]
        if self.rest is None:
            pass
        elif drawn > accepted:
            rest = self.rest[members, self.values]
            # E[x | agrees] - E[x] = (1 - agreeing) (E[x | agrees] - E[x | does not]).
            rest_low, rest_high = chernoff(rest, drawn - accepted, doubt)
            ends = chernoff(np.array([accepted / drawn]), drawn, doubt)
            least, most = (low - rest_high, high - rest_low)
            changes = [(1 - agreeing) * change for agreeing in ends for change in (least, most)]
            low = np.maximum(low, alone + np.minimum(changes[0], changes[2]))
            high = np.minimum(high, alone + np.maximum(changes[1], changes[3]))
        else:
            ends = chernoff(np.array([1.0]), drawn, doubt)
            low, high = np.maximum(low, alone - (1 - ends[0])), np.minimum(high, alone + (1 - ends[0]))
        return np.minimum(low, informed), np.maximum(high, informed)


def believe(
    case: Case,
    codes: NDArray[np.int64],
    checks: Checks,
    *,
    draws: int,
    wanted: int,
    most_draws: int,
    most_steps: int,
    seed: int,
) -> Belief:
    """Weigh all arrangements of a case's sensitive ``codes`` (of the whole table) by the cuts that were refused."""
    from undercover.methods.mondrian.minimality.kernels import Cells, Refused, count_all, draw, first_allowed

    present, values = np.unique(codes[case.rows], return_inverse=True)
    values, group = values.reshape(-1), case.group
    totals = np.zeros((case.n_groups, len(present)), np.int64)
    np.add.at(totals, (group, values), 1)
    alone = (totals / np.diff(case.offsets)[:, None])[group]
    if not len(case.n_parts):
        return Belief(case.rows, values, alone, alone, "given up", 1.0)
    # One group's cuts are all asked at once; of several each is first shuffled until its own cuts are refused.
    one = case.n_groups == 1
    asked_first = np.full(len(case.n_parts), JOINT) if one else case.group_of_cut
    refused = Refused(case.parts, case.n_parts, case.base, case.base_sizes, asked_first)
    if first_allowed(refused, values, present, checks) >= 0:
        raise DataError("The table does not explain the release: a cut that it allows was not made.")
    told_apart = np.vstack([group.astype(np.uint16 if case.n_groups < OUTSIDE else np.int64), case.parts])
    _, first, cells = np.unique(told_apart, axis=1, return_index=True, return_inverse=True)
    cells = cells.reshape(-1).astype(np.int64)
    sizes = np.bincount(cells)
    if totals.sum(axis=1).max() <= MOST_COUNTED and most_steps:
        cell_parts = np.ascontiguousarray(case.parts[:, first])
        order, decided = _filling_order(cell_parts, case.n_parts, sizes)
        inside = np.stack([(case.parts[:, group == g] != OUTSIDE).any(axis=1) for g in range(case.n_groups)], axis=1)
        arranged = Cells(sizes, group[first], order, decided, inside, totals)
        of_cells = refused._replace(parts=cell_parts)
        sums, share, excluded, complete = count_all(of_cells, arranged, present, checks, most_steps)
        if complete:
            # Where nothing is excluded the shares are left untouched by rounding.
            found = (sums / sizes[:, None] / share)[cells] if excluded else alone
            return Belief(case.rows, values, alone, found, "exact", share if excluded else 1.0)
    sums, accepted, drawn, shuffles = draw(
        refused, case.offsets, cells, values, present, checks, draws, wanted, most_draws, np.uint64(seed)
    )
    agreeing = float(accepted / max(drawn, 1) * np.prod(drawn / np.maximum(shuffles, 1)))
    if accepted < min(FEWEST, wanted):
        return Belief(case.rows, values, alone, alone, "given up", agreeing)
    found = (sums[1] / sizes[:, None] / accepted)[cells]
    if not one:
        return Belief(case.rows, values, alone, found, "drawn", agreeing, accepted, drawn, found)
    rest = (sums[0] / sizes[:, None] / max(drawn - accepted, 1))[cells]
    steadied = _steadied(found, rest, alone, accepted, drawn)
    return Belief(case.rows, values, alone, steadied, "drawn", agreeing, accepted, drawn, found, rest)


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
        return alone
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
    places = [
        [found for part in range(n) if len(found := np.flatnonzero(cut == part))]
        for cut, n in zip(cell_parts, n_parts, strict=True)
    ]
    smallest = [min(parts, key=lambda cells: int(sizes[cells].sum())) for parts in places]
    turns = sorted(smallest, key=lambda cells: int(sizes[cells].sum()))
    order = np.array(list(dict.fromkeys(np.concatenate([*turns, np.arange(len(sizes))]).tolist())), dtype=np.int64)
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(1, len(order) + 1)
    decided = [sorted(int(place[cells].max()) for cells in parts)[-2] for parts in places]
    return order, np.array(decided, dtype=np.int64)
