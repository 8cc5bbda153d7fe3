"""A DataFrame as codes: values are gathered once per column, rows stay where they are.

First every task counts the different values of its columns, and the driver gets those; then, by maps from values to
codes, every task packs its rows (:mod:`.packed`). The driver sees values and how often each occurs, never a row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from undercover.engines.spark.packed import Codes, Layout, from_bytes, to_bytes
from undercover.errors import DataError, listed

MOST_VALUES = 10_000_000
"""Different values of one column that are gathered."""
ROWS_IN_A_CELL = 1 << 18
CHANGED = "The table changed while it was read: it has values that it did not have before. Publish a copy of it."


class Gathered(NamedTuple):
    """The different values of a column, missing among them as null, and how many rows have each."""

    values: pa.Array
    counts: NDArray[np.int64]


class Coding(NamedTuple):
    """From the values of a column to codes; -1 where the row is left out."""

    values: pa.Array
    codes: NDArray[np.int64]


def gathered(frame: Any, names: Iterable[str]) -> dict[str, Gathered]:
    """The different values of every column."""
    wanted = list(dict.fromkeys(names))
    cells: dict[str, list[pa.Table]] = {name: [] for name in wanted}
    for row in (
        frame.select(*map(quoted, wanted)).mapInArrow(partial(_gather, wanted), "place int, cell binary").collect()
    ):
        cells[wanted[row.place]].append(from_bytes(row.cell))
    found = {name: _merged(pa.concat_tables(tables)) for name, tables in cells.items() if tables}
    many = [name for name, table in found.items() if table.num_rows > MOST_VALUES]
    if many:
        raise DataError(
            f"{listed(many)} has more than {MOST_VALUES:,} different values, which is more than the Spark engine "
            "gathers. Round the values, declare bins after rounding, or leave the column out."
        )
    return {
        name: Gathered(table.column("value").combine_chunks(), table.column("count").to_numpy())
        for name, table in found.items()
    }


def _gather(names: list[str], batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """What one task has of every column."""
    found: dict[str, list[pa.Table]] = {name: [] for name in names}
    for batch in batches:
        for place, name in enumerate(names):
            counted = pc.value_counts(batch.column(place))
            tables = found[name]
            tables.append(pa.table({"value": counted.field("values"), "count": counted.field("counts")}))
            if len(tables) > 1 and sum(map(len, tables)) > ROWS_IN_A_CELL:
                found[name] = [_merged(pa.concat_tables(tables))]
    cells = {place: _merged(pa.concat_tables(found[name])) for place, name in enumerate(names) if found[name]}
    yield _cells(list(cells), [to_bytes(table) for table in cells.values()])


def _merged(table: pa.Table) -> pa.Table:
    merged = table.group_by("value").aggregate([("count", "sum")])
    return pa.table({"value": merged.column("value"), "count": merged.column("count_sum")}).sort_by("value")


def _cells(places: list[int], cells: list[bytes]) -> pa.RecordBatch:
    return pa.record_batch({"place": pa.array(places, pa.int32()), "cell": pa.array(cells, pa.binary())})


def coded(frame: Any, codings: Mapping[str, Coding], layout: Layout) -> Any:
    """The rows of a DataFrame as packed cells, in a DataFrame of one column."""
    chosen = frame.select(*(quoted(name) for name in layout.names))
    return chosen.mapInArrow(partial(_code, [codings[name] for name in layout.names], layout), "cell binary")


def _code(codings: list[Coding], layout: Layout, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        waiting.append(batch)
        if sum(one.num_rows for one in waiting) >= ROWS_IN_A_CELL:
            yield _packed(codings, layout, waiting)
            waiting = []
    if waiting:
        yield _packed(codings, layout, waiting)


def _packed(codings: list[Coding], layout: Layout, batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    columns = [
        np.concatenate([_codes(batch.column(place), coding) for batch in batches])
        for place, coding in enumerate(codings)
    ]
    kept = np.logical_and.reduce([codes >= 0 for codes in columns])
    if not kept.all():
        columns = [codes[kept] for codes in columns]
    return pa.record_batch({"cell": pa.array([layout.pack(columns)], pa.binary())})


def _codes(column: pa.Array, coding: Coding) -> Codes:
    short = column.dictionary_encode(null_encoding="encode")
    places = pc.index_in(short.dictionary, value_set=coding.values)
    if places.null_count:
        raise DataError(CHANGED)
    return np.asarray(coding.codes[places.to_numpy()][short.indices.to_numpy()])


def quoted(name: str) -> str:
    """A name of a column as Spark wants it where it has a dot or a space."""
    return "`" + name.replace("`", "``") + "`"
