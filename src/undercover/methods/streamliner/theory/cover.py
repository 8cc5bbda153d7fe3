"""Cover and l-cover: each colour can change places with l−1 other sets of people without anything being noticed.

Liu & Wang 2012, "Privacy Streamliner", Appendix A, Definitions 4 and 5 (after Zhang, Wang, Jajodia & Brodsky 2009,
"L-cover: preserving diversity by anonymity").

Errata. Definition 5 does not ask the l−1 covers to be disjoint; the proof of Lemma 1 lists it among the conditions, so
it is checked here. A group then holds l times as many people as it holds of any colour, so that the set is a subset of
the LSS, as both definitions demand, without being asked. Definition 4 compares groups, not partitions: after the
exchange each group must be a group of some partition of the set, perhaps of a different one for each group. It is
checked as written. The paper takes it from its predecessor that l-cover makes a set strongly globally safe. It does
not, in the model of the paper's own example (``disclosure.py``): see ``docs/theory/publishing_sets.md`` and
``tests/theory/test_family_sets.py``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, permutations

from undercover.methods.streamliner.theory.candidates import Bijection, Candidate, candidate_from_bijections
from undercover.methods.streamliner.theory.colours import MicroTable
from undercover.methods.streamliner.theory.partitions import Group, Partition


def exchanged(group: Group, bijection: Bijection) -> Group:
    """The group after everybody in the two sets has changed places with their partner.

    Examples
    --------
    >>> sorted(exchanged(frozenset("14"), {"1": "3", "2": "4"}))
    ['2', '3']
    """
    back = {partner: identifier for identifier, partner in bijection.items()}
    return frozenset(bijection.get(identifier, back.get(identifier, identifier)) for identifier in group)


def is_cover(partitions: Iterable[Partition], bijection: Bijection) -> bool:
    """Definition 4 for a given bijection: disjoint sets, and every group becomes a group of some partition of the set.

    Examples
    --------
    >>> from undercover.methods.streamliner.theory.partitions import parse
    >>> is_cover([parse("13|24"), parse("1234")], {"1": "3", "2": "4"})
    True
    >>> is_cover([parse("13|24"), parse("1234")], {"1": "2"})
    False
    """
    groups = {group for partition in partitions for group in partition}
    partners = set(bijection.values())
    return (
        len(partners) == len(bijection)
        and not partners & bijection.keys()
        and all(exchanged(group, bijection) in groups for group in groups)
    )


def is_balanced(partitions: Iterable[Partition], bijection: Bijection) -> bool:
    """Definition 5, second condition: every group holds as many of the one set as of the other.

    Examples
    --------
    >>> from undercover.methods.streamliner.theory.partitions import parse
    >>> is_balanced([parse("13|24")], {"1": "3"}), is_balanced([parse("13|24")], {"1": "2"})
    (True, False)
    """
    first, second = frozenset(bijection), frozenset(bijection.values())
    return all(len(group & first) == len(group & second) for partition in partitions for group in partition)


def is_l_cover_of_colour(table: MicroTable, partitions: Sequence[Partition], candidate: Candidate) -> bool:
    """Whether the sets of an l-candidate, with its bijections, are l−1 covers of its colour as Definition 5 asks.

    The candidates are disjoint by construction. The partners of one identifier must differ in colour.

    Examples
    --------
    >>> from undercover.methods.streamliner.theory.partitions import parse
    >>> table = MicroTable.of({"1": "s1", "2": "s1", "3": "s2", "4": "s2"})
    >>> is_l_cover_of_colour(table, [parse("13|24"), parse("1234")], Candidate((("1", "3"), ("2", "4"))))
    True
    """
    return all(
        len({table[partner] for partner in partners}) == len(partners) for _, *partners in candidate.rows
    ) and all(
        is_cover(partitions, bijection) and is_balanced(partitions, bijection) for bijection in candidate.bijections
    )


def is_l_cover(table: MicroTable, partitions: Sequence[Partition], candidates: Sequence[Candidate]) -> bool:
    """Definition 5 for given candidates: whether every colour has its l−1 covers, and with them the set is in the LSS.

    Examples
    --------
    >>> from undercover.methods.streamliner.theory.partitions import parse
    >>> table = MicroTable.of({"1": "s1", "2": "s1", "3": "s2", "4": "s2"})
    >>> candidates = [Candidate((("1", "3"), ("2", "4"))), Candidate((("3", "1"), ("4", "2")))]
    >>> is_l_cover(table, [parse("13|24"), parse("1234")], candidates)
    True
    >>> is_l_cover(table, [parse("12|34")], candidates)
    False
    """
    return {candidate.colour for candidate in candidates} == set(table.colours().values()) and all(
        is_l_cover_of_colour(table, partitions, candidate) for candidate in candidates
    )


def find_l_cover(table: MicroTable, partitions: Sequence[Partition], l: int) -> tuple[Candidate, ...] | None:  # noqa: E741
    """Definition 5 by search: covers for every colour, or None where the set does not satisfy l-cover.

    Every choice of partners for a colour is tried, so this is for a handful of identifiers. A cover need not stay
    inside a group: in the example 1 and 2 change places with 3 and 4, and the two groups become each other.

    Examples
    --------
    >>> from undercover.methods.streamliner.theory.partitions import parse
    >>> table = MicroTable.of({"1": "s1", "2": "s1", "3": "s2", "4": "s2"})
    >>> find_l_cover(table, [parse("14|23")], 2)
    (<Candidate: 1→3 2→4; l=2>, <Candidate: 3→1 4→2; l=2>)
    >>> find_l_cover(table, [parse("12|34")], 2) is None
    True
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
