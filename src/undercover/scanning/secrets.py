"""What nobody outside may read in a public file: identifiers, the seed, digests, paths and names of this machine.

A word that stands there for another reason is none of these: a value that a published column has as a whole (a town
that is somebody's name, too), the name of a published column, or a word of our own pages. Of the words beside tables a
value of an identifier counts from five characters on, as it does where the holder describes the table.
"""

from __future__ import annotations

import getpass
import inspect
import re
import socket
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache, cached_property
from pathlib import Path, PurePath
from typing import Any

import pyarrow as pa

import undercover
from undercover.forms import read
from undercover.forms.meaning import NOTHING, domain_values
from undercover.forms.reading import Reading
from undercover.io.words import Words as Texts
from undercover.io.words import in_words
from undercover.model.release import PublishedColumn, PublishedTable, Release
from undercover.model.run import Run
from undercover.scanning.result import Leak
from undercover.scanning.texts import Said

SHORTEST, LONG_NUMBER, DIGEST = 5, 6, 16
"""Characters of an identifier among words, of a number that may be a seed, and of a digest."""
_NAMES = 3
_PLACES = re.compile(r"(?<![\w.~/])(?:/(?:home|Users|root|tmp|mnt|var/folders)|[A-Za-z]:\\+Users)[/\\]+[\w.-]+")
_WORDS = ("*.py", "*.j2", "*.css", "*.js")
_COUNTS = ("rows", "bytes")
_WHO = ("creator", "lastModifiedBy", "manager")


@dataclass(frozen=True)
class Words:
    """What stands in a public folder beside its tables, and in ``cells``, held against what its run must not tell."""

    run: Run
    said: Sequence[Said]
    directory: Path
    cells: Sequence[Said] = ()

    def leaks(self) -> Iterator[Leak]:
        """Everything that is found, each kind once in a place."""
        found = (*self._identifiers(), *self._seeds(), *self._digests(), *self._machine(), *self._properties())
        yield from dict.fromkeys(found)

    def _identifiers(self) -> Iterator[Leak]:
        words = [one for one in self.said if not one.figure]
        beside = len(words)
        words += self.cells
        texts = Texts(pa.array([one.text for one in words], pa.string()))
        for name, column in (self.run.identifying or {}).items():
            held = [
                (place, value)
                for place, value in texts.values_of(column)
                if place >= beside or len(value.replace(" ", "")) >= SHORTEST
            ]
            strange = self.strange({value for place, value in held if place < beside})
            hidden = {value for place, value in held if place >= beside} - self._public  # no word of ours is in a cell
            told = [place for place, value in held if value in (strange if place < beside else hidden)]
            for file, where in dict.fromkeys(words[place][:2] for place in told):
                yield Leak("identifiers", file, f"`{file}` holds a value of the identifier `{name}` ({where}).")

    def _seeds(self) -> Iterator[Leak]:
        secret = {
            str(one) for one in (self.run.randomness.get("seed"), self.run.source.get("one_row")) if one is not None
        }
        for file, where, text, figure in self.said:
            beside = any(re.search(rf"(?i)\bseed\b\W{{0,5}}(?:is |of )?{number}\b", text) for number in secret)
            named = where.rpartition(".")[2] in ("seed", "one_row")
            counts = figure and where.rpartition(".")[2] in _COUNTS
            tokens = set() if counts else {token for token in re.findall(r"\d+", text) if len(token) >= LONG_NUMBER}
            if beside or named or tokens & secret:
                yield Leak("seed", file, f"`{file}` holds the seed of the run, or something in its place ({where}).")

    def _digests(self) -> Iterator[Leak]:
        secret = [text for text in _texts(self.run.source) if len(text) >= DIGEST and re.fullmatch(r"[0-9a-f]+", text)]
        for file, where, text, _ in self.said:
            if any(digest in text for digest in secret):
                yield Leak("digests", file, f"`{file}` holds a digest of the original table ({where}).")

    def _machine(self) -> Iterator[Leak]:
        places, names, files = self._places(), self._names(), self._files()
        days = [(datetime.now(UTC) + timedelta(days=shift)).date().isoformat() for shift in (-1, 0, 1)]
        made = re.compile(rf"(?:{'|'.join(days)})[T ]\d\d:\d\d")
        for file, where, text, figure in self.said:
            if figure or self._declared(text):
                continue
            if any(place in text for place in places) or _PLACES.search(text):
                yield Leak("paths", file, f"`{file}` holds a path of this machine ({where}).")
            if any(_stands(name, text) for name in files):
                yield Leak("paths", file, f"`{file}` holds the name of the file the table came from ({where}).")
            if any(_stands(name, text) for name in names):
                yield Leak("names", file, f"`{file}` holds the name of a user or of this machine ({where}).")
            if made.search(text) or where.startswith(("the times", "its times")):
                yield Leak("times", file, f"`{file}` says when it was made ({where}).")

    def _properties(self) -> Iterator[Leak]:
        for file, where, text, _ in self.said:
            if where in _WHO and text.strip():
                yield Leak("metadata", file, f"`{file}` says who made it ({where}).")

    def strange(self, values: Iterable[str]) -> set[str]:
        """Those of some values, in words, that stand there for no other reason."""
        left = set(values)
        left -= self._public if left else set()
        return left - own_words(left, self.run)

    @cached_property
    def _public(self) -> set[str]:
        """What stands in public files because it was published as it is, or means somebody else, in words."""
        columns = {} if self.run.original is None else self.run.original.columns
        looked = [columns[name].domain.labels for name in columns if self.run.schema.column(name).names_nobody]
        others = Texts(pa.array([label for labels in looked for label in labels], pa.string()))
        held = [others.values_of(values) for values in (self.run.identifying or {}).values()]
        return {*in_words(public_values(self.run)), *(value for found in held for _, value in found)}

    @cached_property
    def _described(self) -> list[str]:
        return list(_texts(self.run.schema.said))

    def _declared(self, text: str) -> bool:
        return any(text == one or (len(one) >= SHORTEST and one in text) for one in self._described)

    def _places(self) -> list[str]:
        source = str(self.run.source.get("path") or "")
        here = [Path.cwd(), self.directory.absolute(), self.directory.absolute().parent]
        here += [Path(source).absolute(), Path(source).absolute().parent] if source and "://" not in source else []
        deep = {str(place) for place in here if len(place.parts) > 2}
        return sorted(deep | ({source} if "://" in source else set()))

    def _files(self) -> set[str]:
        held = (str(self.run.source.get(key) or "") for key in ("path", "name"))
        names = {PurePath(name).name for name in held if PurePath(name).suffix}
        return {name for name in names if name not in {one.file for one in self.said}}

    def _names(self) -> set[str]:
        """Of the user and the machine, where they are no words that stand there anyway."""
        try:
            user = getpass.getuser()
        except (OSError, KeyError):  # no such user, as in some containers
            user = ""
        host = socket.gethostname()
        names = {name for name in (user, host, host.partition(".")[0]) if len(name) >= _NAMES}
        there = {name for name in names if any(_stands(name, one.text) for one in self.said)}
        strange = self.strange(in_words(there))
        return {name for name in there if in_words([name])[0] in strange}


