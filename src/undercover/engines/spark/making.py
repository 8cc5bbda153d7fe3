"""Work on the parts of a table in the executors: rows are sorted into parts, and each part is handed to the method.

A part is put in an order of its own values first, so that neither the partitions of the input nor a task that is tried
again changes what is made of it.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from undercover.arrays import count
from undercover.engines.cube import Cube, cube_of
from undercover.engines.parts import CutRule
from undercover.engines.spark import pieces
from undercover.engines.spark.far import Counted, Held, with_codes
from undercover.engines.spark.packed import Codes, Layout, canonical_order
from undercover.model.table import Table

MOST_CELLS = 4_000_000
"""Combinations of quasi-identifiers from which the coarse cut is found; of more, every so many-th by its hash."""


def counted(held: Held, columns: tuple[str, ...], *, every: int | None = None) -> Counted:
    """Count rows, codes and combinations of ``columns``; ``every`` takes one combination in so many."""
    layout, like = held.layout, held.like
    step = every or max(1, -(-like.n_input // MOST_CELLS))
    found = held.cells.mapInArrow(partial(_count, layout, like, columns, step), "cell binary").collect()
    rows, counts, cubes = 0, {name: np.zeros(like[name].domain.size, dtype=np.int64) for name in layout.names}, []
    for cell in found:
        more, histograms, cube = pickle.loads(cell.cell)
        rows += more
        cubes.append(cube)
        for name, histogram in histograms.items():
            counts[name] += histogram
    return Counted(rows, counts, _joined(cubes, like, columns))


def _count(
    layout: Layout, like: Table, columns: tuple[str, ...], every: int, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for cell in batch.column(0):
            part = with_codes(like, layout.unpack([cell.as_buffer()]))
            cube = cube_of(part, columns)
            if every > 1:
                cube = _some(cube, every)
            counts = {n: count(c.codes, c.domain.size) for n, c in part.columns.items()}
            yield pa.record_batch({"cell": pa.array([pickle.dumps((part.n_rows, counts, cube))], pa.binary())})


def _some(cube: Cube, every: int) -> Cube:
    """Combinations whose hash is one in ``every``: wherever they occur they are taken, or not."""
    mixed = np.zeros(cube.n_cells, dtype=np.uint64)
    for codes in cube.codes:
        mixed = (mixed ^ codes.astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    kept = mixed % np.uint64(every) == 0
    counts = None if cube.counts is None else cube.counts[kept]
    return Cube(cube.columns, tuple(codes[kept] for codes in cube.codes), counts)


def _joined(cubes: list[Cube], like: Table, columns: tuple[str, ...]) -> Cube:
    """One cube of several of the same columns."""
    held = {name: np.concatenate([cube.codes[j] for cube in cubes]) for j, name in enumerate(columns)}
    counts = np.concatenate([cube.counts for cube in cubes if cube.counts is not None])
    order = canonical_order(held, [like[name].domain.size for name in columns])
    codes = [held[name][order] for name in columns]
    begins = np.append(True, np.logical_or.reduce([one[1:] != one[:-1] for one in codes]))
    starts = np.flatnonzero(begins)
    return Cube(columns, tuple(one[starts] for one in codes), np.add.reduceat(counts[order], starts))


def made(held: Held, rule: CutRule, work: Callable[[Table], Any], counts: Mapping[str, NDArray[np.int64]]) -> Any:
    """A DataFrame of what ``work`` makes of every part, as pieces; each part has a task of its own."""
    keys = _keys(held.cells.sparkSession, rule.n_parts)
    by_part = held.cells.mapInArrow(partial(_sort, held.layout, rule, keys), "key int, part int, cell binary")
    making = partial(_make, held.layout, held.like, rule, counts, work)
    return by_part.repartition(rule.n_parts, "key").mapInArrow(making, pieces.SCHEMA)


def _keys(session: Any, count: int) -> list[int]:
    """A number for every part: Spark chooses tasks by hash, by which 0 and 1 of two would come to the same."""
    told = session.range(64 + 20 * count).selectExpr("int(id) key", f"pmod(hash(int(id)), {count}) task")
    found = {row.task: row.key for row in told.collect()}
    return [found[task] for task in range(count)]


def _sort(
    layout: Layout, rule: CutRule, keys: list[int], batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """The rows of every cell by their parts."""
    for batch in batches:
        for cell in batch.column(0):
            codes = layout.unpack([cell.as_buffer()])
            part = rule.of(codes)
            order = np.argsort(part, kind="stable")
            numbers, starts = np.unique(part[order], return_index=True)
            rows = np.split(order, starts[1:])
            packed = [layout.pack([codes[name][some] for name in layout.names]) for some in rows]
            tasks = pa.array([keys[number] for number in numbers], pa.int32())
            parts = pa.array(numbers.astype(np.int32), pa.int32())
            yield pa.record_batch({"key": tasks, "part": parts, "cell": pa.array(packed, pa.binary())})


def _make(
    layout: Layout,
    like: Table,
    rule: CutRule,
    counts: Mapping[str, NDArray[np.int64]],
    work: Callable[[Table], Any],
    batches: Iterator[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    """What ``work`` makes of the parts of a task."""
    held: dict[int, list[Any]] = {}
    for batch in batches:
        for part, cell in zip(batch.column("part").to_pylist(), batch.column("cell"), strict=True):
            held.setdefault(part, []).append(cell.as_buffer())
    for part in sorted(held):
        codes = layout.unpack(held.pop(part))
        order = canonical_order(codes, [like[name].domain.size for name in layout.names])
        codes = {name: one[order] for name, one in codes.items()}
        table = replace(with_codes(like, codes), part=rule.part(part, counts))
        yield from map(pieces.as_batch, _done(part, work, table, codes))


def made_of(frame: Any, work: Callable[[Table], Any]) -> Any:
    """The same of parts that were sent by the driver, each in a cell."""
    return frame.mapInArrow(partial(_make_sent, work), pieces.SCHEMA)


def _make_sent(work: Callable[[Table], Any], batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for part, cell in zip(batch.column("part").to_pylist(), batch.column("cell"), strict=True):
            table = pickle.loads(cell.as_buffer())
            yield from map(pieces.as_batch, _done(part, work, table, {}))


def _done(part: int, work: Callable[[Table], Any], table: Table, codes: Mapping[str, Codes]) -> Iterable[pieces.Piece]:
    """What ``work`` makes of a part, or its error: the driver raises it, and decides what becomes of other parts."""
    try:
        result = work(table)
    except Exception as error:
        return pieces.of_error(part, error)
    return pieces.of_result(part, result, codes)
