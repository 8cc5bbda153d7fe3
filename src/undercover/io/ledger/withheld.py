"""The entry of a release that is withheld, as a private file of it: it is entered when somebody accepts it."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from pydantic import TypeAdapter

from undercover.errors import DataError
from undercover.io.ledger.book import Entry
from undercover.io.ledger.people import Digests, Key, array_of
from undercover.io.plain import as_json
from undercover.parsing import BROKEN_ARCHIVE, MALFORMED, json_of


class Withheld(NamedTuple):
    """Where it is to be entered, what is said of it, who is in it, and what releases there were when it was made."""

    ledger: str
    facts: Mapping[str, Any]
    people: Mapping[Key, Digests]
    seen: Sequence[int]


def entry_file(entry: Withheld) -> bytes:
    """What such a file contains."""
    content = {**entry._asdict(), "people": None, "known_by": list(entry.people)}
    arrays: dict[str, Any] = {str(place): found for place, found in enumerate(entry.people.values())}
    stream = io.BytesIO()
    np.savez(stream, content=np.frombuffer(as_json(content).encode(), np.uint8), **arrays)
    return stream.getvalue()


def read_entry(path: Path) -> Withheld:
    """What such a file says."""
    try:
        with zipfile.ZipFile(path) as held:
            if any(each.compress_type != zipfile.ZIP_STORED for each in held.infolist()):
                raise ValueError("it was not written by undercover")
            content = json_of(array_of(held.read("content.npy"), np.uint8).tobytes())
            known_by, facts = content["known_by"], content["facts"]
            entry = {**facts, "number": 1, "made": "", "state": "entered", "known_by": known_by}
            TypeAdapter(Entry).validate_python(entry)
            people = {tuple(key): array_of(held.read(f"{n}.npy"), np.uint64) for n, key in enumerate(known_by)}
        seen = TypeAdapter(list[int]).validate_python(content["seen"])
        return Withheld(TypeAdapter(str).validate_python(content["ledger"]), facts, people, seen)
    except (OSError, *BROKEN_ARCHIVE, *MALFORMED) as error:
        raise DataError(f"`{path}` cannot be read: {error}. Publish again.") from error
