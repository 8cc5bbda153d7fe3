"""Columns that several published tables have: whether joining the tables is still sound, and which classes meet.

Cheong, Wu & Wong 2012, Section 3.2, discards such columns without saying what happens if they stay. Where the cells of
one table cross those of another, whoever has both can subtract: with rows (30, H), (45, M), (60, H), (60, M), (30, M),
one table cut at 40 and one at 50, everybody between 40 and 50 has M, although every intersection has two values. Where
cells are nested in each other and the tables hang together without a cycle, given the shared cells the tables are
conditionally independent and the intersection is all that is left. Without a cycle means: of the variables "lies in
cell c", for every cell of a shared column, each table knows those that are unions of its own cells; these sets of
variables must be an acyclic scheme. Nested cells within one table (a local recoding) could be subtracted, too.

What a word stands for is not known here: it may be a value or a node above others. So words are accepted only where the
other table has them, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from undercover.errors import DataError, described, listed
from undercover.guarantees.joint.sets import is_acyclic
from undercover.guarantees.joint.tables import Together
from undercover.model.cells import EVERYTHING, read_interval, read_set
from undercover.wording import option


@dataclass(frozen=True)
class SharedCells:
    """The cells of shared columns, numbered through all tables, and which of them overlap."""

    names: tuple[str, ...]
    cells: tuple[tuple[NDArray[np.int64], ...], ...]  # per column and table: (n_classes,) cell, -1 for none
    overlap: NDArray[np.bool_]  # (n_names, n_cells, n_cells)

    def of(self, classes: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
        """(n_names, n) the cells of some classes of every table, one table after the other."""
        if not self.names:
            return np.zeros((0, sum(map(len, classes))), dtype=np.int64)
        return np.stack(
            [
                np.concatenate([cells[rows] for cells, rows in zip(column, classes, strict=True)])
                for column in self.cells
            ]
        )

    def require_none(self) -> None:
        """Raise where there are too many combinations to look at each."""
        if self.names:
            raise DataError(
                f"The tables share {listed(self.names)} and have too many classes to go through all combinations."
            )


def shared_cells(joined: Together, *, nested: bool, known: tuple[str, ...] | None = None) -> SharedCells:
    """Find the shared columns, and raise unless joining the tables is sound."""
    tables = joined.tables
    names = sorted(
        {
            name
            for first, second in combinations(tables, 2)
            for name in set(first.quasi_identifiers) & set(second.quasi_identifiers)
            if known is None or name in known
        }
    )
    if not names:
        return SharedCells((), (), np.zeros((0, 0, 0), dtype=bool))
    holders = {name: [table.name for table in tables if name in table.quasi_identifiers] for name in names}
    if not nested:
        raise DataError(
            [
                f"{listed(holders[name])} share the quasi-identifier `{name}`: where cells cross, the tables can be "
                "subtracted from each other, and intersections say nothing."
                for name in names
            ]
            + [f"If the cells of one table lie in those of the other, say so: {option(shared='nested')}."]
        )
    cells, overlaps = [], []
    known_cells: list[set[str]] = [set() for _ in tables]
    problems = [
        f"`{table.name}` publishes `{name}` in a table of its own beside the sensitive values; it cannot be nested."
        for table in tables
        for name in names
        if name in table.quasi_identifiers and table.in_buckets
    ]
    for name in names:
        problems += _unplaced(joined, name)
        column, labels = _numbered(joined, name)
        covered = [_covered(label) for label in labels]
        meet = np.array(
            [
                [_overlap(a, b, x == y) for b, y in zip(covered, labels, strict=True)]
                for a, x in zip(covered, labels, strict=True)
            ]
        )
        problems += _overlapping(joined, name, column, meet)
        crossing = [
            (labels[i], labels[j])
            for i, j in combinations(range(len(labels)), 2)
            if meet[i, j] and not _nested(covered[i], covered[j])
        ]
        if crossing:
            problems.append(f"Cells of `{name}` cross, or cannot be told apart: {len(crossing):,} pairs of them.")
        cells.append(column)
        overlaps.append(meet)
        for table, own in zip(known_cells, column, strict=True):
            mine = sorted(set(own[own >= 0].tolist()))
            table |= {
                f"{name} in {labels[cell]}"
                for cell in range(len(labels))
                if mine and all(_contains(covered[cell], covered[part]) for part in mine if meet[cell, part])
            }
    if problems:
        raise DataError([*problems, "Joining tables whose cells cross is not sound."])
    if not is_acyclic(known_cells):
        raise DataError(
            f"The tables share {listed(names)} in a cycle, so that more follows from them than from each pair. They "
            "cannot be judged by intersections."
        )
    widest = max(len(meet) for meet in overlaps)
    overlap = np.zeros((len(names), widest, widest), dtype=bool)
    for number, meet in enumerate(overlaps):
        overlap[number, : len(meet), : len(meet)] = meet
    return SharedCells(tuple(names), tuple(cells), overlap)


def _unplaced(joined: Together, name: str) -> list[str]:
    """Words of one table that the other does not know: nobody can tell what lies below them."""
    problems = []
    holders = [table for table in joined.tables if name in table.cells]
    for first in holders:
        for second in holders:
            if first is second:
                continue
            theirs = [_covered(label) for label in second.cells[name].labels]
            known = {word for covered in theirs if isinstance(covered, frozenset) for word in covered}
            strange = [
                label
                for label in first.cells[name].labels
                if isinstance(_covered(label), frozenset) and label[:1] != "{" and label not in known
            ]
            if strange and theirs != [None]:
                problems.append(
                    f"`{name}`: `{second.name}` does not know {described(strange)} of `{first.name}`, "
                    "so nobody can tell which of its own they meet."
                )
    return problems


def _overlapping(
    joined: Together, name: str, cells: tuple[NDArray[np.int64], ...], meet: NDArray[np.bool_]
) -> list[str]:
    """Tables whose own cells of a column overlap."""
    problems = []
    for table, own in zip(joined.tables, cells, strict=True):
        mine = sorted(set(own[own >= 0].tolist()))
        if any(meet[first, second] for first, second in combinations(mine, 2)):
            problems.append(f"Cells of `{name}` overlap within `{table.name}`; differences of its classes tell more.")
    return problems


def _numbered(joined: Together, name: str) -> tuple[tuple[NDArray[np.int64], ...], list[str]]:
    """The cells of a column in every table's classes, and their texts."""
    place: dict[str, int] = {}
    found = []
    for table, counts in zip(joined.tables, joined.counts, strict=True):
        cells = np.full(len(counts), -1, dtype=np.int64)
        if name in table.cells:
            column = table.cells[name]
            numbers = np.array([place.setdefault(label, len(place)) for label in column.labels], dtype=np.int64)
            cells[: table.n_classes] = numbers[column.codes]
        found.append(cells)
    return tuple(found), list(place)


