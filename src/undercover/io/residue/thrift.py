"""Headers of Parquet pages: structures in Thrift's compact protocol, read into plain dicts by the numbers of fields.

Only what page headers are made of is read (Apache Thrift, compact protocol specification; Apache Parquet,
``parquet.thrift``, ``PageHeader``).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

_TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = range(1, 13)
_UNCOMPRESSED_SIZE, _COMPRESSED_SIZE, _CRC = 2, 3, 4


class Page(NamedTuple):
    """One page of a column chunk: its header by numbers of fields, sizes and checksum aside, and its bytes."""

    header: dict[int, Any]
    size: int  # uncompressed
    body: bytes


class _Reader:
    """Bytes, and how far they were read."""

    def __init__(self, data: bytes, place: int) -> None:
        self.data = data
        self.place = place

    def number(self) -> int:
        """An unsigned number of variable length."""
        found = shift = 0
        while True:
            byte = self.data[self.place]
            self.place += 1
            found |= (byte & 0x7F) << shift
            if byte < 0x80:
                return found
            shift += 7
            if shift > 63:
                raise ValueError("a number that does not end")

    def signed(self) -> int:
        """A signed number of variable length."""
        found = self.number()
        return (found >> 1) ^ -(found & 1)

    def value(self, kind: int) -> Any:
        """A value of a kind."""
        if kind in (_TRUE, _FALSE):
            return kind == _TRUE
        if kind in (_I16, _I32, _I64):
            return self.signed()
        if kind == _BINARY:
            return self.take(self.number())
        if kind == _STRUCT:
            return self.struct()
        if kind == _BYTE:
            return self.take(1)
        if kind == _DOUBLE:
            return self.take(8)
        raise ValueError(f"a field of kind {kind}, which page headers do not have")

    def take(self, size: int) -> bytes:
        """So many bytes."""
        found = self.data[self.place : self.place + size]
        if len(found) < size:
            raise ValueError("a field that is cut off")
        self.place += size
        return found

    def struct(self) -> dict[int, Any]:
        """A structure, by the numbers of its fields."""
        found: dict[int, Any] = {}
        field = 0
        while True:
            head = self.take(1)[0]
            if head == 0:
                return found
            step, kind = head >> 4, head & 0x0F
            field = field + step if step else self.signed()
            if field in found:
                raise ValueError("a field that is there twice")
            found[field] = self.value(kind)


def read_pages(chunk: bytes) -> Iterator[Page]:
    """The pages of a column chunk one after the other; raises ``ValueError`` where bytes lie between them."""
    place = 0
    while place < len(chunk):
        reader = _Reader(chunk, place)
        try:
            header = reader.struct()
        except IndexError as error:
            raise ValueError("a header that is cut off") from error
        size, packed = header.pop(_UNCOMPRESSED_SIZE, None), header.pop(_COMPRESSED_SIZE, None)
        header.pop(_CRC, None)
        if not isinstance(size, int) or not isinstance(packed, int) or min(size, packed) < 0:
            raise ValueError("a page without its size")
        yield Page(header, size, reader.take(packed))
        place = reader.place


def has_one_frame(packed: bytes) -> bool:
    """Whether bytes are one frame of Zstandard and nothing else (RFC 8878, section 3.1.1).

    >>> import pyarrow as pa
    >>> frame = pa.Codec("zstd").compress(b"abc", asbytes=True)
    >>> has_one_frame(frame), has_one_frame(frame + b"raw rows"), has_one_frame(b"abc")
    (True, False, False)
    """
    if packed[:4] != b"\x28\xb5\x2f\xfd" or len(packed) < 6:
        return False
    described = packed[4]
    single = bool(described & 0x20)
    place = 5 + (0 if single else 1) + (0, 1, 2, 4)[described & 3] + ((1 if single else 0), 2, 4, 8)[described >> 6]
    last = False
    while not last:
        head = int.from_bytes(packed[place : place + 3], "little")
        last, kind, size = bool(head & 1), (head >> 1) & 3, head >> 3
        place += 3 + (1 if kind == 1 else size)
        if place > len(packed):
            return False
    return place + (4 if described & 4 else 0) == len(packed)
