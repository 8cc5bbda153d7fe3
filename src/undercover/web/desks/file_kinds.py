"""Which kind of file somebody sent: by its name, and by its first bytes where these say otherwise."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Final

from undercover.errors import DataError, damaged
from undercover.io.file_kinds import OLD_OFFICE, OTHERS, START, old_office
from undercover.io.files import EXCEL, KNOWN, ZIP

_TOLD: Final = {
    b"PAR1": ".parquet",
    b"ARROW1": ".arrow",
    b"$FL2": ".sav",
    b"$FL3": ".zsav",
    b"<stata_dta>": ".dta",
    b"\x1f\x8b": ".csv.gz",
    b"PK\x03\x04": ".zip",
}


def suffix_of(name: str) -> str:
    """How a name ends, of the endings that are known; nothing where it ends otherwise.

    >>> suffix_of("People.CSV.gz"), suffix_of("people.doc")
    ('.csv.gz', '')
    """
    return max((known for known in KNOWN if name.lower().endswith(known)), key=len, default="")


def kind_of_file(name: str, path: Path) -> str:
    """The ending a file should have to be read as what it is; refused where nothing can be made of it."""
    with open(path, "rb") as stream:
        start = stream.read(START)
    if not start.strip():
        raise DataError(f"`{name}` is empty: it has neither a header nor rows.")
    if start.startswith(OLD_OFFICE):
        raise DataError(old_office(f"`{name}`", path))
    for mark, what in OTHERS.items():
        if start.lstrip().lower().startswith(mark.lower()):
            raise DataError(f"`{name}` is {what}.")
    named = suffix_of(name)
    told = next((suffix for mark, suffix in _TOLD.items() if start.startswith(mark)), "")
    if told == ".zip":
        return _packed(name, path, named)
    if told and not (named.endswith(".gz") if told.endswith(".gz") else named):
        return told
    if named:
        return told if told and not _agree(named, told) else named
    if b"\0" in start and not start.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise DataError(f"`{name}` is of no kind that can be read. There are: {', '.join(KNOWN)}.")
    return ".jsonl" if start.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"{") else ".csv"


def _agree(named: str, told: str) -> bool:
    alike = {".arrow": (".feather", ".arrow", ".arrows", ".ipc"), ".parquet": (".parquet", ".pq")}
    return named.endswith(".gz") if told.endswith(".gz") else named in alike.get(told, (told,))


def _packed(name: str, path: Path, named: str) -> str:
    """A workbook, or a zip."""
    try:
        with zipfile.ZipFile(path) as packed:
            inside = packed.namelist()
    except (zipfile.BadZipFile, OSError) as error:
        raise DataError(damaged(f"`{name}`", "it cannot be unpacked")) from error
    if "xl/workbook.xml" in inside:
        return named if named in EXCEL else EXCEL[0]
    if "mimetype" in inside or "word/document.xml" in inside:
        raise DataError(f"`{name}` is a document of another office program: save the table in it as .xlsx or .csv.")
    return ZIP[0]


def unpacked_size(path: Path, most: int) -> int:
    """Bytes of a file when it is unpacked; of a long gzip file more than ``most``, and nobody asks how many more."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as packed:
            return sum(item.file_size for item in packed.infolist())
    if path.suffix.lower() != ".gz":
        return path.stat().st_size
    import gzip

    seen = 0
    with gzip.open(path, "rb") as stream:
        while seen <= most and (piece := stream.read(1 << 20)):
            seen += len(piece)
    return seen
