"""People as keyed digests: enough to see that somebody was there before, and no value of anybody.

A person is known by an identifier; without one, by all quasi-identifiers together. The text is brought into one form
(Unicode NFKC, no case, single spaces) and goes through BLAKE2b with the ledger's secret key. 64 bits are kept: among a
million people and a million others two strangers share a digest once in ten million ledgers, and that would count
somebody too many, never too few.
"""

from __future__ import annotations

import hashlib
import io
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from undercover.model.encoding.coded import Coded
from undercover.model.schema import Schema
from undercover.model.table import write_values

Digests = NDArray[np.uint64]
Key = tuple[str, ...]
"""The columns that tell who somebody is."""

_BYTES = 8


def array_of(content: bytes, kind: type[np.generic]) -> NDArray[Any]:
    """The array that ``np.save`` wrote into a file, which is not trusted; :class:`ValueError` where it is no other's.

    >>> stream = io.BytesIO()
    >>> np.save(stream, np.array([3, 5], np.uint64))
    >>> array_of(stream.getvalue(), np.uint64).tolist()
    [3, 5]
    """
    begin = 10 + int.from_bytes(content[8:10], "little")
    found = np.frombuffer(content[begin:], kind)
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, np.lib.format.header_data_from_array_1_0(found))
    if content[:begin] != header.getvalue():
        raise ValueError("it was not written by undercover, or is damaged")
    return found


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
    for texts, codes in coded:  # distinct combinations, one column at a time
        place = np.unique(place * len(texts) + codes, return_inverse=True)[1].reshape(-1)
    _, first = np.unique(place, return_index=True)
    parts = (map(texts.__getitem__, codes[first].tolist()) for texts, codes in coded)
    found = _digests(map(b"".join, zip(*parts, strict=True)), secret)
    known = np.ones(data.num_rows, dtype=bool)
    if len(key) == 1:
        ((texts, codes),) = coded
        known = codes < len(texts) - 1
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


def _digests(texts: Iterable[bytes], secret: bytes) -> Digests:
    keyed = hashlib.blake2b(digest_size=_BYTES, key=secret)

    def digest(text: bytes) -> bytes:
        own = keyed.copy()
        own.update(text)
        return own.digest()

    return np.frombuffer(b"".join(map(digest, texts)), dtype=">u8").astype(np.uint64)


def _coded(column: pa.ChunkedArray) -> tuple[list[bytes], NDArray[np.int32]]:
    """The distinct values of a column in one form, with their lengths, and last a missing one; the place of each row's.

    The length keeps the parts of a key from running into each other.
    """
    coded = Coded.of(column)
    labels = [_one_form(label) for label in write_values(coded.values)]
    distinct = {label: place for place, label in enumerate(dict.fromkeys(filter(None, labels)))}
    places = np.array([distinct.get(label, len(distinct)) for label in labels] + [len(distinct)], dtype=np.int64)
    codes = coded.codes(places, np.empty(len(coded), dtype=np.int32))
    return [*(b"%d:%s" % (len(text), text) for text in map(str.encode, distinct)), b"-"], codes


def _one_form(text: str) -> str:
    plain = text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).casefold()
    return " ".join(plain.split())
