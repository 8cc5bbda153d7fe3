"""Look for what must not be in the public files of a release, as they are written, before anybody sees them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from undercover.errors import DataError, listed
from undercover.forms import read
from undercover.io.release.contents import MANIFEST, SIGNATURE, read_json
from undercover.io.release.manifest import read_public
from undercover.model.formats import IN_PARTS
from undercover.model.release import Release
from undercover.model.run import Run
from undercover.scanning.places import looked_at
from undercover.scanning.result import Leak, Looked, Scan
from undercover.scanning.secrets import Words, cells_of
from undercover.scanning.texts import said_in

MOST_READ_TWICE = 100_000
"""Rows of an office file, which was read again when it was written, beyond which it is not read a third time."""


def scan(run: Run, public: Path, directory: Path, file_format: str) -> Scan:
    """What is told by the files in ``public``, which are to be shown as those of ``directory``."""
    looked: list[Looked] = []
    leaks: list[Leak] = []
    whole = file_format in IN_PARTS or sum(table.rows for table in run.release.tables) <= MOST_READ_TWICE
    released = run.release
    if whole:
        try:
            found = read_public(public)
        except DataError as error:
            return Scan((), (Leak("files", "release.json", f"The public files cannot be read back: {error}"),))
        leaks += [Leak("files", "release.json", problem) for problem in found.problems]
        released = found.release
        leaks += _differing(run.release, released)
    manifest = read_json(public / MANIFEST)
    said = tuple(said_in(public, {*manifest["files"], MANIFEST, SIGNATURE}))
    leaks += Words(run, said, directory, tuple(cells_of(run, released)) if run.identifying else ()).leaks()
    known = sum(map(len, (run.identifying or {}).values()))
    if run.identifying == {}:
        looked.append(Looked("identifiers", "no identifiers, since no column is one", done=False))
    elif run.identifying is not None:
        looked.append(Looked("identifiers", f"{known:,} values of identifiers", {"values": known}))
    else:
        looked.append(Looked("identifiers", "not identifiers, which are not at hand", done=False))
    looked.append(
        Looked("secrets", "seeds, digests, paths and names of this machine, properties and metadata of files")
    )
    for one in looked_at(run, read(released)):
        (looked if isinstance(one, Looked) else leaks).append(one)  # type: ignore[arg-type]
    return Scan(tuple(looked), tuple(dict.fromkeys(leaks)))


def _differing(made: Release, written: Release) -> Iterator[Leak]:
    """Tables whose cells, or their order, are not those that were made and verified."""
    mine, theirs = read(made), read(written)
    for table, again in zip(made.tables, written.tables, strict=True):
        changed = []
        for name in (column.name for column in table.columns):
            one, other = mine.cells(table, name), theirs.cells(again, name)
            if _same(one.values, other.values) and np.array_equal(one.codes, other.codes):  # texts take longer
                continue
            code_of = {label: code for code, label in enumerate(one.labels)}
            known = np.array([code_of.get(label, -1) for label in other.labels])
            if len(one.codes) != len(other.codes) or not np.array_equal(known[other.codes], one.codes):
                changed.append(name)
        if changed:
            yield Leak("files", table.name, f"Table `{table.name}` was written with other cells in {listed(changed)}.")


def _same(one: pa.Array, other: pa.Array) -> bool:
    """Whether values are equal; whole numbers may be of different widths."""
    if pa.types.is_integer(one.type) and pa.types.is_integer(other.type):
        one, other = one.cast(pa.int64()), other.cast(pa.int64())
    return bool(one.equals(other))
