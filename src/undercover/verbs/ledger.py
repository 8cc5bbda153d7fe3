"""A run and the ledger: who was published before, what that does to the promise, and how the run is entered.

Whoever is in two tables is in two releases, and what each promises of itself need not hold for whoever has both. Any
overlap counts. A method that knows how its promise composes says so (:class:`~undercover.model.protocols.Composing`);
for every other one the releases are attacked together (:mod:`undercover.verbs.together`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa

from undercover.errors import DataError, OutputError, UnreachableError, VerificationError, join_problems
from undercover.forms import read
from undercover.guarantees.breach.rho import released_ratio
from undercover.io.ledger.book import Before, Entry, Ledger
from undercover.io.ledger.people import Digests, Key, keys_of
from undercover.io.ledger.withheld import Withheld, entry_file, read_entry
from undercover.io.release.contents import MANIFEST, PRIVATE, is_withheld, public_part
from undercover.io.release.folder import load_checked
from undercover.io.source import sha256
from undercover.model.protocols import Composing, Method
from undercover.model.run import Run
from undercover.model.schema import Schema
from undercover.verbs.same_people import old_table
from undercover.wording import option

ENTRY = "ledger-entry.npz"
"""Of a release that is withheld: how it is entered when it is accepted."""


def all_the_same() -> str:
    """How to publish all the same."""
    return f"To publish all the same, say {option(despite_earlier=True)}: it is then recorded in the run."


@dataclass(frozen=True)
class Pending:
    """How a run is entered in its ledger once it is saved."""

    ledger: Ledger
    people: Mapping[Key, Digests]
    seen: tuple[int, ...]  # releases that were looked at when it was made


def ledger_of(given: Ledger | str | os.PathLike[str]) -> Ledger:
    """A ledger, or the one at a path."""
    return given if isinstance(given, Ledger) else Ledger(given)


def composed(method: Method, before: Before, schema: Schema, despite: bool) -> tuple[Method, tuple[str, ...]]:
    """The method as it must be for people who were published before, and what it cannot promise any more.

    With ``despite`` a promise that cannot be kept together is made for the new release alone.
    """
    if not before.earlier or not isinstance(method, Composing):
        return method, ()
    try:
        return method.composed(before.earlier, schema), ()
    except UnreachableError as error:
        if not despite:
            raise UnreachableError(f"{error} {all_the_same()}", best=error.best) from error
        return method, (str(error),)


def pending(run: Run, data: pa.Table, ledger: Ledger, schema: Schema, before: Before) -> Run:
    """The run, ready to be entered when it is saved."""
    return replace(run, entry=Pending(ledger, ledger.people(data, schema, run.rows), before.seen))


@contextmanager
def entered(run: Run, directory: str | os.PathLike[str], tables: Path) -> Iterator[None]:
    """Enter a run before its folder, whose ``tables`` are written, takes its place, and finish the entry when it did.

    The entry knows the release by its hash: it counts as soon as that one stands there, whatever happens next.
    """
    waiting: Pending | None = run.entry
    if waiting is None:
        yield
        return
    release = sha256(tables / MANIFEST)
    facts = {**facts_of(run), "state": "entered", "folder": os.path.abspath(directory), "release": release}
    entry = waiting.ledger.enter(facts, waiting.people, waiting.seen)
    try:
        yield
    except BaseException:
        if not entry.counts:
            waiting.ledger.drop(entry.number)
        raise
    _finished(waiting.ledger, entry.number, release, directory)


def _finished(book: Ledger, number: int, release: str, directory: str | os.PathLike[str]) -> None:
    """Finish an entry whose release stands; where that fails, say so, and that the release counts all the same."""
    try:
        book.finish(number, release)
    except OutputError as error:
        raise OutputError(
            f"`{directory}` stands and counts as release {number} of the ledger, which cannot note that it is "
            f"finished: {error} Leave the folder where it is until something else is entered in the ledger."
        ) from None


def kept_entry(run: Run) -> dict[str, bytes]:
    """The entry of a run that is withheld, as a private file: nobody is published before it is accepted."""
    waiting: Pending | None = run.entry
    if waiting is None:
        return {}
    ledger = os.path.abspath(waiting.ledger.path)
    return {ENTRY: entry_file(Withheld(ledger, facts_of(run), waiting.people, waiting.seen))}


@contextmanager
def entered_now(place: Path) -> Iterator[None]:
    """Enter a release that was withheld before the block makes it public, and finish the entry when it is.

    What a kill left of an earlier attempt is taken back, or finished where the tables are public already.
    """
    path = place / PRIVATE / ENTRY
    if not path.is_file():
        yield
        return
    kept = read_entry(path)
    book, release = Ledger(kept.ledger), sha256(public_part(place) / MANIFEST)
    if not Path(f"{book.path}.key").is_file():
        raise DataError(f"The ledger `{book.path}` this release was made with is not there. Bring it back.")
    begun = [entry.number for entry in book.entries() if entry.release == release and entry.state == "entered"]
    if is_withheld(place):
        for number in begun:
            book.drop(number)
        facts = {**kept.facts, "state": "entered", "folder": os.path.abspath(place), "release": release}
        begun = [book.enter(facts, kept.people, kept.seen).number]
    try:
        yield
    except BaseException:
        if is_withheld(place):
            book.drop(begun[0])
        raise
    for number in begun:
        _finished(book, number, release, place)
    try:
        path.unlink()
    except OSError as error:
        raise OutputError(
            f"`{place}` is public and entered, but `{path}` cannot be removed: {error.strerror}. Accept it again."
        ) from error


def facts_of(run: Run) -> dict[str, Any]:
    """What a ledger keeps of a release: nothing that is not published, but for how many people it was made of."""
    release = run.release
    noise = read(release).channel
    return {
        "method": release.method,
        "parameters": _short(release.parameters),
        "guarantees": [_short(entry) for entry in release.guarantees],
        "sensitive": list(run.schema.sensitive),
        "domain": None if noise is None else list(noise.domain),
        "likelihood_ratio": released_ratio(release),
        "people": len(run.rows),
        "exact": keys_of(run.schema)[1],
    }


def _short(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Numbers and words; hierarchies and domains stand in the release itself."""
    return {name: value for name, value in entry.items() if isinstance(value, str | int | float | Fraction | None)}


def enter_folder(
    ledger: Ledger | str | os.PathLike[str], directory: str | os.PathLike[str], *, original: Any = None
) -> Entry:
    """Enter a release that was made without a ledger; its table is looked for where it was read, if not given."""
    book, place = ledger_of(ledger), os.path.abspath(directory)
    if is_withheld(place):
        raise DataError(f"`{directory}` is withheld, so nobody of it is published. Accept it first: undercover accept.")
    run, problems = load_checked(directory)
    if problems:
        raise VerificationError(f"`{directory}` is not as it was made: {join_problems(problems)}")
    digest = sha256(public_part(place) / MANIFEST)
    known = [entry for entry in book.entries() if entry.release == digest and entry.state != "withdrawn"]
    if known:
        raise DataError(f"`{directory}` is release {known[0].number} of the ledger `{book.path}` already.")
    data = old_table(run, original)
    if data is None:
        raise DataError(
            f"The table `{directory}` was made of is no longer where it was read, or has changed; it says who is in "
            f"the release. Give it: {option(original=...)}"
        )
    facts = {**facts_of(run), "state": "published", "folder": place, "release": digest}
    return book.enter(facts, book.people(data, run.schema, run.rows))
