"""One shape for tables from everywhere: plain column types, text without empty strings, names that are names.

A CSV file has no empty text, only missing fields; tables from Parquet, databases and frames are held to the same
rule, so that a release does not depend on where its input came from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from undercover.errors import DataError, listed


def tidy(table: pa.Table, *, nulls: Sequence[str] = (), where: str = "The table") -> pa.Table:
    """Check names and types, and turn empty texts and ``nulls`` into missing values."""
    repeated = [name for name, count in Counter(table.column_names).items() if count > 1]
    problems = [f"{where} has more than one column named {listed(repeated)}. Rename them."] if repeated else []
    if not table.num_columns:
        problems.append(f"{where} has no columns.")
    elif not table.num_rows:
        problems.append(f"{where} is empty: it has no rows.")
    markers = pa.array(["", *nulls], pa.string())
    columns = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        try:
            columns.append(_tidy(column, markers))
        except DataError as error:
            problems += [f"Column `{name}` {problem}" for problem in error.problems]
    if problems:
        raise DataError(problems)
    return pa.table(columns, names=table.column_names)


def _tidy(column: pa.ChunkedArray, markers: pa.Array) -> Any:
    type_ = column.type
    if pa.types.is_dictionary(type_):
        if not _is_text(type_.value_type):
            return _tidy(column.cast(type_.value_type), markers)
        return _without_markers(column.cast(pa.dictionary(pa.int32(), pa.string())).unify_dictionaries(), markers)
    if pa.types.is_null(type_):
        return column.cast(pa.string())
    if _is_text(type_):
        return _without_markers(column if pa.types.is_string(type_) else _as_string(column), markers)
    if pa.types.is_decimal(type_):
        whole = type_.scale <= 0 and type_.precision <= 18
        return column.cast(pa.int64() if whole else pa.float64())
    if pa.types.is_float16(type_) or pa.types.is_float32(type_):
        return column.cast(pa.float64())
    if pa.types.is_timestamp(type_) and type_.tz is not None:
        return pc.local_timestamp(column) if type_.tz != "UTC" else column.cast(pa.timestamp(type_.unit))
    if pa.types.is_date64(type_):
        return column.cast(pa.date32())
    if pa.types.is_time(type_) or pa.types.is_duration(type_):
        return column.cast(pa.string())
    known = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_date, pa.types.is_timestamp)
    if not any(check(type_) for check in known):
        raise DataError(
            f"holds values of type {type_}; only numbers, texts, dates and truth values can be used. "
            "Convert it or leave it out."
        )
    return column


def _is_text(type_: pa.DataType) -> bool:
    return bool(pa.types.is_string(type_) or pa.types.is_large_string(type_) or type_ == pa.string_view())


def _as_string(column: pa.ChunkedArray) -> pa.ChunkedArray:
    # More than two gigabytes of text do not fit one chunk with 32-bit offsets.
    parts = [
        chunk.slice(start, 1 << 20).cast(pa.string())
        for chunk in column.chunks
        for start in range(0, max(len(chunk), 1), 1 << 20)
    ]
    return pa.chunked_array(parts, pa.string())


def _without_markers(column: pa.ChunkedArray, markers: pa.Array) -> pa.ChunkedArray:
    if not pa.types.is_dictionary(column.type):
        found = pc.is_in(column, markers)
        return pc.if_else(found, pa.scalar(None, pa.string()), column) if pc.any(found).as_py() else column
    chunks = []
    for chunk in column.chunks:
        found = pc.is_in(chunk.dictionary, markers)
        if pc.any(found).as_py():
            kept = pc.if_else(found.take(chunk.indices), pa.scalar(None, pa.int32()), chunk.indices)
            chunk = pa.DictionaryArray.from_arrays(kept, chunk.dictionary)
        chunks.append(chunk)
    return pa.chunked_array(chunks, column.type)
