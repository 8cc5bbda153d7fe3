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
from typing import Any, Literal

import pyarrow as pa
from pydantic import BaseModel, ConfigDict, ValidationError

from undercover import plugins
from undercover.errors import DataError, InternalError, UnknownFormError, VerificationError, listed
from undercover.io.csv.kinds import lossless
from undercover.io.csv.text import read_csv, write_csv
from undercover.io.parquet import read_parquet, write_parquet
from undercover.io.plain import as_json
from undercover.io.release.before_forms import NOT_HASHED, files_by_old_rules, form_by_old_rules
from undercover.io.release.contents import MANIFEST, hashes, read_json, strange_files, unknown_keys
from undercover.io.source import sha256
from undercover.model.cells import CellForm
from undercover.model.form import Form, form_entry, form_of_entry
from undercover.model.release import STATEMENTS, PublishedColumn, PublishedTable, Release

Format = Literal["csv", "parquet"]
_NAME = re.compile(r"[A-Za-z0-9_-]+")


class _Entry(BaseModel):
    model_config = ConfigDict(extra="ignore")


class _Column(_Entry):
    name: str
    role: str
    form: CellForm


class _Table(_Entry):
    name: str
    file: str
    rows: int
    sha256: str
    columns: list[_Column]


class _Method(_Entry):
    name: str
    parameters: dict[str, Any]


class _Manifest(_Entry):
    undercover: str
    method: _Method
    guarantees: list[dict[str, Any]]
    algorithm_safe: bool
    corruption_robust: bool = False
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


