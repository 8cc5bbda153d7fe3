"""Partitions that keep partners together: self-contained partitions, the minimal one, and family sets.

Liu & Wang 2012, "Privacy Streamliner", Section 2.2, Definitions 2 and 3; Lemma 2; Appendix B.1, Table 9.

The identifiers paired by the bijections form a graph. A partition is self-contained if it cuts no edge, so the finest
one has the connected components as its groups, and the self-contained partitions are the coarsenings of that one and no
others. The second stage of the paper, choosing the most useful partition of a family set, can therefore only merge
groups of the first.

Errata. Definition 3 must mean a proper, *non-empty* subset: the empty set is self-contained. Its minimal partition is
unique, which the paper uses and does not say. The proof of Lemma 2 takes two members of one group for a pair of some
bijection; they are joined by a chain of pairs, which is enough. Definition 2 counts every pair "in any bijection used
to define" the candidates, and Definition 1 uses bijections between any two sets; Table 9 uses only those from
the colour. So do we.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from undercover.methods.streamliner.theory.candidates import Candidate
from undercover.methods.streamliner.theory.colours import MicroTable
from undercover.methods.streamliner.theory.partitions import Group, Partition, coarsenings


def pairs(candidates: Iterable[Candidate]) -> Iterator[tuple[str, str]]:
    """Everybody with each of their partners.

    Examples
    --------
    >>> list(pairs([Candidate((("1", "3", "5"), ("2", "4", "6")))]))
    [('1', '3'), ('1', '5'), ('2', '4'), ('2', '6')]
    """
    for candidate in candidates:
        for identifier, *partners in candidate.rows:
            for partner in partners:
                yield identifier, partner


def is_self_contained_group(group: Group, candidates: Iterable[Candidate]) -> bool:
    """Definition 2, first part: whether the group holds both or neither of every pair.

    Examples
    --------
    >>> candidates = [Candidate((("1", "3"), ("2", "4")))]
    >>> is_self_contained_group(frozenset("13"), candidates), is_self_contained_group(frozenset("12"), candidates)
    (True, False)
    """
    return all((identifier in group) == (partner in group) for identifier, partner in pairs(candidates))


def is_self_contained(partition: Partition, candidates: Sequence[Candidate]) -> bool:
    """Definition 2, second part: whether every group is self-contained.

    Examples
    --------
    >>> from undercover.methods.streamliner.theory.partitions import parse
    >>> candidates = [Candidate((("1", "3"), ("2", "4"))), Candidate((("3", "1"), ("4", "2")))]
    >>> [is_self_contained(parse(written), candidates) for written in ("13|24", "14|23", "1234")]
    [True, False, True]
    """
    return all(is_self_contained_group(group, candidates) for group in partition)


def minimal_self_contained_partition(table: MicroTable, candidates: Iterable[Candidate]) -> Partition:
    """Definition 3 and Table 9: merge rows that share somebody, by union-find.

    Examples
    --------
    >>> from undercover.methods.streamliner.theory.partitions import text
    >>> table = MicroTable.of({"1": "s1", "2": "s1", "3": "s2", "4": "s2"})
    >>> candidates = [Candidate((("1", "3"), ("2", "4"))), Candidate((("3", "1"), ("4", "2")))]
    >>> text(minimal_self_contained_partition(table, candidates))
    '13|24'
    """
    parent = {identifier: identifier for identifier in table.identifiers}

    def root(identifier: str) -> str:
        while parent[identifier] != identifier:
            parent[identifier] = parent[parent[identifier]]
            identifier = parent[identifier]
        return identifier

    for identifier, partner in pairs(candidates):
        parent[root(identifier)] = root(partner)
    groups: dict[str, set[str]] = {}
    for identifier in table.identifiers:
        groups.setdefault(root(identifier), set()).add(identifier)
    return frozenset(map(frozenset, groups.values()))


def largest_family_set(table: MicroTable, candidates: Iterable[Candidate]) -> frozenset[Partition]:
    """Every self-contained partition: the coarsenings of the minimal one. Each subset of it is a family set.

    Examples
    --------
    >>> from undercover.methods.streamliner.theory.partitions import texts
    >>> table = MicroTable.of({"1": "s1", "2": "s1", "3": "s2", "4": "s2"})
    >>> candidates = [Candidate((("1", "3"), ("2", "4"))), Candidate((("3", "1"), ("4", "2")))]
    >>> texts(largest_family_set(table, candidates))
    ['1234', '13|24']
    """
    return frozenset(coarsenings(minimal_self_contained_partition(table, candidates)))


def is_family_set(partitions: Iterable[Partition], candidates: Sequence[Candidate]) -> bool:
    """Definition 2, third part: whether every partition of the set is self-contained.

    Examples
    --------
    >>> from undercover.methods.streamliner.theory.partitions import parse
    >>> is_family_set([parse("13|24"), parse("14|23")], [Candidate((("1", "3"), ("2", "4")))])
    False
    """
    return all(is_self_contained(partition, candidates) for partition in partitions)
