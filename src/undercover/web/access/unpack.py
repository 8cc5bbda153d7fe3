"""Files of a release that somebody sends, alone or in a zip: only names that a release has, and only so much.

A zip is never unpacked by what it says of itself: bytes are counted as they come out. Folders in which somebody packed
the files do not matter as long as it is one; what Finder adds to a zip is left out.
"""

from __future__ import annotations

import re
import stat
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, Final
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo, is_zipfile

from undercover.errors import DataError, listed
from undercover.io.release.contents import MANIFEST, OTHER_FILES, SIGNATURE
from undercover.model.formats import FORMATS

MOST_FILES: Final = 1000
MOST_RATIO: Final = 200  # bytes that come out for one that went in; tables of few values shrink to a hundredth
_SMALL: Final = 16 << 20  # bytes of a file of which no ratio is asked
_STEP: Final = 1 << 20
_NAME: Final = re.compile(rf"[A-Za-z0-9_][A-Za-z0-9_-]{{0,99}}\.(?:{'|'.join(FORMATS)})")


def may_hold(name: str) -> bool:
    """Whether a public folder may hold a file of that name.

    >>> [may_hold(name) for name in ("release.json", "table-00001.csv", "rows.exe", "../table.csv", ".csv")]
    [True, True, False, False, False]
    """
    return name in (MANIFEST, SIGNATURE, *OTHER_FILES) or _NAME.fullmatch(name) is not None


def unpack(file: IO[bytes], target: Path, most_bytes: int) -> list[str]:
    """Unpack a zip of a public folder into an empty folder; the names of its files."""
    if not is_zipfile(file):
        raise DataError("This is no zip file. Send a zip of the public folder, or its files.")
    try:
        with ZipFile(file) as packed:
            entries = _entries(packed)
            left = most_bytes
            for name, entry in entries.items():
                with packed.open(entry) as source:
                    allowed = min(left, max(_SMALL, entry.compress_size * MOST_RATIO))
                    left -= _copied(source, target / name, allowed)
            return list(entries)
    except (BadZipFile, zlib.error, struct.error, EOFError, ValueError, NotImplementedError) as error:
        raise DataError("The zip cannot be read: it is damaged.") from error


def take(files: list[tuple[str, IO[bytes]]], target: Path, most_bytes: int) -> list[str]:
    """Keep the files of a public folder that were sent one by one; their names."""
    names = [name.replace("\\", "/").rpartition("/")[2] for name, _ in files]
    _check(names)
    left = most_bytes
    for name, (_, source) in zip(names, files, strict=True):
        left -= _copied(source, target / name, left)
    return names


def _entries(packed: ZipFile) -> dict[str, ZipInfo]:
    """The files of a zip by the names they will have."""
    found = [one for one in packed.infolist() if not one.is_dir()]
    if len(found) > MOST_FILES:
        raise DataError(f"The zip has {len(found):,} files; a release has at most {MOST_FILES:,}.")
    found = [one for one in found if not _of_finder(one.filename)]
    if any(one.flag_bits & 1 or one.compress_type not in (ZIP_STORED, ZIP_DEFLATED) for one in found):
        raise DataError("The zip is encrypted or packed in an unusual way. Pack the public folder as an ordinary zip.")
    links = [one.filename for one in found if stat.S_ISLNK(one.external_attr >> 16)]
    if links:
        raise DataError(f"The zip has links to elsewhere: {_shown(links)}. A release holds its files itself.")
    paths = [one.filename.replace("\\", "/") for one in found]
    outside = [path for path in paths if path.startswith("/") or ":" in path or ".." in path.split("/")]
    if outside:
        raise DataError(f"The zip names files outside itself: {_shown(outside)}.")
    folders = dict.fromkeys(path.rpartition("/")[0] for path in paths)
    if len(folders) > 1:
        raise DataError(
            f"The files of the zip lie in several folders: {_shown(folders)}. Send the public folder alone."
        )
    names = [path.rpartition("/")[2] for path in paths]
    _check(names)
    return dict(zip(names, found, strict=True))


def _check(names: list[str]) -> None:
    """Refuse names that no release has, names given twice, and what has no manifest."""
    strange = [name for name in names if not may_hold(name)]
    if strange:
        raise DataError(f"A release has no files of these names: {_shown(strange)}. Send the public folder as it is.")
    if len({name.lower() for name in names}) < len(names):
        raise DataError("Several files have the same name. Send the public folder as it is.")
    if len(names) > MOST_FILES:
        raise DataError(f"These are {len(names):,} files; a release has at most {MOST_FILES:,}.")
    if MANIFEST not in names:
        raise DataError(f"There is no `{MANIFEST}` among the files. Send everything that is in the public folder.")


def _of_finder(path: str) -> bool:
    return path.startswith("__MACOSX/") or path.rpartition("/")[2] == ".DS_Store"


def _shown(names: Iterable[str]) -> str:
    """Some of the names, none of them long."""
    return listed([name[:60] or "(the top)" for name in names], limit=5)


def _copied(source: IO[bytes], target: Path, most: int) -> int:
    """Copy a file, and count what comes out of it."""
    seen = 0
    with target.open("xb") as kept:
        for piece in _pieces(source.read):
            seen += len(piece)
            if seen > most:
                raise DataError("The files are too large: unpacked they are more than this server takes.")
            kept.write(piece)
    return seen


def _pieces(read: Callable[[int], bytes]) -> Iterator[bytes]:
    while piece := read(_STEP):
        yield piece
