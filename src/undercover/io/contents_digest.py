"""A digest of what is in the columns of a table, in whatever file or frame: is it the table a run was made from?

Two columns have the same digest if they hold the same values, as they are written, in the same order of rows. Numbers,
dates and truth values are written alike from CSV, Parquet, a database or a frame.

Of a column with very many values, such as names, the digest is that of its rows one after the other (``rows:``); runs
of earlier versions have the digest by values of such columns, too, and are still known by it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from undercover.errors import listed
from undercover.model.encoding.coded import MANY, Coded, merged, value_type

_BYTES = 16
_PIECE = 1 << 18  # rows
_ROWS = "rows:"


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
    others = [name for name in digests if digests[name] not in (found[name], _before(data.column(name), found[name]))]
    return f"other values, or another order of rows, in {listed(others)}" if others else None


def _before(column: pa.ChunkedArray, found: str) -> str:
    """The digest that an earlier version had."""
    return _digest(column, len(column)) if found.startswith(_ROWS) else found


def _digest(column: pa.ChunkedArray, most: int = MANY) -> str:
    coded = _coded(column, most)
    return _by_rows(column) if coded is None else _by_values(coded)


def _coded(column: pa.ChunkedArray, most: int) -> Coded | None:
    """A column by its different values; ``None`` where they are too many, which is seen before all are gathered."""
    known = pa.nulls(0, value_type(column.type))
    for piece in _pieces(column) if len(column) > most and not pa.types.is_dictionary(column.type) else ():
        known, _ = merged(known, piece)
        if len(known) > most:
            return None
    coded = Coded.of(column)
    coded = coded.changed(_plain(coded.values))
    return coded if len(coded.values) <= most else None


def _by_values(coded: Coded) -> str:
    """Values in the order in which they occur, and the place of each row's."""
    texts = _as_texts(coded.values, _written_as([coded.values]))
    hashed = hashlib.blake2b(digest_size=_BYTES)
    hashed.update(_lengths(texts))
    hashed.update(_joined(texts))
    for places in coded.pieces(np.append(np.arange(len(texts), dtype="<i4"), np.array(-1, "<i4"))):
        hashed.update(places.tobytes())
    return hashed.hexdigest()


def _by_rows(column: pa.ChunkedArray) -> str:
    """Row after row: lengths and texts apart, so that it does not matter in which pieces they come."""
    kind = _written_as(_pieces(column))
    lengths, letters = hashlib.blake2b(digest_size=_BYTES), hashlib.blake2b(digest_size=_BYTES)
    for piece in _pieces(column):
        texts = _as_texts(_plain(piece), kind)
        lengths.update(_lengths(texts))
        letters.update(_joined(texts.drop_null()))
    return _ROWS + hashlib.blake2b(lengths.digest() + letters.digest(), digest_size=_BYTES).hexdigest()


def _pieces(column: pa.ChunkedArray) -> Iterator[pa.Array]:
    for chunk in column.chunks:
        for at in range(0, len(chunk), _PIECE):
            piece = chunk.slice(at, _PIECE)
            yield piece.dictionary_decode() if pa.types.is_dictionary(piece.type) else piece


def _plain(values: pa.Array) -> pa.Array:
    """Not a number is missing, and minus zero is zero."""
    if not pa.types.is_floating(values.type):
        return values
    return pc.add(pc.if_else(pc.is_nan(values), pa.scalar(None, values.type), values), 0.0)


def _written_as(pieces: Iterable[pa.Array]) -> pa.DataType | None:
    """As what values are written: as whole numbers where none has a fraction, as dates where all are midnight."""
    for piece in pieces:
        values = _plain(piece.drop_null()).drop_null()
        if pa.types.is_floating(values.type):
            numbers = values.to_numpy(zero_copy_only=False)
            if not np.all((numbers == np.floor(numbers)) & (np.abs(numbers) < 2.0**53)):
                return None
            found: Any = pa.int64()
        elif pa.types.is_timestamp(values.type):
            moments = values.cast(pa.timestamp("us"), safe=False)
            if not moments.cast(pa.date32(), safe=False).cast(moments.type).equals(moments):
                return moments.type
            found = pa.date32()
        else:
            return None
    return found


def _as_texts(values: pa.Array, kind: pa.DataType | None) -> pa.Array:
    if pa.types.is_timestamp(values.type):
        values = values.cast(pa.timestamp("us"), safe=False)
    return (values if kind is None else values.cast(kind, safe=False)).cast(pa.string())


def _lengths(texts: pa.Array) -> bytes:
    lengths = pc.fill_null(pc.binary_length(texts), -1).to_numpy(zero_copy_only=False)
    return bytes(lengths.astype("<i4").tobytes())


def _joined(texts: pa.Array) -> Any:
    return pc.binary_join(pa.ListArray.from_arrays([0, len(texts)], texts), "")[0].as_buffer()
