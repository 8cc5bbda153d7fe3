"""Compiled kernels, kept on the disk from one command to the next: never a wrong one, and never an error for want of one.

A file holds one kernel for one kind of arguments. Its name and its first line say what it was made of: the source of the
kernel and of all that is compiled into it, how that is done, the versions of Python and the compiler, and the processor. Whatever is not
exactly that, or is torn, or could have been put there by somebody else, is not loaded but compiled again. Numba's own
cache looks at the kernel's own file only, and may hold an old kernel under a new name after a crash; decision 74.

Kernels are kept beside their source where that can be written to, else in the user's cache folder, else in a folder of
the user's own among temporary files, else nowhere; they are read from any of these. With ``NUMBA_CACHE_DIR`` only there.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, Final

import llvmlite
import numba
import numpy as np
from numba.core import config
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps
from numba.misc.appdirs import AppDirs

from undercover.system import lock

_LONGEST: Final = 120.0  # seconds for which one process waits while another one compiles the same kernel
_LOOK: Final = 0.05
_HOW: Final = ("jit.py", "parts.py")
_UNLOADABLE: Final = (ImportError, AttributeError)  # it names a type of ours that has moved since


@dataclass
class Kept:
    """What became of the kernels that this process compiled: where the last one is kept that is kept in an odd place."""

    temporary: Path | None = None
    nowhere: str = ""

    def said(self) -> str:
        """What whoever waited should know, if anything."""
        choose = "Set NUMBA_CACHE_DIR to a folder of your own to choose another place."
        if self.nowhere:
            return (
                f"the compiled loops could not be kept ({self.nowhere}), so every command compiles them again, for up "
                f"to a minute. {choose}"
            )
        if self.temporary is not None:
            return (
                f"the compiled loops are kept in {self.temporary}: neither the folder of the program nor a cache folder "
                f"in your home can be written to. {choose}"
            )
        return ""


KEPT = Kept()


@dataclass(frozen=True)
class _Place:
    """A folder in which kernels may be kept, and who may have written what is read from it."""

    folder: Path
    owners: frozenset[int]  # nobody else's file is loaded: it is run
    own: Path | None = None  # the folder around it that must be the user's alone
    temporary: bool = False

    def ready(self) -> None:
        """Make the folder; an OSError where it cannot be made, or is somebody else's."""
        if self.own is not None:
            self.own.parent.mkdir(parents=True, exist_ok=True)
            with suppress(FileExistsError):
                self.own.mkdir(mode=0o700)
            found = os.lstat(self.own)
            if not stat.S_ISDIR(found.st_mode) or (_posix() and (found.st_uid != _me() or found.st_mode & 0o022)):
                raise PermissionError(f"{self.own} is not a folder of your own")
        self.folder.mkdir(parents=True, exist_ok=True)

    def read(self, name: str) -> bytes | None:
        """What a file holds, if it is there and was written by somebody who may."""
        try:
            with open(os.open(self.folder / name, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0)), "rb") as file:
                known = not _posix() or os.fstat(file.fileno()).st_uid in self.owners
                return file.read() if known else None
        except OSError:
            return None

    def write(self, name: str, content: bytes, mode: int) -> None:
        """The whole file or none: what is read meanwhile is what was there before."""
        self.ready()
        number, path = tempfile.mkstemp(prefix=f"{name}.", dir=self.folder)
        try:
            with open(number, "wb") as file:
                file.write(content)
            os.chmod(path, mode if self.own is None else 0o600)
            os.replace(path, self.folder / name)
        except BaseException:
            os.unlink(path)
            raise


def _posix() -> bool:
    return hasattr(os, "geteuid")


def _me() -> int:
    return os.geteuid() if _posix() else -1


