"""Verifying a release that was opened is begun; what was found before is forgotten."""

from __future__ import annotations

from typing import IO, Final

from undercover.web.asked.opened import Opened
from undercover.web.jobs.queue import Queue

_LONGEST_KEY: Final = 1 << 16  # bytes


def begin(queue: Queue, one: Opened, key: IO[bytes] | None = None) -> None:
    """Verify a release in a process of its own, with the public key it must be signed by where one is given."""
    if key is not None:
        (one.folder / "key.pub").write_bytes(key.read(_LONGEST_KEY))
    (one.folder / "found.json").unlink(missing_ok=True)
    queue.add(one.work, "verify", {})
