"""Harness for tampered public folders: honest releases, copies to alter, and what `undercover verify` says of them.

A tampering is a named function that alters a copy of an honest public folder. Whoever tampers is assumed to be careful:
after the change all hashes are computed anew (``release.json``, ``datapackage.json``), and nothing is signed. A
tampering counts as caught if `undercover verify` ends with the expected exit code (4, or 2 and 6 where these fit) and
says what is wrong. What rests on the holder's word alone may end with 0, and then the output must say so.

To add cases write a list of entries and name it in ``test_tampered_folders.py``::

    CASES = [
        Tampering("k is lowered in the promise alone", lower_k, said="the method was asked for"),
        Tampering("a comment in a cell", comment_a_cell, release="anatomy", format="xlsx", said="comments"),
        Tampering("another title", rename, on_word=True, said="holder's words"),
    ]

``lower_k`` takes a :class:`TamperedFolder`; it changes ``folder.content`` (the manifest as a dict), files below
``folder.place``, or both. ``folder.seal()`` is called afterwards unless ``sealed=False``.
"""

from __future__ import annotations

import atexit
import json
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
from typer.testing import CliRunner

import undercover as uc
from undercover.cli.main import app
from undercover.errors import UndercoverError
from undercover.model.schema import Column
from undercover.testing.forged import Folder

FORMATS = ("csv", "parquet", "xlsx", "dta", "sav")
DISEASES = ("flu", "cold", "asthma", "ulcer", "gout", "rash")
ROWS = range(240)
PEOPLE = pa.table(
    {
        "age": [20 + (row * 37) % 55 for row in ROWS],
        "sex": ["MF"[(row * 7) % 2] for row in ROWS],
        "zip": [10000 + (row * 79) % 90 for row in ROWS],
        "disease": [DISEASES[(row * 5 + row // 9) % 6] for row in ROWS],
        "hospital": ["ABC"[(row * 11) % 3] for row in ROWS],
    }
)
SCHEMA = uc.Schema(
    quasi_identifiers=["age", "sex", "zip"],
    sensitive="disease",
    columns={"disease": Column(domain=DISEASES, description="Main diagnosis")},
    about={"title": "Hospital stays", "publisher": "Statistics office", "date": "2026-03-01", "licence": "CC-BY-4.0"},
)
METHODS: dict[str, Any] = {
    "mondrian": uc.Mondrian(k=5, l=2),
    "incognito": uc.Incognito(k=5),
    "suppressing": uc.Incognito(k=5, suppression=0.3),
    "anatomy": uc.Anatomy(l=3),
    "cross-bucket": uc.CrossBucket(k=2, l=3, joined=True),
    "streamliner": uc.Streamliner(l=3),
    "dealt": uc.MutualCover(delta="1/3", l=3),
    "drawn": uc.MutualCover(variant="paper", delta="1/3", l=3),
    "perturbed": uc.PerturbedGeneralization(k=6, p=0.3),
}


@cache
def publish_honestly(release: str) -> uc.Run:
    """A run of one of the ``METHODS``, made once."""
    return uc.publish(PEOPLE, SCHEMA, METHODS[release], seed=1, policy="none")


@cache
def save_honestly(release: str, format: str) -> Path:  # noqa: A002
    """The folder of an honest release, which lives as long as the process; never alter it."""
    place = tempfile.mkdtemp(prefix="honest-")
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    return uc.save(publish_honestly(release), Path(place, "out"), format=format)  # type: ignore[arg-type]


class TamperedFolder(Folder):
    """A copy of a public folder: ``content`` is its manifest, ``place`` where its files lie."""

    @property
    def table(self) -> Path:
        """The file of the first table."""
        return self.place / self.content["tables"][0]["file"]

    @property
    def package(self) -> dict[str, Any]:
        """What ``datapackage.json`` says."""
        found: dict[str, Any] = json.loads((self.place / "datapackage.json").read_text("utf-8"))
        return found

    def write_package(self, content: Any) -> None:
        """Replace ``datapackage.json``."""
        (self.place / "datapackage.json").write_text(json.dumps(content, indent=2), "utf-8")

    def edit_page(self, old: str, new: str) -> None:
        """Replace a text of the datasheet that must be there."""
        path = self.place / "datasheet.html"
        text = path.read_text("utf-8")
        assert old in text, f"the datasheet does not have {old!r}"
        path.write_text(text.replace(old, new, 1), "utf-8")

    def edit_bytes(self, change: Callable[[bytes], bytes]) -> None:
        """Replace the bytes of the first table."""
        before = self.table.read_bytes()
        after = change(before)
        assert after != before, "nothing was changed"
        self.table.write_bytes(after)


@dataclass(frozen=True)
class Tampering:
    """One way to tamper with a public folder, and what `undercover verify` must make of it."""

    name: str
    alter: Callable[[TamperedFolder], object]
    release: str = "mondrian"
    format: str = "csv"
    said: str = ""  # part of the output, blanks and line breaks aside
    exit_code: int = 4
    sealed: bool = True
    on_word: bool = False  # nobody can tell it from the truth: it may verify, and the output must say so
    options: tuple[str, ...] = ()
    drops_datasheet: bool = False  # a careful forger takes the page away that tells what the manifest said


class Outcome(NamedTuple):
    """What a command ended with, and everything it printed or raised."""

    code: int
    output: str


def run_verify(public: Path, options: Sequence[str] = ()) -> Outcome:
    """What `undercover verify` says of a folder; an exception that is none of ours is exit code 1."""
    done = CliRunner().invoke(app, ["verify", str(public), *options])
    error = done.exception
    said = [done.output, str(error) if error is not None else ""]
    if isinstance(error, UndercoverError):
        return Outcome(error.exit_code, " ".join(" ".join(said).split()))
    if error is not None and not isinstance(error, SystemExit):
        return Outcome(1, f"{type(error).__name__}: {error}")
    return Outcome(done.exit_code, " ".join(done.output.split()))


def tamper(case: Tampering, place: Path) -> Outcome:
    """Alter a copy of an honest folder in ``place`` and verify it."""
    public = Path(shutil.copytree(save_honestly(case.release, case.format) / "public", place / "public"))
    folder = TamperedFolder(public)
    if case.drops_datasheet:
        folder.drop_datasheet()
    case.alter(folder)
    if case.sealed:
        folder.seal()
    return run_verify(public, case.options)


def fault_of(case: Tampering, found: Outcome) -> str:
    """Why a tampering was not caught; nothing where it was."""
    if found.code == 1:
        return f"{case.name}: verify crashed: {found.output}"
    if found.code != (0 if case.on_word else case.exit_code):
        return f"{case.name}: exit code {found.code}: {found.output}"
    if not case.said or " ".join(case.said.split()) not in found.output:
        return f"{case.name}: {case.said!r} is not in what was said: {found.output}"
    return ""
