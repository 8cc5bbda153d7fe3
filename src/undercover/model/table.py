"""The encoded table: compact integer codes over sorted domains.

Everything below the door works on codes. A column of ``n`` rows is an array of uint8, uint16 or uint32 (as narrow as
its domain allows) and a :class:`Domain` that says which value each code stands for. Codes follow the order of the
values: numbers and dates ascending, ordinal values as declared, categories by label. Missing, where the schema makes
it a category, is the last code.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from undercover.errors import DataError, HierarchyError, listed
from undercover.model.encoding.domain import CellKind as CellKind
from undercover.model.encoding.domain import Codes as Codes
from undercover.model.encoding.domain import Domain as Domain
from undercover.model.encoding.domain import EncodedColumn as EncodedColumn
from undercover.model.encoding.domain import as_numbers as as_numbers
from undercover.model.encoding.domain import cell_kind as cell_kind
from undercover.model.encoding.domain import code_type as code_type
from undercover.model.encoding.domain import kind_of as kind_of
from undercover.model.encoding.domain import write_values as write_values
from undercover.model.encoding.folding import fold_spellings
from undercover.model.encoding.repeats import rows_that_share
from undercover.model.encoding.values import Empty, plain, without_value
from undercover.model.encoding.values import encode as encode
from undercover.model.figures import counted
from undercover.model.kinds.settle import settled
from undercover.model.schema import Schema
from undercover.randomness import Randomness
from undercover.units import one_row_each, units_of, weights_of
from undercover.wording import option


@dataclass(frozen=True)
class Table:
    """Encoded columns with their schema; identifiers and columns without a role are left at the door.

    Examples
    --------
    >>> schema = Schema(quasi_identifiers=["age"], sensitive="disease")
    >>> table = Table.from_arrow(pa.table({"age": [34, 28], "disease": ["flu", "cold"], "name": ["Al", "Bo"]}), schema)
    >>> table
    <Table of 2 rows: 1 quasi-identifier, 1 sensitive; hand it to a method>
    >>> table["disease"].codes.tolist()
    [1, 0]
    """

    schema: Schema
    columns: Mapping[str, EncodedColumn]
    n_rows: int
    kept: NDArray[np.int64] | None  # (n_rows,) number of each row in the input; None: all of them, in their order
    n_input: int
    repeated: Mapping[str, int]  # identifier -> rows that share its value with another row, where no unit says whose
    units: NDArray[np.int64] | None = None  # (n_rows,) number of the person each row is of; None: every row is a person
    weights: NDArray[np.float64] | None = None  # (n_rows,) people of the population each row stands for
    set_aside: int = 0  # rows of people of whom another one was kept
    population: Table | None = None  # everybody the table is a sample of, where the schema names a table of them
    part: Any = None  # where it is a part of a table: what it knows of the whole (engines.parts.Part)

    @classmethod
    def from_arrow(
        cls, data: pa.Table, schema: Schema, *, one_row: Randomness | None = None, empty: Empty = np.empty
    ) -> Table:
        """Check ``data`` against ``schema`` and encode what will be needed of it.

        ``one_row`` draws the row of every unit that is kept where ``one_row_per = "random"``; ``empty`` gives the
        arrays of codes.
        """
        schema = schema.for_columns(data.column_names)
        _check_shape(data, schema)
        unit = schema.unit_column
        units = None if unit is None else units_of(_tidied(data.column(unit)), unit)
        weights = None if schema.weight is None else weights_of(_tidied(data.column(schema.weight)), schema.weight)
        kept: NDArray[np.int64] | None = None
        whole = data
        if units is not None and schema.one_row_per is not None:
            rows, units = one_row_each(units, schema.one_row_per, one_row or Randomness()), None
            if len(rows) < data.num_rows:
                chosen = np.zeros(data.num_rows, dtype=bool)
                chosen[rows] = True
                data, kept = data.filter(pa.array(chosen)), rows
        set_aside = whole.num_rows - data.num_rows
        present = _present(data, schema)
        if present is not None:
            data = data.filter(pa.array(present))
            kept = np.flatnonzero(present) if kept is None else kept[present]
            units = None if units is None else units[present]
        schema = settled(data, schema)
        columns: dict[str, EncodedColumn] = {}
        problems: list[str] = []
        for name in schema.published:
            policy = "category" if name in schema.insensitive else schema.missing
            try:
                found = encode(name, data.column(name), schema.column(name), missing=policy, empty=empty)
                columns[name] = found if name not in schema.sensitive else fold_spellings(found)
            except (DataError, HierarchyError) as error:
                problems += error.problems
        if problems:
            raise DataError(problems)
        names = schema.identifiers if schema.unit is None else ()  # whoever said what a person is, is not asked
        repeated = {name: rows_that_share(whole.column(name)) for name in names}
        if units is not None:
            there = np.bincount(units) > 0  # rows that were left out may have been all of somebody
            units = (np.cumsum(there) - 1)[units] if int(there.sum()) < data.num_rows else None
        weights = weights if weights is None or kept is None else weights[kept]
        return cls(schema, columns, data.num_rows, kept, whole.num_rows, repeated, units, weights, set_aside)

    @property
    def rows(self) -> NDArray[np.int64]:
        """(n_rows,) number of each row in the input; made anew whenever all are there, so that nobody holds it."""
        return np.arange(self.n_rows, dtype=np.int64) if self.kept is None else self.kept

    def numbers(self, places: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
        """The numbers that rows of the table have in the input."""
        return np.asarray(places if self.kept is None else self.kept[places], dtype=np.int64)

    def places(self, rows: NDArray[np.integer[Any]]) -> NDArray[np.integer[Any]]:
        """Where rows of the input stand in the table."""
        return rows if self.kept is None else np.searchsorted(self.kept, rows)

    def __getitem__(self, name: str) -> EncodedColumn:
        return self.columns[name]

    def codes(self, names: Iterable[str]) -> list[Codes]:
        """The code arrays of several columns."""
        return [self.columns[name].codes for name in names]

    def take(self, rows: NDArray[np.int64]) -> Table:
        """The same table with only ``rows``, domains unchanged."""
        columns = {
            name: EncodedColumn(name, column.codes[rows], column.domain, column.settings)
            for name, column in self.columns.items()
        }
        units = None if self.units is None else self.units[rows]
        weights = None if self.weights is None else self.weights[rows]
        kept = np.asarray(rows, dtype=np.int64) if self.kept is None else self.kept[rows]
        return replace(self, columns=columns, n_rows=len(rows), kept=kept, units=units, weights=weights)

    def __repr__(self) -> str:
        quasi = counted(len(self.schema.quasi_identifiers), "quasi-identifier")
        rows, sensitive = counted(self.n_rows, "row"), len(self.schema.sensitive)
        return f"<Table of {rows}: {quasi}, {sensitive} sensitive; hand it to a method>"


def _check_shape(data: pa.Table, schema: Schema) -> None:
    names = data.column_names
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise DataError(f"The table has more than one column named {listed(repeated)}. Rename them.")
    if data.num_rows == 0:
        raise DataError("The table is empty: it has no rows.")
    schema.check_against(names)


def _tidied(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column with one dictionary; what has no distinct values is told so by whoever needs them."""
    return column if pa.types.is_nested(column.type) else plain(column).column()


def _present(data: pa.Table, schema: Schema) -> NDArray[np.bool_] | None:
    """(n_rows,) whether a row has all its values, where some have not and these are to be left out."""
    if schema.missing == "category":
        return None
    present, lacking = None, {}
    for name in schema.quasi_identifiers + schema.sensitive:
        holes = without_value(data.column(name))
        if holes is None:
            continue
        lacking[name] = int(holes.sum())
        if schema.missing == "drop":
            present = ~holes if present is None else present & ~holes
    if lacking and schema.missing == "error":
        raise DataError(
            [f"Column `{name}` has {counted(rows, 'missing value')}." for name, rows in lacking.items()]
            + [
                f"Say what they mean: {option(missing='drop')} leaves the rows out, "
                f"{option(missing='category')} makes it a value."
            ]
        )
    if present is not None and not present.any():
        raise DataError("Every row has a missing value; nothing is left to publish.")
    return present
