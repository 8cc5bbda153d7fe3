"""Sets of partitions that are locally safe, globally safe and strongly globally safe, by enumeration.

Liu & Wang 2012, "Privacy Streamliner", Section 1: the locally safe set (LSS) holds every partition that satisfies the
privacy property; a globally safe set (GSS) is a subset of it that can be known without harm; a strongly globally safe
set (SGSS) is a GSS of which every partition can also be released without harm to somebody who knows the set.

Deviations: the empty set is not listed, since nothing can be released from it. That an SGSS is a GSS is checked, as the
paper has it; a search (sets of up to four partitions, eighteen tables of three to six people, the largest not to the
end) found no set that every release keeps safe and that is not one.

Errata. The paper speaks of *the* GSS and *the* SGSS; a table has many. Being strongly globally safe is not inherited by
subsets (knowing less leaves more tables possible, and the additional ones may agree on somebody), so listing the
maximal sets does not list them all; ``tests/theory/test_family_sets.py`` keeps an example.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import TypeAlias

from undercover.errors import ParameterError
from undercover.methods.streamliner.theory.colours import HighestRatio, MicroTable
from undercover.methods.streamliner.theory.disclosure import MentalImage, disclosure_set
from undercover.methods.streamliner.theory.partitions import Partition, all_partitions, text

PublishingSet: TypeAlias = frozenset[Partition]

MOST_PARTITIONS = 14  # 2**14 subsets take seconds, each further partition doubles them


def locally_safe_set(table: MicroTable, privacy: HighestRatio) -> PublishingSet:
    """Every partition of the table's identifiers that satisfies the privacy property.

    Examples
    --------
    >>> from undercover.methods.streamliner.theory.colours import diversity
    >>> from undercover.methods.streamliner.theory.partitions import texts
    >>> texts(locally_safe_set(MicroTable.of({"1": "s1", "2": "s1", "3": "s2", "4": "s2"}), diversity(2)))
    ['1234', '13|24', '14|23']
    """
    return frozenset(
        partition for partition in all_partitions(table.identifiers) if privacy.holds_for(table, partition)
    )


def is_globally_safe(table: MicroTable, partitions: Iterable[Partition], privacy: HighestRatio) -> bool:
    """Whether the set is a GSS: every partition is safe for the table, and so is knowing that they are.

    Examples
    --------
    >>> from undercover.methods.streamliner.theory.colours import diversity
    >>> from undercover.methods.streamliner.theory.partitions import parse
    >>> table = MicroTable.of({"1": "s1", "2": "s1", "3": "s2", "4": "s2"})
    >>> is_globally_safe(table, [parse("13|24"), parse("1234")], diversity(2))
    True
    """
    known = tuple(partitions)
    return all(privacy.holds_for(table, partition) for partition in known) and disclosure_set(
        table, known, privacy
    ).keeps(privacy)


def is_strongly_globally_safe(table: MicroTable, partitions: Iterable[Partition], privacy: HighestRatio) -> bool:
    """Whether the set is an SGSS: a GSS that stays safe after the release of any one of its partitions.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from undercover.methods.streamliner.theory.partitions import parse
    >>> table = MicroTable(tuple("ABCDE"), ("flu", "flu", "cold", "cold", "HIV"))
    >>> safe = locally_safe_set(table, HighestRatio(Fraction(2, 3))) - {parse("CE|ABD")}
    >>> is_globally_safe(table, safe, HighestRatio(Fraction(2, 3)))
    True
    >>> is_strongly_globally_safe(table, safe, HighestRatio(Fraction(2, 3)))
    False
    """
    known = tuple(partitions)
    return all(privacy.holds_for(table, partition) for partition in known) and _stays_safe(
        disclosure_set(table, known, privacy), table, known, privacy
    )


def strongly_globally_safe_sets(table: MicroTable, privacy: HighestRatio) -> Iterator[PublishingSet]:
    """Every SGSS of a table, the larger ones first.

    Examples
    --------
    >>> from undercover.methods.streamliner.theory.colours import diversity
    >>> from undercover.methods.streamliner.theory.partitions import texts
    >>> table = MicroTable.of({"1": "s1", "2": "s1", "3": "s2", "4": "s2"})
    >>> texts(next(strongly_globally_safe_sets(table, diversity(2))))
    ['1234', '13|24', '14|23']
    """
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
    """Every SGSS that lies in no larger one, the larger ones first.

    Examples
    --------
    >>> from undercover.methods.streamliner.theory.colours import diversity
    >>> table = MicroTable.of({"1": "s1", "2": "s1", "3": "s2", "4": "s2"})
    >>> len(maximal_strongly_globally_safe_sets(table, diversity(2)))
    1
    """
    maximal: list[PublishingSet] = []
    for candidate in strongly_globally_safe_sets(table, privacy):
        if not any(candidate < larger for larger in maximal):
            maximal.append(candidate)
    return tuple(maximal)


def largest_strongly_globally_safe_set(table: MicroTable, privacy: HighestRatio) -> PublishingSet:
    """The SGSS with most partitions; of several, the first in alphabetical order.

    A rule that looks harmless and is not: it is a function of the table, and somebody who knows it can invert it.

    Examples
    --------
    >>> from undercover.methods.streamliner.theory.colours import diversity
    >>> from undercover.methods.streamliner.theory.partitions import texts
    >>> texts(largest_strongly_globally_safe_set(MicroTable.of({"1": "s1", "2": "s2"}), diversity(2)))
    ['12']
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
