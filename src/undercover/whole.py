"""Files and folders that appear whole or not at all, and what somebody who was killed while writing left of them.

Everything is written under a hidden name beside its place, synced to the disk and renamed. Its writer holds a lock on
it: what nobody holds was left by one who is gone, and the next who writes to the same place removes it. A folder that
is replaced changes places with the new one in one step, where the system can do that (Linux, ``renameat2``); elsewhere
it is moved aside first, and a kill between the two moves leaves it aside until the next run puts it back.
"""

from __future__ import annotations

import ctypes
import errno
import os
import re
import secrets
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import IO, Any, Literal

from undercover import ending
from undercover.errors import OutputError, listed, unwritable
from undercover.system import alive, lock, open_to_lock, sync
from undercover.wording import option

_NOWHERE = -100  # AT_FDCWD
_EXCHANGE = 2  # RENAME_EXCHANGE
_TRIED = 1 << 20  # bytes that must find room before the work begins; the smallest release with its pages has as many


def write_whole(
    path: str | os.PathLike[str],
    content: str | bytes | Callable[[IO[bytes]], Any],
    *,
    private: bool = False,
    beside: Path | None = None,
) -> None:
    """Write a file; whoever reads sees the old one or the new one. A ``private`` one is for its owner alone (0600).

    Until it is whole it has a hidden name in ``beside``, the same folder where none is given.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write_whole(Path(folder, "notes"), "Ada, 34", private=True)
    ...     oct(Path(folder, "notes").stat().st_mode), os.listdir(folder)
    ('0o100600', ['notes'])
    """
    place = Path(path)
    near = Path(beside or place.parent, place.name)
    try:
        clear_away(near)
        made, handle = _begun(near, 0o600 if private else 0o666)
        try:
            with open(handle, "wb") as stream:
                if callable(content):
                    content(stream)
                else:
                    stream.write(content.encode() if isinstance(content, str) else content)
                stream.flush()
                os.fsync(handle)
                ending.changing(place)
                made.replace(place)
            sync(place.parent)
        except BaseException:
            with suppress(OSError):  # what went wrong first is told
                made.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise OutputError(unwritable(f"`{path}`", error)) from error


@contextmanager
def whole_folder(
    place: Path, around: Callable[[Path], AbstractContextManager[Any]] = lambda _: nullcontext(), *, force: bool
) -> Iterator[Path]:
    """An empty folder for its owner alone to write into, which takes its ``place`` when the block ends well.

    It does so within ``around``, which is given the written folder. If anything fails before, what stood there stands.
    """
    above = _make_parents(place)
    clear_away(place)
    made, handle = _begun(place)

    def remove() -> None:
        shutil.rmtree(made, ignore_errors=True)
        for parent in above:  # that were made for it, and in which nothing lies
            with suppress(OSError):
                parent.rmdir()

    undo = ending.begun(remove)
    try:
        yield made
        _sync_all(made)
        with around(made):
            ending.changing(place)
            put(made, place, force=force)
    finally:
        undo()  # what was not finished, or what stood there before
        ending.done(undo)
        os.close(handle)


def new_private(path: str, flags: int) -> int:
    """How ``open`` opens a new file for its owner alone: ``open(path, "xb", opener=new_private)``."""
    return os.open(path, flags, 0o600)


def make_private(folder: Path) -> None:
    """Every file of a folder for its owner alone, whoever wrote it."""
    for parent, _, files in os.walk(folder):
        for file in files:
            Path(parent, file).chmod(0o600)


