"""The smallest intersection of sets, one from each of several tables, without going through all combinations.

Cheong, Wu & Wong 2012, Section 5.2, Step B: a combination of classes leaves the intersection of their sensitive sets.
Only sets that contain no other of their table matter. Depth first, sets that lack most values first; what is left of
a combination after the remaining tables is at least what it has less the most that each of them can take.

Sets are whole numbers, bit v for value v.
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


def least_intersection(tables: Sequence[Iterable[int]], *, enough: int | None = None) -> tuple[int, tuple[int, ...]]:
    """The fewest values a combination of one set per table leaves, and such a combination.

    Parameters
    ----------
    tables
        The sets of each table.
    enough
        Stop at a combination that leaves fewer than this; by default the least is found.

    Examples
    --------
    >>> least_intersection([[0b011, 0b110], [0b101, 0b111]])
    (1, (3, 5))
    >>> least_intersection([[0b011, 0b110], [0b101, 0b111]], enough=2)[0]
    1
    """
    chosen = [smallest(sets) for sets in tables]
    everything = 0
    for sets in chosen:
        for bits in sets:
            everything |= bits
    size = everything.bit_count()
    missing = [[size - bits.bit_count() for bits in sets] for sets in chosen]
    beyond = [0] * (len(chosen) + 1)
    for table in range(len(chosen) - 1, -1, -1):
        beyond[table] = beyond[table + 1] + (missing[table][0] if missing[table] else 0)
    best: tuple[int, tuple[int, ...]] = (size + 1, ())

    def descend(table: int, left: int, path: tuple[int, ...]) -> bool:
        """Go through the sets of one table; whether the search is over."""
        nonlocal best
        if table == len(chosen):
            if left.bit_count() < best[0]:
                best = (left.bit_count(), path)
            return best[0] == 0 or (enough is not None and best[0] < enough)
        found = left.bit_count()
        for bits, lacks in zip(chosen[table], missing[table], strict=True):
            if found - lacks - beyond[table + 1] >= best[0]:
                break  # sets lack fewer and fewer values
            if descend(table + 1, left & bits, (*path, bits)):
                return True
        return False

    descend(0, everything, ())
    return best
