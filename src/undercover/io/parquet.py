"""Parquet files in and out."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as arrow_parquet

from undercover.errors import DataError, OutputError, damaged, unreadable, unwritable
from undercover.io.coded.columns import Tell, coded_table
from undercover.io.limits import check_cells
from undercover.memory import Store
from undercover.model.frames.cells import as_values
from undercover.model.frames.types import one_piece

SLICE = 1 << 20
"""Rows of a row group, whatever the table is: their number says nothing."""


def parquet_rows(path: str | os.PathLike[str]) -> int:
    """How many rows a file says it has; 0 where it says nothing, which reading it will tell."""
    try:
        return int(arrow_parquet.read_metadata(path).num_rows)
    except (pa.ArrowException, OSError):
        return 0


def read_parquet(path: str | os.PathLike[str], store: Store | None = None, tell: Tell | None = None) -> pa.Table:
    """Read a Parquet file; text comes as dictionaries, which is how it is stored. With a ``store`` all columns do."""
    place = Path(path)
    with _reading(place), arrow_parquet.ParquetFile(place, read_dictionary=_texts(place)) as file:
        check_cells(place, file.metadata.num_rows, file.metadata.num_columns)
        return file.read() if store is None else coded_table(file.iter_batches(store.batch), store, tell)


@contextmanager
def _reading(place: Path) -> Iterator[None]:
    """What goes wrong with a file, in words."""
    try:
        if place.is_dir():
            raise DataError(f"`{place}` is a folder. Give the Parquet file itself.")
        yield
    except (pa.ArrowException, UnicodeDecodeError) as error:
        raise DataError(damaged(f"`{place}`", "it is not a Parquet file that can be read")) from error
    except OSError as error:
        raise DataError(unreadable(f"`{place}`", error)) from error


def _texts(place: Path) -> list[str]:
    """The columns of a file that hold text."""
    with arrow_parquet.ParquetFile(place) as file:
        kinds: dict[str, Any] = {field.name: field.type for field in file.schema_arrow}
    return [name for name, kind in kinds.items() if pa.types.is_string(kind) or pa.types.is_large_string(kind)]


def write_parquet(table: pa.Table, path: str | os.PathLike[str]) -> None:
    """Write a Parquet file that holds the cells of ``table`` and nothing else.

    Metadata is left out, and dictionaries are made anew: a dictionary may know values that no row has any more.
    """
    write_slices((table.slice(start, SLICE) for start in range(0, max(table.num_rows, 1), SLICE)), path)


def write_slices(tables: Iterable[pa.Table], path: str | os.PathLike[str], *, numbers: bool = False) -> None:
    """The same of a table that comes in slices, each of which is written, and forgotten, before the next is made.

    Of whole ``numbers`` that hardly occur twice differences are written, in half the time and the room.
    """
    try:
        with ExitStack() as stack:
            writer = None
            for table in tables:
                clean = pa.table([_anew(column) for column in table.columns], names=table.column_names)
                if writer is None:
                    coding = dict.fromkeys(clean.column_names, "DELTA_BINARY_PACKED") if numbers else None
                    opened = arrow_parquet.ParquetWriter(
                        path, clean.schema, compression="zstd", use_dictionary=not numbers, column_encoding=coding
                    )
                    writer = stack.enter_context(opened)
                writer.write_table(clean, row_group_size=SLICE)
    except OSError as error:
        raise OutputError(unwritable(f"`{path}`", error)) from error


def _anew(column: pa.ChunkedArray) -> Any:
    """A column whose dictionary has the values that occur, each once and in the order in which they do."""
    if not pa.types.is_dictionary(column.type) or column.type.ordered:
        return as_values(column)
    whole = one_piece(column)
    occurring = whole.indices.dictionary_encode()
    values = whole.dictionary.take(occurring.dictionary).dictionary_encode()  # of what is there twice, one
    return pa.DictionaryArray.from_arrays(values.indices.take(occurring.indices), values.dictionary)
