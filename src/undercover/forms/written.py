"""Published cells as codes: two cells get the same code exactly when they are written alike.

Missing is a value of its own: it equals missing and nothing else. An empty text is missing, since nobody can tell
the two apart in a CSV file. Where it matters which way to err, the error is on the safe side: NaN and missing are
two different quasi-identifier cells (classes come out smaller), but one and the same sensitive value (diversity
comes out lower).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from undercover.model.groups import number
from undercover.model.table import write_values

_LARGEST_KEY = 1 << 62


@dataclass(frozen=True)
class Written:
    """One column: a code per row and the distinct cells, in no particular order; a null stands for missing."""

    codes: NDArray[np.int64]  # (n_rows,)
    values: pa.Array

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """Each cell as text; missing is empty."""
        return labels_of(self.values)


def written(column: pa.Array | pa.ChunkedArray, *, nan_is_missing: bool = False) -> Written:
    """Encode one column.

    >>> written(pa.array([1.5, float("nan"), None])).codes.tolist()
    [0, 1, 2]
    >>> written(pa.array([1.5, float("nan"), None]), nan_is_missing=True).codes.tolist()
    [0, 1, 1]
    """
    encoded = _dictionary(column)
    # The dictionary is short: tidying it up and encoding it again costs nothing and merges what is written alike.
    tidy = _tidied(encoded.dictionary, nan_is_missing).dictionary_encode()
    missing = len(tidy.dictionary)
    new_code = np.append(_filled(tidy.indices, missing), missing)
    codes = new_code[_filled(encoded.indices, len(encoded.dictionary))]
    values = tidy.dictionary
    if encoded.indices.null_count or tidy.indices.null_count:
        values = pa.concat_arrays([values, pa.nulls(1, values.type)])
    return Written(codes, values)


def combine(columns: Sequence[Written]) -> tuple[NDArray[np.int64], int]:
    """Number the distinct rows of several columns in order of appearance."""
    key = columns[0].codes
    span = max(len(columns[0].values), 1)
    for column in columns[1:]:
        size = max(len(column.values), 1)
        if span > _LARGEST_KEY // size:
            key, span = number(key)
        key = key * size + column.codes
        span *= size
    return number(key)


def first_rows(labels: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """(count,) the first row of each label."""
    first = np.empty(count, dtype=np.int64)
    first[labels[::-1]] = np.arange(len(labels) - 1, -1, -1)  # the last assignment to a place is the one that stays
    return first


def positions_among(column: Written, among: Written) -> NDArray[np.int64]:
    """Where each distinct cell of a column stands among those of another; -1 where it does not.

    >>> positions_among(written(pa.array([7, 3, 9])), written(pa.array([3, 7, 7]))).tolist()
    [1, 0, -1]
    >>> positions_among(written(pa.array(["7", "3"])), written(pa.array([3, 7, 7]))).tolist()
    [1, 0]
    """
    if column.values.type == among.values.type:
        found = pc.index_in(column.values, value_set=among.values)
        return np.asarray(found.fill_null(-1).to_numpy(zero_copy_only=False), dtype=np.int64)
    place = {label: position for position, label in enumerate(among.labels)}
    return np.array([place.get(label, -1) for label in column.labels], dtype=np.int64)


def labels_of(values: pa.Array) -> tuple[str, ...]:
    """Values as text, missing as the empty text."""
    present = values.drop_null()
    if pa.types.is_floating(present.type) and not all(map(math.isfinite, present.to_pylist())):
        texts = [
            write_values(pa.array([value]))[0] if math.isfinite(value) else str(value) for value in present.to_pylist()
        ]
    else:
        texts = write_values(present)
    if not values.null_count:
        return tuple(texts)
    following = iter(texts)
    return tuple(next(following) if valid else "" for valid in values.is_valid().to_pylist())


def _dictionary(column: pa.Array | pa.ChunkedArray) -> pa.DictionaryArray:
    chunked = column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column], type=column.type)
    if pa.types.is_null(chunked.type):
        chunked = chunked.cast(pa.string())
    if chunked.type == pa.string_view():
        chunked = chunked.cast(pa.large_string())
    if not pa.types.is_dictionary(chunked.type):
        chunked = chunked.dictionary_encode()
    if chunked.num_chunks == 0:
        return pa.array([], chunked.type.value_type).dictionary_encode()
    chunked = chunked.unify_dictionaries()
    if chunked.num_chunks == 1:
        return chunked.chunk(0)
    indices = np.concatenate([_filled(chunk.indices, -1) for chunk in chunked.chunks])
    return pa.DictionaryArray.from_arrays(pa.array(indices, mask=indices < 0), chunked.chunk(0).dictionary)


def _tidied(values: pa.Array, nan_is_missing: bool) -> pa.Array:
    missing = pa.scalar(None, values.type)
    if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
        return pc.if_else(pc.equal(values, pa.scalar("", values.type)), missing, values)
    if pa.types.is_floating(values.type):
        values = pc.add(values, pa.scalar(0.0, values.type))  # -0 is written 0
        if nan_is_missing:
            values = pc.if_else(pc.is_nan(values), missing, values)
    return values


def _filled(indices: pa.Array, missing: int) -> NDArray[np.int64]:
    if indices.null_count:
        indices = indices.cast(pa.int64()).fill_null(missing)
    return np.asarray(indices.to_numpy(zero_copy_only=False), dtype=np.int64)