def _places(source: Path) -> Iterator[_Place]:
    """Where kernels of a file may be kept, in the order in which the places are tried."""
    me = frozenset({_me()})
    label = f"{source.parent.name}_{hashlib.sha256(str(source.parent).encode()).hexdigest()[:24]}"
    if config.CACHE_DIR:
        yield _Place(Path(config.CACHE_DIR) / label, me | {0})
        return
    with suppress(OSError):
        # Whoever can write beside the source can write the source.
        yield _Place(source.parent / "__pycache__", me | {0, source.stat().st_uid})
    home = Path(AppDirs("undercover", False).user_cache_dir)
    if home.is_absolute():
        yield _Place(home / label, me, own=home)
    with suppress(OSError):
        # Anybody may have made a folder of this name before us: it is used if it is ours alone, and never otherwise.
        own = Path(tempfile.gettempdir()) / f"undercover-{_me()}"
        yield _Place(own / label, me, own=own, temporary=True)


def kept_in() -> Path | None:
    """The first folder in which kernels of this package can be kept."""
    for place in _places(Path(__file__)):
        with suppress(OSError):
            place.ready()
            tempfile.TemporaryFile(dir=place.folder).close()
            return place.own or (Path(config.CACHE_DIR) if config.CACHE_DIR else Path(__file__).parents[1])
    return None


