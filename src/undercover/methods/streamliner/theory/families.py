"""Partitions that keep partners together, and colours that can change places without anything being noticed.

Liu & Wang 2012, "Privacy Streamliner", Section 2.2, Definitions 2 and 3, Lemma 2 and Appendix B.1, Table 9, for
self-contained partitions and family sets; Appendix A, Definitions 4 and 5 (after Zhang, Wang, Jajodia & Brodsky 2009,
"L-cover: preserving diversity by anonymity"), for cover and l-cover.

The identifiers paired by the bijections form a graph. A partition is self-contained if it cuts no edge, so the finest
one has the connected components as its groups, and the self-contained partitions are the coarsenings of that one and no
others. The second stage of the paper, choosing the most useful partition of a family set, can therefore only merge
groups of the first.

Errata. Definition 3 must mean a proper, *non-empty* subset: the empty set is self-contained. Its minimal partition is
unique, which the paper uses and does not say. The proof of Lemma 2 takes two members of one group for a pair of some
bijection; they are joined by a chain of pairs, which is enough. Definition 2 counts every pair "in any bijection used
to define" the candidates, and Definition 1 uses bijections between any two sets; Table 9 uses only those from the
colour. So do we. Definition 5 does not ask the l−1 covers to be disjoint; the proof of Lemma 1 lists it among the
conditions, so it is checked here. A group then holds l times as many people as it holds of any colour, so that the set
is a subset of the LSS, as both definitions demand, without being asked. Definition 4 compares groups, not partitions:
after the exchange each group must be a group of some partition of the set, perhaps of a different one for each group.
It is checked as written. The paper takes it from its predecessor that l-cover makes a set strongly globally safe. It
does not, in the model of the paper's own example (``safe_sets.py``): see ``docs/theory/publishing_sets.md`` and
``tests/theory/test_family_sets.py``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, permutations

from undercover.methods.streamliner.theory.candidates import Bijection, Candidate, candidate_from_bijections
from undercover.methods.streamliner.theory.tables import Group, MicroTable, Partition, coarsenings


def pairs(candidates: Iterable[Candidate]) -> Iterator[tuple[str, str]]:
    """Everybody with each of their partners."""
    for candidate in candidates:
        for identifier, *partners in candidate.rows:
            for partner in partners:
                yield identifier, partner


def is_self_contained_group(group: Group, candidates: Iterable[Candidate]) -> bool:
    """Definition 2, first part: whether the group holds both or neither of every pair."""
    return all((identifier in group) == (partner in group) for identifier, partner in pairs(candidates))


def is_self_contained(partition: Partition, candidates: Sequence[Candidate]) -> bool:
    """Definition 2, second part: whether every group is self-contained."""
    return all(is_self_contained_group(group, candidates) for group in partition)


def minimal_self_contained_partition(table: MicroTable, candidates: Iterable[Candidate]) -> Partition:
    """Definition 3 and Table 9: merge rows that share somebody, by union-find."""
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
    """Every self-contained partition: the coarsenings of the minimal one. Each subset of it is a family set."""
    return frozenset(coarsenings(minimal_self_contained_partition(table, candidates)))


def is_family_set(partitions: Iterable[Partition], candidates: Sequence[Candidate]) -> bool:
    """Definition 2, third part: whether every partition of the set is self-contained."""
    return all(is_self_contained(partition, candidates) for partition in partitions)


def exchanged(group: Group, bijection: Bijection) -> Group:
    """The group after everybody in the two sets has changed places with their partner."""
    back = {partner: identifier for identifier, partner in bijection.items()}
    return frozenset(bijection.get(identifier, back.get(identifier, identifier)) for identifier in group)


def is_cover(partitions: Iterable[Partition], bijection: Bijection) -> bool:
    """Definition 4 for a given bijection: disjoint sets, and every group becomes a group of some partition."""
    groups = {group for partition in partitions for group in partition}
    partners = set(bijection.values())
    return (
        len(partners) == len(bijection)
        and not partners & bijection.keys()
        and all(exchanged(group, bijection) in groups for group in groups)
    )


def is_balanced(partitions: Iterable[Partition], bijection: Bijection) -> bool:
    """Definition 5, second condition: every group holds as many of the one set as of the other."""
    first, second = frozenset(bijection), frozenset(bijection.values())
    return all(len(group & first) == len(group & second) for partition in partitions for group in partition)


def is_l_cover_of_colour(table: MicroTable, partitions: Sequence[Partition], candidate: Candidate) -> bool:
    """Whether the sets of an l-candidate, with its bijections, are l−1 covers of its colour as Definition 5 asks.

    The candidates are disjoint by construction. The partners of one identifier must differ in colour.
    """
    return all(
        len({table[partner] for partner in partners}) == len(partners) for _, *partners in candidate.rows
    ) and all(
        is_cover(partitions, bijection) and is_balanced(partitions, bijection) for bijection in candidate.bijections
    )


def is_l_cover(table: MicroTable, partitions: Sequence[Partition], candidates: Sequence[Candidate]) -> bool:
    """Definition 5 for given candidates: whether every colour has its l−1 covers, which puts the set in the LSS."""
    return {candidate.colour for candidate in candidates} == set(table.colours().values()) and all(
        is_l_cover_of_colour(table, partitions, candidate) for candidate in candidates
    )


def find_l_cover(table: MicroTable, partitions: Sequence[Partition], l: int) -> tuple[Candidate, ...] | None:
    """Definition 5 by search: covers for every colour, or None where the set does not satisfy l-cover.

    Every choice of partners for a colour is tried, so this is for a handful of identifiers. A cover need not stay
    inside a group: in the example 1 and 2 change places with 3 and 4, and the two groups become each other.
    """
    found = []
    for colour in table.colours().values():
        covers = list(_covers(table, partitions, colour))
        candidates = (
            candidate_from_bijections(*chosen)
            for chosen in combinations(covers, l - 1)
            if len({partner for bijection in chosen for partner in bijection.values()}) == len(colour) * (l - 1)
        )
        first = next(
            (candidate for candidate in candidates if is_l_cover_of_colour(table, partitions, candidate)), None
        )
        if first is None:
            return None
        found.append(first)
    return tuple(found)


def _covers(table: MicroTable, partitions: Sequence[Partition], colour: Group) -> Iterator[Bijection]:
    """Every balanced cover of a colour."""
    members = sorted(colour)
    for partners in permutations(sorted(set(table.identifiers) - colour), len(members)):
        bijection = dict(zip(members, partners, strict=True))
        if is_balanced(partitions, bijection) and is_cover(partitions, bijection):
            yield bijection
