"""What differs between operating systems, in one place: locks, processes, and what is on the disk.

Written for Linux, macOS and Windows; tried on Linux. Windows locks no folders: writers go by their number.
What else differs is in docs/guide/platforms.md.
"""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path

_FAR = 1 << 30  # where no byte is: Windows lets nobody read what is locked


def open_to_lock(path: Path) -> int:
    """A handle of a file or folder, to be locked and closed; on Windows one of nothing, which cannot be locked."""
    return os.open(os.devnull if sys.platform == "win32" and path.is_dir() else path, os.O_RDONLY)


def lock(handle: int, *, wait: bool = True) -> None:
    """Lock what was opened, until it is closed; a BlockingIOError where somebody else has it and nobody waits.

    Some file systems know no locks, which is another OSError.

    >>> import tempfile
    >>> with tempfile.TemporaryFile() as file:
    ...     lock(file.fileno(), wait=False)
    """
    if sys.platform == "win32":
        import msvcrt

        os.lseek(handle, _FAR, os.SEEK_SET)
        while True:
            try:
                msvcrt.locking(handle, msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
                return
            except PermissionError as error:
                raise BlockingIOError(error.errno, error.strerror) from error
            except OSError as error:  # also after ten seconds of waiting
                if error.errno != errno.EDEADLK:
                    raise
    else:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))


def alive(process: int) -> bool:
    """Whether there is a process of this number, whoever's it is.

    >>> alive(os.getpid())
    True
    """
    if sys.platform == "win32":  # where os.kill would end it
        import ctypes

        handle = ctypes.windll.kernel32.OpenProcess(0x1000, False, process)
        return bool(handle and ctypes.windll.kernel32.CloseHandle(handle))
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:  # somebody else's
        return True
    return True


def sync(path: Path) -> None:
    """Wait until a file or folder is on the disk; folders of Windows cannot be waited for."""
    if sys.platform == "win32" and path.is_dir():
        return
    handle = os.open(path, os.O_RDWR if sys.platform == "win32" else os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
