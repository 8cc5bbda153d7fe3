"""How much may come out of a file, and how much a table may hold: small files that fill the memory are refused.

A packed file says little of what is in it: half a megabyte can unpack to hundreds. What it unpacks to is bounded by a
multiple of its size, where it is more than every machine has room for; so is the number of cells that a file says it
has. Files of honest tables stay far below: CSV packs to a tenth, seldom to a fortieth.
"""

from __future__ import annotations

import gzip
import io
import re
import zipfile
from collections.abc import Collection
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from undercover.characters import visible
from undercover.errors import DataError
from undercover.memory import size_in_words

TIMES: Final = 50
"""How many times its size a packed file may unpack to …"""
FREE: Final = 50_000_000
"""… and how many bytes any may."""
CELLS_PER_BYTE: Final = 100
CELLS_FREE: Final = 10_000_000
"""The same of cells in columns that are packed: for every byte of a file, and of any."""
MOST_COLUMNS: Final = 5_000
MOST_QUASI_IDENTIFIERS: Final = 100
MOST_LETTERS: Final = 10_000
"""Of one cell that is published."""
MOST_LETTERS_OF_A_NAME: Final = 1_000

_CELL = re.compile(rb"""<(?:\w+:)?c(?:\s(?:[^>]*?\s)?r=["']([A-Z]{1,3})(\d{1,7})["'])?[^>]*(?<!/)>""")
_PIECE = 1 << 22
_SHEETS = "xl/worksheets/"


class Unpacked(io.RawIOBase):
    """What comes out of a packed file, up to its bound; a ``quiet`` one ends there, and :meth:`check` says so.

    (Whoever reads on threads of another language waits for ever if a read raises.)

    >>> Unpacked(io.BytesIO(b"a,b"), Path("people.csv.gz"), most=2).read(3)
    Traceback (most recent call last):
    undercover.errors.DataError: `people.csv.gz` unpacks to more than 2 B, ...
    """

    def __init__(self, stream: Any, path: Path, *, most: int | None = None, quiet: bool = False) -> None:
        self._stream, self._path, self._came, self._quiet = stream, path, 0, quiet
        self._most = most_of(path) if most is None else most

    def readable(self) -> bool:
        """It is read, and not written."""
        return True

    def readinto(self, buffer: Any) -> int:
        """The next bytes."""
        found = self._stream.read(len(buffer))
        self._came += len(found)
        if self._came > self._most:
            if not self._quiet:
                self.check()
            return 0
        buffer[: len(found)] = found
        return len(found)

    def check(self) -> None:
        """Raise where there was more than may come out."""
        if self._came > self._most:
            raise too_much(self._path, self._most)

    def close(self) -> None:
        """Close the file, too."""
        self._stream.close()
        super().close()


def most_of(path: Path) -> int:
    """How many bytes a packed file may unpack to."""
    return max(FREE, TIMES * path.stat().st_size)


def too_much(path: Path, most: int) -> DataError:
    """Why it may not unpack to more."""
    return DataError(
        f"`{path}` unpacks to more than {size_in_words(most)}, the most that is taken out of a packed file of its size "
        f"({TIMES} times as much, or {size_in_words(FREE)}). If it is meant to: unpack it yourself, and give the file."
    )


def open_binary(path: Path) -> io.BufferedReader:
    """Open a file for reading bytes, unpacked where its name ends in ``.gz``."""
    return io.BufferedReader(Unpacked(gzip.open(path, "rb"), path)) if is_gzip(path) else open(path, "rb")


def check_unpacked(path: Path) -> None:
    """Refuse a packed file that unpacks to too much before anything is made of it, where that takes long."""
    with open_binary(path) as stream:
        while is_gzip(path) and stream.read(_PIECE):
            pass


def is_gzip(path: Path) -> bool:
    """Whether a file is packed, by its name."""
    return path.suffix.lower() == ".gz"


def check_cells(path: Path, rows: int, columns: int, per_byte: int = CELLS_PER_BYTE) -> None:
    """Refuse a file that says it has more cells than it has room for."""
    check_columns(f"`{path}`", columns)
    if rows * columns > max(CELLS_FREE, per_byte * path.stat().st_size):
        raise DataError(
            f"`{path}` has {rows:,} rows of {columns:,} columns in {size_in_words(path.stat().st_size)}, more than "
            f"{per_byte} cells for every byte: it is damaged, or made to fill the memory. If it is meant to: give the "
            "table as CSV."
        )


