"""The public folder: ``release.json`` beside the published tables, written for and read by anybody.

The manifest holds what the release claims and a SHA-256 of every file beside it, so that whoever receives the folder
can see whether a file was changed on its way. It is written last. :mod:`undercover.io.release.contents` says what may
stand in it and lie beside it.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import pyarrow as pa
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from undercover import plugins
from undercover.errors import DataError, InternalError, UnknownFormError, VerificationError, listed
from undercover.io.plain import as_json
from undercover.io.release.before_forms import OLD, UNNUMBERED, files_by_old_rules, form_by_old_rules, stripped
from undercover.io.release.contents import (
    ALWAYS,
    LAYOUT,
    MANIFEST,
    PACKAGE,
    check_layout,
    hashes,
    lacking_keys,
    misfits,
    pieces_of,
    public_part,
    read_json,
    strange_files,
    unknown_keys,
)
from undercover.io.release.package import package, package_problems, said_in
from undercover.io.release.parts import joined
from undercover.io.release.tables import as_published, read_table, write_table
from undercover.io.residue.cells import find_rows_in_cells
from undercover.io.residue.found import Residue
from undercover.memory import LARGE, Store
from undercover.model.cells import CellForm
from undercover.model.figures import counted
from undercover.model.form import Form, form_entry, form_of_entry
from undercover.model.formats import Files, Format
from undercover.model.interval_ends import Ends
from undercover.model.release import STATEMENTS, Basis, Choice, PublishedColumn, PublishedTable, Release

HOLDERS_WORDS = "What is said of the table in words rests on the holder's word, and nothing here can check it"
_LONGEST_NAME = 255  # bytes of the name of a file
_NAME = re.compile(r"[A-Za-z0-9_-]+")


class _Entry(BaseModel):
    model_config = ConfigDict(extra="ignore")


class _Column(_Entry):
    name: str
    role: str
    form: CellForm
    ends: Ends = "exact"  # of intervals: values that occur, or rounded outwards
    variable: str | None = None  # what it is called in the file, where that is not its name
    digits: int | None = Field(None, ge=0, le=300)  # after the point, where every number of a CSV file has as many
    spellings: Literal["distinct"] | None = None  # the holder says that spellings of one value are several
    written: str | None = None  # how the cells of a CSV file are read that are written as their source spelled them


class _Part(_Entry):
    file: str
    rows: int
    sha256: str


class _Table(_Entry):
    """A table in one file, or in several ``parts`` one after the other."""

    name: str
    file: str | None = None
    rows: int
    sha256: str | None = None
    parts: list[_Part] | None = None
    escaped: Literal["apostrophe"] | None = None  # how cells are kept from being formulas, where they are
    columns: list[_Column]

    @model_validator(mode="after")
    def _one_or_several(self) -> Self:
        whole = (self.file, self.sha256)
        if self.parts != [] and (None not in whole if self.parts is None else whole == (None, None)):
            return self
        raise ValueError("a table has `file` and `sha256`, or `parts`")

    @property
    def pieces(self) -> list[_Part]:
        """Its files in their order."""
        return self.parts or [_Part(file=str(self.file), rows=self.rows, sha256=str(self.sha256))]


class _Method(_Entry):
    name: str
    parameters: dict[str, Any]


class _Claim(_Entry):
    """A promise: what every one has; the rest are its own parameters, which the guarantee checks."""

    name: str
    actual: float | Literal["inf"] | None = None
    holds: bool | None = None
    needs: str | None = None
    columns: list[str] | None = None


def _check_claim(claim: dict[str, Any]) -> dict[str, Any]:
    _Claim.model_validate(claim)
    return claim


class _Choice(_Entry):
    basis: Basis
    refused: int | None = Field(None, ge=0, strict=True)


class _Manifest(_Entry):
    undercover: str
    layout: int | None = Field(None, ge=1, strict=True)
    method: _Method
    guarantees: list[Annotated[dict[str, Any], AfterValidator(_check_claim)]]
    algorithm_safe: bool
    corruption_robust: bool = False
    choice: _Choice | None = None
    tables: list[_Table]
    suppressed_rows: int
    form: dict[str, Any] | None = None
    warnings: list[str] = []
    files: dict[str, str] | None = None


@dataclass(frozen=True)
class Public:
    """A public folder, read: the release, what is wrong with the folder, and what a reader must know besides."""

    release: Release
    problems: list[str]
    notes: list[str] = field(default_factory=list)
    content: Mapping[str, Any] = field(default_factory=dict)  # of the manifest, as it stands
    recorded: Mapping[str, Any] | None = None  # what the private run wrote into it, where it says so

    @property
    def lacking(self) -> list[str]:
        """Keys that every manifest of this layout has and this one lacks."""
        return [name for name in ALWAYS if name not in self.content]

    @property
    def is_old(self) -> bool:
        """Whether the manifest does not say its layout, as none did before 0.1.0 was finished."""
        return self.content.get("layout") is None


def write_tables(
    release: Release,
    folder: Path,
    *,
    format: Format = "csv",  # noqa: A002
    said: Mapping[str, Any] | None = None,
    rows_per_file: int | None = None,
) -> dict[str, Any]:
    """Write the tables of a release and its manifest into an existing folder; what the manifest says.

    A datasheet is hashed, too, so it is written before. With ``said``, which is :attr:`Schema.said`, there is a data
    package as well. A table of more than ``rows_per_file`` rows, ten million by default, is written in parts.
    """
    tables: list[dict[str, Any]] = []
    files = Files(format, rows_per_file)
    for table in release.tables:
        if list(table.data.column_names) != [column.name for column in table.columns]:
            raise InternalError(f"Table {table.name} has other columns than it says it has.")
        if not _NAME.fullmatch(table.name):
            raise InternalError(f"{table.name!r} is not a name for a table.")
        tables.append(write_table(table, folder, files, (said or {}).get("columns", {}), release.writing))
    if said is not None:
        (folder / PACKAGE).write_text(as_json(package(release, said, folder, tables)), encoding="utf-8")
    content = {
        "undercover": release.version,
        "layout": LAYOUT,
        "method": {"name": release.method, "parameters": without_seed(release.parameters)},
        "guarantees": [without_seed(finding) for finding in release.guarantees],
        **{name: getattr(release, name) for name in STATEMENTS},
        "choice": release.choice.to_dict(),
        "form": form_entry(release.form),
        "tables": tables,
        "suppressed_rows": release.suppressed_rows,
        "warnings": list(release.warnings),
        "files": hashes(folder, {part["file"]: part["sha256"] for entry in tables for part in pieces_of(entry)}),
    }
    text = as_json(content)
    (folder / MANIFEST).write_text(text, encoding="utf-8")
    written: dict[str, Any] = json.loads(text)
    return written


def load_release(folder: str | os.PathLike[str]) -> tuple[Release, list[str]]:
    """Read a public folder back, and list where its tables differ from the manifest.

    Generalised columns come back as dictionaries of text, columns of plain values as the numbers or dates they are.
    A table that differs and cannot be read at all raises :class:`~undercover.errors.VerificationError`.
    """
    public = read_public(folder)
    return public.release, public.problems


def read_public(folder: str | os.PathLike[str], *, strict: bool = False) -> Public:
    """The same, with what a reader must know besides and the manifest as it stands.

    Where it is ``strict`` the problems also say what files hold beside their cells: metadata, hidden sheets, bytes that
    belong to nothing, keys of the data package that the release does not account for.
    """
    place = Path(folder)
    content = _read_content(place)
    manifest = _manifest(place, content)
    pieces = [piece for entry in manifest.tables for piece in entry.pieces]
    missing = [piece.file for piece in pieces if not (place / piece.file).is_file()]
    if missing:
        raise DataError(f"`{place}` lacks {listed(missing)}, which its {MANIFEST} names.")
    hashed = {piece.file: piece.sha256 for piece in pieces}
    files = files_by_old_rules(place, hashed) if manifest.files is None else manifest.files
    problems = [*unknown_keys(content), *strange_files(place, files, hashed)]
    if len(hashed) < len(pieces):
        problems.append(f"{MANIFEST} names a file twice: its rows would be counted twice.")
    if manifest.files is None:
        problems += stripped(content)
    else:
        problems += [
            f"{MANIFEST} does not say which columns {entry.get('name')} speaks of."
            for entry in manifest.guarantees
            if "columns" not in entry
        ]
    notes: list[str] = []
    package = read_json(place / PACKAGE) if strict and PACKAGE in files and (place / PACKAGE).is_file() else None
    said = said_in(package)
    residue = Residue() if strict else None
    tables = tuple(_read_table(place, entry, problems, residue, said["columns"]) for entry in manifest.tables)
    release = Release(
        method=manifest.method.name,
        parameters=manifest.method.parameters,
        tables=tables,
        **{name: getattr(manifest, name) for name in STATEMENTS},
        choice=Choice() if manifest.choice is None else Choice(**manifest.choice.model_dump()),
        suppressed_rows=manifest.suppressed_rows,
        guarantees=tuple(manifest.guarantees),
        warnings=tuple(manifest.warnings),
        version=manifest.undercover,
        form=_form(manifest, tables, problems),
    )
    if residue is not None:
        residue.add(find_rows_in_cells(tables))
        problems += residue.problems
        notes += residue.notes
        if package is not None:
            problems += package_problems(package, release, place, content["tables"])
        words = [*said["about"], *said["columns"]]
        if words:
            notes.append(f"{HOLDERS_WORDS}: {listed(words)}.")
    public = Public(release, problems, notes, content)
    if public.is_old:
        notes.insert(0, OLD if manifest.files is None else UNNUMBERED)
    else:
        problems += lacking_keys(content)
    return public


def _form(manifest: _Manifest, tables: Sequence[PublishedTable], problems: list[str]) -> Form:
    """What the manifest says the tables stand for; an unknown form is refused, never misread."""
    if manifest.form is None:
        return form_by_old_rules(manifest.method.name, manifest.method.parameters, tables)
    name = str(manifest.form.get("name"))
    if name not in plugins.names("forms"):
        raise UnknownFormError(name, plugins.names("forms"))
    kind: Any = plugins.load("forms", name).form
    known = {"name", *(part.name for part in fields(kind))}
    strange = [key for key in manifest.form if key not in known]
    if strange:
        problems.append(f"{MANIFEST} has keys of the form that nobody here knows: {listed(strange)}.")
    try:
        TypeAdapter(kind).validate_python(manifest.form)
        return form_of_entry(kind, manifest.form)
    except ValidationError as error:
        raise DataError(f"The form in {MANIFEST} is malformed: {misfits(error)}.") from error
    except (TypeError, ValueError) as error:
        raise DataError(f"The form in {MANIFEST} is malformed: {error}.") from error


def without_seed(value: Any) -> Any:
    """Whoever knows the seed can undo the shuffling: it never stands in the public folder."""
    if isinstance(value, Mapping):
        return {key: without_seed(item) for key, item in value.items() if key != "seed"}
    return [without_seed(item) for item in value] if isinstance(value, list | tuple) else value


def _read_content(place: Path) -> Any:
    path = place / MANIFEST
    if not path.is_file():
        inner = public_part(place)
        hint = f" Give `{inner}`." if (inner / MANIFEST).is_file() else " Give the public folder of a release."
        raise DataError(f"There is no {MANIFEST} in `{place}`.{hint}")
    return read_json(path)


def _manifest(place: Path, content: Any) -> _Manifest:
    path = place / MANIFEST
    check_layout(content, path)
    try:
        manifest = _Manifest.model_validate(content)
    except ValidationError as error:
        raise DataError(f"`{path}` is not the manifest of a release: {misfits(error)} missing or malformed.") from error
    named = [*(piece.file for entry in manifest.tables for piece in entry.pieces), *(manifest.files or ())]
    odd = [name for name in named if not name.isprintable() or len(name.encode()) > _LONGEST_NAME]
    if odd:
        raise DataError(
            f"`{path}` names {counted(len(odd), 'file')} by what cannot be a name: more than {_LONGEST_NAME} bytes, or "
            "letters that are not printed. Ask the holder for the release as it was written."
        )
    strange = [name for name in dict.fromkeys(named) if Path(name).name != name]
    if strange:
        raise DataError(f"`{path}` names files outside its folder: {listed(strange)}.")
    return manifest


def _read_table(
    place: Path, entry: _Table, problems: list[str], residue: Residue | None, words: Mapping[str, Any]
) -> PublishedTable:
    large = entry.rows >= LARGE
    store = Store() if large or entry.parts is not None else None
    read = (_read_piece(place, piece, entry, problems, store, residue, words) for piece in entry.pieces)
    data = next(read) if store is None else joined(read, store)
    if entry.parts is not None and data.num_rows != entry.rows:
        problems.append(f"Table `{entry.name}` has {data.num_rows:,} rows where {MANIFEST} says {entry.rows:,}.")
    kept = [column for column in entry.columns if column.name in data.column_names]
    columns = {column.name: as_published(data.column(column.name), column.form, large=large) for column in kept}
    published = tuple(
        PublishedColumn(column.name, column.role, column.form, column.ends, column.spellings) for column in kept
    )
    return PublishedTable(entry.name, published, pa.table(columns))


def _read_piece(
    place: Path,
    piece: _Part,
    entry: _Table,
    problems: list[str],
    store: Store | None,
    residue: Residue | None,
    words: Mapping[str, Any],
) -> pa.Table:
    """One file of a table."""
    try:
        columns = [column.model_dump() for column in entry.columns]
        how: dict[str, Any] = {"escaped": entry.escaped is not None, "residue": residue, "words": words}
        data = read_table(place / piece.file, columns, piece.rows, store, **how)
    except DataError as error:
        changed = [problem for problem in problems if problem.startswith(f"`{piece.file}` was changed")]
        if changed:
            raise VerificationError(f"{changed[0]} It cannot even be read: {error}") from error
        raise
    if data.num_rows != piece.rows:
        problems.append(f"`{piece.file}` has {data.num_rows:,} rows where {MANIFEST} says {piece.rows:,}.")
    names = [column.name for column in entry.columns]
    if data.column_names != names:
        problems.append(
            f"`{piece.file}` has the columns {listed(data.column_names)} where {MANIFEST} says {listed(names)}."
        )
    return data
