"""Files of office and statistics programs: reading them, against the library that opens them; writing, in seconds."""

from __future__ import annotations

import argparse
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyreadstat
import python_calamine

import undercover as uc
from benchmarks.measure import Book
from undercover.io.release.folder import save
from undercover.io.source import read
from undercover.model.formats import FORMATS

READING = 2
"""Times what the library alone takes."""

_SHEET = "xl/worksheets/sheet1.xml"
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_PARTS = {
    "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" '
    'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>'
    "</Types>",
    "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">'
    f'<Relationship Id="r1" Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
    "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>'
    '<sheet name="people" sheetId="1" r:id="r1"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">'
    f'<Relationship Id="r1" Type="{_OFFICE}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
}


def files(book: Book, megabytes: float = 100, rows: int = 100_000) -> None:
    """Read a file of so many megabytes of each kind; write a release of so many rows in each format."""
    book.section(f"Reading files of {megabytes:g} MB: ours and the library that opens them take turns")
    with tempfile.TemporaryDirectory() as folder:
        sav, xlsx = Path(folder, "people.sav"), Path(folder, "people.xlsx")
        _spss(sav, megabytes)
        _compared(book, sav, lambda: pyreadstat.read_sav(str(sav), output_format="dict"), "pyreadstat")
        sav.unlink()
        _excel(xlsx, megabytes)
        _compared(book, xlsx, lambda: _calamine(xlsx), "python-calamine")
        xlsx.unlink()
        book.section(f"Writing a release of {rows:,} rows, each file read again")
        schema = uc.Schema(quasi_identifiers=["age", "sex"], sensitive="income", insensitive=["education"])
        run = uc.publish(uc.datasets.census(rows), schema, uc.Mondrian(k=10), policy="none")
        for kind in FORMATS:
            started = time.perf_counter()
            save(run, Path(folder, kind), format=kind)
            book.add(f"{kind}: written", time.perf_counter() - started, "s")


def _compared(book: Book, path: Path, alone: Callable[[], Any], library: str) -> None:
    """The best of two turns each, in time of the processor, of which neighbours take none; nothing read is kept."""
    ours, theirs = [], []
    for _ in range(2):
        for times, call in ((theirs, alone), (ours, lambda: read(path))):
            started = time.process_time()
            call()
            times.append(time.process_time() - started)
    size = path.stat().st_size / 1e6
    note = f"{min(ours):.1f} s and {min(theirs):.1f} s for {size:.0f} MB"
    book.add(f"reading {path.suffix} / {library} alone", min(ours) / min(theirs), "times", READING, note=note)


def _calamine(path: Path) -> Any:
    with python_calamine.load_workbook(str(path)) as book:
        return book.get_sheet_by_index(0).to_python()


def _spss(path: Path, megabytes: float) -> None:
    """Eight columns of doubles, two of them codes with labels, and two of texts: 96 bytes a row."""
    rows, random = int(megabytes * 1e6 / 96), np.random.default_rng(1)
    columns: dict[str, Any] = {f"x{number}": random.integers(0, 5000, rows) / 4 for number in range(8)}
    columns |= {f"code{number}": random.integers(1, 6, rows).astype(float) for number in range(2)}
    columns |= {f"text{number}": random.choice(["here", "there", "nowhere"], rows) for number in range(2)}
    labels = {f"code{number}": {code: f"answer {code}" for code in range(1, 6)} for number in range(2)}
    pyreadstat.write_sav(pl.DataFrame(columns), str(path), variable_value_labels=labels)


def _excel(path: Path, megabytes: float) -> None:
    """Five columns of numbers and five of texts, written straight: no library is as fast."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as packed:
        for name, text in _PARTS.items():
            packed.writestr(name, text)
        with packed.open(_SHEET, "w", force_zip64=True) as sheet:
            sheet.write(f'<worksheet xmlns="{_MAIN}"><sheetData>'.encode())
            for block in _rows():
                sheet.write(block)
                if path.stat().st_size > megabytes * 1e6:
                    break
            sheet.write(b"</sheetData></worksheet>")


def _rows() -> Iterator[bytes]:
    letters, random = "ABCDEFGHIJ", np.random.default_rng(1)
    head = "".join(f'<c r="{letter}1" t="inlineStr"><is><t>{letter}</t></is></c>' for letter in letters)
    yield f'<row r="1">{head}</row>'.encode()
    for start in range(2, 1_048_000, 2000):
        numbers = random.random((2000, 5)).tolist()
        texts = random.integers(10**8, 10**9, (2000, 5)).tolist()
        lines = []
        for row, (some, others) in enumerate(zip(numbers, texts, strict=True), start):
            cells = [f'<c r="{letter}{row}"><v>{cell}</v></c>' for letter, cell in zip(letters, some, strict=False)]
            cells += [
                f'<c r="{letter}{row}" t="inlineStr"><is><t>{cell}</t></is></c>'
                for letter, cell in zip(letters[5:], others, strict=True)
            ]
            lines.append(f'<row r="{row}">{"".join(cells)}</row>')
        yield "".join(lines).encode()


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--megabytes", type=float, default=100)
    options.add_argument("--rows", type=int, default=100_000)
    chosen = options.parse_args()
    files(Book(), chosen.megabytes, chosen.rows)
