"""The others' published tables as a condition of the lattice search: aligned, checked, filtered by shared columns.

Cheong, Wu & Wong 2012, "Non-centralized distinct l-diversity", Section 5.2. Shared columns (a deviation, see
docs/theory): dropped from the new table, or kept where every cell of the others is a node of the same hierarchy and the
others share nothing among themselves; classes whose shared cells exclude each other are then no combination. Others
whose cells cross among themselves are refused either way.

The holder's figures for the run say what a node would tell together with the tables of others;
:mod:`undercover.attacks.joint.attack` works them out from published tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from math import prod
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from undercover.arrays import count
from undercover.errors import DataError, SchemaError, UnreachableError, described, listed
from undercover.methods.noncentralized.cells import LeafBits, least_left, require_independent
from undercover.model.published import Published, match_columns
from undercover.model.table import Table
from undercover.steps.lattice.conditions import JointCondition, other_sets
from undercover.steps.lattice.cubes import CellCube, FullDomain
from undercover.steps.lattice.lattice import Levels
from undercover.wording import parameter

Shared = Literal["discard", "nested"]
_MOST_WORK = 500_000_000  # combinations times values that are gone through
_SHOWN = 5  # of columns that may be one


@dataclass(frozen=True)
class Neighbours:
    """The tables of others, over the sensitive values of the table that is to be published."""

    tables: tuple[Published, ...]  # a column that is one of ours has our name
    bits: tuple[NDArray[np.uint64], ...]  # per table (n_classes, n_words), codes of the sensitive column
    notes: tuple[str, ...] = ()  # columns that were taken for one, and that may be

    @property
    def columns(self) -> set[str]:
        """Every quasi-identifier somebody has published."""
        return {name for table in self.tables for name in table.quasi_identifiers}


def with_our_names(
    table: Table, others: Sequence[Published], shared: Shared, same: Sequence[str], distinct: Sequence[str]
) -> tuple[list[Published], tuple[str, ...]]:
    """The others' tables with our names for the columns that are ours, too, and what was taken for one or may be.

    Columns spelled almost alike are taken for one: what is left out of the new table, and counted of the others in all
    combinations, is safe either way. What ``nested`` would keep is not, so there somebody has to say. Columns with the
    same values count as different, which leaves no more than if they were one.
    """
    ours = {name: table[name].domain.labels for name in table.schema.quasi_identifiers}
    every = [("this table", ours), *((other.name, other.labels()) for other in others)]
    called = [name for name, _ in every]
    doubts = match_columns(every, same, distinct).doubts
    unclear = [doubt for doubt in doubts if doubt.by_spelling]
    if shared == "nested" and any(0 in doubt.tables for doubt in unclear):
        raise SchemaError(
            [
                f"{doubt.sentence(called)}. Say {parameter(same=['='.join(doubt.columns)])} or "
                f"{parameter(distinct=[','.join(doubt.columns)])}."
                for doubt in unclear
                if 0 in doubt.tables
            ]
        )
    names = match_columns(every, [*same, *("=".join(doubt.columns) for doubt in unclear)], distinct).names
    notes = [f"{doubt.sentence(called)}, and were taken for one column." for doubt in unclear]
    notes += [
        f"{doubt.sentence(called)}. They count as different; if they are one, say "
        f"{parameter(same=['='.join(doubt.columns)])}."
        for doubt in doubts
        if not doubt.by_spelling
    ]
    return [other.renamed(own) for other, own in zip(others, names[1:], strict=True)], tuple(notes[:_SHOWN])


def neighbours(
    table: Table,
    sensitive: str,
    others: Sequence[Published],
    l: int,
    notes: tuple[str, ...] = (),
    totals: NDArray[np.int64] | None = None,
) -> Neighbours:
    """Check the others' tables against ours and against each other: the same people, and l values left by theirs.

    ``totals`` are the rows of every sensitive value, where somebody else has counted them.
    """
    column = table[sensitive]
    labels = column.domain.labels
    totals = count(column.codes, column.domain.size) if totals is None else totals
    ours = {label: int(count) for label, count in zip(labels, totals, strict=True) if count}
    problems = []
    for other in others:
        theirs = dict(zip(other.values, other.totals.tolist(), strict=True))
        differing = sorted(set(ours) ^ set(theirs)) or [value for value in ours if ours[value] != theirs[value]]
        if other.suppressed:
            problems.append(
                f"`{other.name}` has {other.suppressed:,} suppressed rows: their people are in no class of it, and "
                "what is published next to it cannot be judged."
            )
        elif differing:
            problems.append(
                f"`{other.name}` is not about the same people: {described(differing)} of the sensitive column do "
                f"not occur as often in it as in `{sensitive}` here."
            )
    if problems:
        raise DataError(problems)
    if l > len(ours):
        raise UnreachableError(
            f"l={l} cannot be reached: `{sensitive}` has {len(ours)} distinct values, which is the largest feasible l.",
            best={"l": len(ours)},
        )
    place = {label: code for code, label in enumerate(labels)}
    bits = []
    for other in others:
        inside = np.zeros((other.n_classes, -(-len(labels) // 64) * 64), dtype=bool)
        inside[:, [place[label] for label in other.values]] = other.counts > 0
        bits.append(np.packbits(inside, axis=1, bitorder="little").view(np.uint64))
    try:
        require_independent(others)
    except DataError as error:
        raise DataError([*error.problems, *notes]) from error  # perhaps by columns that were taken for one
    beside = Neighbours(tuple(others), tuple(bits), notes)
    _require_room(beside, l)
    return beside


def _require_room(beside: Neighbours, l: int) -> None:
    """A table fits beside the others if and only if theirs alone leave l values: it may say nothing at all."""
    sets = [[int.from_bytes(row.tobytes(), "little") for row in bits] for bits in beside.bits]
    found = least_left(sets, enough=l) if sets else None
    if found is None:
        return
    least, chosen = found
    where = []
    for other, bits_of, bits in zip(beside.tables, sets, chosen, strict=True):
        cells = {name: column.labels[column.codes[bits_of.index(bits)]] for name, column in other.cells.items()}
        where.append(f"`{other.name}` " + ", ".join(f"{name} = {cell}" for name, cell in cells.items()))
    raise UnreachableError(
        f"l={l} cannot be reached whatever is published here: the others' tables alone leave {least} "
        f"value{'s' * (least != 1)} ({'; '.join(where)}). The largest feasible l is {least}.",
        best={"l": least},
    )


def kept_columns(table: Table, beside: Neighbours, shared: Shared) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(quasi-identifiers that are published, those that are dropped because others have them)."""
    names = table.schema.quasi_identifiers
    common = tuple(name for name in names if name in beside.columns)
    if not common or shared == "nested":
        if common:
            _require_nested(table, beside, common)
        return names, ()
    kept = tuple(name for name in names if name not in common)
    if not kept:
        raise SchemaError(
            f"Every quasi-identifier ({listed(names)}) is published by others already, so that nothing is left to "
            f"publish. If theirs and ours follow one hierarchy, say {parameter(shared='nested')}."
        )
    return kept, common


