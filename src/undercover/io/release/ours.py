"""What of a release folder is ours: only that is ever replaced.

A folder is a release of ours as long as one of its two halves says so: the manifest of its tables, or the private run.
Whoever broke one of them may replace the folder; where neither can be read, nobody knows whose the files are. Anything
else in it (notes, a thesis, a link to another disk) is somebody's, and is named.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from undercover.errors import DataError
from undercover.io.release.contents import (
    MANIFEST,
    OTHER_FILES,
    PRIVATE,
    PUBLIC,
    SIGNATURE,
    WITHHELD,
    pieces_of,
    read_json,
)

_PRIVATE = re.compile(
    r"run\.json|groups\.parquet|report\.(?:html|json)|decision\.json|ledger-entry\.npz|spec\.toml"
    r"|(?:hierarchy|distance)-\d+(?:-[A-Za-z0-9_-]+)?\.csv|\..+\.tmp-[0-9a-f-]+"
)
_SIGNING = re.compile(rf"\.{re.escape(SIGNATURE)}\.tmp-[0-9a-f-]+")


def strange(place: Path) -> Iterator[str]:
    """What lies in a folder that is not of a release of ours, by its path in it; nothing in an empty one.

    >>> list(strange(Path(__file__).parent))[:1]
    ['__init__.py']
    """
    run = _read(place / PRIVATE / "run.json")
    manifests = [_read(place / part / MANIFEST) for part in (PUBLIC, WITHHELD)]
    ours = _is_manifest(run.get("release")) or any(map(_is_manifest, manifests))
    tables = {MANIFEST, SIGNATURE, *OTHER_FILES}
    for content in (run.get("release"), *manifests):
        tables |= set(_named(content))
    frames = {f"{name}.parquet" for name in run.get("frames", ())}
    for entry in sorted(place.iterdir()):
        if entry.name not in (PUBLIC, WITHHELD, PRIVATE) or entry.is_symlink() or not entry.is_dir():
            if not _SIGNING.fullmatch(entry.name) or not ours:
                yield entry.name
            continue
        for file in sorted(entry.iterdir()):
            known = file.name in (frames if entry.name == PRIVATE else tables)
            known = known or (entry.name == PRIVATE and _PRIVATE.fullmatch(file.name) is not None)
            if not ours or not known or file.is_symlink() or not file.is_file():
                yield f"{entry.name}/{file.name}"


def _read(path: Path) -> dict[str, Any]:
    """What a file of ours says; nothing where it cannot be read."""
    content = None
    with suppress(DataError):
        content = read_json(path)
    return content if isinstance(content, dict) else {}


def _is_manifest(content: Any) -> bool:
    return isinstance(content, Mapping) and "undercover" in content and isinstance(content.get("tables"), list)


def _named(content: Any) -> Iterator[str]:
    """The files a manifest names, however it was changed."""
    if not _is_manifest(content):
        return
    yield from (str(name) for name in content.get("files") or ())
    for table in content["tables"]:
        with suppress(KeyError, TypeError, AttributeError):
            yield from (str(piece["file"]) for piece in pieces_of(table))
