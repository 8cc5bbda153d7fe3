"""The ledger's files: a list of releases, the digests of their people beside it, and the key in a file of its own.

``FILE`` is JSON: for every release when and where it was written, its method, public parameters and promises, by which
columns its people are known, and how many they are. ``FILE.people/`` holds their digests, sorted, one array per release
and key; ``FILE.key`` the secret key, without which a digest says nothing. All are readable by their owner alone. No
value of anybody is in any of them; but whoever has ledger *and* key can ask whether a person he can name is in it.

Every change is made under a lock (``FILE.lock``), to a new file that then replaces the old one. A release is entered
before its folder is written and finished afterwards, so that there is none the ledger does not know; an entry whose
folder never came to stand is not counted.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pydantic import TypeAdapter, ValidationError

from undercover.errors import DataError, OutputError, unknown, unreadable, unwritable
from undercover.io.ledger.people import Digests, Key, array_of, columns_named, digests, keys_of, shared
from undercover.io.plain import as_json
from undercover.io.release.contents import MANIFEST, PUBLIC, misfits
from undercover.io.source import sha256
from undercover.model.run import Earlier
from undercover.model.schema import Schema
from undercover.parsing import MALFORMED, json_of
from undercover.waiting import Progress, no_progress, through
from undercover.whole import locked, write_whole

State = Literal["entered", "published", "withdrawn"]
_VERSION = 1
_KEY_BYTES = 32


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One release in the ledger."""

    number: int
    made: str
    state: State  # entered: its folder is being written
    method: str
    parameters: Mapping[str, Any]
    guarantees: Sequence[Mapping[str, Any]]
    sensitive: Sequence[str]
    domain: Sequence[str] | None  # values its sensitive column was drawn from
    likelihood_ratio: float | None  # how many times likelier it makes one value of a person than another
    people: int  # rows it was made of
    known_by: Sequence[Sequence[str]]  # the columns of each array of digests
    exact: bool  # False: known by quasi-identifiers, which different people may share
    folder: str | None = None
    release: str | None = None  # sha256 of release.json
    withdrawn: str | None = None

    @property
    def counts(self) -> bool:
        """Whether people of it were published, as far as the ledger knows: its folder stands, or was finished."""
        if self.state == "entered" and self.folder is not None:
            manifest = Path(self.folder, PUBLIC, MANIFEST)
            return manifest.is_file() and self.release in (None, sha256(manifest))
        return self.state != "withdrawn"


@dataclass(frozen=True)
class Before:
    """What a ledger knows of the people of a table."""

    earlier: tuple[Earlier, ...] = ()  # releases with at least one of them
    rows: tuple[NDArray[np.bool_], ...] = ()  # which rows these are, of each release
    unknown: tuple[str, ...] = ()  # releases that cannot be compared, and why
    seen: tuple[int, ...] = ()  # all releases there were when it was looked up


