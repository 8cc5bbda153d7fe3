"""What a file is by its first bytes, where its name says otherwise: refused in words before anybody tries to read it.

What the readers of libraries say of a file of another kind is about their insides, or wrong; and some of it quotes what
stands in the file.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from undercover.errors import DataError, damaged, unreadable

START: Final = 4096
"""Bytes that tell."""
OTHERS: Final = {
    b"%PDF": "a PDF document: ask whoever made it for the table itself",
    b"{\\rtf": "a text document: save the table in it as .xlsx or .csv",
    b"<!doctype html": "a web page: save the table in it as .xlsx or .csv",
    b"<html": "a web page: save the table in it as .xlsx or .csv",
    b"\x89PNG": "a picture: the table itself is needed",
    b"\xff\xd8\xff": "a picture: the table itself is needed",
    b"SQLite format 3\0": "a database: name it and its table, as in sqlite:///FILE?table=TABLE",
}
"""Beginnings of files in which no table can be read, what they are and what to do."""
OLD_OFFICE: Final = b"\xd0\xcf\x11\xe0"
"""How files of Office before 2007 begin, and newer ones that have a password."""
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_KINDS: Final = {
    b"PAR1": ("a Parquet file", (".parquet", ".pq")),
    b"ARROW1": ("an Arrow file", (".arrow", ".feather", ".ipc", ".arrows")),
    b"$FL2": ("an SPSS file", (".sav",)),
    b"$FL3": ("a packed SPSS file", (".zsav",)),
    b"<stata_dta>": ("a Stata file", (".dta",)),
    b"\x1f\x8b": ("packed by gzip", (".gz",)),
    b"PK\x03\x04": ("a zip or an Excel file", (".zip", ".xlsx", ".xlsm")),
}
_TEXTS: Final = (".csv", ".tsv", ".txt", ".jsonl", ".ndjson")
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_MOST_CONTROL = (
    0.03  # of the bytes of a text that is in no Unicode: a cell may hold one, bytes at random are full of it
)
_SAS_RECORD = 80  # bytes; a transport file is made of whole ones


def check_beginning(path: Path) -> None:
    """Refuse a file that is not what its name says, that is empty, or that is protected by a password."""
    name = path.name.lower()
    try:
        size = path.stat().st_size
        with open(path, "rb") as stream:
            start = stream.read(START)
    except OSError as error:
        raise DataError(unreadable(f"`{path}`", error)) from error
    if not size:
        raise DataError(f"`{path}` is empty: it has neither a header nor rows. Export the table again.")
    if start.startswith(OLD_OFFICE):
        raise DataError(old_office(f"`{path}`", path))
    for mark, what in OTHERS.items():
        if start.lstrip().lower().startswith(mark.lower()):
            raise DataError(f"`{path}` is {what}.")
    for mark, (kind, endings) in _KINDS.items():
        if start.startswith(mark) and not name.endswith(endings):
            raise DataError(f"`{path}` is {kind}, whatever its name says. Rename it to end in {' or '.join(endings)}.")
    if name.endswith(".gz") and not start.startswith(b"\x1f\x8b"):
        plain = f"Rename it to {path.name[:-3]}" if is_text(start) else "Copy or download it again"
        raise DataError(f"`{path}` is named .gz but cannot be unpacked: gzip did not pack it. {plain}.")
    if name.endswith(_TEXTS) and not is_text(start):
        raise DataError(
            f"`{path}` is not a text file: its first bytes are no text in any encoding. Export the table as CSV, or "
            "give the file the ending of what it is."
        )
    if name.endswith(".xpt") and size % _SAS_RECORD:
        raise DataError(damaged(f"`{path}`", f"a SAS transport file has whole records of {_SAS_RECORD} bytes"))


def old_office(what: str, path: Path) -> str:
    """What to do with a file of an old Office, or with one that has a password, which is packed into such a file."""
    with open(path, "rb") as stream:
        protected = _ENCRYPTED in stream.read(1 << 24)
    if protected:
        return (
            f"{what} is protected by a password, and nothing in it can be read. Open it in Excel, remove the password "
            "(File, Info, Protect Workbook, Encrypt with Password: leave it empty), save it, and give that file."
        )
    return f"{what} is a file of an old Office (before 2007). Open it there and save it as .xlsx."


def is_text(start: bytes) -> bool:
    """Whether a file that begins like this may be text; single control characters may be in cells.

    >>> is_text(b"age,sex"), is_text("größe".encode("cp1252")), is_text("age".encode("utf-16")), is_text(bytes(9))
    (True, True, True, False)
    """
    if start.startswith((b"\xff\xfe", b"\xfe\xff")) or not start:
        return True
    for place in (0, 1):  # UTF-16 without a mark: every other byte is 0
        if len(start) > 1 and start[place::2].count(0) * 3 > len(start) and not start[1 - place :: 2].count(0):
            return True
    if start.count(0) * 2 > len(start):
        return False
    try:
        start[: start.rfind(b"\n") + 1 or len(start)].decode("utf-8")
    except UnicodeDecodeError as error:
        if error.start < len(start) - 4:
            return len(_CONTROL.findall(start)) <= _MOST_CONTROL * len(start)
    return True
