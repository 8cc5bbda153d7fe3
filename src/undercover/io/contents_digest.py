"""A digest of what is in the columns of a table, in whatever file or frame: is it the table a run was made from?

Two columns have the same digest if they hold the same values, as they are written, in the same order of rows. Numbers,
dates and truth values are written alike from CSV, Parquet, a database or a frame.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from undercover.errors import listed

_BYTES = 16


def digests_of(data: pa.Table, names: Iterable[str]) -> dict[str, str]:
    """The digest of each of the named columns that a table has.

    >>> one, other = pa.table({"a": [1, 2, None]}), pa.table({"a": [1.0, 2.0, float("nan")], "b": ["x", "y", "z"]})
    >>> digests_of(one, ["a"]) == digests_of(other, ["a"])
    True
    """
    return {name: _digest(data.column(name)) for name in dict.fromkeys(names) if name in data.column_names}


def differing(data: pa.Table, rows: int | None, digests: Mapping[str, str]) -> str | None:
    """How a table differs from the one whose rows and digests are known, without any value of it; ``None``: not at all.

    >>> differing(pa.table({"a": [1, 2]}), 2, digests_of(pa.table({"a": [2, 1]}), ["a"]))
    'other values, or another order of rows, in `a`'
    """
    if rows is not None and data.num_rows != rows:
        return f"{data.num_rows:,} rows in place of {rows:,}"
    found = digests_of(data, digests)
    missing = [name for name in digests if name not in found]
    if missing:
        return f"no column {listed(missing)}"
    others = [name for name, digest in digests.items() if found[name] != digest]
    return f"other values, or another order of rows, in {listed(others)}" if others else None


def _digest(column: pa.ChunkedArray) -> str:
    coded = column if pa.types.is_dictionary(column.type) else _plain(column).dictionary_encode()
    whole = coded.unify_dictionaries().combine_chunks()
    if isinstance(whole, pa.ChunkedArray):
        whole = whole.chunk(0)
    # Numbered in the order in which they occur, whatever order the dictionary had.
    again = whole.indices.dictionary_encode()
    texts = _written(whole.dictionary.take(again.dictionary))
    hashed = hashlib.blake2b(digest_size=_BYTES)
    hashed.update(pc.binary_length(texts).to_numpy(zero_copy_only=False).astype("<i4").tobytes())
    hashed.update(pc.binary_join(pa.ListArray.from_arrays([0, len(texts)], texts), "")[0].as_buffer())
    hashed.update(again.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype("<i4").tobytes())
    return hashed.hexdigest()


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Not a number is missing, and minus zero is zero."""
    if not pa.types.is_floating(column.type):
        return column
    return pc.add(pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column), 0.0)


def _written(values: pa.Array) -> pa.Array:
    """Distinct values as texts: whole numbers without a fraction, moments as dates where all are midnight."""
    kind: Any = values.type
    if pa.types.is_floating(kind):
        numbers = values.to_numpy(zero_copy_only=False)
        if np.all((numbers == np.floor(numbers)) & (np.abs(numbers) < 2.0**53)):
            values = values.cast(pa.int64())
    elif pa.types.is_timestamp(kind):
        values = values.cast(pa.timestamp("us"), safe=False)
        days = values.cast(pa.date32(), safe=False)
        values = days if days.cast(pa.timestamp("us")).equals(values) else values
    return values.cast(pa.string())
