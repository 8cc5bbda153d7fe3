"""What a node would say together with the tables of others: values left, the surest value, values that stay possible.

The holder's figures for the run; :mod:`undercover.attacks.joint.attack` works them out from published tables.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from undercover.methods.noncentralized.cells import LeafBits
from undercover.methods.noncentralized.neighbours import Neighbours
from undercover.steps.lattice.cubes import FullDomain
from undercover.steps.lattice.lattice import Levels

_MOST_WORK = 500_000_000  # combinations times values that are gone through


@dataclass(frozen=True)
class JointFigures:
    """Over all combinations of classes; what could not be gone through is ``None``."""

    combinations: int
    least: int | None  # values left
    surest: float | None  # highest probability of a value
    possible: int | None  # values that stay possible whatever size a combination has

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
    from undercover.compiled.joint import least_possible, survey_combinations

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
    if combinations * len(present) > _MOST_WORK:
        return JointFigures(combinations, None, None, None)
    counts = np.concatenate(tables)
    starts = np.cumsum([0, *map(len, tables)]).astype(np.int64)
    shared, overlap = _shared(domain, levels, cube.coordinates, beside)
    spread = np.zeros(len(present) + 1, dtype=np.int64)
    worst, figures = np.zeros((2, len(tables)), dtype=np.int64), np.zeros((2, 2))
    survey_combinations(counts, starts, totals[present], shared, overlap, 1, spread, worst, figures)
    possible = least_possible(counts, starts, totals[present], shared, overlap, worst[0])
    return JointFigures(combinations, int(figures[0, 0]), float(figures[1, 1]), max(0, int(possible)))


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