Covered = tuple[float, float] | frozenset[str] | None
"""What a cell covers: a range of numbers, a set of texts, or everything."""


def _covered(cell: str) -> Covered:
    if cell == EVERYTHING:
        return None
    if cell[:1] == "[" and cell[-1:] == "]":
        low, high = read_interval(cell)
        try:
            return float(low), float(high)
        except ValueError:
            return frozenset({cell})
    if cell[:1] == "{":
        return frozenset(read_set(cell))
    try:
        return float(cell), float(cell)
    except ValueError:
        return frozenset({cell})


def _overlap(first: Covered, second: Covered, same: bool) -> bool:
    """Whether two cells may have a value in common; a word may be a node above any other, unless both are values."""
    if same or first is None or second is None:
        return True
    if isinstance(first, tuple) and isinstance(second, tuple):
        return first[0] <= second[1] and second[0] <= first[1]
    if isinstance(first, frozenset) and isinstance(second, frozenset):
        return bool(first & second)
    return True


def _nested(first: Covered, second: Covered) -> bool:
    return _contains(first, second) or _contains(second, first)


def _contains(whole: Covered, part: Covered) -> bool:
    if whole is None:
        return True
    if isinstance(whole, tuple) and isinstance(part, tuple):
        return whole[0] <= part[0] and part[1] <= whole[1]
    if isinstance(whole, frozenset) and isinstance(part, frozenset):
        return part <= whole
    return False
