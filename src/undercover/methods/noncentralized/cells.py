"""What cells and classes of others have in common, by bit sets: the method's own intersections.

Whoever verifies a release works all of this out again by other means (:mod:`undercover.guarantees.joint`): depth first
instead of best first, from cells read as positions, with Graham's reduction instead of a spanning tree.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import heappop, heappush
from itertools import combinations

from undercover.errors import DataError, listed, shape_of
from undercover.model.cells import EVERYTHING, read_interval, read_set
from undercover.model.hierarchy import Hierarchy
from undercover.model.published import Published


class LeafBits:
    """What cells of a column cover: bit i for the i-th leaf of its hierarchy.

    A cell that is no node, interval, set or value of the hierarchy, such as a missing one, may stand for anything: it
    has every bit, and one more by which it is told from the root.
    """

    def __init__(self, hierarchy: Hierarchy) -> None:
        rows, tree = hierarchy.rows, hierarchy.tree
        self._read: dict[str, int] = {EVERYTHING: (1 << len(rows)) - 1}
        for level in range(hierarchy.n_levels - 1, -1, -1):  # of a label on several levels the lowest counts
            on_level: dict[str, int] = {}
            for leaf, row in enumerate(rows):
                on_level[row[level]] = on_level.get(row[level], 0) | 1 << leaf
            self._read |= on_level
        for label, first, last in zip(tree.labels, tree.first, tree.last, strict=True):
            self._read[label] = sum(1 << int(leaf) for leaf in tree.leaf_order[first : last + 1])
        self._nodes = frozenset(self._read.values())
        self._anything = (1 << len(rows) + 1) - 1
        self._place = hierarchy.leaf_index
        self._numbers = [_number(row[0]) for row in rows]

    def __getitem__(self, cell: str) -> int:
        if cell not in self._read:
            try:
                if (cell[:1], cell[-1:]) == ("[", "]"):
                    found = self._between(*read_interval(cell))
                else:
                    found = 0
                    for member in read_set(cell):
                        found |= self._between(member, member)
            except DataError:
                found = 0
            self._read[cell] = found or self._anything
        return self._read[cell]

    def is_node(self, cell: str) -> bool:
        """Whether a cell covers just the leaves of a node."""
        return self[cell] in self._nodes

    def _between(self, low: str, high: str) -> int:
        """The leaves from one end to the other: by value where all are numbers, else in their order."""
        start, end = _number(low), _number(high)
        if None not in self._numbers and start is not None and end is not None:
            return sum(1 << leaf for leaf, x in enumerate(self._numbers) if x is not None and start <= x <= end)
        first, last = self._place.get(low), self._place.get(high)
        if first is None or last is None:
            return 0
        return sum(1 << leaf for leaf in range(first, last + 1))


def least_left(tables: Sequence[Iterable[int]], enough: int) -> tuple[int, tuple[int, ...]] | None:
    """The fewest values that sets, one of every table, have in common, and such sets; None where that is ``enough``.

    Best first: what is left of a choice less the most that the remaining tables can take away.
    """
    choices = [sorted(set(sets)) for sets in tables]
    universe = 0
    for bits in (bits for sets in choices for bits in sets):
        universe |= bits
    taken = [max(universe.bit_count() - bits.bit_count() for bits in sets) for sets in choices]
    queue: list[tuple[int, int, int, tuple[int, ...]]] = [(universe.bit_count() - sum(taken), 0, universe, ())]
    seen: set[tuple[int, int]] = set()
    while queue and queue[0][0] < enough:
        least, depth, left, path = heappop(queue)
        if -depth == len(choices):
            return least, path
        for bits in choices[-depth]:
            met = left & bits
            if (depth - 1, met) not in seen:
                seen.add((depth - 1, met))
                heappush(queue, (met.bit_count() - sum(taken[1 - depth :]), depth - 1, met, (*path, bits)))
    return None


def require_independent(others: Sequence[Published]) -> None:
    """Raise where whoever has the others' tables can subtract them from each other, so that intersections say nothing.

    Sound are cells that are nested in each other, tables none of whose own cells overlap, and an acyclic scheme: of the
    variables "lies in cell c" of shared columns, each table knows those that are unions of its own cells.
    """
    problems: list[str] = []
    known, width = [0] * len(others), 0
    columns = {name for other in others for name in other.quasi_identifiers}
    for name in sorted(columns):
        holders = [place for place, other in enumerate(others) if name in other.quasi_identifiers]
        if len(holders) < 2:
            continue
        apart = [others[place].name for place in holders if others[place].in_buckets]
        if apart:
            problems.append(f"`{name}` is in a table of its own beside the sensitive values of {listed(apart)}.")
            continue
        texts = {place: others[place].cells[name].labels for place in holders}
        labels = sorted({label for own in texts.values() for label in own})
        bits = _cell_bits(labels)
        if bits is None:
            problems.append(f"Cells of `{name}` cross, or cannot be told apart: some are numbers, some are words.")
            continue
        cells = {place: [bits[label] for label in own] for place, own in texts.items()}
        problems += [
            f"`{name}`: nobody can tell what a cell ({shape_of(label)}) of `{others[first].name}` means in "
            f"`{others[second].name}`."
            for first in holders
            for second in holders
            for label in texts[first]
            if _is_word(label) and texts[second] != (EVERYTHING,)
            if not any(bits[label] & cell for cell in cells[second] if cell != bits[EVERYTHING])
        ]
        problems += [
            f"Cells of `{name}` overlap within `{others[place].name}`; differences of its classes tell more."
            for place, own in cells.items()
            if any(a & b for a, b in combinations(own, 2))
        ]
        crossing = [(x, y) for x, y in combinations(labels, 2) if bits[x] & bits[y] not in (0, bits[x], bits[y])]
        problems += [f"Cells of `{name}` cross: {len(crossing):,} pairs of them." for _ in crossing[:1]]
        for number, label in enumerate(labels, start=width):
            for place, own in cells.items():
                if all(not cell & ~bits[label] for cell in own if cell & bits[label]):
                    known[place] |= 1 << number
        width += len(labels)
    if problems:
        raise DataError([*problems, "What is published next to such tables cannot be judged."])
    if not _is_acyclic(known):
        raise DataError(
            f"{listed([other.name for other in others])} share columns in a cycle, so that more follows from them than "
            "from each pair. They cannot be judged by intersections."
        )


def _is_acyclic(edges: Sequence[int]) -> bool:
    """Whether a tree of largest overlaps keeps the tables of each variable together: Bernstein & Goodman 1981."""
    tree, rest, kept, union = list(edges[:1]), list(edges[1:]), 0, 0
    while rest:
        overlap, place = max((max((a & b).bit_count() for a in tree), place) for place, b in enumerate(rest))
        kept += overlap
        tree.append(rest.pop(place))
    for edge in edges:
        union |= edge
    return kept == sum(edge.bit_count() for edge in edges) - union.bit_count()


def _cell_bits(labels: Sequence[str]) -> dict[str, int] | None:
    """Cells of a column as bit sets: of the ends of ranges and gaps between them, or of words; None for a mixture."""
    ranges = {label: found for label in labels if (found := _range(label)) is not None}
    words = [label for label in labels if label not in ranges and label != EVERYTHING]
    if ranges and words:
        return None
    ends = {end: 2 * place for place, end in enumerate(sorted({end for both in ranges.values() for end in both}))}
    bits = {label: (2 << ends[high]) - (1 << ends[low]) for label, (low, high) in ranges.items()}
    place: dict[str, int] = {}
    for label in words:
        members = [label] if _is_word(label) else read_set(label)
        bits[label] = sum({1 << place.setdefault(member, len(place)) for member in members})
    return bits | {EVERYTHING: -1}


def _is_word(label: str) -> bool:
    return label != EVERYTHING and label[:1] != "{" and _range(label) is None


def _range(label: str) -> tuple[float, float] | None:
    """Both ends of a number or a range of numbers."""
    low, high = read_interval(label) if (label[:1], label[-1:]) == ("[", "]") else (label, label)
    start, end = _number(low), _number(high)
    return None if start is None or end is None or start > end else (start, end)


def _number(text: str) -> float | None:
    try:
        found = float(text)
    except ValueError:
        return None
    return found if found == found else None  # nan
