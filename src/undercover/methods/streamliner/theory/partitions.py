"""Partitions of a few identifiers: all of them, their coarsenings, their common refinement.

Liu & Wang 2012, "Privacy Streamliner", Section 2.1 (identifier partitions and anonymised groups).

A partition is a ``frozenset`` of groups and a group a ``frozenset`` of identifiers, so that partitions can be members
of sets themselves. In text a partition is written ``13|24``: smallest identifier first, groups by their first
identifier. Identifiers are strings; where one is longer than a letter they are separated by commas.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import TypeAlias

from undercover.errors import ParameterError, listed

Group: TypeAlias = frozenset[str]
Partition: TypeAlias = frozenset[Group]


def partition_of(groups: Iterable[Iterable[str]]) -> Partition:
    """Make a partition of groups, refusing an empty group and an identifier that occurs twice.

    Examples
    --------
    >>> text(partition_of([["2", "4"], ["3", "1"]]))
    '13|24'
    >>> partition_of(["12", "23"])
    Traceback (most recent call last):
    undercover.errors.ParameterError: Groups of a partition are disjoint, but `2` occurs twice. Put each ...
    """
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
    """Read the text form: one letter is one identifier, unless a separator is given.

    Examples
    --------
    >>> parse("13|24") == partition_of([["1", "3"], ["2", "4"]])
    True
    >>> text(parse("Ada,Coy|Bob,Dan,Eve", separator=","))
    'Ada,Coy|Bob,Dan,Eve'
    """
    return partition_of(group.split(separator) if separator else group for group in written.split("|"))


def text(partition: Partition) -> str:
    """Write a partition as people read it.

    Examples
    --------
    >>> text(partition_of([["4", "2"], ["1"], ["3"]]))
    '1|24|3'
    """
    separator = "," if any(len(identifier) > 1 for group in partition for identifier in group) else ""
    return "|".join(separator.join(group) for group in sorted(sorted(group) for group in partition))


def texts(partitions: Iterable[Partition]) -> list[str]:
    """Write several partitions, in alphabetical order.

    Examples
    --------
    >>> texts(all_partitions("123"))
    ['123', '12|3', '13|2', '1|23', '1|2|3']
    """
    return sorted(map(text, partitions))


def identifiers_of(partition: Partition) -> Group:
    """Everyone who is in some group.

    Examples
    --------
    >>> sorted(identifiers_of(parse("13|2")))
    ['1', '2', '3']
    """
    return frozenset().union(*partition)


def all_partitions(identifiers: Iterable[str]) -> Iterator[Partition]:
    """Every partition of the identifiers, each once: as many as the Bell number says.

    Examples
    --------
    >>> len(list(all_partitions("ABCDE"))), bell_number(5)
    (52, 52)
    """
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
    """The number of partitions of ``n`` things, by the Bell triangle.

    Examples
    --------
    >>> [bell_number(n) for n in range(7)]
    [1, 1, 2, 5, 15, 52, 203]
    """
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
    """Whether every group of ``fine`` lies inside one group of ``coarse``; a partition is a coarsening of itself.

    Examples
    --------
    >>> is_coarsening(parse("1234"), parse("13|24")), is_coarsening(parse("12|34"), parse("13|24"))
    (True, False)
    """
    return identifiers_of(coarse) == identifiers_of(fine) and all(
        any(inner <= outer for outer in coarse) for inner in fine
    )


def coarsenings(partition: Partition) -> Iterator[Partition]:
    """Every partition that only merges groups of this one, itself included.

    Examples
    --------
    >>> texts(coarsenings(parse("12|34|56")))
    ['123456', '1234|56', '1256|34', '12|3456', '12|34|56']
    """
    groups = sorted(partition, key=sorted)
    for blocks in _blocks([str(i) for i in range(len(groups))]):
        yield frozenset(frozenset().union(*(groups[int(i)] for i in block)) for block in blocks)


def common_refinement(partitions: Iterable[Partition]) -> Partition:
    """The coarsest partition of which all the given ones are coarsenings: the non-empty intersections of their groups.

    Examples
    --------
    >>> text(common_refinement([parse("123|45"), parse("12|345")]))
    '12|3|45'
    """
    given = list(partitions)
    if not given or len({identifiers_of(partition) for partition in given}) > 1:
        raise ParameterError("A common refinement needs at least one partition, all of the same identifiers.")
    meets = (frozenset.intersection(*groups) for groups in product(*given))
    return frozenset(group for group in meets if group)
