"""Feather files and Arrow IPC streams."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from undercover.errors import DataError, damaged, unreadable
from undercover.io.coded.columns import Tell, gathered
from undercover.io.limits import check_cells
from undercover.memory import Store


def read_feather(path: Path, store: Store | None = None, tell: Tell | None = None) -> pa.Table:
    """Read a Feather file (version 2, which is Arrow's IPC file), or an IPC stream; many rows into a ``store``."""
    try:
        with pa.OSFile(str(path)) as file:
            begins = file.read(6)
            file.seek(0)
            reader = pa.ipc.open_file(file) if begins == b"ARROW1" else pa.ipc.open_stream(file)
            schema, found = reader.schema, _batches(reader, path)
            " ".join(schema.names)  # which need not be texts
            return pa.Table.from_batches(found, schema) if store is None else gathered(schema, found, store, tell)
    except (pa.ArrowException, UnicodeDecodeError) as error:
        raise DataError(damaged(f"`{path}`", "it is not a Feather or Arrow file that can be read")) from error
    except OSError as error:
        raise DataError(unreadable(f"`{path}`", error)) from error


def _batches(
    reader: pa.ipc.RecordBatchFileReader | pa.ipc.RecordBatchStreamReader, path: Path
) -> Iterator[pa.RecordBatch]:
    """The batches, each looked through before anybody uses it: offsets that lead out of a batch end the process."""
    rows = 0
    stream = isinstance(reader, pa.ipc.RecordBatchStreamReader)
    for batch in reader if stream else map(reader.get_batch, range(reader.num_record_batches)):
        rows += batch.num_rows
        check_cells(path, rows, batch.num_columns)
        batch.validate(full=True)
        yield batch
