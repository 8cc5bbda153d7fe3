"""Tables of a few people, every table they could have been, and all partitions of the people into groups.

Liu & Wang 2012, "Privacy Streamliner", Sections 1 and 2.1.

A partition is a ``frozenset`` of groups and a group a ``frozenset`` of identifiers, so that partitions can be members
of sets themselves. In text a partition is written ``13|24``: smallest identifier first, groups by their first
identifier. Identifiers are strings; where one is longer than a letter they are separated by commas.

A *colour* is the set of identifiers that share a sensitive value. Quasi-identifiers play no part in the theory: the
worst case is assumed, in which everybody knows which row of the public part is whose, and only the sensitive values are
unknown.

Deviations: the paper speaks of l-diversity and of a highest ratio of 2/3 in turn; here both are one object,
``HighestRatio``, with l-diversity as the bound 1/l. The paper does not say how the property is applied to what an
adversary believes; here, as in its example, to the fraction of the tables still possible in which an identifier has a
value.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Self, TypeAlias

from undercover.errors import DataError, ParameterError, UnreachableError, listed
from undercover.multisets import distinct_orders

Group: TypeAlias = frozenset[str]
Partition: TypeAlias = frozenset[Group]


def partition_of(groups: Iterable[Iterable[str]]) -> Partition:
    """Make a partition of groups, refusing an empty group and an identifier that occurs twice."""
    members = [tuple(group) for group in groups]
    if any(not group for group in members):
        raise ParameterError("A group of a partition cannot be empty. Leave it out.")
    everyone = [identifier for group in members for identifier in group]
    twice = sorted({identifier for identifier in everyone if everyone.count(identifier) > 1})
    if twice:
        raise ParameterError(
            f"Groups of a partition are disjoint, but {listed(twice)} occurs twice. Put each identifier in one group."
        )
    return frozenset(map(frozenset, members))


def parse(written: str, separator: str = "") -> Partition:
    """Read the text form: one letter is one identifier, unless a separator is given."""
    return partition_of(group.split(separator) if separator else group for group in written.split("|"))


def text(partition: Partition) -> str:
    """Write a partition as people read it."""
    separator = "," if any(len(identifier) > 1 for group in partition for identifier in group) else ""
    return "|".join(separator.join(group) for group in sorted(sorted(group) for group in partition))


def texts(partitions: Iterable[Partition]) -> list[str]:
    """Write several partitions, in alphabetical order."""
    return sorted(map(text, partitions))


def identifiers_of(partition: Partition) -> Group:
    """Everyone who is in some group."""
    return frozenset().union(*partition)


def all_partitions(identifiers: Iterable[str]) -> Iterator[Partition]:
    """Every partition of the identifiers, each once: as many as the Bell number says."""
    everyone = list(identifiers)
    partition_of([[identifier] for identifier in everyone])
    for blocks in _blocks(everyone):
        yield frozenset(map(frozenset, blocks))


def _blocks(everyone: Sequence[str]) -> Iterator[list[list[str]]]:
    """The last identifier joins each group of every partition of the others, or stays alone."""
    if not everyone:
        yield []
        return
    *others, last = everyone
    for blocks in _blocks(others):
        for i in range(len(blocks)):
            yield [*blocks[:i], [*blocks[i], last], *blocks[i + 1 :]]
        yield [*blocks, [last]]


def bell_number(n: int) -> int:
    """The number of partitions of ``n`` things, by the Bell triangle."""
    if n < 0:
        raise ParameterError(f"The 'n' parameter of bell_number must be an int in [0, inf). Got {n} instead.")
    row = [1]
    for _ in range(n):
        following = [row[-1]]
        for above in row:
            following.append(following[-1] + above)
        row = following
    return row[0]


def is_coarsening(coarse: Partition, fine: Partition) -> bool:
    """Whether every group of ``fine`` lies inside one group of ``coarse``; a partition is a coarsening of itself."""
    return identifiers_of(coarse) == identifiers_of(fine) and all(
        any(inner <= outer for outer in coarse) for inner in fine
    )


def coarsenings(partition: Partition) -> Iterator[Partition]:
    """Every partition that only merges groups of this one, itself included."""
    groups = sorted(partition, key=sorted)
    for blocks in _blocks([str(i) for i in range(len(groups))]):
        yield frozenset(frozenset().union(*(groups[int(i)] for i in block)) for block in blocks)


def common_refinement(partitions: Iterable[Partition]) -> Partition:
    """The coarsest partition of which all the given ones are coarsenings: the intersections of their groups."""
    given = list(partitions)
    if not given or len({identifiers_of(partition) for partition in given}) > 1:
        raise ParameterError("A common refinement needs at least one partition, all of the same identifiers.")
    meets = (frozenset.intersection(*groups) for groups in product(*given))
    return frozenset(group for group in meets if group)


@dataclass(frozen=True)
class MicroTable:
    """Who has which sensitive value."""

    identifiers: tuple[str, ...]
    values: tuple[str, ...]

    def __post_init__(self) -> None:
        problems = []
        if len(self.identifiers) != len(self.values):
            problems.append(
                f"There are {len(self.identifiers)} identifiers and {len(self.values)} values. Give one value each."
            )
        if not self.identifiers:
            problems.append("The table is empty. Give at least one identifier with its value.")
        twice = [name for name, count in Counter(self.identifiers).items() if count > 1]
        if twice:
            problems.append(f"Identifiers name one person each, but {listed(twice)} occurs twice.")
        if problems:
            raise DataError(problems)

    @classmethod
    def of(cls, rows: Mapping[str, str]) -> Self:
        """Make a table of a mapping from identifier to sensitive value."""
        return cls(tuple(rows), tuple(rows.values()))

    def __getitem__(self, identifier: str) -> str:
        if identifier not in self.identifiers:
            raise ParameterError(
                f"Nobody in the table is called `{identifier}`. There are: {listed(self.identifiers)}."
            )
        return self.values[self.identifiers.index(identifier)]

    def __repr__(self) -> str:
        rows = " ".join(f"{name}={value}" for name, value in zip(self.identifiers, self.values, strict=True))
        return f"<MicroTable: {rows}; .universe() lists every table it could have been>"

    def colours(self) -> dict[str, Group]:
        """The identifiers of each sensitive value, in the order in which the values first occur."""
        members: dict[str, set[str]] = {}
        for identifier, value in zip(self.identifiers, self.values, strict=True):
            members.setdefault(value, set()).add(identifier)
        return {value: frozenset(colour) for value, colour in members.items()}

    def counts(self, group: Iterable[str]) -> Counter[str]:
        """How often each value occurs in a group: what a release shows of it."""
        return Counter(self[identifier] for identifier in group)

    def release(self, partition: Partition) -> frozenset[tuple[Group, frozenset[tuple[str, int]]]]:
        """What is published for a partition: every group with the counts of its values, and not who has which."""
        if identifiers_of(partition) != frozenset(self.identifiers):
            raise ParameterError(
                f"The partition {text(partition)} is not one of this table's identifiers, "
                f"{listed(self.identifiers)}. Put each of them in exactly one group."
            )
        return frozenset((group, frozenset(self.counts(group).items())) for group in partition)

    def largest_l(self) -> int:
        """The largest l for which the table is l-eligible: no value on more than one row in l."""
        return len(self.values) // max(Counter(self.values).values())

    def require_eligible(self, l: int) -> None:
        """Refuse an l below 2 or one that this table cannot reach with any partition."""
        if l < 2:
            raise ParameterError(f"The 'l' parameter must be an int in [2, inf). Got {l} instead.")
        if l > self.largest_l():
            value, count = Counter(self.values).most_common(1)[0]
            raise UnreachableError(
                f"l={l} cannot be reached: '{value}' is on {count} of {len(self.values)} rows; "
                f"the largest feasible l is {self.largest_l()}.",
                best={"l": self.largest_l()},
            )

    def universe(self) -> Iterator[MicroTable]:
        """Every table with the same people and the same sensitive values, each once.

        This is what an adversary starts from who knows the values that occur but not whose they are.
        """
        for values in distinct_orders(self.values):
            yield MicroTable(self.identifiers, values)


@dataclass(frozen=True)
class HighestRatio:
    """The privacy property: no sensitive value has more than the share ``bound`` of a group, or of a belief."""

    bound: Fraction

    def __post_init__(self) -> None:
        if not 0 < self.bound <= 1:
            raise ParameterError(
                f"The 'bound' parameter of HighestRatio must be a Fraction in (0, 1]. Got {self.bound} instead."
            )

    def holds_for(self, table: MicroTable, partition: Partition) -> bool:
        """Whether every group of the partition keeps the bound on this table."""
        return all(group_ratio(table, group) <= self.bound for group in partition)


def group_ratio(table: MicroTable, group: Group) -> Fraction:
    """The share of the most frequent value in a group."""
    return Fraction(max(table.counts(group).values()), len(group))


def diversity(l: int) -> HighestRatio:
    """Frequency l-diversity: no value on more than one row in l of a group."""
    if l < 2:
        raise ParameterError(f"The 'l' parameter of diversity must be an int in [2, inf). Got {l} instead.")
    return HighestRatio(Fraction(1, l))
