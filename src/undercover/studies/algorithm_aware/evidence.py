"""What was seen of whom: how often each way the values may belong to the people led to each observation.

An observation is something public (a table, the order of its rows, a sentence of ``release.json``) together with what
*would* be said of everybody if it told nothing more: its :class:`Base`. Weights are exact probabilities where a method
lists its outcomes, and numbers of draws where it is run.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import combinations, product
from typing import Any, Protocol

from undercover.model.channel import Channel
from undercover.model.groups import DrawnCells, Seen
from undercover.multisets import distinct_orders

Assignment = tuple[int, ...]
"""The sensitive code of every person."""
Known = tuple[tuple[int, int], ...]
"""People whose values the adversary knows, with these values."""
Weights = Mapping[Assignment, int]
Alone = Mapping[tuple[int, int], Fraction]
"""What a release says alone: the probability of (person, value); those that are missing are impossible."""


class Base(Protocol):
    """What a release says alone. Hashable: equal ones say the same."""

    def alone(self, known: Known) -> Alone:
        """The probability that a person has a value, for somebody who knows the values of some others."""

    @property
    def listed(self) -> Hashable:
        """The same as a method lists it among its outcomes."""

    @property
    def parts(self) -> Iterable[Hashable]:
        """The groups one by one: the same one may be part of many releases."""

    def shown(self, labels: Sequence[str]) -> tuple[tuple[tuple[int, ...], tuple[str, ...]], ...]:
        """The release in short: rows and values of every group."""


@dataclass(frozen=True)
class Grouped:
    """Who is with whom, and the values of every group: within a group everybody may have any of them."""

    groups: Seen

    def alone(self, known: Known) -> Alone:
        """The share of a value among those of the group that are not known; of other groups nothing is learnt."""
        found = {}
        for rows, values in self.groups:
            left = Counter(values)
            left.subtract(held for row, held in known if row in rows)
            share = {value: Fraction(count, left.total()) for value, count in left.items() if count}
            taken = {row for row, _ in known}
            found.update({(row, value): chance for row in rows if row not in taken for value, chance in share.items()})
        return found

    @property
    def listed(self) -> Hashable:
        """As a method lists it."""
        return self.groups

    @property
    def parts(self) -> Iterable[Hashable]:
        """Rows and values of each group."""
        return self.groups

    def shown(self, labels: Sequence[str]) -> tuple[tuple[tuple[int, ...], tuple[str, ...]], ...]:
        """Rows and values of every group."""
        return tuple(sorted((tuple(sorted(rows)), tuple(labels[code] for code in held)) for rows, held in self.groups))


@dataclass(frozen=True)
class Whole:
    """Nothing but which values there are in the whole table: what is known when nothing was published."""

    values: tuple[int, ...]

    def alone(self, known: Known) -> Alone:
        """The share of a value among those that are not known."""
        return Grouped(frozenset({(frozenset(range(len(self.values))), self.values)})).alone(known)

    @property
    def listed(self) -> Hashable:
        """As a method lists it: not at all."""
        return None

    @property
    def parts(self) -> Iterable[Hashable]:
        """There are none."""
        return ()

    def shown(self, labels: Sequence[str]) -> tuple[tuple[tuple[int, ...], tuple[str, ...]], ...]:
        """Everybody, with all values."""
        return ((tuple(range(len(self.values))), tuple(labels[code] for code in self.values)),)


class _Weighed:
    """A base for which every way in which the values may belong to the people has a probability of its own."""

    chances: list[tuple[Assignment, Any]]

    def alone(self, known: Known) -> Alone:
        """Bayes' rule over every way in which the values may belong to the people."""
        has: Counter[tuple[int, int]] = Counter()
        total = Fraction(0)
        for order, chance in self.chances:
            if all(order[who] == held for who, held in known):
                total += chance
                for person in enumerate(order):
                    has[person] += chance
        return {person: Fraction(chance) / total for person, chance in has.items() if chance}


