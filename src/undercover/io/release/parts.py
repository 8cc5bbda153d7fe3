"""A table in several files: its slices written side by side, and read one after the other into codes.

Every file is written by the same settings, so that it tells no more than its rows. A large table is never held as text:
a column that is read back has every value once and for each row a code as narrow as their number allows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from undercover.io.coded.parts import coded_below
from undercover.io.parts import one_type
from undercover.io.source import sha256
from undercover.memory import Store
from undercover.threads import parallel

_AT_ONCE = 2
"""Files that are written and hashed beside one another: each holds a slice in memory."""


def write_parts(
    data: pa.Table, folder: Path, names: Sequence[str], write: Callable[[pa.Table, Path], None]
) -> list[dict[str, Any]]:
    """Write a table to files of as many rows each; what the manifest says of them."""
    ends = [data.num_rows * part // len(names) for part in range(len(names) + 1)]

    def one(part: int) -> dict[str, Any]:
        path, rows = folder / names[part], ends[part + 1] - ends[part]
        write(data.slice(ends[part], rows), path)
        return {"file": path.name, "rows": rows, "sha256": sha256(path)}

    return parallel(one, range(len(names)), _AT_ONCE)


def joined(parts: Iterable[pa.Table], store: Store) -> pa.Table:
    """Parts of a table one below the other, as codes; of their columns those that all of them have.

    A column that was read differently in its parts is text until it is read whole.

    >>> joined([pa.table({"a": ["x", None]}), pa.table({"a": [7]})], Store(10**6)).to_pydict()
    {'a': ['x', None, '7']}
    """
    held: dict[str, list[pa.ChunkedArray]] = {}
    rows = 0
    for table in parts:
        rows += table.num_rows
        for name in table.column_names:
            held.setdefault(name, []).append(table.column(name))
    del table  # what was joined is let go of, a column at a time
    names = [name for name, columns in held.items() if sum(map(len, columns)) == rows]
    return pa.table({name: coded_below(held.pop(name), store, _one_type) for name in names})


def _one_type(columns: Sequence[pa.ChunkedArray]) -> pa.ChunkedArray | None:
    return one_type(columns) or one_type([column.cast(pa.string()) for column in columns])