class KernelCache:
    """The kernels of one function, one for each kind of arguments; what a dispatcher of Numba asks for and hands over."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function: Any = function
        self._source = Path(function.__code__.co_filename)
        self._locks: dict[str, Any] = {}

    @property
    def cache_path(self) -> str:
        """The first place that is tried."""
        return str(next(self._tried).folder)

    @property
    def _tried(self) -> Iterator[_Place]:
        return _places(self._source)

    @cached_property
    def _made_of(self) -> str:
        return ingredients(self._function)

    def _names(self, context: Any) -> str:
        """How the names of all files begin that this process could load."""
        versions = [sys.version, numba.__version__, llvmlite.__version__, np.__version__]
        machine = [*context.codegen().magic_tuple(), config.OPT, config.BOUNDSCHECK]
        made = hashlib.sha256("\n".join([self._made_of, _how(), *versions, *map(str, machine)]).encode()).hexdigest()
        return f"{self._source.stem}.{self._function.__name__}.{sys.implementation.cache_tag}-{made[:32]}"

    def _name(self, signature: Any, context: Any) -> str:
        return f"{self._names(context)}-{hashlib.sha256(str(signature).encode()).hexdigest()[:16]}.nbc"

    def holds(self, context: Any) -> bool:
        """Whether a kernel of this function, for whatever arguments, can be loaded."""
        try:
            names = self._names(context)
            return any(any(place.folder.glob(f"{names}-*.nbc")) for place in self._tried)
        except OSError:
            return False

    def load_overload(self, signature: Any, context: Any) -> Any:
        """The kernel for these arguments, or nothing; it is compiled by one process while the others wait for it."""
        context.refresh()
        try:
            name = self._name(signature, context)
        except OSError:  # the source cannot be read, so nobody can say what was made of it
            return None
        found = self._found(name, signature, context)
        if found is None and self._waited(name):
            found = self._found(name, signature, context)
        if found is not None:
            self._unlock(name)
        return found

    def _found(self, name: str, signature: Any, context: Any) -> Any:
        for place in self._tried:
            content = place.read(name)
            payload = _unwrapped(name, content) if content is not None else None
            if payload is None:
                continue
            try:
                made = CompileResult._rebuild(context, *pickle.loads(payload))
            except _UNLOADABLE:
                continue
            if tuple(made.signature.args) == tuple(getattr(signature, "args", signature)):
                return made
        return None

    def save_overload(self, signature: Any, made: Any) -> None:
        """Keep a kernel where it can be kept."""
        try:
            name = self._name(signature, made.target_context)
            mode = stat.S_IMODE(self._source.stat().st_mode) & 0o666
        except OSError as why:
            KEPT.nowhere = why.strerror or str(why)
            return
        if not made.library.has_dynamic_globals and not made.lifted:
            self._keep(name, _wrapped(name, dumps(made._reduce())), mode)
        self._unlock(name)

    def _keep(self, name: str, content: bytes, mode: int) -> None:
        why = "there is no folder for it"
        for place in self._tried:
            try:
                place.write(name, content, mode)
            except OSError as error:
                why = error.strerror or str(error)
                continue
            self._tidy(place, name)
            KEPT.temporary = place.own if place.temporary else KEPT.temporary
            return
        KEPT.nowhere = why

    def _tidy(self, place: _Place, name: str) -> None:
        """Remove what earlier versions of the same function left behind."""
        function, made, _ = name.rsplit("-", 2)
        with suppress(OSError):
            for old in place.folder.glob(f"{function}-*.nbc"):
                if old.name.rsplit("-", 2)[1] != made:
                    old.unlink()

    def _waited(self, name: str) -> bool:
        """Whether somebody else may have compiled this kernel meanwhile; if not, nobody else begins until it is kept."""
        until, waited = time.monotonic() + _LONGEST, False
        for place in self._tried:
            try:
                place.ready()
                file = open(place.folder / f"{name}.lock", "wb")
            except OSError:
                continue
            while time.monotonic() < until:
                try:
                    lock(file.fileno(), wait=False)
                except BlockingIOError:
                    waited = True
                    time.sleep(_LOOK)
                except OSError:
                    break
                else:
                    self._locks[name] = file
                    return True
            file.close()
            return waited
        return False

    def _unlock(self, name: str) -> None:
        file = self._locks.pop(name, None)
        if file is not None:
            with suppress(OSError):
                os.unlink(file.name)
            file.close()

    def flush(self) -> None:
        """Numba may ask for everything to be forgotten; files of ours are forgotten by what they are made of."""


def _wrapped(name: str, payload: bytes) -> bytes:
    return f"{name}\n{hashlib.sha256(payload).hexdigest()}\n".encode() + payload


def _unwrapped(name: str, content: bytes) -> bytes | None:
    """The kernel, if it is whole and of this name: a file can be torn, or be given another name."""
    said, _, rest = content.partition(b"\n")
    digest, _, payload = rest.partition(b"\n")
    whole = said == name.encode() and digest == hashlib.sha256(payload).hexdigest().encode()
    return payload if whole else None


@cache
def _digest(path: str, changed: int, size: int) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


@cache
def _how() -> str:
    """How kernels and their parts are compiled: the sources of this folder that say so."""
    return "".join(hashlib.sha256((Path(__file__).parent / name).read_bytes()).hexdigest() for name in _HOW)


def remember_source(function: Any) -> None:
    """Look at the source while it is loaded: it may be another one when the function is compiled."""
    path = function.__code__.co_filename
    found = os.stat(path)
    function.source_digest = _digest(path, found.st_mtime_ns, found.st_size)


def ingredients(function: Any) -> str:
    """What a kernel is compiled of: the files of all functions in it, and the constants of other files that it uses.

    An OSError where the source of one of them could not be read.
    """
    waiting, seen, found = [function], set(), set()
    while waiting:
        one = waiting.pop()
        if one in seen:
            continue
        seen.add(one)
        if not hasattr(one, "source_digest"):
            remember_source(one)  # an intrinsic, which was not compiled by us
        found.add(f"{one.source_digest} {one.__name__} {one.__code__.co_code.hex()}")
        for name in _names_in(one.__code__):
            value = one.__globals__.get(name)
            inner = getattr(value, "__wrapped__", None)
            if isinstance(inner, FunctionType):
                waiting.append(inner)
            elif isinstance(value, bool | int | float | str | tuple | np.generic | np.ndarray):
                found.add(f"{name} = {value!r} {value.tobytes().hex() if isinstance(value, np.ndarray) else ''}")
            elif hasattr(value, "_fields"):
                found.add(f"{name} = {value._fields!r}")
    return hashlib.sha256("\n".join(sorted(found)).encode()).hexdigest()


def _names_in(code: CodeType) -> set[str]:
    return set(code.co_names).union(*(_names_in(one) for one in code.co_consts if isinstance(one, CodeType)))