def cells_of(run: Run, released: Release) -> Iterator[Said]:
    """The cells of published tables in which an identifier may stand beside other words.

    Numbers and days are cells of their own. A generalised cell that reads as values of its column holds nothing else.
    Whoever said ``names_nobody`` of a column has looked at it.
    """
    reading = read(released)
    for table in released.tables:
        for column in table.columns:
            yield from (Said(column.name, "in its cells", cell) for cell in _looked_at(run, reading, table, column))


def _looked_at(run: Run, reading: Reading, table: PublishedTable, column: PublishedColumn) -> list[str]:
    """The cells of a column that may hold something else than its values."""
    own = None if run.original is None else run.original.columns.get(column.name)
    numbers = own is not None and column.form == "value" and own.domain.kind not in ("categorical", "ordinal")
    if column.role == "structure" or numbers or run.schema.column(column.name).names_nobody:
        return []
    cells = reading.cells(table, column.name).labels
    if own is None or column.form == "value":
        return list(cells)
    read_as = domain_values(own).read_all(cells, column.form)
    return [cell for cell, meaning in zip(cells, read_as, strict=True) if meaning == NOTHING]


def public_values(run: Run) -> Iterator[str]:
    """Every text that is published as it is: values of columns as a whole, trees, domains, names."""
    columns = {} if run.original is None else run.original.columns
    for name in run.schema.published:
        settings = run.schema.column(name)
        yield name
        yield from settings.domain or ()
        yield from settings.hierarchy.tree.labels if settings.hierarchy is not None else ()
        yield from columns[name].domain.labels if name in columns else ()
    yield from (column.name for table in run.release.tables for column in table.columns)


def own_words(values: set[str], run: Run) -> set[str]:
    """Those of some words that our own pages and messages use, or those of the package that made the release."""
    if not values:
        return set()
    makers = [type(one) for one in (run.method, run.release.form) if one]
    roots = {Path(undercover.__file__).parent, *(Path(inspect.getfile(maker)).parent for maker in makers)}
    found = set()
    for value in values:
        words = value.split()
        pattern = re.compile(r"(?<![^\W_])" + r"[\W_]+".join(map(re.escape, words)) + r"(?![^\W_])")
        texts = (_text_of(path) for root in roots for path in _sources_of(root))
        texts = (text for text in texts if all(word in text for word in words))
        found |= {value} if any(map(pattern.search, texts)) else set()
    return found


@cache
def _sources_of(root: Path) -> list[Path]:
    return [path for pattern in _WORDS for path in sorted(root.rglob(pattern))]


@cache
def _text_of(path: Path) -> str:
    """What is written in a file of a package, in small letters."""
    return path.read_text(encoding="utf-8", errors="replace").lower()


def _stands(word: str, text: str) -> bool:
    return word in text and re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text) is not None


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, str) and value:
        yield value
