"""Excel workbooks: one visible sheet of plain cells, fixed parts, and an archive without a byte more.

Fixed parts (styles, theme, relations, properties) are compared by digest with what XlsxWriter wrote in the versions we
know, and with what the installed one writes, so that an upgrade of it changes nothing for older files.
"""

from __future__ import annotations

import codecs
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

from undercover.io.office.write_excel import start_book
from undercover.io.office.zeros import letters_of
from undercover.io.residue.found import ADVICE, Residue

SHEET = "xl/worksheets/sheet1.xml"
_LOCAL, _CENTRAL, _END = 30, 46, 22  # bytes of the fixed parts of an archive's headers
_NEVER = (1980, 1, 31, 0, 0, 0)
_BLOCK = 1 << 20
_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}
_LONGEST_NAME = 31
_NAME = "table"  # stands for the name of the sheet where parts are compared

KNOWN = {
    "[Content_Types].xml": ("c9e07af4a58801f88cc56b609f1a3e4f",),
    "_rels/.rels": ("1285b20099c64699001f9d90ea040ca1",),
    "docProps/app.xml": ("a613e3fde409326203d8edbc4be2a09c",),
    "docProps/core.xml": ("57cb763a9a2b461f845c0368620f847e",),
    "xl/_rels/workbook.xml.rels": ("075a012b1fb44946d69250bb48a45a73",),
    "xl/styles.xml": ("b955eec7bf81e3497213a0e029a3d783",),
    "xl/theme/theme1.xml": ("75104b2164c20dab2578383d827deac3",),
    "xl/workbook.xml": ("381b9382d31b1bfe8155e800053903f4",),
}
"""Digests of the fixed parts of a workbook whose sheet is called `table`, by the versions of XlsxWriter we know."""

_START = re.compile(
    r'<\?xml version="1\.0" encoding="UTF-8" standalone="yes"\?>\s*<worksheet(?: xmlns(?::r)?="http://schemas\.'
    r'openxmlformats\.org/[\w/]+")+><dimension ref="[A-Z]+\d+(?::[A-Z]+\d+)?"/><sheetViews><sheetView tabSelected="1" '
    r'workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>'
    r'<selection pane="bottomLeft"/></sheetView></sheetViews><sheetFormatPr defaultRowHeight="15"/><sheetData>'
)
_STOP = re.compile(
    r'</sheetData>(?:<pageMargins(?: (?:left|right|top|bottom|header|footer)="0\.\d{1,2}"){6}/>|<ignoredErrors>'
    r'<ignoredError sqref="A1:XFD\d+" numberStoredAsText="1"/></ignoredErrors>){1,2}</worksheet>\s?'
)
_ROW = re.compile(r'<row r="(\d+)">')
_CELL = re.compile(
    r'<c r="([A-Z]+)(\d+)"(?: s="\d{1,3}")?(?: t="inlineStr"><is><t(?: xml:space="preserve")?>[^<]*</t></is>'
    r"|><v>-?[0-9.]{1,24}(?:[Ee][-+]?\d{1,3})?</v>)</c>"
)
_FORMATS = re.compile(r'<numFmts count="\d{1,4}">(?:<numFmt numFmtId="\d{1,4}" formatCode="0\.0{0,300}"/>)+</numFmts>')
_USES = re.compile(
    r'<cellXfs count="\d{1,4}">(<xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>)'
    r'(?:<xf numFmtId="\d{1,4}" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>)*</cellXfs>'
)


def find_in_workbook(path: Path, name: str, columns: int, rows: int) -> Residue:
    """Look for what a workbook holds beside the cells of its only sheet, of so many columns and rows at most."""
    with path.open("rb") as file, zipfile.ZipFile(file) as book:
        fault = _archive_fault(file, book) or _parts_fault(book, name) or _sheet_fault(book, columns, rows)
    return Residue([f"`{path.name}` holds more than its cells: {fault}. {ADVICE}"] if fault else [])


def _archive_fault(file: IO[bytes], book: zipfile.ZipFile) -> str:
    """What an archive has beside its members."""
    names = [part.filename for part in book.infolist()]
    strange = [name for name in names if name not in {*_fixed_parts(), SHEET}]
    if strange:
        return f"it has {len(strange)} unknown members, such as parts for comments, macros, properties or more sheets"
    if len(set(names)) < len(names):
        return "a member is there twice"
    if book.comment or any(part.comment or part.extra for part in book.infolist()):
        return "its archive has a comment or extra fields"
    if any(part.date_time not in (_NEVER, (1980, 1, 1, 0, 0, 0)) for part in book.infolist()):
        return "its archive has times of writing"
    place = 0
    for part in sorted(book.infolist(), key=lambda part: part.header_offset):
        file.seek(part.header_offset)
        head = file.read(_LOCAL)
        named, extra = struct.unpack("<HH", head[26:30]) if len(head) == _LOCAL else (0, 0)
        written = file.read(named)
        if part.header_offset != place or extra or part.flag_bits or written != part.filename.encode():
            return "bytes lie between its members"
        packed = file.read(part.compress_size)
        if part.compress_type == zipfile.ZIP_DEFLATED:
            unpack = zlib.decompressobj(-15)
            size = len(unpack.decompress(packed)) + len(unpack.flush())
            if unpack.unused_data or not unpack.eof or size != part.file_size:
                return "bytes lie behind a member"
        elif part.compress_type != zipfile.ZIP_STORED or part.compress_size != part.file_size:
            return "a member is not packed as we pack it"
        place += _LOCAL + named + part.compress_size
    directory = sum(_CENTRAL + len(name.encode()) for name in names)
    file.seek(0, 2)
    return "" if place + directory + _END == file.tell() else "bytes lie behind its members"


