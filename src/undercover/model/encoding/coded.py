"""A column as its distinct values and, for every row, the place of its value: the form in which large tables are held.

Whatever has to be found out or changed of a column is found out or changed of its distinct values; rows follow by their
indices, piece by piece, and are never decoded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from undercover.arrays import narrowest

Lookup = NDArray[np.int32]
Column: TypeAlias = pa.Array | pa.ChunkedArray

MANY = 1 << 20
"""Different values from which on a column is not held as codes: names, numbers of everybody's own."""
_PIECE = 1 << 18  # rows that are looked at together
_FIRST = 1 << 12  # rows among which there mostly are all values of a column of few


@dataclass(frozen=True)
class Coded:
    """Distinct values in the order in which rows have them, and chunks of rows.

    Of each chunk there are the indices of its rows, and the place among ``values`` that every index stands for; -1 is a
    missing value.

    Examples
    --------
    >>> found = Coded.of(pa.array(["b", None, "a", "b"]).dictionary_encode())
    >>> found.values.to_pylist(), found.counts().tolist(), found.missing
    (['b', 'a'], [2, 1, 1], 1)
    >>> found.codes(np.array([7, 8, 9]), np.empty(4, np.uint8)).tolist()
    [7, 9, 8, 7]
    """

    values: pa.Array
    chunks: tuple[tuple[pa.Array, Lookup], ...]

    @classmethod
    def of(cls, column: Column) -> Coded:
        """A column, of dictionaries or plain; dictionaries may differ from chunk to chunk and have spare values."""
        given = pa.types.is_dictionary(column.type)
        halves = pa.types.is_float16(column.type)  # of which only later versions of Arrow make codes
        coded = column if given else (column.cast(pa.float32()) if halves else column).dictionary_encode()
        chunks: Sequence[Any] = coded.chunks if isinstance(coded, pa.ChunkedArray) else [coded]
        known, before, lookups = pa.nulls(0, coded.type.value_type), None, []
        for chunk in chunks:
            if before is None or not chunk.dictionary.equals(before):
                before = chunk.dictionary
                known, lookup = merged(known, before)
            lookups.append(lookup)
        indices = tuple((chunk.indices, lookup) for chunk, lookup in zip(chunks, lookups, strict=True))
        found = cls(known, indices)
        order = _as_rows_have_them(indices, len(known)) if given else np.arange(len(known))
        if np.array_equal(order, np.arange(len(known))):
            return found
        place = np.full(len(known) + 1, -1, dtype=np.int32)
        place[order] = np.arange(len(order))
        return cls(known.take(pa.array(order)), _through(place, indices))

    @classmethod
    def stacked(cls, parts: Sequence[Coded]) -> Coded:
        """Columns of one type, one below the other."""
        known, chunks = parts[0].values, list(parts[0].chunks)
        for part in parts[1:]:
            known, place = merged(known, part.values)
            chunks += _through(np.append(place, np.int32(-1)), part.chunks)
        return cls(known, tuple(chunks))

    def __len__(self) -> int:
        return sum(len(indices) for indices, _ in self.chunks)

    @property
    def missing(self) -> int:
        """Rows without a value."""
        if any((lookup < 0).any() for _, lookup in self.chunks):
            return int(self.counts()[-1])
        return sum(indices.null_count for indices, _ in self.chunks)

    def counts(self) -> NDArray[np.int64]:
        """(n_values + 1,) rows of each value, and last of those without one."""
        found = np.zeros(len(self.values) + 1, dtype=np.int64)
        for _, piece, lookup in self._pieces():
            rows = np.bincount(_numbers(piece.drop_null()), minlength=len(lookup))
            np.add.at(found, lookup, rows)
            found[-1] += piece.null_count
        return found

    def pieces(self, place: NDArray[Any]) -> Iterator[NDArray[Any]]:
        """For one piece of rows after the other what ``place`` has for their values, and last for a missing one."""
        for _, piece, lookup in self._pieces():
            table = place[lookup] if len(lookup) else place[-1:]
            found = np.take(table, _numbers(piece), mode="clip")
            if piece.null_count:
                found[pc.is_null(piece).to_numpy(zero_copy_only=False)] = place[-1]
            yield found

    def codes(self, place: NDArray[Any], out: NDArray[Any]) -> NDArray[Any]:
        """Write the same for all rows."""
        start = 0
        for found in self.pieces(place.astype(out.dtype, copy=False)):
            out[start : start + len(found)] = found
            start += len(found)
        return out

    def changed(self, values: Column) -> Coded:
        """The same rows with other values, one for each there is; those that are equal now become one.

        >>> Coded.of(pa.array(["1.0", "2", "1"])).changed(pa.array([1, None, 1])).counts().tolist()
        [2, 1]
        """
        if isinstance(values, pa.ChunkedArray):
            values = values.combine_chunks() if values.num_chunks != 1 else values.chunk(0)
        own = values if pa.types.is_dictionary(values.type) else values.dictionary_encode()
        place = np.append(own.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32), np.int32(-1))
        return Coded(own.dictionary, _through(place, self.chunks))

    def column(self, empty: Callable[[int, Any], NDArray[Any]] = np.empty, *, ordered: bool = False) -> pa.ChunkedArray:
        """The rows as dictionaries again: with their own indices where these stand for themselves, otherwise with the
        narrowest signed ones, in arrays that ``empty`` gives.
        """
        if all(np.array_equal(lookup, np.arange(len(self.values))) for _, lookup in self.chunks):
            parts = [indices for indices, _ in self.chunks]
        else:
            parts = list(self._written(empty))
        type_ = pa.dictionary(parts[0].type if parts else pa.int8(), self.values.type, ordered=ordered)
        arrays = [pa.DictionaryArray.from_arrays(part, self.values, ordered=ordered, safe=False) for part in parts]
        return pa.chunked_array(arrays, type_)

    def first_row(self, place: int) -> int:
        """The first row that has a value, counted from 0."""
        for start, piece, lookup in self._pieces():
            here = pc.index(pc.is_in(piece, value_set=pa.array(np.flatnonzero(lookup == place), piece.type)), True)
            if here.as_py() >= 0:
                return start + int(here.as_py())
        raise IndexError(place)

    def without(self) -> NDArray[np.bool_]:
        """(n_rows,) whether a row has no value."""
        place = np.zeros(len(self.values) + 1, dtype=bool)
        place[-1] = True
        return self.codes(place, np.empty(len(self), dtype=bool))

    def _written(self, empty: Callable[[int, Any], NDArray[Any]]) -> Iterator[pa.Array]:
        place = np.append(np.arange(len(self.values)), -1)
        for chunk in self.chunks:
            codes = Coded(self.values, (chunk,)).codes(place, empty(len(chunk[0]), narrowest(len(self.values) - 1)))
            yield as_indices(codes)

    def _pieces(self) -> Iterator[tuple[int, pa.Array, Lookup]]:
        start = 0
        for indices, lookup in self.chunks:
            for begin in range(0, len(indices), _PIECE):
                yield start + begin, indices.slice(begin, _PIECE), lookup
            start += len(indices)


