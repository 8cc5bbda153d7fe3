"""A table in several files: its slices written side by side, and read one after the other into codes.

Every file is written by the same settings, so that it tells no more than its rows. A large table is never held as text:
a column that is read back has every value once and for each row a code as narrow as their number allows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from undercover.io.source import sha256
from undercover.model.frames.types import one_piece

LARGE = 1 << 20
"""Rows from which on a table that is read back stays coded, whatever the form of its cells."""

MOST_VALUES = 1 << 20
"""Different values of a column that is held as codes; names and numbers of which there are more are held plain."""

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

    if len(names) == 1:
        return [one(0)]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return list(pool.map(one, range(len(names))))


class Codes:
    """One column that is read a slice at a time.

    >>> codes = Codes()
    >>> for cells in (["a", None], ["b", "a"]):
    ...     codes.add(pa.chunked_array([cells]))
    >>> codes.column().type.index_type, codes.column().to_pylist()
    (DataType(int8), ['a', None, 'b', 'a'])
    """

    def __init__(self) -> None:
        self._values: Any = None
        self._slices: list[pa.Array] = []  # of codes, or of values once there are too many of them
        self._plain = False

    def __len__(self) -> int:
        return sum(map(len, self._slices))

    def add(self, column: pa.ChunkedArray) -> None:
        """The rows that follow."""
        if self._plain:
            alike = self._alike(one_piece(column))
            self._slices.append(alike)
            return
        whole = one_piece(column if pa.types.is_dictionary(column.type) else column.dictionary_encode())
        occurring = self._alike(whole.dictionary)
        new = occurring.filter(pc.and_(pc.is_valid(occurring), pc.invert(pc.is_in(occurring, value_set=self._values))))
        self._values = pa.concat_arrays([self._values, new.unique()])
        places = pc.index_in(occurring, value_set=self._values).cast(_narrow(len(self._values)))
        self._slices.append(places.take(whole.indices))
        if len(self._values) > MOST_VALUES:
            self._slices = [self._values.take(codes) for codes in self._slices]
            self._plain = True

    def column(self) -> Any:
        """All rows, in one piece: a dictionary, or plain values where there are too many of them."""
        if self._plain:
            return pa.concat_arrays(self._slices)
        kind = _narrow(len(self._values))
        codes = pa.concat_arrays([one.cast(kind) for one in self._slices])
        self._slices = [codes]
        return pa.DictionaryArray.from_arrays(codes, self._values)

    def _alike(self, values: Any) -> Any:
        """Values of the type of those before; what was read differently in two slices is text from then on."""
        values = values.cast(values.type.value_type) if pa.types.is_dictionary(values.type) else values
        if self._values is None:
            self._values = values[:0]
        if values.type == self._values.type:
            return values
        self._values = self._values.cast(pa.string())
        if self._plain:
            self._slices = [one.cast(pa.string()) for one in self._slices]
        return values.cast(pa.string())


def coded(slices: Iterable[pa.Table]) -> pa.Table:
    """A table that is read a slice at a time, as codes; of its columns those that every slice has."""
    found: dict[str, Codes] = {}
    rows = 0
    for table in slices:
        rows += table.num_rows
        for name in table.column_names:
            found.setdefault(name, Codes()).add(table.column(name))
    return pa.table({name: codes.column() for name, codes in found.items() if len(codes) == rows})


def _narrow(count: int) -> pa.DataType:
    """The narrowest signed type for so many codes."""
    widths = ((pa.int8(), 1 << 7), (pa.int16(), 1 << 15), (pa.int32(), 1 << 31))
    return next(kind for kind, most in widths if count <= most)
