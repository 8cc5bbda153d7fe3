"""The adversary who knows how many people are in a combination of classes: exact counting of what that leaves.

Cheong, Wu & Wong 2012, "Non-centralized distinct l-diversity", Section 4.2.2. He knows the rows of every value in one
class of every table, the people of every value altogether, and (from how attributes go together) how many people are in
all of these classes. He counts the ways in which those people may have the values.

Deviations: the paper takes every *instance* (how many people of each value) as equally likely; one may as well take
every *assignment* (which people are where) so. Both are given. The paper also leaves out the lower bounds: of value k
at least max(0, sum of its rows - (tables - 1) n_k) people are in all classes, so that a value can be certain although
the sets of the classes have several in common. Counting is exact, in whole numbers: the instances are the coefficients
of a product of polynomials, and leaving one of them out is a division.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb, prod
from typing import Any

from undercover.errors import ParameterError
from undercover.model.view import View, Viewable, certainty, facts, table

Polynomial = list[int]

_MOST_WORK = 1_000_000  # products of whole numbers, beyond which assignments are not counted


@dataclass(frozen=True)
class CorrelationResult(Viewable):
    """What the number of people in a combination of classes tells about one of them."""

    size: int
    instances: int
    by_instances: tuple[Fraction, ...]  # probability of each value, all instances equally likely
    by_assignments: tuple[Fraction, ...] | None  # all assignments equally likely; None where that takes too long
    possible: tuple[bool, ...]  # whether a person in the combination can have the value at all
    least: tuple[int, ...]
    most: tuple[int, ...]

    @property
    def possible_values(self) -> int:
        """How many values are possible."""
        return sum(self.possible)

    def to_dict(self) -> dict[str, Any]:
        """Figures for reports."""
        return {
            "size": self.size,
            "instances": self.instances,
            "by_instances": [float(share) for share in self.by_instances],
            "by_assignments": None if self.by_assignments is None else [float(share) for share in self.by_assignments],
            "possible_values": self.possible_values,
        }

    def view(self) -> View:
        """What the number of people tells, for the likeliest value."""
        found = self.to_dict()
        ways = [("all instances equally likely", max(found["by_instances"]))]
        if found["by_assignments"] is not None:
            ways.append(("all assignments equally likely", max(found["by_assignments"])))
        counted = facts(
            ("people in the combination", found["size"]),
            ("instances", found["instances"]),
            ("values possible", found["possible_values"]),
        )
        parts = (counted, table(("", "likeliest value"), "plain risk", ways))
        verdict = certainty(max(share for _, share in ways))
        following = "`.by_instances` has every value."
        return View("known-correlation", "Known correlation", parts, *verdict, following=following)


def bounds(counts: Sequence[Sequence[int]], totals: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The fewest and the most people of each value that can be in all of the classes.

    >>> bounds([(2, 1), (2, 1)], (2, 2))
    ((2, 0), (2, 1))
    """
    tables = len(counts)
    columns = list(zip(*counts, strict=True))
    least = tuple(max(0, sum(rows) - (tables - 1) * total) for rows, total in zip(columns, totals, strict=True))
    return least, tuple(min(rows) for rows in columns)


def known_correlation(counts: Sequence[Sequence[int]], totals: Sequence[int], size: int) -> CorrelationResult:
    """Count the ways in which ``size`` people of a combination of classes may have the values.

    ``counts`` are per table the rows of each value in the class, ``totals`` the people of each value.
    """
    least, most = bounds(counts, totals)
    if not max(1, sum(least)) <= size <= sum(most):
        raise ParameterError(
            f"A combination of these classes has {max(1, sum(least)):,} to {sum(most):,} people. Got {size!r} instead."
        )
    free = size - sum(least)
    room = [upper - lower for lower, upper in zip(least, most, strict=True)]
    whole = _box_product(room, free)
    by_instances = []
    for lower, extra in zip(least, room, strict=True):
        rest = _without_box(whole, extra)
        people = sum(x * rest[free - x] for x in range(min(extra, free) + 1)) + lower * whole[free]
        by_instances.append(Fraction(people, whole[free] * size))
    return CorrelationResult(
        size=size,
        instances=whole[free],
        by_instances=tuple(by_instances),
        by_assignments=_assignments(counts, totals, most, size) if size * sum(most) <= _MOST_WORK else None,
        possible=tuple(
            upper >= 1 and sum(least) - lower + max(1, lower) <= size for lower, upper in zip(least, most, strict=True)
        ),
        least=least,
        most=most,
    )


def _box_product(room: Sequence[int], degree: int) -> Polynomial:
    """The product of 1 + z + ... + z^m over the room m of each value, up to a degree, by running sums."""
    product: Polynomial = [1] + [0] * degree
    for extra in room:
        running = 0
        following = []
        for position in range(degree + 1):
            running += product[position]
            if position > extra:
                running -= product[position - extra - 1]
            following.append(running)
        product = following
    return product


def _without_box(product: Polynomial, extra: int) -> Polynomial:
    """The product with one of its factors 1 + z + ... + z^m divided out again."""
    rest: Polynomial = []
    running = 0  # the last m coefficients of the result
    for position, coefficient in enumerate(product):
        if position > extra:
            running -= rest[position - extra - 1]
        rest.append(coefficient - running)
        running += rest[-1]
    return rest


def _assignments(
    counts: Sequence[Sequence[int]], totals: Sequence[int], most: Sequence[int], size: int
) -> tuple[Fraction, ...]:
    """The probability of each value if all ways to put people into classes are equally likely."""
    weights = [
        [_ways(column, total, x) for x in range(upper + 1)]
        for column, total, upper in zip(zip(*counts, strict=True), totals, most, strict=True)
    ]
    before: list[Polynomial] = [[1]]
    for polynomial in weights:
        before.append(_times(before[-1], polynomial, size))
    after: list[Polynomial] = [[1]]
    for polynomial in reversed(weights):
        after.append(_times(after[-1], polynomial, size))
    whole = before[-1][size]
    found = []
    for value, polynomial in enumerate(weights):
        rest = _times(before[value], after[len(weights) - 1 - value], size)
        people = sum(x * ways * rest[size - x] for x, ways in enumerate(polynomial) if 0 <= size - x < len(rest))
        found.append(Fraction(people, whole * size))
    return tuple(found)


def _ways(rows: Sequence[int], total: int, common: int) -> int:
    """In how many ways classes of so many of ``total`` people can be chosen that have just ``common`` in common.

    Of two classes up to a factor that does not depend on ``common``; of more by inclusion and exclusion over further
    people that all classes have.
    """
    if len(rows) == 2:
        return comb(rows[0], common) * comb(total - rows[0], rows[1] - common)
    ways = sum(
        (-1) ** more * comb(total - common, more) * prod(comb(total - common - more, a - common - more) for a in rows)
        for more in range(min(rows) - common + 1)
    )
    return int(comb(total, common) * ways)


def _times(first: Polynomial, second: Polynomial, degree: int) -> Polynomial:
    product = [0] * (min(len(first) + len(second) - 2, degree) + 1)
    for i, a in enumerate(first):
        if a:
            for j, b in enumerate(second[: degree - i + 1]):
                product[i + j] += a * b
    return product