def check_folder(target: Path, *, force: bool, strange: Callable[[Path], Iterable[str]]) -> Path:
    """Refuse, before any work, a folder that cannot be made or must not be replaced; where it is.

    ``strange`` names what lies in a folder that was not written by us. What somebody who was killed left is removed.
    Folders above it that do not exist are made when it is written (:func:`whole_folder`).
    """
    place = Path(os.path.abspath(target))
    if not place.name:
        raise OutputError(f"`{target}` cannot be a new folder. Name one.")
    if not place.parent.is_dir():
        check_above(target)
        return place
    try:
        clear_away(place)
        if os.path.lexists(place):
            if not force:
                raise OutputError(
                    f"`{target}` already exists. Choose another folder, or replace it: {option(force=True)}."
                )
            if place.is_symlink() or not place.is_dir():
                what = "a link to elsewhere" if place.is_symlink() else "not a folder"
                raise OutputError(f"`{target}` is {what}, so it is not replaced. Name another folder, or remove it.")
            found = list(strange(place))
            if found:
                more = f" and {len(found) - 5} more" if len(found) > 5 else ""
                raise OutputError(
                    f"`{target}` is not replaced: it holds what undercover does not know as its own "
                    f"({listed(found[:5])}{more}). "
                    "Move that elsewhere, or choose another folder."
                )
        _try(place)
    except OSError as error:
        raise OutputError(unwritable(f"`{target}`", error)) from error
    return place


def check_above(target: Path) -> None:
    """Refuse, before any work, a folder that nothing can be written to, or that cannot be made where it is to be."""
    place = Path(os.path.abspath(target))
    above = next(one for one in (place, *place.parents) if os.path.lexists(one))
    if not above.is_dir():
        raise OutputError(f"`{target}` cannot be made: `{above}` is not a folder. Choose another place.")
    try:
        _try(above / place.name)
    except OSError as error:
        raise OutputError(unwritable(f"`{target}`", error)) from error


def check_file(target: Path, *, force: bool, ours: Callable[[bytes], bool]) -> None:
    """The same of a file; ``ours`` says by its beginning whether one that stands there may be replaced."""
    place = Path(os.path.abspath(target))
    _check_parent(target, place)
    try:
        if os.path.lexists(place):
            if not force:
                raise OutputError(
                    f"`{target}` already exists. Choose another file, or replace it: {option(force=True)}."
                )
            if place.is_symlink() or not place.is_file():
                raise OutputError(f"`{target}` is a link, a folder or a device, so it is not replaced. Name a file.")
            with open(place, "rb") as stream:
                start = stream.read(1 << 16)
            if start and not ours(start):
                raise OutputError(
                    f"`{target}` is not replaced: it is nothing that undercover writes there. Choose another file, or "
                    "remove it yourself."
                )
        made, handle = _begun(place, 0o600)
        os.close(handle)
        made.unlink()
    except OSError as error:
        raise OutputError(unwritable(f"`{target}`", error)) from error


def is_page(start: bytes) -> bool:
    """Whether a file begins as our pages do."""
    return b'<meta name="generator" content="undercover">' in start


def is_spec(start: bytes) -> bool:
    r"""Whether a file begins as a spec does, whoever wrote it.

    >>> is_spec(b"# of 2024\n[roles]\nsensitive = 'income'"), is_spec(b"[project]\nname = 'thesis'")
    (True, False)
    """
    return re.search(rb"(?m)^\s*\[\[?(?:data|roles|columns|method|require|ledger|policy|about)\b", start) is not None


def is_levels(start: bytes) -> bool:
    """Whether a file begins as a hierarchy does, whoever wrote it."""
    return start.startswith((b"level0", b'"level0', b"\xef\xbb\xbflevel0"))


def clear_away(place: Path) -> None:
    """Remove what a writer to the same place left who is gone; put back what he had moved aside.

    It is held meanwhile, so that whoever has only just begun to write finds that it is gone and begins again.
    """
    pattern = re.compile(rf"\.{re.escape(place.name)}\.(tmp|old)-(\d+)-[0-9a-f]+")
    for entry in sorted(os.listdir(place.parent)):
        match = pattern.fullmatch(entry)
        left = place.with_name(entry)
        if match is None or left.is_symlink():
            continue
        with _taken(left, int(match[2])) as mine:
            if not mine:
                continue
            if match[1] == "old" and not os.path.lexists(place):
                left.rename(place)
            elif left.is_dir():
                shutil.rmtree(left, ignore_errors=True)
            else:
                left.unlink(missing_ok=True)


