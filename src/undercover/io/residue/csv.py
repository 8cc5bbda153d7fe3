"""CSV files: the cells, written again, must make the same bytes.

There is one way to write a cell (quotation marks only where they are needed, line feeds, no byte-order mark), and it is
our own code that writes it, so the bytes do not depend on the version of a library.
"""

from __future__ import annotations

from io import RawIOBase
from pathlib import Path
from typing import BinaryIO, cast

import pyarrow as pa

from undercover.io.csv.text import write_csv_to
from undercover.io.residue.found import ADVICE, Residue


class _Comparison(RawIOBase):
    """A stream that compares what is written into it with what a file holds, and keeps neither."""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__()
        self.file = file
        self.same = 0
        self.differs = False

    def writable(self) -> bool:
        """It takes bytes."""
        return True

    def write(self, data: object) -> int:
        """Compare the next bytes."""
        wrote = memoryview(data).cast("B")  # type: ignore[arg-type]
        if not self.differs:
            found = self.file.read(len(wrote))
            self.differs = found != wrote
            self.same += 0 if self.differs else len(wrote)
        return len(wrote)


def find_in_csv(path: Path, cells: pa.Table) -> Residue:
    """Compare a file with ``cells``, the texts that were read from it, written again."""
    coded = pa.table([_coded(column) for column in cells.columns], names=cells.column_names)
    with path.open("rb") as file:
        compared = _Comparison(file)
        write_csv_to(coded, cast(BinaryIO, compared))
        if not compared.differs and not file.read(1):
            return Residue()
    return Residue(
        [
            f"`{path.name}` holds more than its cells, or other spellings of them: written again, the cells make "
            f"different bytes after byte {compared.same:,}. {ADVICE}"
        ]
    )


def _coded(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Texts as dictionaries, which are written several times faster."""
    return column.dictionary_encode() if pa.types.is_string(column.type) else column