@dataclass(frozen=True)
class ThroughChannel(_Weighed):
    """Cells of which one value each is published, after a public channel: what they say had they been fixed before.

    The value of one of the people of a cell, drawn at random, is kept with probability p and drawn anew else, so a
    value y is seen with probability u + p (people of the cell with y) / (people of the cell).
    """

    cells: DrawnCells
    values: tuple[int, ...]  # of the whole table, ascending
    noise: Channel = field(compare=False)
    names: tuple[str, ...] = field(compare=False)  # what the codes of values stand for

    @cached_property
    def chances(self) -> list[tuple[Assignment, Any]]:  # type: ignore[override]
        """Every order of the values, with the probability of what is seen."""
        found = []
        for order in distinct_orders(self.values):
            chance = Fraction(1)
            for rows, value in self.cells:
                held = sum(self.names[order[row]] == value for row in rows)
                chance *= self.noise.u + self.noise.p * Fraction(held, len(rows))
            found.append((order, chance))
        return found

    @property
    def listed(self) -> Hashable:
        """As a method lists it."""
        return self.cells

    @property
    def parts(self) -> Iterable[Hashable]:
        """Rows and published value of each cell."""
        return self.cells

    def shown(self, labels: Sequence[str]) -> tuple[tuple[tuple[int, ...], tuple[str, ...]], ...]:
        """Rows and published value of every cell."""
        return tuple(sorted((tuple(sorted(rows)), (value,)) for rows, value in self.cells))


@dataclass(frozen=True)
class Crossed(_Weighed):
    """Boxes whose rows lie in several buckets: anybody of a box may be any of its rows, and have any value of its
    bucket (Definition 10 of cross-bucket generalization)."""

    boxes: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]  # people, and the buckets of their rows
    buckets: tuple[tuple[int, ...], ...]  # values of each

    @cached_property
    def chances(self) -> list[tuple[Assignment, Any]]:  # type: ignore[override]
        """Every order of the values, by the number of ways in which people lie in rows and rows have values."""
        counted: Counter[Assignment] = Counter()
        for placed in product(*(list(distinct_orders(held)) for _, held in self.boxes)):
            members: list[list[int]] = [[] for _ in self.buckets]
            for (people, _), order in zip(self.boxes, placed, strict=True):
                for person, bucket in zip(people, order, strict=True):
                    members[bucket].append(person)
            for dealt in product(*(list(distinct_orders(values)) for values in self.buckets)):
                found = [0] * sum(map(len, members))
                for together, values in zip(members, dealt, strict=True):
                    for person, value in zip(together, values, strict=True):
                        found[person] = value
                counted[tuple(found)] += 1
        return list(counted.items())

    @property
    def listed(self) -> Hashable:
        """As a method lists it."""
        return (self.boxes, self.buckets)

    @property
    def parts(self) -> Iterable[Hashable]:
        """The people of each box, with the values of the buckets of their rows."""
        return [(people, tuple(self.buckets[bucket] for bucket in held)) for people, held in self.boxes]

    def shown(self, labels: Sequence[str]) -> tuple[tuple[tuple[int, ...], tuple[str, ...]], ...]:
        """The people of every box with the values of its rows' buckets."""
        return tuple(
            (people, tuple(labels[code] for bucket in sorted(set(held)) for code in self.buckets[bucket]))
            for people, held in self.boxes
        )


@dataclass(frozen=True)
class Figure:
    """How sure the adversary is of one value of one person after one observation."""

    channel: str
    row: int
    value: int
    known: Known
    posterior: Fraction
    alone: Fraction
    total: int  # what the posterior rests on: a number of draws, or where it is exact the weight of all there is
    base: Base

    def divergence(self) -> float:
        """Relative entropy of the posterior to what the release alone says; infinite where that is impossible."""
        return relative_entropy(float(self.posterior), float(self.alone))


