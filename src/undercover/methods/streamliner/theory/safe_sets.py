"""What an adversary still holds possible, how sure that makes him, and which sets of partitions he may know.

Liu & Wang 2012, "Privacy Streamliner", Section 1: the adversary's mental image of the table. He knows everybody's
public part and which sensitive values occur. Three things shrink the image: knowing a set of partitions that satisfy
the privacy property, seeing the release of one of them, and (beyond the paper) knowing the rule by which the set or the
partition was chosen. All tables that remain are held equally likely.

The locally safe set (LSS) holds every partition that satisfies the privacy property; a globally safe set (GSS) is a
subset of it that can be known without harm; a strongly globally safe set (SGSS) is a GSS of which every partition can
also be released without harm to somebody who knows the set.

Deviations: the paper's image knows only *that* the partitions of the set are safe for the true table. ``knowing_rule``
is the stronger adversary of "publicly known algorithms", against whom the paper proves nothing.
The empty set is not listed, since nothing can be released from it. That an SGSS is a GSS is checked, as the paper has
it; a search (sets of up to four partitions, eighteen tables of three to six people, the largest not to the end) found
no set that every release keeps safe and that is not one.

Errata. The paper speaks of *the* GSS and *the* SGSS; a table has many. Being strongly globally safe is not inherited by
subsets (knowing less leaves more tables possible, and the additional ones may agree on somebody), so listing the
maximal sets does not list them all; ``tests/theory/test_family_sets.py`` keeps an example.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import NamedTuple, TypeAlias, TypeVar

from undercover.errors import ParameterError
from undercover.methods.streamliner.theory.tables import HighestRatio, MicroTable, Partition, all_partitions, text

Outcome = TypeVar("Outcome")
PublishingSet: TypeAlias = frozenset[Partition]
MOST_PARTITIONS = 14  # 2**14 subsets take seconds, each further partition doubles them


class Guess(NamedTuple):
    """The belief an adversary is surest of."""

    identifier: str
    value: str
    probability: Fraction


@dataclass(frozen=True)
class MentalImage:
    """The tables an adversary holds possible; every method returns a smaller image."""

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
        """The most probable association of a person with a value; the first in alphabetical order of several."""
        pairs = Counter(pair for table in self.tables for pair in zip(table.identifiers, table.values, strict=True))
        most = max(pairs.values())
        identifier, value = min(pair for pair, count in pairs.items() if count == most)
        return Guess(identifier, value, Fraction(most, len(self.tables)))

    def risk(self) -> Fraction:
        """The probability of the surest association."""
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
    """disc(S): the tables that are possible to somebody who knows that every partition of S is safe."""
    return MentalImage.before_release(table).knowing_safe(partitions, privacy)


def locally_safe_set(table: MicroTable, privacy: HighestRatio) -> PublishingSet:
    """Every partition of the table's identifiers that satisfies the privacy property."""
    return frozenset(
        partition for partition in all_partitions(table.identifiers) if privacy.holds_for(table, partition)
    )


def is_globally_safe(table: MicroTable, partitions: Iterable[Partition], privacy: HighestRatio) -> bool:
    """Whether the set is a GSS: every partition is safe for the table, and so is knowing that they are."""
    known = tuple(partitions)
    return all(privacy.holds_for(table, partition) for partition in known) and disclosure_set(
        table, known, privacy
    ).keeps(privacy)


def is_strongly_globally_safe(table: MicroTable, partitions: Iterable[Partition], privacy: HighestRatio) -> bool:
    """Whether the set is an SGSS: a GSS that stays safe after the release of any one of its partitions."""
    known = tuple(partitions)
    return all(privacy.holds_for(table, partition) for partition in known) and _stays_safe(
        disclosure_set(table, known, privacy), table, known, privacy
    )


def strongly_globally_safe_sets(table: MicroTable, privacy: HighestRatio) -> Iterator[PublishingSet]:
    """Every SGSS of a table, the larger ones first."""
    local = locally_safe_set(table, privacy)
    if len(local) > MOST_PARTITIONS:
        raise ParameterError(
            f"The table has {len(local)} safe partitions, so {2 ** len(local):,} sets of them; at most "
            f"{MOST_PARTITIONS} partitions can be enumerated. Take fewer identifiers or a stricter property."
        )
    local_of_possible = {possible: locally_safe_set(possible, privacy) for possible in table.universe()}
    ordered = sorted(local, key=text)
    for size in range(len(ordered), 0, -1):
        for chosen in map(frozenset, combinations(ordered, size)):
            image = MentalImage(tuple(possible for possible, safe in local_of_possible.items() if chosen <= safe))
            if _stays_safe(image, table, chosen, privacy):
                yield chosen


def maximal_strongly_globally_safe_sets(table: MicroTable, privacy: HighestRatio) -> tuple[PublishingSet, ...]:
    """Every SGSS that lies in no larger one, the larger ones first."""
    maximal: list[PublishingSet] = []
    for candidate in strongly_globally_safe_sets(table, privacy):
        if not any(candidate < larger for larger in maximal):
            maximal.append(candidate)
    return tuple(maximal)


def largest_strongly_globally_safe_set(table: MicroTable, privacy: HighestRatio) -> PublishingSet:
    """The SGSS with most partitions; of several, the first in alphabetical order.

    A rule that looks harmless and is not: it is a function of the table, and somebody who knows it can invert it.
    """
    for largest in strongly_globally_safe_sets(table, privacy):
        return largest
    raise ParameterError(
        f"No set of partitions of this table is strongly globally safe at a highest ratio of {privacy.bound}. "
        "Raise the bound."
    )


def _stays_safe(image: MentalImage, table: MicroTable, partitions: Iterable[Partition], privacy: HighestRatio) -> bool:
    """Whether somebody with this image learns too much from the release of none of the partitions."""
    return image.keeps(privacy) and all(
        image.seeing_release(table, partition).keeps(privacy) for partition in partitions
    )
