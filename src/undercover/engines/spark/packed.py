"""Rows as bytes: codes of many rows in one cell, so that Spark moves few large cells and never a row by itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Codes = NDArray[Any]


class Layout(NamedTuple):
    """Which columns are packed, one after the other, and how wide their codes are.

    >>> layout = Layout(("age", "zip"), ("u1", "u2"))
    >>> packed = layout.pack([np.array([1, 2], np.uint8), np.array([300, 4], np.uint16)])
    >>> len(packed), {name: codes.tolist() for name, codes in layout.unpack([packed, packed]).items()}
    (6, {'age': [1, 2, 1, 2], 'zip': [300, 4, 300, 4]})
    """

    names: tuple[str, ...]
    types: tuple[str, ...]

    @property
    def width(self) -> int:
        """Bytes of a row."""
        return sum(np.dtype(one).itemsize for one in self.types)

    def pack(self, columns: Iterable[Codes]) -> bytes:
        """Codes as bytes, column by column."""
        pairs = zip(columns, self.types, strict=True)
        return b"".join(np.ascontiguousarray(codes, dtype=type_).tobytes() for codes, type_ in pairs)

    def unpack(self, cells: Sequence[bytes]) -> dict[str, Codes]:
        """The codes of several cells, one cell after the other."""
        sizes = [len(cell) // self.width for cell in cells]
        found: dict[str, Codes] = {}
        starts = [0] * len(cells)
        for name, type_ in zip(self.names, self.types, strict=True):
            kind = np.dtype(type_)
            pieces = [np.frombuffer(c, kind, n, s) for c, n, s in zip(cells, sizes, starts, strict=True)]
            starts = [start + n * kind.itemsize for start, n in zip(starts, sizes, strict=True)]
            found[name] = np.concatenate(pieces) if pieces else np.empty(0, kind)
        return found


def to_bytes(table: pa.Table) -> bytes:
    """A table as one cell."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def from_bytes(cell: bytes) -> pa.Table:
    """The table of a cell."""
    with pa.ipc.open_stream(cell) as reader:
        return reader.read_all()


def canonical_order(codes: Mapping[str, Codes], sizes: Sequence[int]) -> NDArray[np.int64]:
    """The order of rows by their values alone: rows that are alike may change places, and nobody can tell.

    So it is the same whatever order and however many partitions they came in.

    >>> canonical_order({"age": np.array([1, 0, 1]), "zip": np.array([0, 5, 0])}, [2, 6]).tolist()
    [1, 0, 2]
    """
    keys: list[NDArray[np.int64]] = []
    span = 0
    for column, size in zip(codes.values(), sizes, strict=True):
        if not keys or span > (1 << 62) // max(size, 1):
            keys.append(column.astype(np.int64))
            span = max(size, 1)
        else:
            keys[-1] *= size
            keys[-1] += column
            span *= size
    if len(keys) == 1:
        return np.argsort(keys[0], kind="stable")
    return np.lexsort(keys[::-1])
