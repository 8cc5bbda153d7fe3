"""How far known values reach: from one group to the next, wherever what was learnt of a method is sure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

Orders = Mapping[str, Sequence[int]]
"""The rank of everybody, by the name of an order."""


class Note(NamedTuple):
    """What is seen of two groups before it is asked whether somebody of the second has a value.

    Fine notes say how all people of both lie in an order; coarse ones come up often, so that few draws tell.
    """

    order: str
    lies: tuple[bool, ...]
    whom: int | None  # his place in the second group
    him: int | None  # the place in the first of somebody whose value is known; -1: not looked at
    same: bool  # whether it is the value that is asked about
    alike: bool  # whether both groups have the same values
    have: int  # the value in the second group,
    of: int  # so many people: what the release says alone
    value: int | None = None  # which it is, where nobody's is known

    @property
    def share(self) -> float:
        """What the release says alone."""
        return self.have / self.of


class Followed(NamedTuple):
    """What a few known values led to, in groups of other people."""

    groups: int  # there are
    fixed: int  # in which somebody's value became certain
    people: int  # whose did
    right: int  # who have it
    alone: float  # how often a guess by the group alone is right, over everybody


@dataclass
class Released:
    """The groups of one release, whose value is whose, and everybody's rank in every order."""

    rows: Sequence[Sequence[int]]  # of each group
    codes: Sequence[int]  # of everybody
    orders: Orders
    members: dict[str, list[list[int]]] = field(init=False)  # of each group in every order
    values: list[Counter[int]] = field(init=False)  # of each group
    kinds: list[list[tuple[int, int]]] = field(init=False)  # the same, to be compared
    fine: dict[tuple[str, int, int], tuple[bool, ...]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.members = {
            name: [sorted(group, key=ranks.__getitem__) for group in self.rows] for name, ranks in self.orders.items()
        }
        self.values = [Counter(self.codes[row] for row in group) for group in self.rows]
        self.kinds = [sorted(values.items()) for values in self.values]

    def lie(self, order: str, first: int, second: int) -> tuple[bool, ...]:
        """How two groups interleave: of the people of both in order, whether each is of the second."""
        if (order, first, second) not in self.fine:
            ranks, members = self.orders[order], self.members[order]
            both = [*((ranks[row], False) for row in members[first]), *((ranks[row], True) for row in members[second])]
            self.fine[order, first, second] = tuple(one for _, one in sorted(both))
        return self.fine[order, first, second]

    def notes(
        self, order: str, first: int, second: int, whom: int, value: int, him: int, held: int
    ) -> tuple[Note, Note]:
        """Of one question, with the value ``held`` by ``him``: all of both groups; who begins, and who is lower."""
        ranks, members = self.orders[order], self.members[order]
        lies = self.lie(order, first, second)
        asked = (
            held == value,
            self.kinds[first] == self.kinds[second],
            self.values[second][value],
            len(members[second]),
        )
        lower = (not lies[0], ranks[him] < ranks[whom])
        return (
            Note(order, lies, members[second].index(whom), members[first].index(him), *asked),
            Note(order, lower, None, -1, *asked),
        )

    def unasked(self, note: Note, value: int) -> tuple[Note, Note]:
        """The same for somebody who knows no value: beside the other group, and in its own group alone."""
        nothing = note._replace(him=None, same=False)
        return nothing, nothing._replace(lies=(), alike=False, value=value)


def follow(released: Released, rules: Mapping[Note, bool], known: Sequence[int]) -> Followed:
    """Go from everybody whose value is certain to all other groups, as long as anything new becomes certain."""
    beliefs = _Beliefs(released)
    for row in known:
        beliefs.settle(row, released.codes[row])
    given = {beliefs.where[row] for row in known if row in beliefs.where}
    unsure = set(range(len(released.rows))) - given
    while beliefs.fresh and rules:
        him = beliefs.fresh.pop()
        first, held = beliefs.where[him], beliefs.sure[him]
        unsure -= {group for group in unsure if all(row in beliefs.sure for row in released.rows[group])}
        for order in released.members:
            for second in unsure - {first}:
                for whom in released.rows[second]:
                    for value in sorted(beliefs.left[whom]) if whom not in beliefs.sure else ():
                        for note in released.notes(order, first, second, whom, value, him, held):
                            if note in rules:
                                beliefs.take(whom, value, rules[note])
    found = {row: value for row, value in beliefs.sure.items() if beliefs.where[row] not in given}
    right = sum(released.codes[row] == value for row, value in found.items())
    alone = sum(max(values.values()) for values in released.values) / max(len(beliefs.where), 1)
    return Followed(len(released.rows), len({beliefs.where[row] for row in found}), len(found), right, alone)


class _Beliefs:
    """Which values are left to whom; whoever became certain and was not yet followed is ``fresh``."""

    def __init__(self, released: Released) -> None:
        self.released = released
        self.where = {row: group for group, rows in enumerate(released.rows) for row in rows}
        self.left = {row: set(released.values[group]) for row, group in self.where.items()}
        self.sure: dict[int, int] = {}
        self.fresh: list[int] = []

    def take(self, row: int, value: int, has: bool) -> None:
        """Somebody has a value, or has it not."""
        if has:
            self.settle(row, value)
        else:
            self.exclude(row, value)

    def settle(self, row: int, value: int) -> None:
        """Somebody has a value; once everybody who has it in a group is certain, nobody else there does."""
        if row in self.sure or row not in self.where:
            return
        self.sure[row] = value
        self.left[row] = {value}
        self.fresh.append(row)
        group = self.where[row]
        rows = self.released.rows[group]
        if sum(self.sure.get(other) == value for other in rows) == self.released.values[group][value]:
            for other in rows:
                self.exclude(other, value)

    def exclude(self, row: int, value: int) -> None:
        """Somebody has not a value; the last one left is his."""
        if row not in self.sure and len(self.left[row]) > 1:
            self.left[row].discard(value)
            if len(self.left[row]) == 1:
                self.settle(row, *self.left[row])
