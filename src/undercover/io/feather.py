"""Feather files and Arrow IPC streams."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from undercover.errors import DataError
from undercover.io.coded.columns import Tell, gathered
from undercover.memory import Store


def read_feather(path: Path, store: Store | None = None, tell: Tell | None = None) -> pa.Table:
    """Read a Feather file (version 2, which is Arrow's IPC file), or an IPC stream; many rows into a ``store``."""
    try:
        with pa.OSFile(str(path)) as file:
            begins = file.read(6)
            file.seek(0)
            reader = pa.ipc.open_file(file) if begins == b"ARROW1" else pa.ipc.open_stream(file)
            return reader.read_all() if store is None else gathered(reader.schema, _batches(reader), store, tell)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise DataError(f"`{path}` is not a Feather or Arrow file that can be read: {error}") from error
    except OSError as error:
        raise DataError(f"`{path}` cannot be read: {error.strerror or error}.") from error


def _batches(reader: pa.ipc.RecordBatchFileReader | pa.ipc.RecordBatchStreamReader) -> Iterator[pa.RecordBatch]:
    if isinstance(reader, pa.ipc.RecordBatchStreamReader):
        yield from reader
    else:
        yield from (reader.get_batch(number) for number in range(reader.num_record_batches))
