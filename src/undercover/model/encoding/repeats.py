"""How many rows share their value with another row: of a column of names, in memory for a part of them at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from undercover.model.encoding.values import plain, plain_values

_TOGETHER = 1 << 22  # different values that are counted at a time
_MOST_PARTS = 256
_PIECE = 1 << 18  # rows
_ODD = 0x9E3779B97F4A7C15  # 2^64 by the golden ratio: spreads neighbours


def rows_that_share(column: pa.ChunkedArray, together: int = _TOGETHER) -> int:
    """Rows whose value another row has, too; missing values are nobody's.

    Values are divided by a hash, so that equal ones come together, and counted exactly part by part.

    >>> rows_that_share(pa.chunked_array([["Al", "Bo", None], ["Al", None]]))
    2
    """
    if pa.types.is_dictionary(column.type):
        return _shared(plain(column).counts()[:-1])
    parts = min(-(-len(column) // together), _MOST_PARTS)
    chunks = [plain_values(piece).drop_null() for piece in _pieces(column)]
    if parts == 1:
        return _counted(pa.chunked_array(chunks))
    divided = [(chunk, _parts(chunk, parts)) for chunk in chunks]
    return sum(
        _counted(pa.chunked_array([chunk.filter(pa.array(of == part)) for chunk, of in divided]))
        for part in range(parts)
    )


def _shared(counts: NDArray[np.int64]) -> int:
    return int(counts[counts > 1].sum())


def _counted(values: pa.ChunkedArray) -> int:
    return _shared(pc.value_counts(values).field("counts").to_numpy())


def _pieces(column: pa.ChunkedArray) -> list[pa.Array]:
    return [chunk.slice(at, _PIECE) for chunk in column.chunks for at in range(0, len(chunk), _PIECE)] or [
        pa.array([], column.type)
    ]


def _parts(values: pa.Array, parts: int) -> NDArray[np.uint8]:
    """(n,) the part of each value, by a number or by the bytes of its text."""
    if pa.types.is_floating(values.type) or pa.types.is_integer(values.type):
        hashed = np.asarray(values).astype(np.float64).view(np.uint64)
    else:
        hashed = _sums(values.cast(pa.string()))
    return ((hashed * np.uint64(_ODD) >> np.uint64(32)) % np.uint64(parts)).astype(np.uint8)


def _sums(texts: pa.Array) -> NDArray[np.uint64]:
    """(n,) of every text the sum of what its bytes stand for; none is empty."""
    if not len(texts):
        return np.empty(0, dtype=np.uint64)
    lengths = pc.binary_length(texts).to_numpy(zero_copy_only=False)
    joined: Any = pc.binary_join(pa.ListArray.from_arrays([0, len(texts)], texts), "")[0]
    letters = np.arange(256, dtype=np.uint64) * np.uint64(_ODD)
    letters ^= letters >> np.uint64(29)
    begins = np.cumsum(lengths, dtype=np.int64) - lengths
    return np.add.reduceat(letters[np.frombuffer(joined.as_buffer(), np.uint8)], begins)
