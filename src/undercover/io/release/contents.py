"""What a public folder may hold: the keys of ``release.json``, the files beside it, and a SHA-256 of every one.

The list is closed. A key, a file or a folder that nobody here knows is told: whoever puts raw rows beside a table, or a
sentence into the manifest that no reader understands, must not find a verifier that looks past it. A later version that
writes more adds a word here.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from undercover.errors import DataError, listed
from undercover.io.source import sha256
from undercover.model.release import STATEMENTS
from undercover.parsing import json_of
from undercover.version import VERSION

MANIFEST = "release.json"
SIGNATURE = "release.sig"
PUBLIC = "public"
WITHHELD = "withheld"
PRIVATE = "private"
DATASHEET = "datasheet.html"
PACKAGE = "datapackage.json"
OTHER_FILES = (DATASHEET, PACKAGE)
"""What a public folder may hold beside its tables, the manifest and its signature."""

LAYOUT = 3
"""Of the release folder, said under ``layout``: 1 had neither ``form`` nor ``files``, 2 no ``files``; both are read.

It rises when an earlier reader would misread what is written. A key more is told by its name, and is no new layout.
"""

KEYS = {
    "the manifest": (
        *("undercover", "layout", "method", "guarantees", *STATEMENTS, "choice", "form", "tables", "suppressed_rows"),
        *("warnings", "files"),
    ),
    "the method": ("name", "parameters"),
    "the choice": ("basis", "refused"),
    "a table": ("name", "file", "rows", "sha256", "parts", "escaped", "columns"),
    "a part": ("file", "rows", "sha256"),
    "a column": ("name", "role", "form", "ends", "spellings", "variable", "digits", "written"),
}
"""The keys of ``release.json``, by what has them. Those of a promise are its parameters, those of a form its fields."""


ALWAYS = KEYS["the manifest"]
"""Keys of the manifest that are always written; those of a promise are ``ALWAYS_OF_A_PROMISE``."""

ALWAYS_OF_A_PROMISE = ("name", "required", "actual", "holds", "columns")


def public_part(place: str | os.PathLike[str]) -> Path:
    """Where the tables of a release lie: in ``public``, in ``withheld`` until accepted, or in ``place`` itself.

    >>> public_part("nowhere")
    PosixPath('nowhere')
    """
    return next((part for name in (PUBLIC, WITHHELD) if (part := Path(place, name)).is_dir()), Path(place))


def is_withheld(place: str | os.PathLike[str]) -> bool:
    """Whether the tables of a release are kept back: nobody has accepted it yet."""
    return public_part(place).absolute().name == WITHHELD


def has_datasheet(folder: Path) -> bool:
    """Whether there is a datasheet that says anything."""
    path = folder / DATASHEET
    return path.is_file() and path.stat().st_size > 0


def read_json(path: Path) -> Any:
    """A manifest, or another file of a release, as it stands."""
    try:
        return json_of(path.read_bytes())
    except (OSError, ValueError) as error:
        raise DataError(f"`{path}` cannot be read: {error}.") from error


def misfits(error: ValidationError) -> str:
    """The keys that pydantic found missing or malformed."""
    keys = [".".join(map(str, finding["loc"])) or "everything" for finding in error.errors(include_url=False)]
    return listed(dict.fromkeys(keys))


def unknown_keys(content: Mapping[str, Any]) -> Iterator[str]:
    """Keys that no manifest has, one sentence each."""
    yield from _beyond("the manifest", content)
    yield from _beyond("the method", content["method"])
    yield from _beyond("the choice", content.get("choice") or {})
    for table in content["tables"]:
        yield from _beyond("a table", table)
        for part in table.get("parts") or ():
            yield from _beyond("a part", part)
        for column in table["columns"]:
            yield from _beyond("a column", column)


def lacking_keys(content: Mapping[str, Any]) -> Iterator[str]:
    """What a manifest of this layout always says and this one does not, one sentence each."""
    if content["layout"] != LAYOUT:
        yield f"{MANIFEST} says layout {content['layout']}; such layouts did not say a number, so it was changed."
    lacking = [name for name in ALWAYS if name not in content]
    if lacking:
        yield f"{MANIFEST} lacks {listed(lacking)}, which layout {LAYOUT} always has: it was taken out."
    for claim in content["guarantees"]:
        lacking = [name for name in ALWAYS_OF_A_PROMISE if name not in claim]
        if lacking and "columns" not in lacking:
            yield f"{MANIFEST} does not say {listed(lacking)} of {claim.get('name')}: it was taken out."


def _beyond(owner: str, entry: Mapping[str, Any]) -> Iterator[str]:
    strange = [name for name in entry if name not in KEYS[owner]]
    if strange:
        yield f"{MANIFEST} has keys of {owner} that nobody here knows: {listed(strange)}."


def check_layout(content: Any, path: Path) -> None:
    """Refuse what a later version has written otherwise than this one can read.

    >>> check_layout({"layout": 9}, Path("release.json"))
    Traceback (most recent call last):
        ...
    undercover.errors.DataError: `release.json` has layout 9; undercover ... reads layouts up to 3. Install a later ...
    """
    said = (
        content.get("release", content) if isinstance(content, Mapping) else None
    )  # a run keeps what the manifest says
    found = said.get("layout") if isinstance(said, Mapping) else None
    if isinstance(found, int) and found > LAYOUT:
        raise DataError(
            f"`{path}` has layout {found}; undercover {VERSION} reads layouts up to {LAYOUT}. Install a later version."
        )


def pieces_of(table: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The files of a table of a manifest, in their order.

    >>> pieces_of({"name": "table", "file": "table.csv", "rows": 5, "sha256": "0", "columns": []})
    [{'file': 'table.csv', 'rows': 5, 'sha256': '0'}]
    """
    return table.get("parts") or [{name: table[name] for name in ("file", "rows", "sha256")}]


def hashes(folder: Path, tables: Mapping[str, str]) -> dict[str, str]:
    """The SHA-256 of every file a public folder may hold but the manifest, which holds them, and its signature."""
    others = {name: sha256(folder / name) for name in OTHER_FILES if (folder / name).is_file()}
    return dict(sorted({**tables, **others}.items()))


def strange_files(folder: Path, files: Mapping[str, str | None], tables: Mapping[str, str]) -> Iterator[str]:
    """Where a folder is not what its manifest says, one sentence each.

    ``files`` are those the manifest names with their SHA-256, ``None`` where it gives none; ``tables`` the hashes that
    it gives the tables themselves.
    """
    for name in files:
        if name not in tables and name not in OTHER_FILES:
            yield f"{MANIFEST} names `{name}`, which is neither a table of the release nor anything a release has."
    for name, own in tables.items():
        if name not in files:
            yield f"{MANIFEST} has no SHA-256 of `{name}` under `files`."
        elif files[name] != own:
            yield f"{MANIFEST} gives `{name}` two different SHA-256."
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        if entry.is_symlink():
            yield f"`{entry.name}` is a link to elsewhere; a release holds its files itself."
        elif entry.is_dir():
            yield f"`{entry.name}` is a folder; a public folder has none."
        elif entry.name not in (MANIFEST, SIGNATURE, *files):
            yield f"`{entry.name}` lies in the public folder and {MANIFEST} does not name it."
    for name, said in files.items():
        path = folder / name
        if not path.is_file():
            yield f"{MANIFEST} names `{name}`, which is not there."
        elif said is not None and sha256(path) != said:
            yield f"`{name}` was changed: its SHA-256 is not the one in {MANIFEST}."
