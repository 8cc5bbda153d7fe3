"""The door of the Spark engine: values are checked and encoded by the same code as everywhere, rows by their maps.

Every column comes as its different values. Repeated until all columns are as long as the longest, they are a table with
every value in it, which goes through :meth:`Table.from_arrow`: kinds, bins, hierarchies and problems are its.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from undercover.engines.spark.coding import Coding, Gathered, coded, gathered, quoted
from undercover.engines.spark.far import Held
from undercover.engines.spark.packed import Layout
from undercover.errors import DataError, HierarchyError, ParameterError, listed
from undercover.model.schema import Schema
from undercover.model.table import Table, code_type
from undercover.wording import option

MOST_COUNTED = 20_000_000
"""Rows up to which a problem says how many of them have it; beyond, how many different values."""


class Source(Protocol):
    """A DataFrame, and what the values of its columns are."""

    frame: Any

    def values(self, found: Mapping[str, Gathered]) -> dict[str, pa.ChunkedArray]:
        """The values of every column, one for one, as a table on one machine would have them."""


def coded_frame(given: Source, schema: Schema) -> Held:
    """Check and encode a table that lies in Spark."""
    names = list(given.frame.columns)
    schema = schema.for_columns(names)
    _check_people(schema)
    schema.check_against(names)
    found = gathered(given.frame, schema.published)
    rows = int(next(iter(found.values())).counts.sum()) if found else 0
    if not rows:
        raise DataError("The table is empty: it has no rows.")
    like, codings = _domains(given.values(found), found, schema, rows)
    like = replace(like, n_input=rows, repeated=_all_repeated(given.frame, schema))
    types = tuple(np.dtype(code_type(like[name].domain.size)).str for name in schema.published)
    layout = Layout(schema.published, types)
    return Held(coded(given.frame, codings, layout).persist(), layout, like)


def same_length(columns: Mapping[str, pa.ChunkedArray]) -> pa.Table:
    """Columns of any length as a table: the values of the shorter ones come again."""
    longest = max(map(len, columns.values()))
    return pa.table({n: column.take(pa.array(np.arange(longest) % len(column))) for n, column in columns.items()})


def _check_people(schema: Schema) -> None:
    said = {"unit": schema.unit_column, "weight": schema.weight, "population": schema.population}
    odd = [name for name, value in said.items() if value is not None]
    if odd:
        raise ParameterError(
            f"The Spark engine takes every row for one person and does not read {listed(odd)}. Keep one row of each "
            f"person first, or say {option(engine='local')}."
        )


def _domains(
    values: Mapping[str, pa.ChunkedArray], found: Mapping[str, Gathered], schema: Schema, rows: int
) -> tuple[Table, dict[str, Coding]]:
    """A table without rows that has every value in its domains, and the code of every value."""
    plain = replace(schema, identifiers=())
    left_out = {} if schema.missing != "drop" else {name: _missing(values[name]) for name in _relevant(schema)}
    kept = {
        name: column.filter(pa.array(~left_out[name])) if name in left_out else column
        for name, column in values.items()
    }
    if any(not len(column) for column in kept.values()):
        raise DataError("Every row has a missing value; nothing is left to publish.")
    try:
        table = Table.from_arrow(same_length(kept), plain)
    except (DataError, HierarchyError):
        if rows <= MOST_COUNTED:  # once more, as often as they occur: a problem says of how many rows it is
            often = {
                n: column.take(pa.array(np.repeat(np.arange(len(column)), found[n].counts)))
                for n, column in values.items()
            }
            Table.from_arrow(pa.table(often), plain)
        raise
    codings = {}
    for name, column in values.items():
        codes = np.full(len(column), -1, dtype=np.int64)
        codes[~left_out.get(name, np.zeros(len(column), dtype=bool))] = table[name].codes[: len(kept[name])]
        codings[name] = Coding(found[name].values, codes)
    like = table.take(np.empty(0, dtype=np.int64))
    return replace(like, schema=replace(table.schema, identifiers=schema.identifiers)), codings


def _relevant(schema: Schema) -> tuple[str, ...]:
    return schema.quasi_identifiers + schema.sensitive


def _missing(column: pa.ChunkedArray) -> NDArray[np.bool_]:
    return np.asarray(pc.is_null(column, nan_is_null=True).to_numpy(), dtype=bool)


def _all_repeated(frame: Any, schema: Schema) -> dict[str, int]:
    """Of every identifier the rows that share it, unless the holder says that each row is a person."""
    return {} if schema.says_each_row else {name: _repeated(frame, name) for name in schema.identifiers}


def _repeated(frame: Any, name: str) -> int:
    """Rows that share an identifier with another row."""
    from pyspark.sql import functions

    held = functions.col(quoted(name))
    there = frame.select(held.alias("held")).where("held is not null and string(held) <> '' and string(held) <> 'NaN'")
    shared = there.groupBy("held").count().where("count > 1")
    return int(shared.agg(functions.sum("count")).collect()[0][0] or 0)
