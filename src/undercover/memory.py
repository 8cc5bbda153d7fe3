"""Memory (and cores): how much there is, how much somebody allows, and where long arrays are held.

A :class:`Store` gives arrays in memory until a share of what is allowed is used up, and beyond it arrays that are
mapped to temporary files. These have no name: they are unlinked as soon as they are open, so that nobody else can open
them and nothing is left of them however the process ends.
"""

from __future__ import annotations

import mmap
import os
import re
import tempfile
import threading
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from undercover.errors import OutputError, ParameterError

LARGE = 1_000_000
"""Rows from which on a table is read batch by batch and held as codes."""
_FREE_SHARE = 0.8  # of what the machine has free, where nobody says how much may be used
_GUESSED = 4 << 30  # bytes of a machine that does not say how many it has (Windows)
_CODES_SHARE = 0.25  # of what may be used: what codes may take before they go to files
_BATCH_SHARE = 16_000  # bytes of memory for every row of a batch
_BATCHES = 1 << 14, 1 << 18  # the fewest and the most rows of one
_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_UNITS |= {f"{unit}I": 1 << 10 * power for power, unit in enumerate("KMGT", 1)}
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?I?)B?\s*", re.IGNORECASE)
_GROUPS = (
    ("/sys/fs/cgroup", "memory.max", "memory.current"),
    ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"),
)


def memory_of(given: int | str | None) -> int:
    """Bytes that may be used: as given, or a share of what is free.

    >>> memory_of("8GB"), memory_of("512 MiB"), memory_of(10**9)
    (8000000000, 536870912, 1000000000)
    """
    if given is None:
        return int(_FREE_SHARE * free_memory())
    found = _SIZE.fullmatch(given) if isinstance(given, str) else None
    if isinstance(given, int) and not isinstance(given, bool) and given > 0:
        return given
    if found is None or float(found[1]) <= 0 or (found[2].upper() not in _UNITS):
        raise ParameterError(f"The 'memory' to use must be a size such as '8GB' or '500MB'. Got {given!r} instead.")
    return int(float(found[1]) * _UNITS[found[2].upper()])


def cores() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def free_memory() -> int:
    """Bytes that are free for this process: of the machine, or of the group of processes it is confined to."""
    try:
        lines = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text().splitlines())
        free = int(lines["MemAvailable"].split()[0]) << 10
    except (OSError, KeyError, ValueError):  # another system: all that there is, or a guess where it does not say
        known = hasattr(os, "sysconf")
        free = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if known else _GUESSED
    for folder, limit, used in _GROUPS:
        try:
            taken = int(Path(folder, used).read_text()) - _files_in_memory(Path(folder, "memory.stat"))
            free = min(free, max(int(Path(folder, limit).read_text()) - taken, 0))
        except (OSError, ValueError):  # no such group, or one without a limit ("max")
            continue
    return free


def _files_in_memory(path: Path) -> int:
    """Bytes of a group that are only copies of files, which are given up where somebody needs the memory."""
    found = dict(line.split() for line in path.read_text().splitlines())
    return sum(int(found.get(f"total_{part}", found.get(part, 0))) for part in ("active_file", "inactive_file"))


def size_in_words(size: float) -> str:
    """Bytes as somebody says them.

    >>> size_in_words(16e9), size_in_words(2.5e9), size_in_words(40e6), size_in_words(200)
    ('16 GB', '2.5 GB', '40 MB', '200 B')
    """
    units = (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3))
    unit, of = next(((unit, of) for unit, of in units if size >= of), ("B", 1.0))
    return f"{size / of:.0f} {unit}" if size >= 10 * of else f"{size / of:.1f} {unit}".replace(".0 ", " ")


class Store:
    """Where arrays as long as a table are held.

    Parameters
    ----------
    memory
        Bytes that may be used altogether; by default a share of what is free.
    large
        Rows from which on a table is held as codes.
    batch
        Rows that are read at a time; by default as many as the memory bears.

    Examples
    --------
    >>> store = Store(1_000)
    >>> first, second = store.empty(200, np.uint8), store.empty(100, np.uint8)
    >>> first.nbytes, second.nbytes, store.on_disk  # a quarter of a kilobyte holds the first one
    (200, 100, 100)
    """

    def __init__(self, memory: int | None = None, *, large: int = LARGE, batch: int | None = None) -> None:
        self.memory = memory_of(None) if memory is None else memory
        self.large = large
        fewest, most = _BATCHES
        self.batch = min(max(self.memory // _BATCH_SHARE, fewest), most) if batch is None else batch
        self.held = self.on_disk = 0
        self.coded = False  # whether a table was read as codes
        self._lock = threading.Lock()

    def empty(self, size: int, dtype: DTypeLike) -> NDArray[Any]:
        """(size,) an array with anything in it."""
        length = size * np.dtype(dtype).itemsize
        return np.empty(size, dtype) if self.takes(length) else np.frombuffer(self.file(length), dtype)

    def takes(self, length: int) -> bool:
        """Whether there is room in memory for so many bytes; they are counted as used then."""
        with self._lock:
            fits = self.held + length <= _CODES_SHARE * self.memory
            self.held += length * fits
        return fits or not length

    def file(self, length: int) -> mmap.mmap:
        """So many bytes of a file that can be written to."""
        with self._lock:
            self.on_disk += length
        return _unnamed_file(length)


def _unnamed_file(length: int) -> mmap.mmap:
    """The bytes of a file for its owner alone, which has no name; the last one who looks at them frees them."""
    folder = tempfile.gettempdir()
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            os.posix_fallocate(file.fileno(), 0, length)  # a full disk says so here, and not in the middle of the work
            return mmap.mmap(file.fileno(), length)
    except OSError as error:
        raise OutputError(
            f"{size_in_words(length)} cannot be put into temporary files in `{folder}`: {error.strerror or error}. "
            "Make room there, name another folder (TMPDIR), or allow more memory."
        ) from error