def _require_nested(table: Table, beside: Neighbours, common: tuple[str, ...]) -> None:
    problems = []
    for name in common:
        hierarchy = table[name].settings.hierarchy
        if hierarchy is None:
            problems.append(f"`{name}` is published by others, too, and has no hierarchy to nest it by. Give one.")
            continue
        covered = LeafBits(hierarchy)
        for other in beside.tables:
            if name not in other.quasi_identifiers:
                continue
            if other.in_buckets:
                problems.append(f"`{other.name}` publishes `{name}` in a table of its own; it cannot be nested.")
                continue
            cells = other.cells[name].labels
            if any(covered[a] & covered[b] for a, b in combinations(cells, 2)):
                problems.append(
                    f"`{name}`: cells of `{other.name}` overlap; differences of its classes tell more than it shows."
                )
            strange = [cell for cell in cells if not covered.is_node(cell)]
            if strange:
                problems.append(
                    f"`{name}`: {described(strange)} of `{other.name}` are no nodes of its hierarchy, "
                    "so cells may cross and the tables be subtracted from each other."
                )
    for first, second in combinations(beside.tables, 2):
        both = sorted(set(first.quasi_identifiers) & set(second.quasi_identifiers))
        if both:
            problems.append(
                f"`{first.name}` and `{second.name}` share {listed(both)} among themselves; with shared columns here, "
                "too, more may follow from all of them than intersections show."
            )
    if problems:
        raise DataError([*problems, f"Drop the shared columns instead: {parameter(shared='discard')}."])


@dataclass(frozen=True, eq=False)
class NestedCondition(JointCondition):
    """As :class:`JointCondition`, but classes whose shared cells exclude each other are no combination.

    Monotone all the same: a more general cell meets what one of its parts meets, and has at least its values.
    """

    beside: Neighbours
    domain: FullDomain
    common: tuple[str, ...]
    _kept: dict[tuple[Any, ...], tuple[NDArray[Any], ...]] = field(default_factory=dict)

    @cached_property
    def _axes(self) -> list[int]:
        return [self.domain.names.index(name) for name in self.common]

    @cached_property
    def _covered(self) -> list[LeafBits]:
        trees = [self.domain.table[name].settings.hierarchy for name in self.common]
        return [LeafBits(tree) for tree in trees if tree is not None]

    def passes(self, cube: CellCube) -> bool:
        """Whether every cell keeps l values with every combination of classes it meets."""
        from undercover.steps.lattice.kernels import joint_values_hold

        bits = cube.held["bits"]
        occupied = np.flatnonzero(bits.any(axis=1))
        if cube.coordinates is None:
            places = np.unravel_index(occupied, self.domain.sizes(cube.levels))
        else:
            places = tuple(cube.coordinates[:, occupied])
        own = np.stack([places[axis] for axis in self._axes], axis=1)
        distinct, context = np.unique(own, axis=0, return_inverse=True)
        levels = tuple(cube.levels[axis] for axis in self._axes)
        for number, nodes in enumerate(distinct):
            sets = self._sets(levels, tuple(int(node) for node in nodes))
            if not joint_values_hold(bits[occupied[context.reshape(-1) == number]], self.l, *sets):
                return False
        return True

    def _sets(self, levels: Levels, nodes: tuple[int, ...]) -> tuple[NDArray[Any], ...]:
        """The sets of the others that a cell with these nodes in the shared columns meets."""
        key = (levels, nodes)
        if key not in self._kept:
            met = []
            for other, bits in zip(self.beside.tables, self.beside.bits, strict=True):
                meets = np.ones(len(bits), dtype=bool)
                for name, axis, level, node, covered in zip(
                    self.common, self._axes, levels, nodes, self._covered, strict=True
                ):
                    if name in other.quasi_identifiers:
                        own = covered[self.domain.columns[axis].levels[level].labels[node]]
                        column = other.cells[name]
                        overlap = np.array([bool(own & covered[label]) for label in column.labels])
                        meets &= overlap[column.codes]
                if meets.any():
                    met.append(bits[meets])
            self._kept[key] = other_sets(met, self.n_values)
        return self._kept[key]