@dataclass
class Evidence:
    """The weights of assignments, by channel, by what was seen there, by what the release alone says."""

    weights: dict[str, dict[Hashable, dict[Base, Counter[Assignment]]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(lambda: defaultdict(Counter)))
    )
    _alone: dict[tuple[Base, Known], Alone] = field(default_factory=dict)

    def alone(self, base: Base, known: Known = ()) -> Alone:
        """What a base says, worked out once however often it is seen."""
        if (base, known) not in self._alone:
            self._alone[base, known] = base.alone(known)
        return self._alone[base, known]

    def add(self, channel: str, seen: Hashable, base: Base, assignment: Assignment, weight: int = 1) -> None:
        """Something was seen."""
        self.weights[channel][seen][base][assignment] += weight

    def figures(self, known: int = 0, least: int = 0) -> Iterator[Figure]:
        """Every figure of every channel, for somebody who knows up to so many other values.

        What rests on fewer than ``least`` draws is left out: it is too little to tell anything from.
        """
        for channel, observations in self.weights.items():
            for bases in observations.values():
                for base, weights in bases.items():
                    yield from self._figures(channel, base, weights, known, least)

    def pooled(self) -> Iterator[Figure]:
        """What was seen in several releases, put together."""
        for channel, observations in self.weights.items():
            for bases in observations.values():
                if len(bases) > 1:
                    yield from self._pooled(channel, bases)

    def _figures(self, channel: str, base: Base, weights: Weights, most: int, least: int) -> Iterator[Figure]:
        n_people = len(next(iter(weights)))
        for count in range(min(most, n_people - 1) + 1):
            for whom in combinations(range(n_people), count):
                by_known: dict[Known, dict[Assignment, Any]] = defaultdict(dict)
                for assignment, weight in weights.items():
                    by_known[tuple((row, assignment[row]) for row in whom)][assignment] = weight
                for known, fitting in by_known.items():
                    if least and sum(fitting.values()) < least:
                        continue
                    yield from self._conditional(channel, base, fitting, known, n_people)

    def _conditional(self, channel: str, base: Base, weights: Weights, known: Known, n_people: int) -> Iterator[Figure]:
        total = sum(weights.values())
        shares: Counter[tuple[int, int]] = Counter()
        for assignment, weight in weights.items():
            for person in enumerate(assignment):
                shares[person] += weight
        values = sorted({value for assignment in weights for value in assignment})
        known_rows, alone = {row for row, _ in known}, self.alone(base, known)
        for row in range(n_people):
            for value in values if row not in known_rows else ():
                share, expected = shares[row, value], alone.get((row, value), Fraction(0))
                if expected or share:
                    yield Figure(channel, row, value, known, Fraction(share, total), expected, total, base)

    def _pooled(self, channel: str, bases: Mapping[Base, Weights]) -> Iterator[Figure]:
        """The same seen with different groups: rarer leaks show once it is put together.

        Draws are independent given the groups, so Chernoff's bound holds with the average of what each says alone.
        """
        shares: Counter[tuple[int, int]] = Counter()
        for weights in bases.values():
            for assignment, weight in weights.items():
                for person in enumerate(assignment):
                    shares[person] += weight
        said = [(self.alone(base), sum(weights.values())) for base, weights in bases.items()]
        total = sum(weight for _, weight in said)
        least = math.lcm(*{chance.denominator for found, _ in said for chance in found.values()})
        expected: Counter[tuple[int, int]] = Counter()  # in parts of this size
        for found, weight in said:
            for person, chance in found.items():
                expected[person] += weight * chance.numerator * (least // chance.denominator)
        for (row, value), share in shares.items():
            alone = Fraction(expected[row, value], least * total)
            yield Figure(channel, row, value, (), Fraction(share, total), alone, total, next(iter(bases)))


def relative_entropy(seen: float, expected: float) -> float:
    """Of a share that was seen to a probability that was expected.

    >>> relative_entropy(0.5, 0.5), relative_entropy(1.0, 0.0)
    (0.0, inf)
    """
    entropy = 0.0
    for share, chance in ((seen, expected), (1 - seen, 1 - expected)):
        if share > 0:
            if chance <= 0:
                return math.inf
            entropy += share * math.log(share / chance)
    return max(entropy, 0.0)


def chernoff(share: Fraction, total: int, doubt: float) -> tuple[float, float]:
    """Where a probability lies that was seen as ``share`` in ``total`` draws: those with relative entropy below doubt.

    Chernoff's bound: a probability p shows a share q or one further away with at most exp(-total * KL(q, p)).
    """
    seen = float(share)

    def edge(outside: float, inside: float) -> float:
        if outside == inside:
            return inside
        for _ in range(60):
            middle = (outside + inside) / 2
            if not 0 < middle < 1 or total * relative_entropy(seen, middle) > doubt:
                outside = middle
            else:
                inside = middle
        return outside

    return edge(0.0, seen), edge(1.0, seen)