def merged(known: pa.Array, values: pa.Array) -> tuple[pa.Array, Lookup]:
    """Values with others behind them as far as they are new, and the place of each of the others; -1 is missing."""
    own = values.dictionary_encode()
    distinct, place = own.dictionary, np.arange(len(own.dictionary))
    if len(known):
        found = pc.index_in(distinct, value_set=known)
        new = np.asarray(pc.is_null(found))
        place = np.where(new, len(known) + np.cumsum(new) - 1, np.asarray(found.fill_null(0)))
        distinct = pa.concat_arrays([known, distinct.filter(pa.array(new))]) if new.any() else known
    at = np.asarray(own.indices.fill_null(-1))
    return distinct, np.append(place, -1)[at].astype(np.int32)


def distinct_values(column: Column) -> pa.Array:
    """The values of a column, each once, in the order of its rows, none missing."""
    return Coded.of(column).values


def value_type(arrow: pa.DataType) -> pa.DataType:
    """The type of the values of a column, be they in a dictionary or not."""
    return arrow.value_type if pa.types.is_dictionary(arrow) else arrow


def as_indices(codes: NDArray[Any]) -> pa.Array:
    """Codes as arrow's indices, without a copy; what is below 0 is missing."""
    missing = codes < 0
    if not missing.any():
        return pa.array(codes)
    valid = pa.py_buffer(np.packbits(~missing, bitorder="little"))
    return pa.Array.from_buffers(pa.from_numpy_dtype(codes.dtype), len(codes), [valid, pa.py_buffer(codes)])


def _as_rows_have_them(chunks: Sequence[tuple[pa.Array, Lookup]], size: int) -> NDArray[np.int64]:
    """The places in the order in which rows come to them first; looked for until all were seen."""
    order = np.empty(0, dtype=np.int64)
    for indices, lookup in chunks:
        begin, rows = 0, max(_FIRST, size)
        while begin < len(indices) and len(order) < size:
            here = lookup[np.asarray(pc.unique(indices.slice(begin, rows)).drop_null())]
            both = np.concatenate([order, here[here >= 0]])
            order = both[np.sort(np.unique(both, return_index=True)[1])]
            begin, rows = begin + rows, len(indices)
    return order


def _through(place: Lookup, chunks: Sequence[tuple[pa.Array, Lookup]]) -> tuple[tuple[pa.Array, Lookup], ...]:
    """Chunks whose lookups lead on to other places; one lookup that many chunks share is led on once."""
    made = {id(lookup): lookup for _, lookup in chunks}
    made = {key: place[lookup] for key, lookup in made.items()}
    return tuple((indices, made[id(lookup)]) for indices, lookup in chunks)


def _numbers(indices: pa.Array) -> NDArray[Any]:
    """Indices as numpy sees them; where one is missing, there is anything."""
    buffer = indices.buffers()[1]
    if buffer is None:
        return np.empty(0, dtype=np.int8)
    return np.frombuffer(buffer, indices.type.to_pandas_dtype())[indices.offset : indices.offset + len(indices)]
