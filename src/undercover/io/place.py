"""Where an input lies: a file, a sheet of a workbook, the only file of a zip, or several parts of one table.

=======================  ====================================================
``people.csv``           a file
``people.xlsx#Adults``   the sheet `Adults`
``people.zip``           the file in it
``parts/``               all files of a folder, in the order of their names
``parts/2024-*.csv``     all files of a pattern, in the order of their names
=======================  ====================================================
"""

from __future__ import annotations

import glob
import hashlib
import os
import re
import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from undercover.ending import unfinished
from undercover.errors import DataError, damaged, listed, unreadable
from undercover.io.limits import most_of, too_much
from undercover.parsing import BROKEN_ARCHIVE, MALFORMED
from undercover.whole import new_private

_PACKED = (".gz", ".xlsx", ".xlsm", ".zsav", ".parquet", ".pq", ".feather")  # hardly packed any further by a zip
_SMALL = 1 << 20
_SPELLING = "Check its spelling, and that it is seen from the folder you are in."
_SHEET = re.compile(r"(.+\.(?:xlsx|xlsm|zip))#(.+)", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True)
class Place:
    """The files of an input, in order; a sheet, where one is named."""

    files: tuple[Path, ...]
    sheet: str | None = None
    whole: bool = True  # one file, not the parts of a table

    def digest(self) -> str:
        """The SHA-256 of the file; of the names and digests of parts; a sheet is not the same as another one."""
        if self.whole and self.sheet is None:
            return sha256(self.files[0])
        lines = [f"{sha256(file)}  {file.name}#{self.sheet or ''}\n" for file in self.files]
        return hashlib.sha256("".join(lines).encode()).hexdigest()


def sha256(path: str | os.PathLike[str]) -> str:
    """The SHA-256 of a file, read piece by piece."""
    try:
        with open(path, "rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise DataError(unreadable(f"`{path}`", error)) from error


def place_of(given: str) -> Place:
    """Find the files that a path names."""
    path = Path(given)
    if path.is_dir():
        return Place(tuple(_in_folder(path)), whole=False)
    if path.exists():
        return Place((path,))
    if named := _SHEET.fullmatch(given):
        if not Path(named[1]).is_file():
            raise DataError(_nothing_at(named[1]))
        return Place((Path(named[1]),), sheet=named[2])
    if glob.has_magic(given):
        files = tuple(Path(name) for name in sorted(glob.glob(given)) if Path(name).is_file())
        if not files:
            raise DataError(f"There is no file that fits `{given}`. {_SPELLING}")
        return Place(files, whole=False)
    raise DataError(_nothing_at(given))


def _nothing_at(given: str) -> str:
    """That there is no file, or only a link to none."""
    if os.path.lexists(given):
        return f"There is no file `{given}`: it is a link to something that is not there. Give the file itself."
    return f"There is no file `{given}`. {_SPELLING}"


def is_there(given: str) -> bool:
    """Whether a path names files that can be found."""
    try:
        return bool(place_of(given).files)
    except DataError:
        return False


def _in_folder(folder: Path) -> list[Path]:
    """The parts in a folder; what begins with a dot or an underscore is a writer's mark and no part."""
    seen = [path for path in sorted(folder.iterdir()) if not path.name.startswith((".", "_"))]
    inside = [path.name for path in seen if path.is_dir()]
    if inside or not seen:
        what = f"has folders in it ({listed(inside[:3])})" if inside else "has no files in it"
        raise DataError(f"`{folder}` is a folder that {what}. Give a file, or a folder of CSV or Parquet files.")
    return seen


@contextmanager
def unpacked(path: Path) -> Iterator[Path]:
    """The only file of a zip, unpacked into a private folder for as long as it is read."""
    with tempfile.TemporaryDirectory() as folder, unfinished(lambda: shutil.rmtree(folder, ignore_errors=True)):
        inner = _unpack(path, Path(folder))
        try:
            yield inner
        except DataError as error:
            raise DataError([text.replace(str(inner), f"{path}/{inner.name}") for text in error.problems]) from None


def _unpack(path: Path, folder: Path) -> Path:
    try:
        with zipfile.ZipFile(path) as packed:
            files = [item for item in packed.infolist() if not item.is_dir() and not _is_mark(item.filename)]
            if len(files) != 1:
                shown = f": {listed([item.filename for item in files[:5]])}" if files else ""
                raise DataError(f"`{path}` must hold one file. It holds {len(files)}{shown}. Unpack it, and give one.")
            inner = folder / PurePosixPath(files[0].filename.replace("\\", "/")).name
            packed_twice = inner.suffix.lower() in _PACKED
            if files[0].file_size > (most := 2 * path.stat().st_size + _SMALL if packed_twice else most_of(path)):
                raise too_much(path, most)
            with packed.open(files[0]) as source, open(inner, "xb", opener=new_private) as target:
                shutil.copyfileobj(source, target, 1 << 20)
            return inner
    except (*BROKEN_ARCHIVE, *MALFORMED) as error:
        raise DataError(_broken(path, error)) from error
    except OSError as error:
        raise DataError(unreadable(f"`{path}`", error)) from error


def _broken(path: Path, error: Exception) -> str:
    """Why a zip cannot be unpacked: it has a password, is packed in an unusual way, or is damaged."""
    if isinstance(error, NotImplementedError):
        return f"`{path}` is packed in a way that is not known here. Unpack it yourself, and give the file."
    if isinstance(error, RuntimeError) and "password" in str(error):
        return f"`{path}` cannot be unpacked: it is protected by a password. Unpack it yourself, and give the file."
    return damaged(f"`{path}`", "it cannot be unpacked")


def _is_mark(name: str) -> bool:
    return name.startswith("__MACOSX/") or PurePosixPath(name).name.startswith(".")
