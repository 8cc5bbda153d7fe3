"""Random COUNT queries, one sensitive value and a predicate on each of some quasi-identifiers, and their answers.

Liu & Wang, "Privacy Streamliner", Section 4, after Xiao, Yi & Tao 2010: the sensitive value is uniform over those that
occur; a categorical quasi-identifier is asked for one uniform value, a numeric one for the range between two uniform
endpoints.

Deviations: dates are asked for ranges like numbers; ordinal columns, whose cells are ranges too, for one value like
other categories, as the paper asks for education and birthplace. Endpoints are values that occur; a missing value is
never one. For columns with a hierarchy everything is counted in leaves.

Many queries over one spread of boxes are answered by a cube where that is the least work, else directly. The cube has
one axis per sensitive value and column. Along columns that are asked for ranges it holds running sums, so that a range
costs two look-ups; the cubes of fewer columns are sums over it. It is built once for all workloads where that pays,
else each workload is looked at by itself.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from undercover.errors import ParameterError
from undercover.forms.coverage import Coverage, Positions
from undercover.forms.meaning import leaf_values
from undercover.forms.spread import Spread, positions_of_codes
from undercover.model.table import EncodedColumn, Table
from undercover.randomness import Randomness

Evaluator = Literal["auto", "cube", "direct"]
Answers = NDArray[np.float64]

LARGEST_CUBE = 1 << 25  # entries of 8 bytes


@dataclass(frozen=True, eq=False)
class Workload:
    """Queries as codes: a sensitive value and a range of positions in every column."""

    names: tuple[str, ...]
    values: Positions  # (n_queries,) sensitive code
    lows: Positions  # (n_queries, n_columns)
    highs: Positions  # (n_queries, n_columns) included

    @property
    def count(self) -> int:
        """Number of queries."""
        return len(self.values)


def asks_for_ranges(column: EncodedColumn) -> bool:
    """Whether queries ask for a range of this column rather than for one value."""
    return column.domain.kind in ("numeric", "date")


def draw_workload(table: Table, names: Sequence[str], sensitive: str, count: int, randomness: Randomness) -> Workload:
    """Draw ``count`` queries; the same seed gives the same queries whatever else is drawn."""
    purpose = f"count queries/{sensitive}/{'/'.join(names)}"
    values = _uniform(randomness, f"{purpose}/value", count, table[sensitive].domain.size)
    lows, highs = np.empty((count, len(names)), np.int64), np.empty((count, len(names)), np.int64)
    for j, name in enumerate(names):
        column = table[name]
        places = positions_of_codes(column, leaf_values(column))
        if asks_for_ranges(column):
            present = max(len(column.domain.values), 1)
            ends = [places[_uniform(randomness, f"{purpose}/{j}/{end}", count, present)] for end in (0, 1)]
            lows[:, j], highs[:, j] = np.minimum(*ends), np.maximum(*ends)
        else:
            lows[:, j] = highs[:, j] = places[_uniform(randomness, f"{purpose}/{j}", count, column.domain.size)]
    return Workload(tuple(names), values, lows, highs)


def _uniform(randomness: Randomness, purpose: str, count: int, size: int) -> NDArray[np.int64]:
    """Whole numbers below ``size``; with words of 32 bits off uniform by less than size / 2^32."""
    words = randomness.words(purpose, count).astype(np.uint64)
    return ((words * np.uint64(size)) >> np.uint64(32)).astype(np.int64)


def evaluate(
    spread: Spread, workloads: Sequence[Workload], ranges: Collection[str], evaluator: Evaluator = "auto"
) -> list[Answers]:
    """The expected count of every query, workload by workload.

    The spread has the columns of every workload; those of ``ranges`` are asked for ranges, the others for one position
    each. ``auto`` takes the evaluator with less work to do, and never builds a cube of more than ``LARGEST_CUBE``
    entries.
    """
    names = sorted(
        dict.fromkeys(name for workload in workloads for name in workload.names), key=lambda name: name not in ranges
    )  # ranges are the outer axes
    if evaluator == "auto":
        if len(workloads) > 1 and not _cube_pays(spread, workloads, names, ranges):
            return [found for workload in workloads for found in evaluate(spread, [workload], ranges)]
        evaluator = "cube" if _cube_pays(spread, workloads, names, ranges) else "direct"
    if evaluator == "direct":
        return [_direct(spread, workload) for workload in workloads]
    entries = math.prod(_shape(spread, names, ranges))
    if entries > LARGEST_CUBE:
        raise ParameterError(
            f"A cube of these columns has {entries:,} entries; the largest built is {LARGEST_CUBE:,}. "
            'Use the evaluator "auto" or "direct".'
        )
    cube = _cube(spread, names, ranges)
    return [_look_up(cube, names, workload, ranges) for workload in workloads]


def _shape(spread: Spread, names: Sequence[str], ranges: Collection[str]) -> tuple[int, ...]:
    """One entry more along ranges, where what lies behind the last position ends."""
    return (spread.n_values, *(spread.coverage[name].n_positions + (name in ranges) for name in names))


def _cube_pays(spread: Spread, workloads: Sequence[Workload], names: Sequence[str], ranges: Collection[str]) -> bool:
    """Compare additions and entries of the cube with the cells the direct evaluator looks at, in rough nanoseconds."""
    entries = math.prod(_shape(spread, names, ranges))
    if entries > LARGEST_CUBE:
        return False
    touches = np.ones(len(spread.cells[names[0]]))
    for name in names:
        coverage = spread.coverage[name]
        per_cell = 2 * np.diff(coverage.starts) if name in ranges else coverage.sizes
        touches *= per_cell[spread.cells[name]]
    building = float(touches[spread.pair_box].sum()) + 10 * entries
    per_value = np.diff(spread.value_starts)
    direct = sum(7 * float(per_value[workload.values].sum()) * len(workload.names) for workload in workloads)
    return building <= direct


def _direct(spread: Spread, workload: Workload) -> Answers:
    from undercover.utility.queries.kernels import sum_products

    order = np.argsort(workload.values, kind="stable")  # boxes of one value at a time
    asked = (workload.values[order], workload.lows[order], workload.highs[order])
    runs = _runs(spread, workload.names)
    answers = np.empty(workload.count)
    answers[order] = sum_products(spread.value_starts, spread.pair_box, spread.pair_weight, runs, *asked)
    return answers


class Runs(NamedTuple):
    """The cells of several columns numbered through, and what they cover."""

    cells: Positions  # (n_boxes, n_columns)
    starts: Positions
    low: Positions
    high: Positions
    sizes: NDArray[np.int64]  # positions that each cell covers


def _runs(spread: Spread, names: Sequence[str]) -> Runs:
    columns = [spread.coverage[name] for name in names]
    cells_before = np.cumsum([0, *(column.n_cells for column in columns)])
    runs_before = np.cumsum([0, *(len(column.low) for column in columns)])
    cells = np.stack([spread.cells[name] + first for name, first in zip(names, cells_before[:-1], strict=True)], axis=1)
    starts = [column.starts[:-1] + first for column, first in zip(columns, runs_before[:-1], strict=True)]
    return Runs(
        cells,
        np.concatenate([*starts, runs_before[-1:]]).astype(np.int64),
        np.concatenate([column.low for column in columns]),
        np.concatenate([column.high for column in columns]),
        np.concatenate([column.sizes for column in columns]),
    )


def _cube(spread: Spread, names: Sequence[str], ranges: Collection[str]) -> Answers:
    """(n_values, positions of each column): expected rows, running sums along ranges."""
    from undercover.utility.queries.kernels import scatter_products

    shape = _shape(spread, names, ranges)
    strides = [math.prod(shape[axis + 2 :]) for axis in range(len(names))]
    touched = [
        _touches(spread.coverage[name], stride, name in ranges) for name, stride in zip(names, strides, strict=True)
    ]
    # The column with most touches to a cell is the innermost loop.
    inward = sorted(range(len(names)), key=lambda axis: len(touched[axis][1]) / spread.coverage[names[axis]].n_cells)
    cells_before = np.cumsum([0, *(spread.coverage[names[axis]].n_cells for axis in inward)])
    touches_before = np.cumsum([0, *(len(touched[axis][1]) for axis in inward)])
    cells = np.stack([spread.cells[names[axis]] + cells_before[i] for i, axis in enumerate(inward)], axis=1)
    starts = [touched[axis][0][:-1] + touches_before[i] for i, axis in enumerate(inward)]
    cube = np.zeros((shape[0], math.prod(shape[1:])))
    scatter_products(
        cube,
        spread.value_starts,
        spread.pair_box,
        spread.pair_weight,
        cells,
        np.concatenate([*starts, touches_before[-1:]]).astype(np.int64),
        np.concatenate([touched[axis][1] for axis in inward]),
        np.concatenate([touched[axis][2] for axis in inward]),
    )
    cube = cube.reshape(shape)
    for axis, name in enumerate(names, start=1):
        if name in ranges:
            _running_sum(cube, axis)  # from where cells begin and end to what they hold
            _running_sum(cube, axis)
    return cube


def _running_sum(cube: Answers, axis: int) -> None:
    """As ``np.cumsum`` in place, a whole layer at a time: several times faster along outer axes."""
    layers = np.moveaxis(cube, axis, 0)
    for i in range(1, len(layers)):
        layers[i] += layers[i - 1]


def _touches(coverage: Coverage, stride: int, is_range: bool) -> tuple[Positions, Positions, Answers]:
    """(starts per cell, offsets, weights): begin and end of each run along a range, else every position covered."""
    share = 1.0 / coverage.sizes
    runs = np.diff(coverage.starts)
    if is_range:
        at = np.stack([coverage.low, coverage.high + 1], axis=1).reshape(-1)
        weights = np.stack([np.repeat(share, runs), -np.repeat(share, runs)], axis=1).reshape(-1)
        return 2 * coverage.starts, at * stride, weights
    lengths = coverage.high - coverage.low + 1
    starts = np.concatenate([[0], np.cumsum(coverage.sizes)])
    begins = np.cumsum(lengths) - lengths
    at = np.arange(starts[-1]) + np.repeat(coverage.low - begins, lengths)
    return starts, at * stride, np.repeat(share, coverage.sizes)


def _look_up(cube: Answers, names: Sequence[str], workload: Workload, ranges: Collection[str]) -> Answers:
    """Sum away the columns not asked for, then add and subtract the corners of each query."""
    for axis in range(len(names), 0, -1):
        if names[axis - 1] not in workload.names:
            # Along ranges the running sum behind the last position is the sum of all.
            cube = np.asarray(cube.take(-1, axis=axis) if names[axis - 1] in ranges else cube.sum(axis=axis))
    kept = [name for name in names if name in workload.names]
    columns = [workload.names.index(name) for name in kept]
    lows, highs = workload.lows[:, columns], workload.highs[:, columns]
    answers = np.zeros(workload.count)
    for upper in product(*((True, False) if name in ranges else (True,) for name in kept)):
        at = np.where(np.array(upper), highs, lows - 1)
        inside = (at >= 0).all(axis=1)
        found = cube[(workload.values, *np.maximum(at, 0).T)]
        answers += np.where(inside, found, 0.0) * (-1) ** upper.count(False)
    return answers
