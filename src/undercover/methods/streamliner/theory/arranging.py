"""Candidates whose partners have different colours: dealt inside groups, or arranged from given sets.

Not in the paper, which leaves the choice of bijections open (Liu & Wang 2012, Sections 2.2 and 2.3). Two facts:

- In a group in which no colour has more than one row in l, every identifier can be dealt l−1 partners of different
  colours. So a partition is self-contained for *some* l-candidates exactly if it is l-diverse: l-candidates are
  a certificate of l-diversity, and all families together make up the locally safe set.
- Sets that meet the conditions of Theorem 2 can be arranged in rows of different colours: join each set to the colour
  of each of its members; the edges of this bipartite graph can be coloured with |C| rows (König), since no set and no
  colour has more than |C| edges. Where a colour occurs more than |C| times in the sets they cannot be arranged,
  however well they fit in pairs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations

from undercover.errors import ParameterError, UnreachableError
from undercover.methods.streamliner.theory.candidates import Candidate
from undercover.methods.streamliner.theory.colours import MicroTable, group_ratio
from undercover.methods.streamliner.theory.partitions import Group, Partition, text


def deal_candidate(
    table: MicroTable,
    colour: Group,
    l: int,  # noqa: E741
    *,
    order: Sequence[str] | None = None,
    within: Partition | None = None,
) -> Candidate:
    """Deal every identifier of a colour l−1 partners of different colours.

    Parameters
    ----------
    table
        The table; l-eligible.
    colour
        Everybody with one sensitive value.
    l
        How many sets the candidate has, the colour included.
    order
        The identifiers in the order in which they are dealt; as in the table if not given.
    within
        Partners come from the same group of this partition; from the whole table if not given.

    Examples
    --------
    >>> table = MicroTable.of({"1": "a", "2": "a", "3": "b", "4": "b", "5": "c", "6": "d"})
    >>> deal_candidate(table, frozenset("12"), 3)
    <Candidate: 1→3,5 2→4,6; l=3>
    >>> deal_candidate(table, frozenset("12"), 3, order="654321")
    <Candidate: 2→6,4 1→5,3; l=3>
    """
    table.require_eligible(l)
    dealt = list(table.identifiers if order is None else order)
    if sorted(dealt) != sorted(table.identifiers):
        raise ParameterError("The 'order' parameter of deal_candidate must name every identifier once.")
    groups = [frozenset(table.identifiers)] if within is None else sorted(within, key=sorted)
    rows: list[tuple[str, ...]] = []
    for group in groups:
        members = [name for name in dealt if name in group & colour]
        rows += _deal_rows(table, members, [name for name in dealt if name in group - colour], l)
    return Candidate(tuple(sorted(rows, key=lambda row: dealt.index(row[0]))))


def _deal_rows(table: MicroTable, members: list[str], others: list[str], l: int) -> list[tuple[str, ...]]:  # noqa: E741
    """Deal at most one identifier of a colour to each row: colour after colour, round and round."""
    height = len(members)
    if height == 0:
        return []
    by_colour: dict[str, list[str]] = {}
    for name in others:
        by_colour.setdefault(table[name], []).append(name)
    deck = [name for names in by_colour.values() for name in names[:height]]
    if len(deck) < height * (l - 1):
        group = frozenset(members) | frozenset(others)
        raise UnreachableError(
            f"l={l} cannot be reached inside the group {text(frozenset({group}))}: a value has the share "
            f"{group_ratio(table, group)} of it. Merge it with another group or lower l."
        )
    return [(member, *deck[row : height * (l - 1) : height]) for row, member in enumerate(members)]


def deal_candidates(
    table: MicroTable,
    l: int,  # noqa: E741
    *,
    order: Sequence[str] | None = None,
    within: Partition | None = None,
) -> tuple[Candidate, ...]:
    """Deal an l-candidate to every colour; with ``within``, so that this partition is self-contained.

    Examples
    --------
    >>> from undercover.methods.streamliner.theory.partitions import parse
    >>> table = MicroTable.of({"1": "s1", "2": "s1", "3": "s2", "4": "s2"})
    >>> deal_candidates(table, 2, within=parse("14|23"))
    (<Candidate: 1→4 2→3; l=2>, <Candidate: 3→2 4→1; l=2>)
    """
    return tuple(deal_candidate(table, colour, l, order=order, within=within) for colour in table.colours().values())


def arrangements(table: MicroTable, sets: Sequence[Group]) -> Iterator[Candidate]:
    """Every way to arrange a colour and its candidate sets in rows of different colours, by trying all.

    Examples
    --------
    >>> table = MicroTable.of({"1": "s1", "2": "s1", "3": "s2", "4": "s2"})
    >>> list(arrangements(table, [frozenset("12"), frozenset("34")]))
    [<Candidate: 1→3 2→4; l=2>, <Candidate: 1→4 2→3; l=2>]
    """
    if len(sets) < 2 or len({len(group) for group in sets}) > 1:
        raise ParameterError("Arranging takes a colour and at least one other set, all of the same size.")

    def extended(rows: tuple[tuple[str, ...], ...], left: Sequence[Group]) -> Iterator[Candidate]:
        if not left:
            yield Candidate(rows)
            return
        for column in permutations(sorted(left[0])):
            if all(table[name] not in {table[other] for other in row} for row, name in zip(rows, column, strict=True)):
                longer = tuple((*row, name) for row, name in zip(rows, column, strict=True))
                yield from extended(longer, left[1:])

    yield from extended(tuple((name,) for name in sorted(sets[0])), sets[1:])


def arrange(table: MicroTable, sets: Sequence[Group]) -> Candidate | None:
    """One arrangement of given sets in rows of different colours, or None where there is none.

    Examples
    --------
    >>> table = MicroTable.of({"1": "a", "2": "a", "3": "b", "4": "c", "5": "b", "6": "c"})
    >>> arrange(table, [frozenset("12"), frozenset("34"), frozenset("56")])
    <Candidate: 1→3,6 2→4,5; l=3>
    """
    return next(arrangements(table, sets), None)