@dataclass(frozen=True)
class Ledger:
    """A private record of who was in which release.

    Parameters
    ----------
    path
        Its file; it is made by the first release that is entered.

    Examples
    --------
    >>> import tempfile, undercover as uc
    >>> people = uc.datasets.census(500, seed=1)
    >>> schema = uc.Schema(quasi_identifiers=["age", "sex", "education"], sensitive="income")
    >>> with tempfile.TemporaryDirectory() as place:
    ...     ledger = uc.Ledger(Path(place, "people.ledger"))
    ...     run = uc.publish(people, schema, uc.Mondrian(k=10), ledger=ledger)
    ...     _ = uc.save(run, Path(place, "out"))
    ...     [(entry.number, entry.method, entry.people) for entry in ledger.entries()]
    [(1, 'mondrian', 500)]
    """

    path: str | os.PathLike[str]

    def entries(self) -> tuple[Entry, ...]:
        """All releases, withdrawn ones included."""
        place = Path(self.path)
        if not place.exists():
            return ()
        try:
            content = json_of(place.read_bytes())
            if content["ledger"] != _VERSION:
                raise DataError(f"`{place}` was written by a later version of undercover.")
            found = tuple(TypeAdapter(list[Entry]).validate_python(content["releases"]))
            if not all(key for entry in found for key in entry.known_by):
                raise ValueError("people are known by no column")
            return found
        except OSError as error:
            raise DataError(unreadable(f"The ledger `{place}`", error)) from error
        except ValidationError as error:
            raise DataError(f"`{place}` is not a ledger, or was changed by hand: {misfits(error)}.") from error
        except MALFORMED as error:
            raise DataError(f"`{place}` is not a ledger, or was changed by hand: {error!r}.") from error

    def check(self) -> None:
        """Refuse, before any work, a ledger that could not be written after it."""
        self.entries()
        self._secret()
        with self._locked():
            pass

    def before(self, data: pa.Table, progress: Progress = no_progress) -> Before:
        """In which releases the people of a table are already: any overlap counts."""
        found: list[tuple[Earlier, NDArray[np.bool_]]] = []
        unknown_: list[str] = []
        own: dict[Key, tuple[Digests, NDArray[np.bool_]]] = {}
        entries = self.entries()
        counted = [entry for entry in entries if entry.counts]
        for entry in through(progress, "looking into the ledger", counted, lambda each: f"release {each.number}"):
            here = self._in(entry, data, own)
            if here is None:
                columns = " or ".join(", ".join(f"`{name}`" for name in key) for key in entry.known_by)
                unknown_.append(
                    f"The people of release {entry.number} are known by {columns}, which this table does not have: "
                    "nobody can say who is in both"
                )
                continue
            key, rows = here
            if rows.any():
                found.append((_earlier(entry, key, rows), rows))
        seen = tuple(entry.number for entry in entries)
        return Before(tuple(entry for entry, _ in found), tuple(rows for _, rows in found), tuple(unknown_), seen)

    def people(self, data: pa.Table, schema: Schema, rows: NDArray[np.int64]) -> dict[Key, Digests]:
        """The sorted digests of those who are in ``rows``, by each key of the schema."""
        secret = self._secret()
        found = {}
        for key in keys_of(schema)[0]:
            values, known = digests(data, key, secret)
            found[key] = np.unique(values[rows][known[rows]])
        return found

    def enter(
        self, facts: Mapping[str, Any], people: Mapping[Key, Digests], seen: Sequence[int] | None = None
    ) -> Entry:
        """Enter a release; refused where people of it were entered by somebody else since ``seen`` was looked up."""
        with self._changing() as entries:
            for entry in entries:
                if seen is not None and entry.number not in seen and entry.state != "withdrawn":
                    both = [self._digests(entry, key) for key in map(tuple, entry.known_by) if key in people]
                    mine = [people[key] for key in map(tuple, entry.known_by) if key in people]
                    if any(np.isin(a, b).any() for a, b in zip(mine, both, strict=True)):
                        raise OutputError(
                            f"Release {entry.number} of the same people was entered in the ledger `{self.path}` in the "
                            "meantime. Publish again: what both say together must be looked at first."
                        )
            made = datetime.now(UTC).isoformat(timespec="seconds")
            number = max((entry.number for entry in entries), default=0) + 1
            new = Entry(number=number, made=made, known_by=[list(key) for key in people], **facts)
            folder = self._people_folder(make=True)
            for place, found in enumerate(people.values()):
                write = partial(np.save, arr=found)
                write_whole(folder / f"{number}-{place}.npy", write, private=True)
            entries.append(new)
        return new

    def finish(self, number: int, release: str) -> None:
        """The folder of an entered release stands."""
        with self._changing() as entries:
            entries[:] = [
                replace(entry, state="published", release=release) if entry.number == number else entry
                for entry in entries
            ]

    def drop(self, number: int) -> None:
        """Take out a release whose folder could not be written."""
        with self._changing() as entries:
            entries[:] = [entry for entry in entries if entry.number != number]

    def forget(self, which: str) -> Entry:
        """Withdraw a release, by its number, folder or the first digits of its hash: noted, but not counted again."""
        with self._changing() as entries:
            chosen = [entry for entry in entries if _called(entry, which)]
            if len(chosen) != 1:
                raise DataError(unknown("Release", which, [str(entry.number) for entry in entries]))
            gone = replace(chosen[0], state="withdrawn", withdrawn=datetime.now(UTC).isoformat(timespec="seconds"))
            entries[:] = [gone if entry.number == gone.number else entry for entry in entries]
        return gone

    def _in(
        self, entry: Entry, data: pa.Table, own: dict[Key, tuple[Digests, NDArray[np.bool_]]]
    ) -> tuple[Key, NDArray[np.bool_]] | None:
        """By which key most rows are of people of a release, and which rows; ``None`` where no key can be compared."""
        best: tuple[Key, NDArray[np.bool_]] | None = None
        for key in map(tuple, entry.known_by):
            if len(columns_named(key, data.column_names)) < len(key):
                continue
            if key not in own:
                own[key] = digests(data, key, self._secret())
            rows = shared(*own[key], self._digests(entry, key))
            if best is None or rows.sum() > best[1].sum():
                best = key, rows
        return best

    def _digests(self, entry: Entry, key: Key) -> Digests:
        place = [tuple(known) for known in entry.known_by].index(key)
        path = self._people_folder() / f"{entry.number}-{place}.npy"
        try:
            found: Digests = array_of(path.read_bytes(), np.uint64)
        except (OSError, ValueError) as error:
            raise DataError(f"The ledger `{self.path}` lacks the people of release {entry.number}: {error}.") from error
        return found

    def _people_folder(self, *, make: bool = False) -> Path:
        folder = Path(f"{os.fspath(self.path)}.people")
        if make:
            folder.mkdir(mode=0o700, exist_ok=True)
        return folder

    def _forget_others(self, numbers: set[int]) -> None:
        """Remove the digests of people of all releases but these: withdrawn ones, and what a kill left."""
        try:
            for path in self._people_folder().glob("*-*.npy"):
                if path.name.split("-")[0] not in map(str, numbers):
                    path.unlink()
        except OSError as error:
            raise OutputError(f"`{error.filename}` cannot be removed: {error.strerror}. Try again.") from error

    def _secret(self) -> bytes:
        """The key, made with the first release; without it the ledger of others cannot be read."""
        path = Path(f"{os.fspath(self.path)}.key")
        try:
            if not path.exists():
                if Path(self.path).exists():
                    raise DataError(f"The ledger `{self.path}` cannot be used without its key `{path}`. Bring it back.")
                with self._locked():
                    if not path.exists():
                        write_whole(path, secrets.token_hex(_KEY_BYTES), private=True)
            secret = bytes.fromhex(path.read_bytes().decode("ascii").strip())
        except OSError as error:
            raise OutputError(f"The key `{path}` cannot be used: {error.strerror or error}.") from error
        except ValueError:
            secret = b""
        if len(secret) != _KEY_BYTES:
            raise DataError(f"The key `{path}` is damaged: a ledger's key has {2 * _KEY_BYTES} digits. Bring it back.")
        return secret

    @contextmanager
    def _changing(self) -> Iterator[list[Entry]]:
        """The entries, to be changed in place; they replace the file when the block ends well.

        One whose folder stands is finished, for whoever entered it was killed before he could; digests are removed when
        the file no longer needs them.
        """
        self._secret()
        with self._locked():
            entries = [
                replace(entry, state="published") if entry.release and entry.counts else entry
                for entry in self.entries()
            ]
            yield entries
            content = {"ledger": _VERSION, "releases": [asdict(entry) for entry in entries]}
            write_whole(self.path, as_json(content), private=True)
            self._forget_others({entry.number for entry in entries if entry.state != "withdrawn"})

    @contextmanager
    def _locked(self) -> Iterator[None]:
        try:
            handle = os.open(f"{os.fspath(self.path)}.lock", os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise OutputError(unwritable(f"The ledger `{self.path}`", error)) from error
        try:
            if locked(handle) == "unknown":
                raise OutputError(
                    f"The ledger `{self.path}` lies where files cannot be locked. Keep it on another disk."
                )
            yield
        finally:
            os.close(handle)


def _earlier(entry: Entry, key: Key, rows: NDArray[np.bool_]) -> Earlier:
    """What a method and its holder must know of a release in which people of a table are."""
    folder = entry.folder
    release = entry.release
    if release is None and folder is not None:
        release = sha256(Path(folder, "public", MANIFEST))
    return Earlier(
        number=entry.number,
        method=entry.method,
        made=entry.made,
        rows=len(rows),
        shared=int(rows.sum()),
        known_by=key,
        exact=entry.exact,
        name="" if folder is None else Path(folder).name,
        folder=folder,
        release=release,
        guarantees=tuple(entry.guarantees),
        sensitive=tuple(entry.sensitive),
        domain=None if entry.domain is None else tuple(entry.domain),
        ratio=entry.likelihood_ratio,
    )


def _called(entry: Entry, which: str) -> bool:
    """Whether somebody means this release."""
    same_folder = entry.folder is not None and os.path.abspath(which) == entry.folder
    return str(entry.number) == which or same_folder or (len(which) >= 6 and (entry.release or "").startswith(which))
