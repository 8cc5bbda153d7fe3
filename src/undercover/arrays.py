"""Arrays of table length, a stretch at a time: as narrow as what they hold, with no eight bytes a row beside them.

Codes have one or two bytes and labels four. NumPy widens either to eight where they pick or are multiplied, for all
rows at once; what is here does it for some rows after the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Whole = NDArray[np.integer]

_STRETCH = 1 << 16  # rows whose wide numbers stay in the cache
_WIDEST = 63  # bits of a whole number
_MOST_ROWS = int(np.iinfo(np.int32).max)  # that are numbered in four bytes
_SIGNED: list[tuple[int, type[np.signedinteger[Any]]]] = [
    (int(np.iinfo(kind).max), kind) for kind in (np.int8, np.int16, np.int32, np.int64)
]


def narrowest(largest: int) -> type[np.signedinteger[Any]]:
    """The narrowest signed type that holds whole numbers up to ``largest``, and -1.

    >>> [narrowest(largest).__name__ for largest in (127, 128, 32767, 32768, 2**31)]
    ['int8', 'int16', 'int16', 'int32', 'int64']
    """
    return next(kind for most, kind in _SIGNED if largest <= most)


def stretches(rows: int) -> Iterator[slice]:
    """The rows of a table, some after the others."""
    return (slice(begin, min(begin + _STRETCH, rows)) for begin in range(0, rows, _STRETCH))


def look_up(table: NDArray[Any], codes: Whole) -> NDArray[Any]:
    """``table[codes]``."""
    if 0 < len(codes) <= _STRETCH:
        return np.asarray(table[codes])
    found = np.empty((len(codes), *table.shape[1:]), dtype=table.dtype)
    for part in stretches(len(codes)):
        found[part] = table[codes[part]]
    return found


def rows_where(mask: NDArray[np.bool_]) -> Whole:
    """The rows of which something is true, in four bytes each."""
    kind = _row_type(len(mask))
    if len(mask) <= _STRETCH:
        return np.flatnonzero(mask).astype(kind)
    found = [(np.flatnonzero(mask[part]) + part.start).astype(kind) for part in stretches(len(mask))]
    return np.concatenate(found)


def count(codes: Whole, size: int, weights: Whole | None = None) -> NDArray[np.int64]:
    """(size,) how often each code occurs, or with what weight; no code is negative.

    >>> count(np.array([2, 0, 2], dtype=np.int8), 4).tolist()
    [1, 0, 2, 0]
    """
    counts = np.zeros(size, dtype=np.int64)
    exact = weights is None or weights.itemsize <= 4  # of a stretch NumPy adds up doubles
    for part in stretches(len(codes)):
        if exact and (size <= _STRETCH or len(codes) <= _STRETCH):
            of_part = None if weights is None else weights[part]
            counts += np.bincount(codes[part].astype(np.int64), of_part, size).astype(np.int64, copy=False)
        else:
            np.add.at(counts, codes[part], 1 if weights is None else weights[part])
    return counts


def crossed(keys: Whole, span: int, codes: Whole, size: int) -> Whole:
    """``keys * size + codes``, in a type that holds ``span * size`` of them.

    >>> crossed(np.array([99], dtype=np.int8), 100, np.array([99], dtype=np.int8), 100)
    array([9999], dtype=int16)
    """
    kind = narrowest(span * size - 1)
    found = np.empty(len(keys), dtype=kind)
    np.multiply(keys, size, out=found, dtype=kind, casting="unsafe")  # which it widens a stretch at a time itself
    return np.add(found, codes, out=found, dtype=kind, casting="unsafe")


def numbered(keys: Whole, *, spare: bool = False) -> tuple[Whole, Whole]:
    """Number distinct keys in order of appearance: (n_rows,) labels, and the first row of each label.

    ``spare`` keys may be overwritten: nobody else holds them.

    >>> [found.tolist() for found in numbered(np.array([7, -3, 7, 9]))]
    [[0, 1, 0, 2], [0, 1, 3]]
    """
    rows = len(keys)
    if not rows:
        return np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int32)
    low, high = int(keys.min()), int(keys.max())
    span = high - low + 1
    if span <= 1024 + 2 * rows:
        return _in_place(keys, low, span)
    if high < 1 << _WIDEST and span.bit_length() + rows.bit_length() <= _WIDEST:
        return _by_sorting(keys, low, keys if spare and keys.dtype == np.int64 else np.empty(rows, dtype=np.int64))
    return _by_hash(keys)


def tally(keys: Whole, span: int, weights: Whole | None = None) -> tuple[Whole, Whole]:
    """The distinct keys below ``span`` in order, and how often, or with what weight, each occurs.

    The keys are sorted where they lie: nobody else may hold them.

    >>> [found.tolist() for found in tally(np.array([9, 4, 9]), 10)]
    [[4, 9], [1, 2]]
    """
    if span <= max(len(keys) // 4, 1 << 16):
        totals = count(keys, span, weights)
        distinct = np.flatnonzero(totals)
        return distinct, totals[distinct]
    if weights is None:
        keys.sort()
    else:
        order = np.argsort(keys)
        keys, weights = keys[order], weights[order]
    begins = np.append(True, keys[1:] != keys[:-1])
    first = rows_where(begins)
    if weights is not None:
        return keys[begins], np.add.reduceat(weights, first)
    return keys[begins], np.diff(first, append=first.dtype.type(len(keys)))


def first_rows(labels: Whole, count: int) -> Whole:
    """(count,) the first row of each label."""
    first = np.empty(count, dtype=_row_type(len(labels)))
    _note_first(first, labels, 0)
    return first


def _row_type(rows: int) -> type[np.signedinteger[Any]]:
    return np.int32 if rows <= _MOST_ROWS else np.int64


def _note_first(first: Whole, keys: Whole, low: int) -> None:
    """Write the first row of each key at its place."""
    for part in reversed(list(stretches(len(keys)))):  # the last assignment to a place is the one that stays
        at = keys[part][::-1].astype(np.int64) - low
        first[at] = np.arange(part.stop - 1, part.start - 1, -1)


def _ranks(first: Whole, rows: int) -> tuple[Whole, Whole]:
    """The place of each key by its first row, and these rows in order."""
    seen = np.zeros(rows, dtype=bool)
    seen[first] = True
    ranks = np.cumsum(seen, dtype=_row_type(rows))[first] - _row_type(rows)(1)
    return ranks, rows_where(seen)


def _in_place(keys: Whole, low: int, span: int) -> tuple[Whole, Whole]:
    """Keys that lie close together: a place for each that there may be."""
    rows = len(keys)
    place: Whole = np.full(span, rows, dtype=_row_type(rows))
    _note_first(place, keys, low)
    there = place < rows
    place[there], first = _ranks(place[there], rows)
    labels: Whole = np.empty(rows, dtype=place.dtype)
    for part in stretches(rows):
        labels[part] = place[keys[part].astype(np.int64) - low]
    return labels, first


def _by_sorting(keys: Whole, low: int, words: Whole) -> tuple[Whole, Whole]:
    """Keys that have room for the number of the row in one word: equal ones come to stand together, by row."""
    rows, bits = len(keys), len(keys).bit_length()
    row_of = (1 << bits) - 1
    for part in stretches(rows):
        words[part] = (keys[part].astype(np.int64) - low) << bits | np.arange(part.start, part.stop)
    words.sort()
    begins = np.empty(rows, dtype=bool)
    before = -1
    for part in stretches(rows):
        key = words[part] >> bits
        begins[part] = np.diff(key, prepend=before) != 0
        before = key[-1]
    first = np.concatenate([words[part][begins[part]] & row_of for part in stretches(rows)], dtype=_row_type(rows))
    ranks, first = _ranks(first, rows)
    labels = np.empty(rows, dtype=ranks.dtype)
    done = -1
    for part in stretches(rows):
        run = np.cumsum(begins[part]) + done
        labels[words[part] & row_of] = ranks[run]
        done = run[-1]
    return labels, first


def _by_hash(keys: Whole) -> tuple[Whole, Whole]:
    """Any keys."""
    encoded = pa.array(keys).dictionary_encode()
    labels = encoded.indices.to_numpy()
    return labels, first_rows(labels, len(encoded.dictionary))