def check_columns(where: str, columns: int, names: Collection[str] = ()) -> None:
    """Refuse more columns, or longer names, than can be looked at.

    >>> check_columns("`wide.csv`", 100_000)
    Traceback (most recent call last):
    undercover.errors.DataError: `wide.csv` has 100,000 columns; at most 5,000 can be read. Leave out what is not ...
    """
    if columns > MOST_COLUMNS:
        raise DataError(
            f"{where} has {columns:,} columns; at most {MOST_COLUMNS:,} can be read. Leave out what is not published."
        )
    longest = max(map(len, names), default=0)
    if longest > MOST_LETTERS_OF_A_NAME:
        raise DataError(
            f"{where} has a column whose name has {longest:,} characters; at most {MOST_LETTERS_OF_A_NAME:,} can be "
            "read. Is the first line the header?"
        )


def check_published(data: pa.Table, quasi_identifiers: Collection[str], published: Collection[str]) -> None:
    """Refuse what would take a day to anonymise, attack and draw: too many quasi-identifiers, cells that are books."""
    problems = []
    if len(quasi_identifiers) > MOST_QUASI_IDENTIFIERS:
        problems.append(
            f"{len(quasi_identifiers):,} columns are quasi-identifiers; at most {MOST_QUASI_IDENTIFIERS} can be. Name "
            "those that somebody outside may know of a person, and drop the others."
        )
    for name in published:
        if not name.strip():
            problems.append("A column to be published has no name, which no file gives back. Name it.")
        elif not name.isprintable():
            problems.append(
                f"Column `{visible(name)}` has a name with line breaks or other letters that are not printed, which no "
                "verifier accepts. Rename it."
            )
        longest = _longest(data.column(name)) if name in data.column_names else 0
        if longest > MOST_LETTERS:
            problems.append(
                f"A cell of `{name}` has {longest:,} characters; at most {MOST_LETTERS:,} can be published. Is a "
                "quotation mark missing, or is it free text? Drop the column, or shorten its cells."
            )
    if problems:
        raise DataError(problems)


def _longest(column: pa.ChunkedArray) -> int:
    """The characters of the longest text, if it has any."""
    found = 0
    for chunk in column.chunks:
        values = chunk.dictionary if pa.types.is_dictionary(chunk.type) else chunk
        if pa.types.is_string(values.type) and (pc.max(pc.binary_length(values)).as_py() or 0) > max(
            found, MOST_LETTERS
        ):
            found = max(found, pc.max(pc.utf8_length(values)).as_py())
    return found


def check_workbook(path: Path) -> None:
    """Refuse a workbook that unpacks to too much, or has cells so far apart that a table between them fills the memory.

    Whoever reads a sheet makes room for all cells between the first and the last, be they there or not.
    """
    with zipfile.ZipFile(path) as packed:
        if sum(item.file_size for item in packed.infolist()) > most_of(path):
            raise too_much(path, most_of(path))
        for item in packed.infolist():
            if item.filename.startswith(_SHEETS) and item.filename.endswith(".xml"):
                with packed.open(item) as stream:
                    cells, rows, columns = _extent(stream)
                if rows * columns > max(CELLS_FREE, CELLS_PER_BYTE * cells):
                    raise DataError(
                        f"`{path}`, {item.filename.removeprefix(_SHEETS)}: {cells:,} cells lie in {rows:,} rows and "
                        f"{columns:,} columns. Delete what stands far from the table, or give it as CSV."
                    )


def _extent(stream: Any) -> tuple[int, int, int]:
    """How many cells a sheet has that are not empty, and in how many rows and columns they lie."""
    cells, held = 0, b""
    columns: set[bytes] = set()
    rows: set[bytes] = set()
    while piece := stream.read(_PIECE):
        text = held + piece
        begun = text.rfind(b"<")
        held, text = text[begun:], text[:begun]
        found = _CELL.findall(text)
        cells += len(found)
        columns.update(column for column, _ in found)
        rows.update(row for _, row in found)
    across, down = [_number(column) for column in columns if column], [int(row) for row in rows if row]
    return (cells, max(down) - min(down) + 1, max(across) - min(across) + 1) if across else (cells, cells, 1)


def _number(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + letter - ord("A") + 1
    return number