def _parts_fault(book: zipfile.ZipFile, name: str) -> str:
    """Fixed parts that are not as XlsxWriter writes them."""
    names = set(book.namelist())
    if names != {*_fixed_parts(), SHEET}:
        return "a part is missing"
    for part, digests in _fixed_parts().items():
        if fixed_digest(part, book.read(part).decode("utf-8", "replace"), name) not in digests:
            return f"its part `{part}` is not the one that belongs to a single plain sheet"
    return ""


@cache
def _fixed_parts() -> dict[str, frozenset[str]]:
    """The digests that fixed parts may have: those of known versions, and of the installed one."""
    installed = installed_parts() if find_spec("xlsxwriter") is not None else {}
    names = {*KNOWN, *installed}
    return {
        part: frozenset((*KNOWN.get(part, ()), *([installed[part]] if part in installed else ()))) for part in names
    }


def installed_parts() -> dict[str, str]:
    """The digests of the fixed parts that the installed XlsxWriter writes."""
    stream = BytesIO()
    with TemporaryDirectory() as place, start_book(stream, _NAME, Path(place))[0]:
        pass  # of a sheet without cells the library leaves a temporary file
    with zipfile.ZipFile(stream) as book:
        parts = {part: book.read(part).decode("utf-8") for part in book.namelist() if part != SHEET}
    return {part: fixed_digest(part, text, _NAME) for part, text in parts.items()}


def fixed_digest(part: str, text: str, name: str) -> str:
    """The digest of a part, with the sheet called `table` and without the formats of numbers."""
    called = "".join(_ESCAPES.get(letter, letter) for letter in name[:_LONGEST_NAME])
    if part == "xl/workbook.xml":
        text = text.replace(f'<sheet name="{called}" ', f'<sheet name="{_NAME}" ')
    if part == "docProps/app.xml":
        text = text.replace(f"<vt:lpstr>{called}</vt:lpstr>", f"<vt:lpstr>{_NAME}</vt:lpstr>")
    if part == "xl/styles.xml":
        text = _USES.sub(r'<cellXfs count="1">\1</cellXfs>', _FORMATS.sub("", text))
    return sha256(text.encode()).hexdigest()[:32]


def _sheet_fault(book: zipfile.ZipFile, columns: int, rows: int) -> str:
    """Whatever a sheet has beside plain cells, each once and in order."""
    order = {letters_of(number): number for number in range(columns)}
    with book.open(SHEET) as stream:
        pieces = _rows_of(stream)
        head, mark, first = next(pieces).partition("<sheetData>")
        if not _START.fullmatch(head + mark):
            return "its sheet is set up in another way than ours"
        above = 0
        for piece in _chained(first, pieces):
            if not piece.endswith("</row>"):
                return "" if _STOP.fullmatch(piece) else "its sheet has something below its cells"
            fault, above = _row_fault(piece, above, rows + 1, order)
            if fault:
                return fault
    return "its sheet does not end"


def _chained(first: str, rest: Iterator[str]) -> Iterator[str]:
    yield first
    yield from rest


def _rows_of(stream: IO[bytes]) -> Iterator[str]:
    """The text of a sheet, cut behind every row."""
    kept = ""
    decode = codecs.getincrementaldecoder("utf-8")("replace").decode
    while block := stream.read(_BLOCK):
        *whole, kept = (kept + decode(block)).split("</row>")
        yield from (f"{row}</row>" for row in whole)
    yield kept


def _row_fault(piece: str, above: int, most: int, order: Mapping[str, int]) -> tuple[str, int]:
    """Whatever a row has beside plain cells, and its number."""
    row = _ROW.match(piece)
    if row is None or not above < int(row[1]) <= most:
        return "its sheet has rows that are hidden, out of order or beyond the table", above
    place, last, end = row.end(), -1, len(piece) - len("</row>")
    while place < end:
        cell = _CELL.match(piece, place, end)
        if cell is None:
            return f"row {row[1]} has a formula, a comment or another cell that is no plain value", above
        at = order.get(cell[1], -1)
        if at <= last or cell[2] != row[1]:
            return f"row {row[1]} has cells beside the table, or one twice", above
        place, last = cell.end(), at
    return "", int(row[1])
