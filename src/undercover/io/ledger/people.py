"""People as keyed digests: enough to see that somebody was there before, and no value of anybody.

A person is known by an identifier; without one, by all quasi-identifiers together. The text is brought into one form
(Unicode NFKC, no case, single spaces) and goes through BLAKE2b with the ledger's secret key. 64 bits are kept: among a
million people and a million others two strangers share a digest once in ten million ledgers, and that would count
somebody too many, never too few.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from undercover.model.schema import Schema
from undercover.model.table import write_values

Digests = NDArray[np.uint64]
Key = tuple[str, ...]
"""The columns that tell who somebody is."""

_BYTES = 8


def keys_of(schema: Schema) -> tuple[tuple[Key, ...], bool]:
    """By which columns the people of a table are known: each identifier, or else all quasi-identifiers (not exact).

    >>> keys_of(Schema(quasi_identifiers=["age", "sex"], identifiers=["name"]))
    ((('name',),), True)
    >>> keys_of(Schema(quasi_identifiers=["age", "sex"]))
    ((('age', 'sex'),), False)
    """
    if schema.identifiers:
        return tuple((name,) for name in schema.identifiers), True
    return (tuple(sorted(schema.quasi_identifiers)),), False


def digests(data: pa.Table, key: Key, secret: bytes) -> tuple[Digests, NDArray[np.bool_]]:
    """(n_rows,) the digest of each row's person, and whether there is one: an identifier may be missing.

    >>> people = pa.table({"name": ["Ann  Li", "ann li", None]})
    >>> found, known = digests(people, ("name",), b"secret")
    >>> bool(found[0] == found[1]), known.tolist()
    (True, [True, True, False])
    """
    names = columns_named(key, data.column_names)
    coded = [_coded(data.column(name)) for name in names]
    place = np.zeros(data.num_rows, dtype=np.int64)
    for labels, codes in coded:  # distinct combinations, one column at a time
        place = np.unique(place * (len(labels) + 1) + codes, return_inverse=True)[1].reshape(-1)
    _, first = np.unique(place, return_index=True)
    texts = ([labels[code] if code < len(labels) else None for code in codes[first]] for labels, codes in coded)
    found = np.array([_digest(parts, secret) for parts in zip(*texts, strict=True)], dtype=np.uint64)
    known = np.ones(data.num_rows, dtype=bool)
    if len(key) == 1:
        (labels, codes) = coded[0]
        known = codes < len(labels)
    return found[place], known


def columns_named(key: Key, names: Iterable[str]) -> list[str]:
    """The columns of a table that have the names of a key, but for case and spaces; fewer where some are not there.

    >>> columns_named(("name", "zip"), ["ZIP ", "age", "Name"])
    ['Name', 'ZIP ']
    """
    spelled: Mapping[str, str] = {_one_form(name): name for name in reversed(list(names))}
    return [spelled[_one_form(name)] for name in key if _one_form(name) in spelled]


def shared(rows: Digests, known: NDArray[np.bool_], people: Digests) -> NDArray[np.bool_]:
    """(n_rows,) whether a row is of somebody among sorted ``people``."""
    if not len(people):
        return np.zeros(len(rows), dtype=bool)
    at = np.minimum(np.searchsorted(people, rows), len(people) - 1)
    return np.asarray((people[at] == rows) & known)


def _digest(parts: Sequence[str | None], secret: bytes) -> int:
    text = b"".join(
        b"-" if part is None else b"%d:" % len(written) + written
        for part in parts
        for written in ((part or "").encode(),)
    )
    return int.from_bytes(hashlib.blake2b(text, digest_size=_BYTES, key=secret).digest(), "big")


def _coded(column: pa.ChunkedArray) -> tuple[list[str], NDArray[np.int64]]:
    """The distinct values of a column in one form, and the place of each row's value; missing comes after them."""
    plain = column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
    coded = plain.dictionary_encode().combine_chunks()
    coded = coded.chunk(0) if isinstance(coded, pa.ChunkedArray) else coded
    labels = [_one_form(label) for label in write_values(coded.dictionary)]
    distinct = {label: place for place, label in enumerate(dict.fromkeys(label for label in labels if label))}
    places = np.array([distinct.get(label, len(distinct)) for label in labels] + [len(distinct)], dtype=np.int64)
    indices = coded.indices.fill_null(len(labels)).to_numpy(zero_copy_only=False)
    return list(distinct), places[indices]


def _one_form(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
