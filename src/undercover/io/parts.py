"""Several files as one table: parts of CSV or of Parquet, read in the order of their names.

What a column is, is decided from all parts together: a postcode 01234 in the last part keeps the column text in all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from undercover.errors import DataError, listed
from undercover.io.coded.columns import Tell
from undercover.io.coded.parts import coded_below
from undercover.io.csv.text import read_csv
from undercover.io.csv.typed import CsvDecisions, typed
from undercover.io.parquet import read_parquet
from undercover.memory import Store
from undercover.model.encoding.coded import value_type

if TYPE_CHECKING:
    from undercover.io.source import ReadOptions


def read_csv_parts(
    files: Sequence[Path], options: ReadOptions, store: Store | None = None, tell: Tell | None = None
) -> tuple[pa.Table, CsvDecisions]:
    """Read CSV files that have the same columns as one."""
    tables: list[pa.Table] = []
    found = None
    for file in files:
        table, decided = read_csv(
            file,
            separator=options.separator,
            thousands=options.thousands,
            encoding=options.encoding,
            nulls=options.nulls,
            text=None,
            store=store,
            tell=_after(tables, tell),
        )
        tables.append(table)
        where = f"{decided.first_break} of `{file.name}`" if decided.breaks else ""
        before, first = (0, "") if found is None else (found.breaks, found.first_break)
        found = replace(found or decided, breaks=before + decided.breaks, first_break=first or where)
    if found is None:
        raise DataError("There are no parts.")
    aligned = _aligned(files, tables)
    together = pa.table({name: _below(aligned, name, store) for name in aligned[0].column_names})
    try:
        return typed(together, found, options.decimal, options.text, store=store)
    except DataError as error:
        raise DataError([f"`{files[0].parent}`: {problem}" for problem in error.problems]) from error


def read_parquet_parts(files: Sequence[Path], store: Store | None = None, tell: Tell | None = None) -> pa.Table:
    """Read Parquet files that have the same columns as one."""
    tables: list[pa.Table] = []
    for file in files:
        tables.append(read_parquet(file, store, _after(tables, tell)))
    aligned = _aligned(files, tables)
    columns, problems = {}, []
    for name in aligned[0].column_names:
        columns[name] = _below(aligned, name, store)
        if columns[name] is None:
            kinds = listed(dict.fromkeys(str(value_type(table.schema.field(name).type)) for table in aligned))
            problems.append(f"Column `{name}` is of different types in the parts: {kinds}. Make them one type.")
    if problems:
        raise DataError(problems)
    return pa.table(columns)


def _after(tables: Sequence[pa.Table], tell: Tell | None) -> Tell | None:
    """Who is told of the rows of a part, as those behind the rows of the parts before it."""
    before = sum(table.num_rows for table in tables)
    return None if tell is None else lambda rows: tell(before + rows)


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


def _below(tables: Sequence[pa.Table], name: str, store: Store | None) -> pa.ChunkedArray | None:
    """A column of all parts, one below the other; none where it is of different types."""
    columns = [table.column(name) for table in tables]
    return one_type(columns) if store is None else coded_below(columns, store, one_type)


def one_type(columns: Sequence[pa.ChunkedArray]) -> pa.ChunkedArray | None:
    """The parts of a column one after the other; whole and other numbers meet only where none of them changes."""
    types = {column.type for column in columns if not pa.types.is_null(column.type)} or {pa.null()}
    numbers = all(pa.types.is_integer(type_) or pa.types.is_floating(type_) for type_ in types)
    for choice in types if len(types) == 1 else [pa.int64(), pa.float64()] if numbers else []:
        try:
            return pa.chunked_array([chunk for column in columns for chunk in column.cast(choice).chunks], choice)
        except pa.ArrowInvalid:  # a number would change
            continue
    return None
