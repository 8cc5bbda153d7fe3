"""Columns that grow batch by batch into codes; one with very many different values stays as it is written."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from undercover.arrays import narrowest
from undercover.memory import Store, cores
from undercover.model.encoding.coded import MANY, Coded, as_indices, merged
from undercover.threads import parallel

Tell = Callable[[int], None]
"""Told how many rows were read."""


def coded_table(batches: Iterable[pa.RecordBatch], store: Store, tell: Tell | None = None) -> pa.Table:
    """All batches as one table of dictionaries, its columns beside each other on all cores."""
    growing: list[Growing] = []
    names: list[str] = []
    rows = 0
    for batch in batches:
        names = names or batch.schema.names
        growing = growing or [Growing(store) for _ in names]
        for begin in range(0, batch.num_rows, store.batch):
            some = batch.slice(begin, store.batch)
            pairs = list(zip(growing, some.columns, strict=True))
            parallel(lambda pair: pair[0].add(pair[1]), pairs, cores(), steps=some.num_rows * len(pairs))
        rows += batch.num_rows
        if tell is not None:
            tell(rows)
    columns = parallel(Growing.column, growing, cores(), steps=rows * len(growing))
    store.coded = True
    return pa.table(columns, names=names)


def gathered(schema: pa.Schema, batches: Iterable[pa.RecordBatch], store: Store, tell: Tell | None = None) -> pa.Table:
    """Batches nobody has counted: plain where they are few, as codes from the row on at which they are many."""
    coming = iter(batches)
    held: list[pa.RecordBatch] = []
    rows = 0
    for batch in coming:
        held.append(batch)
        rows += batch.num_rows
        if rows >= store.large:
            return coded_table(chain(held, coming), store, tell)
    return pa.Table.from_batches(held, schema)


class Growing:
    """One column.

    Examples
    --------
    >>> column = Growing(Store(10**6))
    >>> for batch in (["b", "a"], [None, "b", "c"]):
    ...     column.add(pa.array(batch))
    >>> column.column().type, column.column().to_pylist()
    (DictionaryType(dictionary<values=string, indices=int8, ordered=0>), ['b', 'a', None, 'b', 'c'])
    """

    def __init__(self, store: Store, most: int = MANY) -> None:
        self._store, self._most = store, most
        self._values: pa.Array | None = None
        self._codes: list[NDArray[np.signedinteger]] = []
        self._plain: list[pa.Array] | None = None

    def add(self, column: pa.Array) -> None:
        """The column of the next batch."""
        if column.type == pa.string_view():
            column = column.cast(pa.string())
        if self._plain is None and not _codable(column.type):
            self._plain = []
        if self._plain is not None:
            self._plain.append(self._kept(column))
            return
        own = Coded.of(column)
        before = own.values.slice(0, 0) if self._values is None else self._values
        known, lookup = merged(before, own.values)
        if len(known) > self._most:
            earlier, self._codes = self._codes, []
            self._plain = [self._kept(before.take(as_indices(codes))) for codes in earlier]
            self.add(column)
            return
        self._values = known
        codes = self._store.empty(len(column), narrowest(len(known) - 1))
        self._codes.append(own.codes(np.append(lookup, -1), codes))

    def column(self) -> pa.ChunkedArray:
        """All rows: dictionaries with one list of values and indices of one width, or plain values."""
        if self._plain is not None:
            return pa.chunked_array(self._plain)
        if self._values is None:
            return pa.chunked_array([], pa.null())
        wide = narrowest(len(self._values) - 1)
        for place, codes in enumerate(self._codes):
            if codes.dtype != wide:
                self._codes[place] = wider = self._store.empty(len(codes), wide)
                wider[:] = codes
        values = self._values
        return pa.chunked_array(
            [pa.DictionaryArray.from_arrays(as_indices(codes), values, safe=False) for codes in self._codes],
            pa.dictionary(pa.from_numpy_dtype(np.dtype(wide)), values.type),
        )

    def _kept(self, column: pa.Array) -> pa.Array:
        """Plain values, where there is room for them."""
        if pa.types.is_dictionary(column.type) and not column.type.ordered:
            column = column.dictionary_decode()
        batch = pa.record_batch([column], names=[""])
        length = pa.ipc.get_record_batch_size(batch)
        if self._store.takes(length):
            return column
        size = pa.MockOutputStream()
        with pa.ipc.new_stream(size, batch.schema) as writer:
            writer.write(batch)
        space = pa.py_buffer(self._store.file(size.size()))
        with pa.FixedSizeBufferWriter(space) as target, pa.ipc.new_stream(target, batch.schema) as writer:
            writer.write(batch)
        return pa.ipc.open_stream(space).read_next_batch().column(0)


def _codable(type_: pa.DataType) -> bool:
    """Whether there are different values to be counted; an order of categories is left as its owner made it."""
    if pa.types.is_dictionary(type_):
        return not type_.ordered and _codable(type_.value_type)
    checks = (
        *(pa.types.is_string, pa.types.is_large_string, pa.types.is_integer, pa.types.is_boolean, pa.types.is_float32),
        *(pa.types.is_float64, pa.types.is_decimal, pa.types.is_temporal, pa.types.is_null),
    )
    return any(check(type_) for check in checks)
