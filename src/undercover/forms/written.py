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
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from undercover.arrays import crossed, look_up, narrowest, numbered
from undercover.arrays import first_rows as first_rows
from undercover.model.table import EncodedColumn, write_values

_LARGEST_KEY = 1 << 62


@dataclass(frozen=True)
class Written:
    """One column: a code per row and the distinct cells, in no particular order; a null stands for missing.

    Codes are as narrow as the published column has them: whoever multiplies them widens them first.
    """

    codes: NDArray[np.integer]  # (n_rows,)
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
    chunked = column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column], type=column.type)
    if pa.types.is_signed_integer(chunked.type) and not chunked.null_count:
        labels, first = numbered(chunked.to_numpy())
        return Written(labels.astype(narrowest(len(first))), chunked.take(pa.array(first)).combine_chunks())
    indices, dictionary = _dictionary(chunked)
    # The dictionary is short: tidying it up and encoding it again costs nothing and merges what is written alike.
    tidy = _tidied(dictionary, nan_is_missing).dictionary_encode()
    values, missing = tidy.dictionary, len(tidy.dictionary)
    if not indices.null_count and missing == len(dictionary):
        return Written(_numbers(indices), values)
    new_code = np.append(_numbers(tidy.indices.fill_null(missing)), missing).astype(narrowest(missing))
    codes = look_up(new_code, _numbers(indices.fill_null(0)))
    if indices.null_count:
        codes[_numbers(indices.is_null())] = missing
    if indices.null_count or tidy.indices.null_count:
        values = pa.concat_arrays([values, pa.nulls(1, values.type)])
    return Written(codes, values)


def as_written(column: EncodedColumn) -> Written:
    """A column of a table, which has codes already, as its values would be published."""
    labels = pa.array(column.domain.labels, pa.string())
    return Written(column.codes, _tidied(labels, nan_is_missing=False))


def may_be_nan(kind: pa.DataType) -> bool:
    """Whether a column can have a NaN, so that it matters whether that is missing."""
    return bool(pa.types.is_floating(kind.value_type if pa.types.is_dictionary(kind) else kind))


def combine(columns: Sequence[Written]) -> tuple[NDArray[np.integer], int]:
    """Number the distinct rows of several columns in order of appearance."""
    labels, first = combined(columns)
    return labels, len(first)


def combined(columns: Sequence[Written]) -> tuple[NDArray[np.integer], NDArray[np.integer]]:
    """The same numbers, and the first row of each."""
    key = columns[0].codes
    span = max(len(columns[0].values), 1)
    most = _LARGEST_KEY // max(len(key), 1)  # so that the number of a row has room beside the key
    for column in columns[1:]:
        size = max(len(column.values), 1)
        if span * size > most:
            key, first = numbered(key, spare=key is not columns[0].codes)
            span = max(len(first), 1)
        key = crossed(key, span, column.codes, size)
        span *= size
    return numbered(key, spare=key is not columns[0].codes)


def positions_among(column: Written, among: Written) -> NDArray[np.int64]:
    """Where each distinct cell of a column stands among those of another; -1 where it does not.

    >>> positions_among(written(pa.array([7, 3, 9])), written(pa.array([3, 7, 7]))).tolist()
    [1, 0, -1]
    >>> positions_among(written(pa.array(["7", "3"])), written(pa.array([3, 7, 7]))).tolist()
    [1, 0]
    """
    if all(pa.types.is_integer(each.values.type) and not each.values.null_count for each in (column, among)):
        both = np.concatenate([_numbers(each.values.cast(pa.int64())) for each in (among, column)])
        labels = numbered(both)[0][len(among.values) :]
        return np.where(labels < len(among.values), labels, -1).astype(np.int64)
    if column.values.type == among.values.type:
        found = pc.index_in(column.values, value_set=among.values)
        return np.asarray(found.fill_null(-1).to_numpy(zero_copy_only=False), dtype=np.int64)
    place = {label: position for position, label in enumerate(among.labels)}
    return np.array([place.get(label, -1) for label in column.labels], dtype=np.int64)


def together(first: Written, second: Written) -> Written:
    """The cells of two columns as those of one, the second below the first; what is written there is not kept.

    >>> together(written(pa.array([7, 3])), written(pa.array([3, 9]))).codes.tolist()
    [0, 1, 1, 2]
    """
    place = positions_among(second, first)
    new = place < 0
    place[new] = len(first.values) + np.arange(int(new.sum()))
    size = len(first.values) + int(new.sum())
    codes = np.empty(len(first.codes) + len(second.codes), dtype=narrowest(size))
    codes[: len(first.codes)] = first.codes
    codes[len(first.codes) :] = look_up(place.astype(codes.dtype), second.codes)
    return Written(codes, pa.nulls(size))


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


def _dictionary(chunked: pa.ChunkedArray) -> tuple[pa.Array, pa.Array]:
    """Indices, as narrow as they are or can be, and the cells they stand for."""
    if pa.types.is_null(chunked.type):
        chunked = chunked.cast(pa.string())
    if chunked.type == pa.string_view():
        chunked = chunked.cast(pa.large_string())
    encoded = chunked if pa.types.is_dictionary(chunked.type) else chunked.dictionary_encode()
    if not encoded.num_chunks:
        return pa.array([], pa.int8()), pa.array([], encoded.type.value_type)
    dictionary = encoded.chunk(0).dictionary
    if not all(chunk.dictionary.equals(dictionary) for chunk in encoded.chunks[1:]):
        # In wide indices, since together they may have more cells than narrow ones can tell apart.
        encoded = encoded.cast(pa.dictionary(pa.int32(), encoded.type.value_type)).unify_dictionaries()
        dictionary = encoded.chunk(0).dictionary
    indices = [chunk.indices for chunk in encoded.chunks]
    if encoded is not chunked:
        kind = pa.from_numpy_dtype(narrowest(len(dictionary)))
        indices = [chunk.cast(kind) for chunk in indices]
    return indices[0] if len(indices) == 1 else pa.concat_arrays(indices), dictionary


def _tidied(values: pa.Array, nan_is_missing: bool) -> pa.Array:
    missing = pa.scalar(None, values.type)
    if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
        return pc.if_else(pc.equal(values, pa.scalar("", values.type)), missing, values)
    if pa.types.is_floating(values.type):
        values = pc.add(values, pa.scalar(0.0, values.type))  # -0 is written 0
        if nan_is_missing:
            values = pc.if_else(pc.is_nan(values), missing, values)
    return values


def _numbers(values: pa.Array) -> NDArray[Any]:
    return np.asarray(values.to_numpy(zero_copy_only=False))