def locked(handle: int, *, wait: bool = True) -> Literal["mine", "taken", "unknown"]:
    """Lock an open file or folder for as long as it is open; whose it is then. Some file systems know no locks."""
    try:
        lock(handle, wait=wait)
    except BlockingIOError:
        return "taken"
    except OSError:
        return "unknown"
    return "mine"


def _try(place: Path) -> None:
    """Write something beside a place, and remove it."""
    made, handle = _begun(place)
    try:
        Path(made, "tried").write_bytes(bytes(_TRIED))
    finally:
        shutil.rmtree(made, ignore_errors=True)
        os.close(handle)


def _check_parent(target: Path, place: Path) -> None:
    if not place.parent.is_dir():
        what = "is a file. Choose another one" if place.parent.exists() else "does not exist. Make it first"
        raise OutputError(f"The folder `{target.parent}` in which `{place.name}` is to be made {what}.")


def _make_parents(place: Path) -> list[Path]:
    """Make the folders above a place that do not exist; those that were made, the innermost first."""
    lacking = [parent for parent in place.parents if not os.path.lexists(parent)]
    for parent in reversed(lacking):
        parent.mkdir(exist_ok=True)
    return lacking


def _begun(place: Path, mode: int | None = None) -> tuple[Path, int]:
    """A new hidden file with this mode, or a folder where none is given, that this process holds."""
    while True:
        made = place.with_name(f".{place.name}.tmp-{os.getpid()}-{secrets.token_hex(4)}")
        if mode is None:
            made.mkdir(mode=0o700)
            handle = open_to_lock(made)
        else:
            handle = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        locked(handle)
        if os.path.lexists(made):
            return made, handle
        os.close(handle)  # somebody took it for abandoned before it was held


@contextmanager
def _taken(left: Path, process: int) -> Iterator[bool]:
    """Hold what has a hidden name, if nobody is still writing to it."""
    try:
        handle = open_to_lock(left)
    except FileNotFoundError:  # he just finished
        yield False
        return
    try:
        whose = locked(handle, wait=False)
        yield not alive(process) if whose == "unknown" else whose == "mine"
    finally:
        os.close(handle)


def put(made: Path, place: Path, *, force: bool) -> None:
    """Put a folder in its place; what stood there has its hidden name then, and without ``force`` nothing may."""
    if not force or not os.path.lexists(place):
        try:
            made.rename(place)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
                raise
            raise OutputError(
                f"`{place}` was written by somebody else in the meantime, and is not replaced. Choose another folder."
            ) from None
    elif not _exchange(made, place):
        aside = place.with_name(f".{place.name}.old-{os.getpid()}-{secrets.token_hex(4)}")
        place.rename(aside)
        try:
            made.rename(place)
        except BaseException:
            if not os.path.lexists(place):
                aside.rename(place)
            raise
        aside.rename(made)
    try:
        sync(place.parent)
    except OSError as error:
        raise OutputError(
            f"`{place}` stands, but the disk did not confirm it: {error.strerror or error}. See to the disk, and "
            "verify what stands there before you give it away."
        ) from None


def _exchange(one: Path, other: Path) -> bool:
    """Let two folders change places in one step; ``False`` where the system or the file system cannot."""
    call = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None) if sys.platform == "linux" else None
    if call is None:
        return False
    call.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)
    if call(_NOWHERE, os.fsencode(one), _NOWHERE, os.fsencode(other), _EXCHANGE) == 0:
        return True
    number = ctypes.get_errno()
    if number in (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP):
        return False
    raise OSError(number, os.strerror(number), str(other))


def _sync_all(folder: Path) -> None:
    for parent, _, files in os.walk(folder):
        for file in files:
            sync(Path(parent, file))
        sync(Path(parent))
