"""A release as an attacker sees it: boxes of known columns, each pointing at a bucket of sensitive values.

A generalised table is the case where every box is its own bucket. In a release of two tables (QIT and SAT) rows of one
box can lie in several buckets; each (box, bucket) pair is then an entry of its own.

Where the cells of the QIT are generalised, a box covers many people and its rows lie in several buckets. Whoever
matches a person with boxes need not match him with every pair of a box and a bucket: what a box says of a value, summed
over its buckets, is the same for everybody who fits it. So each box becomes a bucket of its own in which a value s
occurs

    sum over B of Num(E, B) Num(s, B) / |B|

times, counted in parts of a common denominator so that it stays a whole number.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from undercover.errors import DataError, described
from undercover.forms.coverage import Coverage
from undercover.forms.dealt.law import Law
from undercover.forms.distribution import Distribution, distribution_of
from undercover.forms.meaning import domain_values
from undercover.forms.written import Written, combine, first_rows
from undercover.model.groups import number
from undercover.model.release import PublishedTable
from undercover.model.table import EncodedColumn, Table
from undercover.threads import parallel

if TYPE_CHECKING:
    from undercover.forms.reading import Reading

_BITMAP_BYTES = 1 << 26
_LARGEST = 1 << 62


@dataclass(frozen=True)
class Boxes:
    """What the attacker can match a person against."""

    weights: NDArray[np.int64]  # (n_boxes,) published rows of each box
    bucket_of: NDArray[np.int64]  # (n_boxes,)
    cells: NDArray[np.int32]  # (n_boxes, n_columns) the cell of each column
    covers: Sequence[Coverage]  # (n_columns,) what the cells of each column cover, in codes of the original
    value_starts: NDArray[np.int64]  # (n_columns + 1,) values numbered through all columns
    exact: NDArray[np.int64] | None  # (n_boxes, n_columns) the only value covered, where every cell covers at most one
    sensitive: dict[str, Distribution]  # by bucket
    laws: Mapping[str, Law] = field(default_factory=dict)  # of columns whose values were dealt anew

    @property
    def most_lines(self) -> int:
        """Most classes of values that no cell tells apart: no more than there are values, or ends of runs and one."""
        return sum(min(cover.n_positions, 2 * len(cover.low) + 1) for cover in self.covers)

    def buckets(self, column: EncodedColumn) -> Buckets:
        """The values of a sensitive column in every bucket, in the codes of the original."""
        held = self.sensitive[column.name]
        codes, n_values = value_codes(held.labels, column)
        counts, sizes = held.counts.astype(np.float64), held.sizes.astype(np.float64)
        weights = self.weights.astype(np.float64)
        return Buckets(weights, self.bucket_of, held.starts, codes[held.value_index], counts, sizes, n_values)


class Buckets(NamedTuple):
    """Boxes and the sensitive values in their buckets, as kernels take them."""

    weights: NDArray[np.float64]  # (n_boxes,)
    bucket_of: NDArray[np.int64]  # (n_boxes,)
    starts: NDArray[np.int64]  # bucket b has the entries starts[b]:starts[b + 1]
    values: NDArray[np.int64]  # code of each entry, below n_values
    counts: NDArray[np.float64]  # rows of each entry
    sizes: NDArray[np.float64]  # rows of each bucket
    n_values: int


def boxes_of(reading: Reading, original: Table, known: Sequence[str], sensitive: Sequence[str]) -> Boxes:
    """Read the published cells of the ``known`` columns as sets of original values.

    Where values were drawn, one that nobody has may be published; it covers nobody. In ``exact`` it is a code behind
    the column's own.
    """
    table, buckets = reading.main, reading.buckets
    columns = [reading.column(name) for name in known]
    labels, count = combine(columns if buckets is None else [*columns, buckets.rows])
    representatives = first_rows(labels, count)
    covered = [
        _covered(table, name, column, original[name], reading.covers)
        for name, column in zip(known, columns, strict=True)
    ]
    cell_of = [column.codes[representatives] for column in columns]
    single = all(bool((cover.sizes <= 1).all()) for cover in covered)
    if buckets is None:
        bucket_of = np.arange(count)
        distributions = {name: distribution_of(name, reading.column(name), labels, count) for name in sensitive}
    else:
        bucket_of = buckets.rows.codes[representatives].astype(np.int64)
        distributions = {name: buckets.distribution(name) for name in sensitive}
    return Boxes(
        weights=np.bincount(labels, minlength=count),
        bucket_of=bucket_of,
        cells=np.stack(cell_of, axis=1).astype(np.int32),
        covers=covered,
        value_starts=np.concatenate([[0], np.cumsum([original[name].domain.size for name in known])]).astype(np.int64),
        exact=np.stack([_only(cover)[cells] for cover, cells in zip(covered, cell_of, strict=True)], axis=1)
        if single
        else None,
        sensitive=distributions,
        laws={name: _law(reading.among, held, original[name]) for name, held in distributions.items()}
        if reading.among
        else {},
    )


def _law(among: int, held: Distribution, column: EncodedColumn) -> Law:
    codes, n_values = value_codes(held.labels, column)
    return Law.of(among, np.bincount(codes, weights=held.overall, minlength=n_values))


def match(boxes: Boxes, targets: NDArray[np.int64], threads: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The boxes that cover each target: ``boxes[offsets[i]:offsets[i + 1]]``."""
    if boxes.exact is not None:
        return _equal(boxes.exact, targets)
    from undercover.forms.kernels import covering_boxes

    parts = [np.ascontiguousarray(part) for part in np.array_split(targets, threads)]
    # A part of the boxes at a time, so that the bitmaps stay small however many values and boxes there are.
    at_once = max(4096, _BITMAP_BYTES * 8 // boxes.most_lines // 64 * 64)
    counts, members = [], []
    for begin in range(0, len(boxes.weights), at_once):
        index = index_of(boxes, begin, min(begin + at_once, len(boxes.weights)))
        places = index.places(boxes)
        find = partial(covering_boxes, index.bitmaps, index.summary, places, boxes.value_starts)
        found = parallel(find, parts, threads, steps=targets.size * index.bitmaps.shape[1])
        counts.append(np.concatenate([np.diff(offsets) for offsets, _ in found]))
        members.append(np.concatenate([inside for _, inside in found]) + begin)
    offsets = np.concatenate([[0], np.cumsum(np.sum(counts, axis=0))])
    if len(members) == 1:
        return offsets, members[0]
    owner = np.concatenate([np.repeat(np.arange(len(targets)), count) for count in counts])
    return offsets, np.concatenate(members)[np.argsort(owner, kind="stable")]


class Index(NamedTuple):
    """Some boxes by the values that they cover; values that none of their cells tells apart share a line."""

    bitmaps: NDArray[np.uint64]  # (n_lines, n_words) a bit for every box
    summary: NDArray[np.uint64]  # (n_lines, n_words / 64) a bit for every word of the bitmaps that is not 0
    starts: NDArray[np.int64]  # (n_columns + 1,) lines of the columns
    bounds: Sequence[NDArray[np.int64]]  # of every column the codes at which a new line begins

    def lines(self, codes: NDArray[np.int64]) -> NDArray[np.int64]:
        """(n, n_columns) the line of each code, counted from the first one of its column."""
        of_columns = zip(self.bounds, codes.T, strict=True)
        return np.stack([np.searchsorted(bounds, column, side="right") for bounds, column in of_columns], axis=1)

    def places(self, boxes: Boxes) -> NDArray[np.int32]:
        """(n_values,) the line of every value of every column."""
        found = np.zeros(int(boxes.value_starts[-1]), dtype=np.int32)
        for first, (begin, end), bounds in zip(
            self.starts[:-1], pairwise(boxes.value_starts), self.bounds, strict=True
        ):
            inside = bounds[bounds < end - begin]
            found[begin + inside] = 1
            np.cumsum(found[begin:end], out=found[begin:end])
            found[begin:end] += first
        return found


def index_of(boxes: Boxes, begin: int, end: int, asked: NDArray[np.int64] | None = None) -> Index:
    """The bitmaps of the boxes from ``begin`` to ``end``; with ``asked`` (n, n_columns) only those of these codes."""
    from undercover.forms.kernels import index_boxes

    cells = np.empty((end - begin, len(boxes.covers)), dtype=np.int64)
    starts, lows, highs, all_bounds, line_starts = [np.zeros(1, dtype=np.int64)], [], [], [], [0]
    n_cells = 0
    for j, cover in enumerate(boxes.covers):
        used, place = np.unique(boxes.cells[begin:end, j].astype(np.int64), return_inverse=True)
        cells[:, j] = place.reshape(-1) + n_cells
        low, high, times = cover.runs_of(used)
        bounds = np.unique(np.concatenate([low, high + 1]) if asked is None else asked[:, j])
        lows.append(np.searchsorted(bounds, low) + 1 + line_starts[-1])
        highs.append(np.searchsorted(bounds, high, side="right") + line_starts[-1])
        starts.append(starts[-1][-1] + np.cumsum(times))
        n_cells += len(used)
        all_bounds.append(bounds)
        line_starts.append(line_starts[-1] + len(bounds) + 1)
    runs = [np.concatenate(each).astype(np.int64) for each in (starts, lows, highs)]
    bitmaps, summary = index_boxes(cells, runs[0], runs[1], runs[2], line_starts[-1])
    return Index(bitmaps, summary, np.array(line_starts, dtype=np.int64), all_bounds)


def _covered(table: PublishedTable, name: str, column: Written, original: EncodedColumn, covers: bool) -> Coverage:
    """What every distinct cell covers, in codes of the original."""
    if table.form(name) == "value" and (known := Coverage.of_values(column.values, original)) is not None:
        return known
    read = domain_values(original).read_all(column.labels, table.form(name))
    found = Coverage.of_meanings(read, original.domain.size)
    if covers and not found.sizes.all():
        wrong = [column.labels[cell] for cell in np.flatnonzero(found.sizes == 0).tolist()]
        raise DataError(f"Cells of `{name}` stand for no value of the original column: {described(wrong)}.")
    return found


def _only(cover: Coverage) -> NDArray[np.int64]:
    """(n_cells,) the only value that each cell covers; a code behind the column's own where it covers none."""
    return np.where(cover.sizes > 0, cover.low[cover.starts[:-1]], cover.n_positions)


def _equal(boxes: NDArray[np.int64], targets: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    both = np.concatenate([boxes, targets])
    keys = both[:, 0]
    for j in range(1, both.shape[1]):
        keys, _ = number(keys * (int(both[:, j].max()) + 1) + both[:, j])
    box_keys, target_keys = keys[: len(boxes)], keys[len(boxes) :]
    order = np.argsort(box_keys, kind="stable")
    ordered = box_keys[order]
    start, end = np.searchsorted(ordered, target_keys), np.searchsorted(ordered, target_keys, side="right")
    offsets = np.concatenate([[0], np.cumsum(end - start)])
    inside = np.arange(offsets[-1]) - np.repeat(offsets[:-1] - start, end - start)
    return offsets, order[inside]


def value_codes(labels: Sequence[str], column: EncodedColumn) -> tuple[NDArray[np.int64], int]:
    """The original code of each published sensitive value; values the original does not have come behind its codes."""
    place = {label: code for code, label in enumerate(column.domain.labels)}
    codes = np.array([place.setdefault(label, len(place)) for label in labels], dtype=np.int64)
    return codes, len(place)


@dataclass(frozen=True)
class MergedBoxes:
    """Boxes, and the buckets the rows of each lie in: ``buckets[starts[i]:starts[i + 1]]``."""

    boxes: Boxes
    starts: NDArray[np.int64]  # (n_boxes + 1,)
    buckets: NDArray[np.int64]
    n_buckets: int


def merged_boxes(reading: Reading, original: Table, known: Sequence[str], sensitive: Sequence[str]) -> MergedBoxes:
    """The boxes of a release as :func:`undercover.forms.boxes.boxes_of` reads them, one for all its buckets."""
    boxes = boxes_of(reading, original, known, sensitive)
    count = len(boxes.weights)
    n_buckets = int(boxes.bucket_of.max(initial=-1)) + 1
    separate = MergedBoxes(boxes, np.arange(count + 1), boxes.bucket_of, n_buckets)
    if reading.buckets is None or boxes.exact is not None:
        return separate
    whole = math.lcm(*(size for column in boxes.sensitive.values() for size in np.unique(column.sizes).tolist()))
    if whole * int(boxes.weights.sum()) >= _LARGEST:
        return separate  # no whole number would hold the counts
    columns = [reading.column(name) for name in known]
    entry_of, _ = combine([*columns, reading.buckets.rows])
    box_of, n_boxes = combine(columns)
    owner = np.empty(count, dtype=np.int64)  # the box of each pair of a box and a bucket
    owner[entry_of] = box_of
    first = first_rows(owner, n_boxes)
    order = np.argsort(owner, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=n_boxes))])
    weights = np.bincount(owner, weights=boxes.weights, minlength=n_boxes).astype(np.int64)
    merged = replace(
        boxes,
        weights=weights,
        bucket_of=np.arange(n_boxes),
        cells=boxes.cells[first],
        sensitive={
            name: _merged(column, owner, boxes.bucket_of, boxes.weights, n_boxes, whole)
            for name, column in boxes.sensitive.items()
        },
    )
    return MergedBoxes(merged, starts, boxes.bucket_of[order], n_buckets)


def _merged(
    column: Distribution,
    owner: NDArray[np.int64],
    bucket_of: NDArray[np.int64],
    rows: NDArray[np.int64],
    n_boxes: int,
    whole: int,
) -> Distribution:
    """The values of every box, in parts of ``1 / whole``."""
    entry, times = column.entries_of(bucket_of)
    keys = np.repeat(owner, times) * column.n_values + column.value_index[entry]
    parts = np.repeat(rows * (whole // column.sizes[bucket_of]), times) * column.counts[entry]
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    first = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
    counts = np.add.reduceat(parts[order], first)
    return Distribution.of_keys(column.name, column.values, keys[first], counts, column.overall, n_boxes)
