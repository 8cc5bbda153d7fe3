"""The smallest intersection of sets, one from each of several tables, without going through all combinations.

Cheong, Wu & Wong 2012, Section 5.2, Step B: a combination of classes leaves the intersection of their sensitive sets.
Only sets that contain no other of their table matter. Depth first, sets that lack most values first; what is left of
a combination after the remaining tables is at least what it has less the most that each of them can take.

Sets are whole numbers, bit v for value v.

Whether sets of columns hang together without a cycle: Graham's reduction (Beeri, Fagin, Maier & Yannakakis 1983).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def smallest(sets: Iterable[int]) -> list[int]:
    """Those of the sets that contain no other, smallest first.

    >>> smallest([0b110, 0b111, 0b001, 0b110])
    [1, 6]
    """
    kept: list[int] = []
    for candidate in sorted(set(sets), key=lambda bits: (bits.bit_count(), bits)):
        if not any(other & candidate == other for other in kept):
            kept.append(candidate)
    return kept


class Intersections:
    """The sets of several tables, ready to be met with others."""

    def __init__(self, tables: Sequence[Iterable[int]], universe: int) -> None:
        self.tables = [smallest(sets) for sets in tables]
        size = universe.bit_count()
        self.missing = [[size - bits.bit_count() for bits in sets] for sets in self.tables]
        self.beyond = [0] * (len(self.tables) + 1)  # the most that tables from there on can take away
        for table in range(len(self.tables) - 1, -1, -1):
            self.beyond[table] = self.beyond[table + 1] + (self.missing[table] or [0])[0]

    def least(self, start: int, below: int | None = None) -> tuple[int, tuple[int, ...]]:
        """The fewest values of ``start`` that a combination leaves, and the combination.

        With ``below`` only combinations that leave fewer matter; if there is none, some number from ``below`` on and
        no combination are returned.
        """
        best: tuple[int, tuple[int, ...]] = (start.bit_count() + 1 if below is None else below, ())

        def descend(table: int, left: int, path: tuple[int, ...]) -> None:
            nonlocal best
            found = left.bit_count()
            if table == len(self.tables):
                if found < best[0]:
                    best = (found, path)
                return
            for bits, lacks in zip(self.tables[table], self.missing[table], strict=True):
                if best[0] == 0 or found - lacks - self.beyond[table + 1] >= best[0]:
                    return  # sets lack fewer and fewer values
                descend(table + 1, left & bits, (*path, bits))

        descend(0, start, ())
        return best


def least_intersection(tables: Sequence[Iterable[int]]) -> tuple[int, tuple[int, ...]]:
    """The fewest values a combination of one set per table leaves, and such a combination."""
    chosen = [smallest(sets) for sets in tables]
    universe = 0
    for sets in chosen:
        for bits in sets:
            universe |= bits
    return Intersections(chosen, universe).least(universe)


def is_acyclic(edges: Sequence[set[str]]) -> bool:
    """Whether tables with these columns form an acyclic scheme.

    Columns that only one table has are removed, and tables whose columns another one has, for as long as there are any.
    """
    left = [set(edge) for edge in edges]
    while left:
        before = sum(map(len, left)), len(left)
        for edge in left:
            edge -= {name for name in edge if sum(name in other for other in left) == 1}
        for number in range(len(left) - 1, -1, -1):
            if any(left[number] <= other for place, other in enumerate(left) if place != number) or not left[number]:
                del left[number]
        if (sum(map(len, left)), len(left)) == before:
            return False
    return True
