"""A table of a few people, every table it could have been, and the privacy property asked of it.

Liu & Wang 2012, "Privacy Streamliner", Sections 1 and 2.1. A *colour* is the set of identifiers that share a sensitive
value. Quasi-identifiers play no part in the theory: the worst case is assumed, in which everybody knows which row of
the public part is whose, and only the sensitive values are unknown.

Deviations: the paper speaks of l-diversity and of a highest ratio of 2/3 in turn; here both are one object,
``HighestRatio``, with l-diversity as the bound 1/l. The paper does not say how the property is applied to what an
adversary believes; here, as in its example, to the fraction of the tables still possible in which an identifier has a
value.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Self

from undercover.errors import DataError, ParameterError, UnreachableError, listed
from undercover.methods.streamliner.theory.partitions import Group, Partition, identifiers_of, text
from undercover.multisets import distinct_orders


@dataclass(frozen=True)
class MicroTable:
    """Who has which sensitive value.

    Examples
    --------
    >>> table = MicroTable.of({"A": "flu", "B": "flu", "C": "cold"})
    >>> table["C"]
    'cold'
    >>> table
    <MicroTable: A=flu B=flu C=cold; .universe() lists every table it could have been>
    """

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
        """The identifiers of each sensitive value, in the order in which the values first occur.

        Examples
        --------
        >>> table = MicroTable.of({"1": "s1", "2": "s1", "3": "s2", "4": "s2"})
        >>> {value: sorted(colour) for value, colour in table.colours().items()}
        {'s1': ['1', '2'], 's2': ['3', '4']}
        """
        members: dict[str, set[str]] = {}
        for identifier, value in zip(self.identifiers, self.values, strict=True):
            members.setdefault(value, set()).add(identifier)
        return {value: frozenset(colour) for value, colour in members.items()}

    def counts(self, group: Iterable[str]) -> Counter[str]:
        """How often each value occurs in a group: what a release shows of it.

        Examples
        --------
        >>> sorted(MicroTable.of({"1": "a", "2": "b", "3": "a"}).counts("13").items())
        [('a', 2)]
        """
        return Counter(self[identifier] for identifier in group)

    def release(self, partition: Partition) -> frozenset[tuple[Group, frozenset[tuple[str, int]]]]:
        """What is published for a partition: every group with the counts of its values, and not who has which.

        Examples
        --------
        >>> from undercover.methods.streamliner.theory.partitions import parse
        >>> one, other = MicroTable.of({"1": "a", "2": "b"}), MicroTable.of({"1": "b", "2": "a"})
        >>> one.release(parse("12")) == other.release(parse("12"))
        True
        """
        if identifiers_of(partition) != frozenset(self.identifiers):
            raise ParameterError(
                f"The partition {text(partition)} is not one of this table's identifiers, "
                f"{listed(self.identifiers)}. Put each of them in exactly one group."
            )
        return frozenset((group, frozenset(self.counts(group).items())) for group in partition)

    def largest_l(self) -> int:
        """The largest l for which the table is l-eligible: no value on more than one row in l.

        Examples
        --------
        >>> MicroTable.of({"1": "a", "2": "a", "3": "b", "4": "c", "5": "d"}).largest_l()
        2
        """
        return len(self.values) // max(Counter(self.values).values())

    def require_eligible(self, l: int) -> None:  # noqa: E741
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

        Examples
        --------
        >>> len(list(MicroTable(tuple("ABCDE"), ("flu", "flu", "cold", "cold", "HIV")).universe()))
        30
        """
        for values in distinct_orders(self.values):
            yield MicroTable(self.identifiers, values)


@dataclass(frozen=True)
class HighestRatio:
    """The privacy property: no sensitive value has more than the share ``bound`` of a group, or of a belief.

    Examples
    --------
    >>> from undercover.methods.streamliner.theory.partitions import parse
    >>> table = MicroTable.of({"1": "s1", "2": "s1", "3": "s2", "4": "s2"})
    >>> two_diversity = diversity(2)
    >>> two_diversity.holds_for(table, parse("13|24")), two_diversity.holds_for(table, parse("12|34"))
    (True, False)
    """

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
    """The share of the most frequent value in a group.

    Examples
    --------
    >>> group_ratio(MicroTable.of({"1": "a", "2": "b", "3": "a"}), frozenset("123"))
    Fraction(2, 3)
    """
    return Fraction(max(table.counts(group).values()), len(group))


def diversity(l: int) -> HighestRatio:  # noqa: E741
    """Frequency l-diversity: no value on more than one row in l of a group.

    Examples
    --------
    >>> diversity(3)
    HighestRatio(bound=Fraction(1, 3))
    """
    if l < 2:
        raise ParameterError(f"The 'l' parameter of diversity must be an int in [2, inf). Got {l} instead.")
    return HighestRatio(Fraction(1, l))
