"""Several files as one table: parts of CSV or of Parquet, read in the order of their names.

What a column is, is decided from all parts together: a postcode 01234 in the last part keeps the column text in all.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from undercover.errors import DataError, listed
from undercover.io.csv.kinds import infer
from undercover.io.csv.text import CsvDecisions, digits_of, read_csv
from undercover.io.parquet import read_parquet

if TYPE_CHECKING:
    from undercover.io.source import ReadOptions


def read_csv_parts(files: Sequence[Path], options: ReadOptions) -> tuple[pa.Table, CsvDecisions]:
    """Read CSV files that have the same columns as one."""
    tables, found = [], None
    for file in files:
        table, decided = read_csv(
            file, separator=options.separator, encoding=options.encoding, nulls=options.nulls, text=None
        )
        tables.append(table)
        found = found or decided
    if found is None:
        raise DataError("There are no parts.")
    together = pa.concat_tables(_aligned(files, tables))
    columns = {name: together.column(name) for name in together.column_names}
    try:
        typed, kinds, point = infer(columns, decimal=options.decimal, text=options.text)
    except DataError as error:
        raise DataError([f"`{files[0].parent}`: {problem}" for problem in error.problems]) from error
    digits = digits_of(columns, typed, point)
    return pa.table(typed), CsvDecisions(found.separator, point, found.encoding, options.nulls, kinds, digits)


def read_parquet_parts(files: Sequence[Path]) -> pa.Table:
    """Read Parquet files that have the same columns as one."""
    tables = _aligned(files, [read_parquet(file) for file in files])
    columns, problems = {}, []
    for name in tables[0].column_names:
        columns[name] = _one_type([table.column(name) for table in tables])
        if columns[name] is None:
            kinds = listed(dict.fromkeys(str(table.schema.field(name).type) for table in tables))
            problems.append(f"Column `{name}` is of different types in the parts: {kinds}. Make them one type.")
    if problems:
        raise DataError(problems)
    return pa.table(columns)


def _aligned(files: Sequence[Path], tables: Sequence[pa.Table]) -> list[pa.Table]:
    """The parts with their columns in the order of the first."""
    names = tables[0].column_names
    problems = []
    for file, table in zip(files, tables, strict=True):
        lacks = [name for name in names if name not in table.column_names]
        more = [name for name in table.column_names if name not in names]
        said = [f"lacks {listed(lacks)}"] if lacks else []
        said += [f"has {listed(more)} besides"] if more else []
        if said:
            problems.append(f"`{file}` {' and '.join(said)}; the parts must have the columns of `{files[0].name}`.")
    if problems:
        raise DataError(problems[:5])
    return [table.select(names) for table in tables]


def _one_type(columns: Sequence[pa.ChunkedArray]) -> pa.ChunkedArray | None:
    """The parts of a column one after the other; whole and other numbers meet only where none of them changes."""
    types = {column.type for column in columns if not pa.types.is_null(column.type)} or {pa.null()}
    numbers = all(pa.types.is_integer(type_) or pa.types.is_floating(type_) for type_ in types)
    for choice in types if len(types) == 1 else [pa.int64(), pa.float64()] if numbers else []:
        try:
            return pa.chunked_array([chunk for column in columns for chunk in column.cast(choice).chunks], choice)
        except pa.ArrowInvalid:  # a number would change
            continue
    return None
