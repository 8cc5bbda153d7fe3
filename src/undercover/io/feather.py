"""Feather files and Arrow IPC streams."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from undercover.errors import DataError


def read_feather(path: Path) -> pa.Table:
    """Read a Feather file (version 2, which is Arrow's IPC file), or an IPC stream."""
    try:
        with pa.OSFile(str(path)) as file:
            begins = file.read(6)
            file.seek(0)
            return (pa.ipc.open_file(file) if begins == b"ARROW1" else pa.ipc.open_stream(file)).read_all()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise DataError(f"`{path}` is not a Feather or Arrow file that can be read: {error}") from error
    except OSError as error:
        raise DataError(f"`{path}` cannot be read: {error.strerror or error}.") from error
