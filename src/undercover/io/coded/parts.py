"""Coded columns of several parts of a table, one below the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa

from undercover.memory import Store
from undercover.model.encoding.coded import MANY, Coded

OneType = Callable[[Sequence[pa.ChunkedArray]], pa.ChunkedArray | None]
"""Columns in one type, one below the other; none where they have none in common."""


def coded_below(columns: Sequence[pa.ChunkedArray], store: Store, one_type: OneType) -> pa.ChunkedArray | None:
    """Parts of one column; they stay plain where one is, or where all together have very many values."""
    held = [Coded.of(column) for column in columns if _is_coded(column)]
    if len(held) < len(columns):
        return one_type([_plain(column) for column in columns])
    values = one_type([pa.chunked_array([part.values]) for part in held])
    if values is None:
        return None
    sizes = [len(part.values) for part in held]
    begins = np.cumsum([0, *sizes]).tolist()
    own = [values.slice(begin, size) for begin, size in zip(begins, sizes, strict=False)]
    together = Coded.stacked([part.changed(values) for part, values in zip(held, own, strict=True)])
    if len(together.values) > MANY:
        return one_type([_plain(column) for column in columns])
    return together.column(store.empty)


def _is_coded(column: pa.ChunkedArray) -> bool:
    return pa.types.is_dictionary(column.type) and not column.type.ordered


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if not pa.types.is_dictionary(column.type):
        return column
    return pa.chunked_array([chunk.dictionary_decode() for chunk in column.chunks], column.type.value_type)
