"""What an adversary still holds possible, and how sure that makes him.

Liu & Wang 2012, "Privacy Streamliner", Section 1: the adversary's mental image of the table. He knows everybody's
public part and which sensitive values occur. Three things shrink the image: knowing a set of partitions that satisfy
the privacy property, seeing the release of one of them, and (beyond the paper) knowing the rule by which the set or the
partition was chosen. All tables that remain are held equally likely.

Deviations: the paper's image knows only *that* the partitions of the set are safe for the true table. ``knowing_rule``
is the stronger adversary of "publicly known algorithms", against whom the paper proves nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, TypeVar

from undercover.errors import ParameterError
from undercover.methods.streamliner.theory.colours import HighestRatio, MicroTable
from undercover.methods.streamliner.theory.partitions import Partition

Outcome = TypeVar("Outcome")


class Guess(NamedTuple):
    """The belief an adversary is surest of."""

    identifier: str
    value: str
    probability: Fraction


@dataclass(frozen=True)
class MentalImage:
    """The tables an adversary holds possible; every method returns a smaller image.

    Examples
    --------
    >>> from undercover.methods.streamliner.theory.partitions import parse
    >>> table = MicroTable(tuple("ABCDE"), ("flu", "flu", "cold", "cold", "HIV"))
    >>> safe = [parse(written) for written in ("AC|BDE", "AD|BCE", "BC|ADE", "BD|ACE", "ABCDE")]
    >>> image = MentalImage.before_release(table).knowing_safe(safe, HighestRatio(Fraction(2, 3)))
    >>> image
    <MentalImage: 10 tables; surest: A=cold with probability 2/5>
    >>> image.seeing_release(table, parse("AC|BDE"))
    <MentalImage: 6 tables; surest: A=cold with probability 1/2>
    """

    tables: tuple[MicroTable, ...]

    def __post_init__(self) -> None:
        if not self.tables:
            raise ParameterError(
                "No table agrees with what the adversary is told, so he was told something untrue of the table. "
                "Give a set of partitions, a release and a rule that hold for one and the same table."
            )

    @classmethod
    def before_release(cls, table: MicroTable) -> MentalImage:
        """The whole universe of a table: everyone and the values that occur are known, nothing else."""
        return cls(tuple(table.universe()))

    def knowing_safe(self, partitions: Iterable[Partition], privacy: HighestRatio) -> MentalImage:
        """Keep the tables for which every one of the partitions satisfies the privacy property."""
        known = tuple(partitions)
        return MentalImage(
            tuple(table for table in self.tables if all(privacy.holds_for(table, partition) for partition in known))
        )

    def seeing_release(self, truth: MicroTable, partition: Partition) -> MentalImage:
        """Keep the tables that show the same counts in every group as the true one."""
        published = truth.release(partition)
        return MentalImage(tuple(table for table in self.tables if table.release(partition) == published))

    def knowing_rule(self, rule: Callable[[MicroTable], Outcome], outcome: Outcome) -> MentalImage:
        """Keep the tables for which a known deterministic rule gives what it was seen to give."""
        return MentalImage(tuple(table for table in self.tables if rule(table) == outcome))

    def surest(self) -> Guess:
        """The most probable association of a person with a value; the first in alphabetical order of several.

        Examples
        --------
        >>> MentalImage.before_release(MicroTable.of({"1": "a", "2": "b", "3": "b"})).surest()
        Guess(identifier='1', value='b', probability=Fraction(2, 3))
        """
        pairs = Counter(pair for table in self.tables for pair in zip(table.identifiers, table.values, strict=True))
        most = max(pairs.values())
        identifier, value = min(pair for pair, count in pairs.items() if count == most)
        return Guess(identifier, value, Fraction(most, len(self.tables)))

    def risk(self) -> Fraction:
        """The probability of the surest association.

        Examples
        --------
        >>> MentalImage.before_release(MicroTable.of({"1": "a", "2": "b", "3": "c"})).risk()
        Fraction(1, 3)
        """
        return self.surest().probability

    def keeps(self, privacy: HighestRatio) -> bool:
        """Whether the privacy property holds of what the adversary believes."""
        return self.risk() <= privacy.bound

    def __repr__(self) -> str:
        guess = self.surest()
        noun = "table" if len(self.tables) == 1 else "tables"
        return (
            f"<MentalImage: {len(self.tables)} {noun}; "
            f"surest: {guess.identifier}={guess.value} with probability {guess.probability}>"
        )


def disclosure_set(table: MicroTable, partitions: Iterable[Partition], privacy: HighestRatio) -> MentalImage:
    """disc(S): the tables that are possible to somebody who knows that every partition of S is safe.

    Examples
    --------
    >>> from undercover.methods.streamliner.theory.colours import diversity
    >>> from undercover.methods.streamliner.theory.partitions import parse
    >>> table = MicroTable.of({"1": "s1", "2": "s1", "3": "s2", "4": "s2"})
    >>> disclosure_set(table, [parse("13|24"), parse("1234")], diversity(2))
    <MentalImage: 4 tables; surest: 1=s1 with probability 1/2>
    """
    return MentalImage.before_release(table).knowing_safe(partitions, privacy)
