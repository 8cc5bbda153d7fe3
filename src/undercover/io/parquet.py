"""Parquet files in and out."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as arrow_parquet

from undercover.errors import DataError, OutputError
from undercover.io.coded.columns import Tell, coded_table
from undercover.memory import Store


def parquet_rows(path: str | os.PathLike[str]) -> int:
    """How many rows a file says it has; 0 where it says nothing, which reading it will tell."""
    try:
        return int(arrow_parquet.read_metadata(path).num_rows)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError):
        return 0


def read_parquet(path: str | os.PathLike[str], store: Store | None = None, tell: Tell | None = None) -> pa.Table:
    """Read a Parquet file; text comes as dictionaries, which is how it is stored. With a ``store`` all columns do."""
    place = Path(path)
    try:
        if place.is_dir():
            raise DataError(f"`{place}` is a folder. Give the Parquet file itself.")
        with arrow_parquet.ParquetFile(place) as file:
            schema = file.schema_arrow
        texts = [
            field.name for field in schema if pa.types.is_string(field.type) or pa.types.is_large_string(field.type)
        ]
        with arrow_parquet.ParquetFile(place, read_dictionary=texts) as file:
            return file.read() if store is None else coded_table(file.iter_batches(store.batch), store, tell)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise DataError(f"`{place}` is not a Parquet file that can be read: {error}") from error
    except OSError as error:
        raise DataError(f"`{place}` cannot be read: {error.strerror or error}.") from error


def write_parquet(table: pa.Table, path: str | os.PathLike[str]) -> None:
    """Write a Parquet file that holds the cells of ``table`` and nothing else.

    Metadata is left out, and dictionaries are made anew: a dictionary may know values that no row has any more.
    """
    clean = pa.table([_anew(column) for column in table.columns], names=table.column_names)
    try:
        arrow_parquet.write_table(clean, path, compression="zstd")
    except OSError as error:
        raise OutputError(f"`{path}` cannot be written: {error.strerror or error}.") from error


def _anew(column: pa.ChunkedArray) -> Any:
    if not pa.types.is_dictionary(column.type):
        return column
    values = column.cast(column.type.value_type)
    return (values.combine_chunks() if values.num_chunks != 1 else values).dictionary_encode()