def write_tables(release: Release, folder: Path, *, format: Format = "csv") -> dict[str, Any]:  # noqa: A002
    """Write the tables of a release and its manifest into an existing folder; what the manifest says.

    A datasheet is hashed, too, so it is written before.
    """
    tables: list[dict[str, Any]] = []
    for table in release.tables:
        if list(table.data.column_names) != [column.name for column in table.columns]:
            raise InternalError(f"Table {table.name} has other columns than it says it has.")
        if not _NAME.fullmatch(table.name):
            raise InternalError(f"{table.name!r} is not a name for a table.")
        file = f"{table.name}.{format}"
        (write_csv if format == "csv" else write_parquet)(table.data, folder / file)
        columns = [{"name": column.name, "role": column.role, "form": column.form} for column in table.columns]
        entry = {"name": table.name, "file": file, "rows": table.rows, "sha256": sha256(folder / file)}
        tables.append({**entry, "columns": columns})
    content = {
        "undercover": release.version,
        "method": {"name": release.method, "parameters": without_seed(release.parameters)},
        "guarantees": [without_seed(finding) for finding in release.guarantees],
        **{name: getattr(release, name) for name in STATEMENTS},
        "form": form_entry(release.form),
        "tables": tables,
        "suppressed_rows": release.suppressed_rows,
        "warnings": list(release.warnings),
        "files": hashes(folder, {entry["file"]: entry["sha256"] for entry in tables}),
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


def read_public(folder: str | os.PathLike[str]) -> Public:
    """The same, with what a reader must know besides and the manifest as it stands."""
    place = Path(folder)
    content = _read_content(place)
    manifest = _manifest(place, content)
    missing = [entry.file for entry in manifest.tables if not (place / entry.file).is_file()]
    if missing:
        raise DataError(f"`{place}` lacks {listed(missing)}, which its {MANIFEST} names.")
    hashed = {entry.file: entry.sha256 for entry in manifest.tables}
    files = files_by_old_rules(place, hashed) if manifest.files is None else manifest.files
    problems = [*unknown_keys(content), *strange_files(place, files, hashed)]
    if manifest.files is not None:
        problems += [
            f"{MANIFEST} does not say which columns {entry.get('name')} speaks of."
            for entry in manifest.guarantees
            if "columns" not in entry
        ]
    tables = tuple(_read_table(place, entry, problems) for entry in manifest.tables)
    release = Release(
        method=manifest.method.name,
        parameters=manifest.method.parameters,
        tables=tables,
        **{name: getattr(manifest, name) for name in STATEMENTS},
        suppressed_rows=manifest.suppressed_rows,
        guarantees=tuple(manifest.guarantees),
        warnings=tuple(manifest.warnings),
        version=manifest.undercover,
        form=_form(manifest, tables, problems),
    )
    return Public(release, problems, [NOT_HASHED] if manifest.files is None else [], content)


def _form(manifest: _Manifest, tables: Sequence[PublishedTable], problems: list[str]) -> Form:
    """What the manifest says the tables stand for; an unknown form is refused, never misread."""
    if manifest.form is None:
        return form_by_old_rules(manifest.method.name, manifest.method.parameters, tables)
    name = str(manifest.form.get("name"))
    if name not in plugins.names("forms"):
        raise UnknownFormError(name, plugins.names("forms"))
    known = {"name", *(part.name for part in fields(plugins.load("forms", name).form))}
    strange = [key for key in manifest.form if key not in known]
    if strange:
        problems.append(f"{MANIFEST} has keys of the form that nobody here knows: {listed(strange)}.")
    try:
        return form_of_entry(plugins.load("forms", name).form, manifest.form)
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
        inner = place / "public" / MANIFEST
        hint = f" Give `{inner.parent}`." if inner.is_file() else " Give the public folder of a release."
        raise DataError(f"There is no {MANIFEST} in `{place}`.{hint}")
    return read_json(path)


def _manifest(place: Path, content: Any) -> _Manifest:
    path = place / MANIFEST
    try:
        manifest = _Manifest.model_validate(content)
    except ValidationError as error:
        keys = [".".join(map(str, finding["loc"])) or "everything" for finding in error.errors(include_url=False)]
        raise DataError(f"`{path}` is not the manifest of a release: {listed(keys)} missing or malformed.") from error
    named = [*(entry.file for entry in manifest.tables), *(manifest.files or ())]
    strange = [name for name in dict.fromkeys(named) if Path(name).name != name]
    if strange:
        raise DataError(f"`{path}` names files outside its folder: {listed(strange)}.")
    return manifest


def _read_table(place: Path, entry: _Table, problems: list[str]) -> PublishedTable:
    path = place / entry.file
    try:
        data = _read_data(path, [column.name for column in entry.columns if column.form != "value"])
    except DataError as error:
        changed = [problem for problem in problems if problem.startswith(f"`{entry.file}` was changed")]
        if changed:
            raise VerificationError(f"{changed[0]} It cannot even be read: {error}") from error
        raise
    if data.num_rows != entry.rows:
        problems.append(f"`{entry.file}` has {data.num_rows:,} rows where {MANIFEST} says {entry.rows:,}.")
    names = [column.name for column in entry.columns]
    if data.column_names != names:
        problems.append(
            f"`{entry.file}` has the columns {listed(data.column_names)} where {MANIFEST} says {listed(names)}."
        )
    kept = [column for column in entry.columns if column.name in data.column_names]
    columns = {column.name: _as_published(data.column(column.name), column.form) for column in kept}
    published = tuple(PublishedColumn(column.name, column.role, column.form) for column in kept)
    return PublishedTable(entry.name, published, pa.table(columns))


def _read_data(path: Path, generalized: Sequence[str]) -> pa.Table:
    if path.suffix == ".parquet":
        return read_parquet(path)
    if path.suffix != ".csv":
        raise DataError(f"`{path}` is neither CSV nor Parquet.")
    return read_csv(path, separator=",", decimal=".", encoding="utf-8", text=None, dictionaries=generalized)[0]


def _as_published(column: Any, form: CellForm) -> Any:
    coded = pa.types.is_dictionary(column.type)
    if form != "value" and coded and pa.types.is_string(column.type.value_type):
        return column.unify_dictionaries().combine_chunks()
    if coded:
        column = column.cast(column.type.value_type)
    if form == "value":
        return lossless(column) if pa.types.is_string(column.type) else column
    texts = column if pa.types.is_string(column.type) else column.cast(pa.string())
    return texts.combine_chunks().dictionary_encode()
