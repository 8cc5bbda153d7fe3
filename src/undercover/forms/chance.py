"""Tests of what was drawn at random, each with a bound on its p-value that holds for every table.

Two kinds of law are tested.

*Shuffles.* Where outcomes were dealt to items in a uniformly random order, two items may be exchanged without changing
the law. So of any pairs of items that have no item in common, each is "in order" or "out of order" like the toss of a
fair coin, independently of all others. Pairs are taken twice: neighbours, which show that an order was kept, and items
half a segment apart, which show a trend. The number of heads is binomial; Chernoff's bound on its tails,
exp(-n KL(share || 1/2)), is exact where all tosses agree and never too small.

*Draws.* Where independent figures between 0 and 1 were drawn by a known law, Bernstein's inequality bounds how far
their sum strays from its mean: exp(-x^2 / (2 (variance + x / 3))).

Every bound is doubled for the two sides. So an honest release is refused with at most :data:`REFUSED_BELOW` per check.
Of a large table :data:`MOST_ITEMS` items are tested, chosen by their place alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

REFUSED_BELOW = 1e-9
"""A release is not returned where something at least as strange as what was drawn is less likely than this."""
MOST_ITEMS = 1 << 20
"""Items of a shuffle that are tested; more of them would find nothing that these do not."""

Whole = NDArray[np.integer[Any]]


@dataclass(frozen=True)
class Check:
    """One test of what was drawn, against the law it was declared to follow.

    ``refused_from`` is the smallest effect that would have been caught: the share (or mean) nearest to the expected one
    that is refused; ``None`` where so little was drawn that nothing could be.
    """

    name: str
    statistic: float | None
    expected: float
    p_value: float  # an upper bound
    trials: int  # tosses or draws behind the statistic
    refused_from: float | None
    note: str = ""

    @property
    def is_refused(self) -> bool:
        """Whether the law cannot have made this."""
        return self.p_value < REFUSED_BELOW

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        found: dict[str, Any] = {
            "name": self.name,
            "statistic": self.statistic,
            "expected": self.expected,
            "p_value": self.p_value,
            "trials": self.trials,
            "refused_from": self.refused_from,
        }
        return {**found, "note": self.note} if self.note else found

    def sentence(self) -> str:
        """What was found, in words; it tells no cell."""
        found = "nothing" if self.statistic is None else f"{self.statistic:.4g}"
        return f"{self.name}: {found} where {self.expected:.4g} is expected (p < {max(self.p_value, 1e-300):.1g})"


def check_coins(name: str, heads: int, tosses: int, *, times: int = 1, note: str = "") -> Check:
    """Test whether a coin is fair; ``times`` is how many such tests the worst was taken of.

    >>> check_coins("order", 20, 40).p_value, check_coins("order", 40, 40).is_refused
    (1.0, True)
    >>> check_coins("order", 30, 30).is_refused, check_coins("order", 30, 30).refused_from
    (False, None)
    """
    if not tosses:
        return Check(name, None, 0.5, 1.0, 0, None, note)
    share = heads / tosses
    p_value = min(1.0, 2 * times * exp(-tosses * _divergence(share)))
    wanted = log(2 * times / REFUSED_BELOW) / tosses
    return Check(name, share, 0.5, p_value, tosses, _share_at(wanted), note)


def check_sum(name: str, total: float, mean: float, variance: float, draws: int, *, only_above: bool = False) -> Check:
    """Test a sum of independent figures between 0 and 1 by Bernstein's inequality.

    >>> check_sum("kept", total=99, mean=26, variance=19.2, draws=100).is_refused
    True
    >>> check_sum("kept", total=28, mean=26, variance=19.2, draws=100).is_refused
    False
    """
    if not draws:
        return Check(name, None, 0.0, 1.0, 0, None)
    excess = total - mean if only_above else abs(total - mean)
    p_value = 1.0
    if excess > 0:
        p_value = min(1.0, 2 * exp(-excess * excess / (2 * (variance + excess / 3))))
    wanted = log(2 / REFUSED_BELOW)
    caught = (mean + wanted / 3 + sqrt(wanted * wanted / 9 + 2 * wanted * variance)) / draws
    return Check(name, total / draws, mean / draws, p_value, draws, caught if caught <= 1 else None)


def check_order(name: str, outcomes: Whole, offsets: Whole, *, note: str = "") -> Check:
    """Test whether outcomes follow the order of their items, segment by segment.

    ``outcomes[offsets[g]:offsets[g + 1]]`` were dealt to the items of segment g, which stand in an order that nothing
    drawn had a say in. Outcomes that are equal say nothing.

    >>> check_order("places", np.arange(100), np.array([0, 100])).is_refused
    True
    >>> check_order("places", np.random.default_rng(1).permutation(100), np.array([0, 100])).is_refused
    False
    """
    found = []
    for first, second in pairings(offsets):
        one, other = outcomes[first], outcomes[second]
        heads, tails = int(np.count_nonzero(one < other)), int(np.count_nonzero(one > other))
        found.append(check_coins(name, heads, heads + tails, times=2, note=note))
    return min(found, key=lambda check: (check.p_value, -check.trials))


def check_places(
    name: str, kept: NDArray[np.bool_], swapped: NDArray[np.bool_], *, times: int, note: str = ""
) -> Check:
    """Test whether what two items had stayed with them as often as they exchanged it; (n_pairs,) each."""
    stayed = int(np.count_nonzero(kept))
    return check_coins(name, stayed, stayed + int(np.count_nonzero(swapped)), times=times, note=note)


def pairings(offsets: Whole) -> tuple[tuple[Whole, Whole], tuple[Whole, Whole]]:
    """Disjoint pairs of places inside segments: neighbours, and places half a segment apart.

    >>> [tuple(side.tolist() for side in pair) for pair in pairings(np.array([0, 2, 7]))]
    [([0, 2, 4], [1, 3, 5]), ([0, 2, 3], [1, 4, 5])]
    """
    ends: NDArray[np.signedinteger[Any]] = offsets.astype(np.int32 if int(offsets[-1]) < 1 << 31 else np.int64)
    half = np.diff(ends) // 2
    starts = np.repeat(ends[:-1], half)
    number = np.arange(len(starts), dtype=ends.dtype) - np.repeat(np.cumsum(half, dtype=ends.dtype) - half, half)
    near, far = starts + 2 * number, starts + number
    return (near, near + 1), (far, far + np.repeat(half, half))


def some_segments(order: Whole, offsets: Whole) -> tuple[Whole, Whole]:
    """The items of evenly chosen segments, at most about :data:`MOST_ITEMS` of them, and where each segment starts."""
    if len(order) <= MOST_ITEMS:
        return order, offsets
    chosen = np.arange(0, len(offsets) - 1, -(-len(order) // MOST_ITEMS))
    ends = np.minimum(offsets[chosen + 1], offsets[chosen] + MOST_ITEMS)
    parts = [order[start:end] for start, end in zip(offsets[chosen].tolist(), ends.tolist(), strict=True)]
    sizes = np.array([len(part) for part in parts], dtype=np.int64)
    return np.concatenate(parts), np.concatenate([[0], np.cumsum(sizes)])


def segments_of(within: Whole | None, n_items: int) -> tuple[Whole, Whole]:
    """The items of every segment, one behind the other and each in its order, and where each segment starts."""
    if within is None:
        return np.arange(n_items, dtype=np.int32), np.array([0, n_items])
    order = np.argsort(within, kind="stable")
    ordered = within[order]
    starts = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
    return order, np.concatenate([[0], starts, [n_items]])


def worst(checks: Sequence[Check]) -> Check:
    """The least likely of some checks."""
    return min(checks, key=lambda check: (check.p_value, -check.trials))


def _divergence(share: float) -> float:
    """Kullback and Leibler's divergence of a coin with this share from a fair one."""
    return log(2) + sum(part * log(part) for part in (share, 1 - share) if part > 0)


def _share_at(divergence: float) -> float | None:
    """The share above a half that diverges so much from a fair coin; ``None`` where none does."""
    if divergence > log(2):
        return None
    low, high = 0.5, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if _divergence(middle) >= divergence else (middle, high)
    return high
