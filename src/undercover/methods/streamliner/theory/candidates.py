"""l-candidates: for every identifier of a colour, l−1 partners of other colours, and the bijections they make.

Liu & Wang 2012, "Privacy Streamliner", Section 2.2, Definition 1; Section 2.3, Lemmas 3 and 4 and Theorem 2.

Two sets of identifiers are candidates for each other if they are disjoint, equally large, and a bijection between them
maps everybody to somebody of another colour. An l-candidate of a colour is the colour and l−1 further sets, pairwise
candidates. Here it is kept as rows, one for each identifier of the colour: the identifier, then its partner in each of
the l−1 sets. The columns are the sets, and reading along the rows gives the bijections.

Errata. Definition 1 asks for *some* bijection between every two sets, not that the bijections fit together. So
the partners of one identifier may share a colour, and the proof of Lemma 1 is wrong to call a row ("transient group")
diverse by definition. ``partners_differ`` is the missing condition. With it the pairwise bijections need not be
asked for: reading along the rows gives them too. Lemma 4 states one direction; by Hall's theorem its colour
count is also necessary. Theorem 2 promises a valid l-candidate only, but its third condition is exactly what lets
bijections be chosen that meet the missing condition.

The paper leaves the choice of bijections open (Sections 2.2 and 2.3). Here candidates whose partners have different
colours are dealt inside groups, or arranged from given sets. Two facts:

- In a group in which no colour has more than one row in l, every identifier can be dealt l−1 partners of different
  colours. So a partition is self-contained for *some* l-candidates exactly if it is l-diverse: l-candidates are
  a certificate of l-diversity, and all families together make up the locally safe set.
- Sets that meet the conditions of Theorem 2 can be arranged in rows of different colours: join each set to the colour
  of each of its members; the edges of this bipartite graph can be coloured with |C| rows (König), since no set and no
  colour has more than |C| edges. Where a colour occurs more than |C| times in the sets they cannot be arranged,
  however well they fit in pairs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from typing import TypeAlias

from undercover.errors import ParameterError, UnreachableError, listed
from undercover.methods.streamliner.theory.tables import Group, MicroTable, Partition, group_ratio, text

Bijection: TypeAlias = Mapping[str, str]


@dataclass(frozen=True)
class Candidate:
    """The l-candidate of one colour, with its bijections."""

    rows: tuple[tuple[str, ...], ...]

    def __post_init__(self) -> None:
        problems = []
        if not self.rows or len({len(row) for row in self.rows}) > 1 or len(self.rows[0]) < 2:
            problems.append("The rows of an l-candidate are an identifier with l−1 partners each, l at least 2.")
        twice = [name for name, count in Counter(name for row in self.rows for name in row).items() if count > 1]
        if twice:
            problems.append(f"The sets of an l-candidate are disjoint, but {listed(sorted(twice))} occurs twice.")
        if problems:
            raise ParameterError(problems)

    @property
    def l(self) -> int:  # noqa: E743
        """How many sets there are, the colour included."""
        return len(self.rows[0])

    @property
    def sets(self) -> tuple[Group, ...]:
        """The colour, then its l−1 candidates."""
        return tuple(map(frozenset, zip(*self.rows, strict=True)))

    @property
    def colour(self) -> Group:
        """The identifiers the candidate is for."""
        return self.sets[0]

    @property
    def bijections(self) -> tuple[dict[str, str], ...]:
        """From the colour to each of its candidates."""
        return tuple({row[0]: row[w] for row in self.rows} for w in range(1, self.l))

    def __repr__(self) -> str:
        return f"<Candidate: {' '.join(row[0] + '→' + ','.join(row[1:]) for row in self.rows)}; l={self.l}>"


def candidate_from_bijections(*bijections: Bijection) -> Candidate:
    """Make an l-candidate of l−1 bijections, all from the same colour."""
    if not bijections or any(bijection.keys() != bijections[0].keys() for bijection in bijections):
        raise ParameterError("An l-candidate takes l−1 bijections, l at least 2, all from the same colour.")
    return Candidate(tuple((name, *(bijection[name] for bijection in bijections)) for name in sorted(bijections[0])))


def find_bijection(table: MicroTable, first: Group, second: Group) -> dict[str, str] | None:
    """A bijection that maps everybody to another colour, or None where there is none.

    Found by augmenting paths: whoever has no partner yet may take somebody's, if that one finds another.
    """
    if len(first) != len(second):
        return None
    taken_by: dict[str, str] = {}

    def finds_partner(identifier: str, refused: set[str]) -> bool:
        for partner in sorted(second - refused):
            if table[partner] != table[identifier] and partner not in refused:
                refused.add(partner)
                if partner not in taken_by or finds_partner(taken_by[partner], refused):
                    taken_by[partner] = identifier
                    return True
        return False

    if not all(finds_partner(identifier, set()) for identifier in sorted(first)):
        return None
    return dict(sorted((identifier, partner) for partner, identifier in taken_by.items()))


def are_candidates(table: MicroTable, first: Group, second: Group) -> bool:
    """Definition 1, first part: whether two sets of identifiers are candidates for each other."""
    return not first & second and find_bijection(table, first, second) is not None


def form_l_candidate(table: MicroTable, sets: Sequence[Group]) -> bool:
    """Definition 1, second part: whether every two of the sets are candidates for each other."""
    return len(sets) >= 2 and all(are_candidates(table, first, second) for first, second in combinations(sets, 2))


def few_of_a_colour(table: MicroTable, sets: Iterable[Group], most: int) -> bool:
    """Whether no colour has more than ``most`` identifiers in the sets together (Lemma 4 and Theorem 2)."""
    return max(table.counts(name for group in sets for name in group).values(), default=0) <= most


def meets_theorem_2(table: MicroTable, colour: Group, others: Sequence[Group]) -> bool:
    """Whether a colour and further sets meet the three conditions of Theorem 2."""
    return (
        all(len(group) == len(colour) and not group & colour for group in others)
        and all(not first & second for first, second in combinations(others, 2))
        and few_of_a_colour(table, others, most=len(colour))
    )


def partners_differ(table: MicroTable, candidate: Candidate) -> bool:
    """Whether every row has l different colours: what Lemma 1 needs and Definition 1 does not ask."""
    return all(len({table[name] for name in row}) == len(row) for row in candidate.rows)


def check_candidates(table: MicroTable, candidates: Sequence[Candidate]) -> None:
    """Refuse what is not a sequence of l-candidates, one for each colour, in the sense of Definition 1."""
    colours = set(table.colours().values())
    given = Counter(candidate.colour for candidate in candidates)
    problems = [
        f"There is one l-candidate for each colour; none was given for the colour of {listed(sorted(colour))}."
        for colour in sorted(colours - given.keys(), key=sorted)
    ]
    problems += [
        f"{listed(sorted(colour))} is not a colour of the table: it is not everybody with one value."
        for colour in sorted(given.keys() - colours, key=sorted)
    ]
    if max(given.values(), default=0) > 1:
        problems.append("There is one l-candidate for each colour; one colour was given two.")
    if len({candidate.l for candidate in candidates}) > 1:
        problems.append("All l-candidates have the same l.")
    strangers = {name for candidate in candidates for row in candidate.rows for name in row} - set(table.identifiers)
    if strangers:
        problems.append(f"Nobody in the table is called {listed(sorted(strangers))}.")
    else:
        problems += [
            f"{candidate!r} has two sets without a bijection that maps everybody to another colour."
            for candidate in candidates
            if not form_l_candidate(table, candidate.sets)
        ]
    if problems:
        raise ParameterError(problems)


def deal_candidate(
    table: MicroTable, colour: Group, l: int, *, order: Sequence[str] | None = None, within: Partition | None = None
) -> Candidate:
    """Deal every identifier of a colour l−1 partners of different colours, from its group of ``within`` if given."""
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


def _deal_rows(table: MicroTable, members: list[str], others: list[str], l: int) -> list[tuple[str, ...]]:
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
    table: MicroTable, l: int, *, order: Sequence[str] | None = None, within: Partition | None = None
) -> tuple[Candidate, ...]:
    """Deal an l-candidate to every colour; with ``within``, so that this partition is self-contained."""
    return tuple(deal_candidate(table, colour, l, order=order, within=within) for colour in table.colours().values())


def arrangements(table: MicroTable, sets: Sequence[Group]) -> Iterator[Candidate]:
    """Every way to arrange a colour and its candidate sets in rows of different colours, by trying all."""
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
    """One arrangement of given sets in rows of different colours, or None where there is none."""
    return next(arrangements(table, sets), None)
