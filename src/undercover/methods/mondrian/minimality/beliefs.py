"""What refused cuts say of the members of a group: exact where the arrangements can be counted, drawn otherwise.

A cut refused at a group is about that group. A cut refused on the way to it is about the groups that it would have torn
apart; the other rows of its node lie on one side whoever has which value. Groups that refused cuts tie together form a
*case*: given the release, what is refused elsewhere says nothing about them.

See :mod:`undercover.methods.mondrian.minimality.attack` for the attacker and
:mod:`undercover.methods.mondrian.minimality.kernels` for the counting.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from undercover.errors import DataError
from undercover.methods.mondrian.following import Node
from undercover.steps.cutting.arrays import Checks

Evidence = Literal["groups", "all"]
OUTSIDE = np.uint16(65535)  # as in the kernels beside
JOINT = -1
Integers = NDArray[np.int64]
_MOST_PLACES = 1_000_000  # cuts times rows of a case; in larger ones next to nothing drawn would agree
Floats = NDArray[np.float64]
How = Literal["exact", "drawn", "given up"]
MOST_COUNTED = 300  # rows of a group whose arrangements are counted: binomials of more leave the range of floats late
FEWEST = 100  # draws that agree, below which nothing is concluded
STEADY_FROM = 0.3  # share of draws that agree


@dataclass(frozen=True)
class Case:
    """Groups and the refused cuts that are about them; arrays as in the kernels beside."""

    rows: Integers  # (m,) of all its groups, one group behind the other
    offsets: Integers  # (groups + 1,)
    parts: NDArray[np.uint16]  # (cuts, m)
    n_parts: Integers  # (cuts,)
    base: Integers  # (cuts, parts, codes)
    base_sizes: Integers  # (cuts, parts)
    group_of_cut: Integers  # (cuts,) JOINT where it was refused on the way
    partly: bool = False  # what was refused on the way was left out

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return len(self.offsets) - 1

    @property
    def group(self) -> Integers:
        """(m,) group of each row."""
        return np.repeat(np.arange(self.n_groups), np.diff(self.offsets))

    def apart(self) -> list[Case]:
        """Every group as a case of its own, without what was refused on the way."""
        found = []
        for g in range(self.n_groups):
            inside, own = slice(self.offsets[g], self.offsets[g + 1]), self.group_of_cut == g
            size = self.offsets[g + 1] - self.offsets[g]
            found.append(
                Case(
                    self.rows[inside],
                    np.array([0, size]),
                    np.ascontiguousarray(self.parts[own, inside]),
                    self.n_parts[own],
                    self.base[own],
                    self.base_sizes[own],
                    np.zeros(int(own.sum()), np.int64),
                    True,
                )
            )
        return found


def cases(nodes: Iterable[Node], codes: Integers, n_codes: int, evidence: Evidence) -> list[Case]:
    """All cases that have at least one refused cut; ``codes`` (rows of the table,) are the sensitive ones."""
    groups, cuts = [], []
    for node in nodes:
        if node.is_group:
            groups.append(node)
        elif evidence == "all":
            cuts += [(node.rows, cut) for cut in node.refused]
    label = np.empty(len(codes), np.int64)
    for g, node in enumerate(groups):
        label[node.rows] = g
    torn = [_torn(label[rows], cut) for rows, cut in cuts]
    case_of = _tied(len(groups), torn)
    members: dict[int, list[int]] = {}
    for g, case in enumerate(case_of):
        members.setdefault(case, []).append(g)
    joint: dict[int, list[int]] = {}
    for q, several in enumerate(torn):
        if len(several):
            joint.setdefault(case_of[several[0]], []).append(q)
    found = []
    for case, inside in members.items():
        on_the_way = [(*cuts[q], torn[q]) for q in joint.get(case, [])]
        n_cuts = len(on_the_way) + sum(len(groups[g].refused) for g in inside)
        if on_the_way and n_cuts * sum(len(groups[g].rows) for g in inside) > _MOST_PLACES:
            whole = [_case([groups[g].rows], _own(groups, [g]), [], label, codes, n_codes) for g in inside]
            found += [replace(one, partly=True) for one in whole]
        elif n_cuts:
            rows = [groups[g].rows for g in inside]
            found.append(_case(rows, _own(groups, inside), on_the_way, label, codes, n_codes))
    return found


def _own(groups: Sequence[Node], inside: Sequence[int]) -> list[tuple[int, NDArray[np.uint16]]]:
    """The cuts of the groups ``inside`` themselves, with the place of each group."""
    return [(place, cut) for place, g in enumerate(inside) for cut in groups[g].refused]


def _case(
    groups: Sequence[Integers],
    own: Sequence[tuple[int, NDArray[np.uint16]]],
    on_the_way: Sequence[tuple[Integers, NDArray[np.uint16], Integers]],
    label: Integers,
    codes: Integers,
    n_codes: int,
) -> Case:
    rows = np.concatenate(groups)
    offsets = np.concatenate([[0], np.cumsum([len(group) for group in groups])]).astype(np.int64)
    n_parts = np.array([int(cut.max()) + 1 for cut in [*(c for _, c in own), *(c for _, c, _ in on_the_way)]], np.int64)
    parts = np.full((len(n_parts), len(rows)), OUTSIDE)
    base = np.zeros((len(n_parts), int(n_parts.max(initial=0)), n_codes), np.int64)
    for q, (g, cut) in enumerate(own):
        parts[q, offsets[g] : offsets[g + 1]] = cut
    order = np.argsort(rows)
    for q, (node, cut, several) in enumerate(on_the_way, len(own)):
        torn = np.isin(label[node], several)
        parts[q, order[np.searchsorted(rows[order], node[torn])]] = cut[torn]
        whole = cut[~torn].astype(np.int64) * n_codes + codes[node[~torn]]
        base[q, : n_parts[q]] = np.bincount(whole, minlength=n_parts[q] * n_codes).reshape(n_parts[q], n_codes)
    group_of_cut = np.array([g for g, _ in own] + [JOINT] * len(on_the_way), dtype=np.int64)
    return Case(rows, offsets, parts, n_parts, base, base.sum(axis=2), group_of_cut)


def _torn(labels: Integers, cut: NDArray[np.uint16]) -> Integers:
    """The groups that have rows in more than one part of a cut."""
    order = np.lexsort((cut, labels))
    first = np.flatnonzero(np.diff(labels[order], prepend=-1))
    last = np.append(first[1:], len(order)) - 1
    several: Integers = labels[order][first][cut[order][first] != cut[order][last]]
    return several


def _tied(n_groups: int, torn: Iterable[Integers]) -> list[int]:
    """One number for all groups that are tied together, directly or through others."""
    parent = list(range(n_groups))

    def root(g: int) -> int:
        while parent[g] != g:
            parent[g] = parent[parent[g]]
            g = parent[g]
        return g

    for several in torn:
        for g in several[1:].tolist():
            parent[root(g)] = root(int(several[0]))
    return [root(g) for g in range(n_groups)]


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
