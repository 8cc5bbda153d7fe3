"""How far values were moved, where the quasi-identifiers of a release were drawn at random.

Li, Wang & He, "Privacy-Preserving Data Publishing via Mutual Cover", Section 5.2: ILoss of a drawn value is how far it
lies from the original, over the size of the attribute's domain, and of a table the sum over all cells. Beside it stand
the mean per cell, and the same with the domain's width in place of its size (the scale of NCP): 0 where a value stayed,
1 where it went from one end to the other.

For comparison the paper's ILoss of generalised cells: the width of the range over the size of the domain, and
(leaves - 1) / (all leaves - 1) for categories (Xiao & Tao 2006).

Deviations: the size of a domain is the number of distinct values that occur. Categories count by the distance of
:mod:`undercover.model.distance.between`, dates and ordinal values by their ranks. A missing value is as far from the
others as these can be from each other. Where the holder gave distances, they count in every figure; the size of the
domain divides them in ILoss as it divides differences where values lie on a scale, and their largest is the width.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from undercover.arrays import crossed, look_up, tally
from undercover.errors import DataError, NotTold, described
from undercover.forms.loss import Loss, losses
from undercover.forms.meaning import NOTHING, domain_values
from undercover.forms.reading import Reading
from undercover.forms.written import Written
from undercover.model.distance.between import ValueDistance
from undercover.model.table import EncodedColumn, Table

UNKNOWN = (
    "How far values were moved cannot be told from the published table: which row is whose stays in the private run. "
    "Measure the run or its folder."
)

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Displacement:
    """How far the cells of a table were moved."""

    iloss_sum: float  # the paper's figure: over all cells
    iloss: dict[str, float]  # mean per cell of each column
    shift: dict[str, float]  # the same over the width of the domain
    changed: dict[str, float]  # share of the cells that differ
    weights: dict[str, float] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "iloss_sum": self.iloss_sum,
            "changed_cells": float(np.mean(list(self.changed.values()))),
            "changed_per_column": dict(self.changed),
        }

    def losses(self) -> dict[str, Loss]:
        """As the measures of other releases are given: ``iloss`` and ``shift``, means and by column."""
        return {
            name: Loss.of_columns(per_column, self.weights)
            for name, per_column in (("iloss", self.iloss), ("shift", self.shift))
        }

    def __repr__(self) -> str:
        changed, shift = (float(np.mean(list(part.values()))) for part in (self.changed, self.shift))
        return (
            f"<Displacement: {changed:.1%} of the cells changed, by {shift:.4f} of the scale on average; "
            ".to_dict() has the numbers>"
        )


def displacement(original: Table, reading: Reading, own: NDArray[np.int64] | None = None) -> Displacement:
    """How far the values of a release were moved.

    ``own`` is the published row of every row of ``original``; not needed where the release keeps the order of the
    input.
    """
    if reading.covers:
        raise DataError("The cells of this release cover the truth: nothing was moved.")
    own = reading.own_rows(None) if own is None else own
    if own is None:
        raise NotTold(UNKNOWN)
    if len(own) != original.n_rows:
        raise DataError(f"The run has {len(own):,} rows, the original {original.n_rows:,}.")
    iloss: dict[str, float] = {}
    shift: dict[str, float] = {}
    changed, weights = {}, {}
    for name in reading.main.names("quasi-identifier"):
        column = original[name]
        moved, width, changed[name] = _moved(column, reading.column(name), own)
        iloss[name] = moved / (max(1, len(column.domain.values)) if _on_scale(column) else 1.0)
        shift[name] = moved / width
        weights[name] = column.settings.weight
    total = sum(iloss.values()) * original.n_rows
    return Displacement(total, iloss, shift, changed, weights)


def papers_iloss(original: Table, reading: Reading, own: NDArray[np.int64] | None = None) -> float:
    """The paper's ILoss, summed over all cells: of drawn values, or of generalised ones."""
    if not reading.covers:
        return displacement(original, reading, own).iloss_sum
    per_column = losses(original, reading)["ncp"].per_column
    total = 0.0
    for name, share in per_column.items():
        column = original[name]
        scale = _width(column) / len(column.domain.values) if _on_scale(column) else 1.0
        total += share * scale * original.n_rows
    return total


def _on_scale(column: EncodedColumn) -> bool:
    """Whether distances are differences, not shares already."""
    return column.domain.kind in ("numeric", "date") or (
        column.domain.kind == "ordinal" and column.settings.hierarchy is None
    )


def _scale(column: EncodedColumn) -> Floats:
    """Numbers as they are, dates and ordinal values by rank; of the values that are not missing."""
    present = len(column.domain.values)
    if column.domain.kind == "numeric":
        return domain_values(column).numbers[:present]
    return np.arange(present, dtype=np.float64)


def _width(column: EncodedColumn) -> float:
    scale = _scale(column)
    return float(scale[-1] - scale[0]) if len(scale) > 1 else 1.0


def _moved(column: EncodedColumn, found: Written, own: NDArray[np.int64]) -> tuple[float, float, float]:
    """The mean distance of cells, the largest there can be, and the share of them that differ."""
    labels = found.labels
    values = domain_values(column)
    code = np.array([values.position.get(label, -1) for label in labels], dtype=np.int64)
    given = column.settings.distance is not None
    unknown = [label for label, place in zip(labels, code, strict=True) if place < 0]
    strange = [label for label in unknown if given or not _is_number(column, label)]
    if strange:
        raise DataError(
            f"`{column.name}` was published with {described(strange)} that the original column does not have."
        )
    pairs = crossed(column.codes, column.domain.size, look_up(found.codes, own), len(labels))
    distinct, people = tally(pairs, column.domain.size * len(labels))
    before, after = distinct // len(labels), distinct % len(labels)
    differs = float(np.dot(before != code[after], people) / len(own))
    if given or not _on_scale(column):
        distance = ValueDistance.of(column)
        apart = [distance.between(int(one), int(code[other])) for one, other in zip(before, after, strict=True)]
        return float(np.dot(apart, people) / len(own)), (distance.widest or 1.0) if given else 1.0, differs
    width = _width(column)
    scale = _scale(column)
    missing = len(scale)  # code of a missing value
    numbers = np.array([float(label) if place < 0 else 0.0 for label, place in zip(labels, code, strict=True)])
    there = np.where(code[after] < 0, numbers[after], np.append(scale, 0.0)[np.minimum(code[after], missing)])
    here = np.append(scale, 0.0)[np.minimum(before, missing)]
    steps = np.abs(here - there)
    steps[(before == missing) != (code[after] == missing)] = width
    steps[(before == missing) & (code[after] == missing)] = 0.0
    return float(np.dot(steps, people) / len(own)), width, differs


def _is_number(column: EncodedColumn, label: str) -> bool:
    return column.domain.kind == "numeric" and domain_values(column).read(label, "value") == NOTHING and label != ""