def joint_condition(
    domain: FullDomain, sensitive: str, beside: Neighbours, l: int, shared: Shared
) -> JointCondition | NestedCondition:
    """The condition of a table that is published next to others."""
    n_values = domain.table[sensitive].domain.size
    common = tuple(name for name in domain.names if name in beside.columns)
    if shared == "nested" and common:
        return NestedCondition(l, beside.bits, n_values, beside, domain, common)
    return JointCondition(l, beside.bits, n_values)


@dataclass(frozen=True)
class JointFigures:
    """Over all combinations of classes; what could not be gone through is ``None``."""

    combinations: int
    least: int | None  # values left
    surest: float | None  # highest probability of a value
    possible: int  # values that stay possible for whoever knows everybody's quasi-identifiers, at least

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "combinations": self.combinations,
            "l": self.least,
            "max_probability": self.surest,
            "possible_l": self.possible,
        }


def joint_figures(domain: FullDomain, sensitive: str, levels: Levels, beside: Neighbours) -> JointFigures:
    """Go through all combinations of the classes of a node with those of the others."""
    from undercover.compiled.joint import possible_values, survey_combinations

    cube = domain.class_cube(levels, {"tally"})
    labels = domain.table[sensitive].domain.labels
    own = cube.held["tally"]
    totals = own.sum(axis=0)
    present = np.flatnonzero(totals)
    place = {labels[code]: position for position, code in enumerate(present)}
    tables: list[NDArray[np.int64]] = [own[:, present]]
    for other in beside.tables:
        aligned = np.zeros((other.n_classes, len(present)), dtype=np.int64)
        aligned[:, [place[label] for label in other.values]] = other.counts
        tables.append(aligned)
    combinations = prod(map(len, tables))
    counts = np.ascontiguousarray(np.concatenate(tables))  # kernels are compiled for rows one after the other
    starts = np.cumsum([0, *map(len, tables)]).astype(np.int64)
    shared, overlap = _shared(domain, levels, cube.coordinates, beside)
    possible, _ = possible_values(counts, starts, totals[present], shared, overlap)
    if combinations * len(present) > _MOST_WORK:
        return JointFigures(combinations, None, None, possible)
    spread = np.zeros(len(present) + 1, dtype=np.int64)
    worst, figures = np.zeros((2, len(tables)), dtype=np.int64), np.zeros((2, 2))
    survey_combinations(counts, starts, totals[present], shared, overlap, 1, spread, worst, figures)
    return JointFigures(combinations, int(figures[0, 0]), float(figures[1, 1]), possible)


def _shared(
    domain: FullDomain, levels: Levels, coordinates: NDArray[np.int64] | None, beside: Neighbours
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Cells of columns that others have, too, and which of them overlap, as the kernels take them."""
    assert coordinates is not None
    names = [name for name in domain.names if name in beside.columns]
    rows = coordinates.shape[1] + sum(other.n_classes for other in beside.tables)
    shared = np.full((len(names), rows), -1, dtype=np.int64)
    cells: list[list[int]] = []
    for number, name in enumerate(names):
        axis = domain.names.index(name)
        hierarchy = domain.table[name].settings.hierarchy
        assert hierarchy is not None
        covered = LeafBits(hierarchy)
        place: dict[str, int] = {}
        on = domain.columns[axis].levels[levels[axis]]
        numbers = np.array([place.setdefault(label, len(place)) for label in on.labels])
        start = coordinates.shape[1]
        shared[number, :start] = numbers[coordinates[axis]]
        for other in beside.tables:
            if name in other.cells:
                column = other.cells[name]
                numbers = np.array([place.setdefault(label, len(place)) for label in column.labels])
                shared[number, start : start + other.n_classes] = numbers[column.codes]
            start += other.n_classes
        cells.append([covered[label] for label in place])
    widest = max(map(len, cells), default=0)
    overlap = np.zeros((len(names), widest, widest), dtype=bool)
    for number, own in enumerate(cells):
        overlap[number, : len(own), : len(own)] = [[bool(first & second) for second in own] for first in own]
    return shared, overlap
