"""An append-only log of sign-ins, decisions, downloads and removals: who, what, when.

It lies beside the workspace, not in it: whoever removes a table, or a whole workspace, leaves the log as it was. Every
line carries the hash of the line before, so that a line that was changed, removed or inserted is found. Tables and
releases are named by their ids; a line never holds the name of a file, a column or a value.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, Literal

from undercover.errors import OutputError
from undercover.system import lock

Event = Literal[
    "sign-in", "sign-out", "sign-in refused", "accept", "decide", "download", "remove table", "remove release"
]
FIRST: Final = "0" * 64
"""Stands for the line before the first one."""
_LAST_BYTES: Final = 1 << 16  # more than the longest line


def beside(workspace: Path) -> Path:
    """Where the log of a workspace lies unless somebody says otherwise.

    >>> beside(Path("undercover/web")).as_posix()
    'undercover/web-audit.jsonl'
    """
    return workspace.with_name(f"{workspace.name}-audit.jsonl")


class AuditLog:
    """Appends lines to a file that only its owner may read; several servers may share it.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     log = AuditLog(Path(folder) / "audit.jsonl")
    ...     log.record("sign-in", "ann")
    ...     log.record("download", "ann", table="0123456789ab", release=1, file="public.zip")
    ...     [(line["event"], line["user"]) for line in lines_of(log.place)], broken_line(log.place)
    ([('sign-in', 'ann'), ('download', 'ann')], None)
    """

    def __init__(self, place: Path) -> None:
        self.place = place
        self._lock = threading.Lock()

    def check(self) -> None:
        """Refuse a place that cannot be written, and a log that somebody changed."""
        try:
            place = self.place.resolve()
            place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with open(place, "ab", opener=_appending):
                pass
            broken = broken_line(place)
        except (OSError, UnicodeDecodeError) as error:
            raise OutputError(
                f"The audit log `{self.place}` cannot be written: {getattr(error, 'strerror', None) or error}. Name "
                "another file: --audit-log FILE."
            ) from error
        if broken is not None:
            raise OutputError(
                f"The audit log `{self.place}` was changed: line {broken} does not follow from the one before. Keep it "
                "as evidence, and name another file: --audit-log FILE."
            )

    def record(self, event: Event, user: str | None, **about: str | int) -> None:
        """Append a line, and return when it is on the disk."""
        with self._lock, open(self.place, "a+b", opener=_appending) as stream:
            lock(stream.fileno())  # until it is closed: another server may write to the same log
            entry = {
                "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
                "event": event,
                "user": user,
                **about,
                "before": _last_hash(stream),
            }
            stream.write(json.dumps(entry, ensure_ascii=False).encode() + b"\n")
            stream.flush()
            os.fsync(stream.fileno())


def lines_of(place: Path) -> Iterator[dict[str, Any]]:
    """The lines of a log, the oldest first."""
    with place.open(encoding="utf-8") as stream:
        for line in stream:
            yield json.loads(line)


def broken_line(place: Path) -> int | None:
    """Return the number of the first line that does not follow from the one before; ``None`` where all do."""
    before = FIRST
    with place.open("rb") as stream:
        for number, line in enumerate(stream, 1):
            try:
                follows = line.endswith(b"\n") and json.loads(line)["before"] == before
            except (ValueError, KeyError, TypeError):
                follows = False
            if not follows:
                return number
            before = sha256(line).hexdigest()
    return None


def _last_hash(stream: Any) -> str:
    """The hash of the last line of a log."""
    end = stream.seek(0, os.SEEK_END)
    if not end:
        return FIRST
    stream.seek(max(0, end - _LAST_BYTES))
    return sha256(stream.read().splitlines(keepends=True)[-1]).hexdigest()


def _appending(path: str, flags: int) -> int:
    """Open for appending alone, for the owner only, and never by way of a link."""
    return os.open(path, flags | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0), 0o600)
