"""Small files that appear whole or not at all, and what a disk says that takes none."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from undercover.whole import new_private

NO_DISK: Final = "The server's disk takes nothing more: it is full, read-only or broken. Make room, then try again."
_NO_DISK: Final = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.EFBIG)


def is_disk(error: BaseException | None) -> bool:
    """Whether it is the disk's fault: full, read-only or broken.

    >>> is_disk(OSError(errno.ENOSPC, "No space left on device")), is_disk(FileNotFoundError())
    (True, False)
    """
    return isinstance(error, OSError) and error.errno in _NO_DISK


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write a mapping; whoever reads meanwhile sees the old one."""
    from undercover.io.plain import plain  # with numpy, which the first page does without

    write_text(path, json.dumps(plain(content), ensure_ascii=False, allow_nan=False))


def write_text(path: Path, text: str) -> None:
    """The same of a text."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.{os.urandom(4).hex()}")
    try:
        with open(beside, "x", encoding="utf-8", opener=new_private) as stream:
            stream.write(text)
        beside.replace(path)
    except OSError:
        beside.unlink(missing_ok=True)
        raise


def read_json(path: Path) -> dict[str, Any]:
    """Read it back."""
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content


def private_folder(path: Path) -> Path:
    """A folder that nobody else may look into."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.chmod(0o700)
    return path
