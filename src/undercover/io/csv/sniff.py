"""What a CSV file does not say of itself: its separator and its encoding, found from the first records."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO, cast

from undercover.errors import DataError

SEPARATORS = (",", ";", "\t", "|")
SAMPLE = 1 << 18
_RECORDS = 200
_MARKS = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


def sample(path: Path) -> bytes:
    """The first bytes of a file, unpacked where it is gzip.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "t.csv").write_bytes(b"a,b")
    ...     sample(Path(folder, "t.csv"))
    b'a,b'
    """
    try:
        with open_binary(path) as stream:
            return stream.read(SAMPLE)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DataError(
            f"`{path}` is named .gz but cannot be unpacked: {error}. Compress it again, or rename it if it is plain."
        ) from error
    except OSError as error:
        raise DataError(f"`{path}` cannot be read: {error.strerror or error}.") from error


def open_binary(path: Path) -> gzip.GzipFile | io.BufferedReader:
    """Open a file for reading bytes, unpacked where its name ends in ``.gz``.

    >>> import os
    >>> with open_binary(Path(os.devnull)) as stream:
    ...     stream.read()
    b''
    """
    return gzip.open(path, "rb") if path.suffix.lower() == ".gz" else open(path, "rb")


def open_text(path: Path, encoding: str) -> TextIO:
    """Open a file for reading text, unpacked where its name ends in ``.gz``; a mark at its start is left out.

    >>> import os
    >>> with open_text(Path(os.devnull), "utf-8") as stream:
    ...     stream.read()
    ''
    """
    name = "utf-8-sig" if codecs.lookup(encoding).name == "utf-8" else encoding
    if path.suffix.lower() == ".gz":
        return cast(TextIO, gzip.open(path, "rt", encoding=name, newline=""))
    return open(path, encoding=name, newline="")


def encodings_to_try(start: bytes) -> tuple[str, ...]:
    """The encodings a file that begins with ``start`` may have, the likeliest first.

    >>> encodings_to_try(b"a,b")
    ('utf-8', 'cp1252', 'latin-1')
    """
    for mark, encoding in _MARKS.items():
        if start.startswith(mark):
            return (encoding,)
    return ("utf-8", "cp1252", "latin-1")


def separator_of(text: str) -> str:
    """The separator that cuts most records into as many fields as the header; a comma where there is only one column.

    >>> separator_of("name;income\\nMeier, Ute;1,5\\n")
    ';'
    >>> separator_of('age,zone\\n34,"a;b"\\n')
    ','
    """
    best, best_score = ",", (0.0, 1)
    for separator in SEPARATORS:
        counts = [len(record) for _, record in records(text, separator, limit=_RECORDS)]
        if len(text) >= SAMPLE // 2 and len(counts) > 2:
            counts = counts[:-1]  # the sample may end within a record
        if not counts or counts[0] == 1:
            continue
        score = (sum(count == counts[0] for count in counts) / len(counts), counts[0])
        if score > best_score:
            best, best_score = separator, score
    return best


def records(text: str | TextIO, separator: str, *, limit: int | None = None) -> Iterator[tuple[int, list[str]]]:
    """The records of a CSV text, each with the line it begins on; blank lines are left out.

    >>> list(records('a,b\\n"x\\ny",1\\n2,3\\n', ","))
    [(1, ['a', 'b']), (2, ['x\\ny', '1']), (4, ['2', '3'])]
    """
    stream = io.StringIO(text, newline="") if isinstance(text, str) else text
    reader = csv.reader(stream, delimiter=separator)
    begins = 1
    found = 0
    try:
        for record in reader:
            if record:
                yield begins, record
                found += 1
                if found == limit:
                    return
            begins = reader.line_num + 1
    except csv.Error as error:
        if limit is None:
            raise DataError(f"line {begins}: {error}. Is a quotation mark not closed?") from error
