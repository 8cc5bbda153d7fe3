"""``datapackage.json``: the tables of a release as catalogues take them, a Frictionless data package.

It repeats what stands in ``release.json`` and on the datasheet (files, hashes, columns, what is said of them) in the
words of the Data Package standard, version 1 (specs.frictionlessdata.io). ``role`` and ``form`` of a column, ``unit``
and ``citation`` are properties of our own, which the standard allows. Of a table in parts ``path`` is a list; the
standard has one hash for a resource, so those of the parts stand in ``release.json`` alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa

from undercover.errors import listed
from undercover.io.release.contents import pieces_of
from undercover.io.residue.cells import words_with_rows
from undercover.model.formats import FORMATS
from undercover.model.formats.spelling import NUMBERS
from undercover.model.release import PublishedTable, Release

_TYPES = {
    "integer": pa.types.is_integer,
    "number": lambda kind: pa.types.is_floating(kind) or pa.types.is_decimal(kind),
    "boolean": pa.types.is_boolean,
    "date": pa.types.is_date,
}


def package(release: Release, said: Mapping[str, Any], folder: Path, written: Sequence[Mapping[str, Any]]) -> Any:
    """The package of tables in ``folder``: ``said`` is :attr:`Schema.said`, ``written`` the entries of the manifest.

    >>> from undercover.model.release import Release
    >>> package(Release("somebody's", {}, (), True), {"about": {"title": "A survey, 2026"}}, Path(), [])["name"]
    'a-survey-2026'
    """
    about = said.get("about", {})
    content = {
        "profile": "data-package",
        "name": _name(about.get("title", "")) or "release",
        **{key: about[key] for key in ("title", "description") if key in about},
        "created": _moment(about.get("date", "")),
        "licenses": [_licence(about["licence"])] if "licence" in about else None,
        "contributors": _contributors(about),
        "citation": about.get("citation"),
        "resources": [
            _resource(table, said.get("columns", {}), folder, entry)
            for table, entry in zip(release.tables, written, strict=True)
        ],
    }
    return {key: value for key, value in content.items() if value}


def said_in(content: Any) -> dict[str, Any]:
    """What a package says in words, as :attr:`Schema.said` has it; of whatever is no package, nothing.

    >>> said = {"about": {"title": "A survey", "date": "2026-01-31", "publisher": "Us"}, "columns": {}}
    >>> said_in(package(Release("somebody's", {}, (), True), said, Path(), [])) == said
    True
    >>> said_in([1]), said_in({"title": 7, "resources": [{"schema": {"fields": "none"}}]})
    ({'about': {}, 'columns': {}}, {'about': {}, 'columns': {}})
    """
    whole = content if isinstance(content, Mapping) else {}
    by_role = {one.get("role"): one.get("title") for one in _mappings(whole.get("contributors"))}
    licence = next(iter(_mappings(whole.get("licenses"))), {})
    about = {
        **{key: whole.get(key) for key in ("title", "description", "citation")},
        "publisher": by_role.get("publisher"),
        "date": str(whole.get("created") or "").partition("T")[0],
        "licence": licence.get("title") or licence.get("name") or licence.get("path"),
        "contact": by_role.get("maintainer"),
    }
    schemas = [one.get("schema") for one in _mappings(whole.get("resources"))]
    fields = [field for one in _mappings(schemas) for field in _mappings(one.get("fields"))]
    words = {
        str(field.get("name")): _texts({key: field.get(key) for key in ("description", "unit")}) for field in fields
    }
    return {"about": _texts(about), "columns": {name: said for name, said in words.items() if said}}


def package_problems(
    content: Any, release: Release, folder: Path, written: Sequence[Mapping[str, Any]]
) -> Iterator[str]:
    """Where ``datapackage.json`` says something that neither the release nor the holder's own words account for.

    It may say less: an earlier version wrote fewer keys.
    """
    said = said_in(content)
    expected = package(release, said, folder, written)
    beyond = list(dict.fromkeys(_beyond(content, expected, "")))
    if beyond:
        yield (
            f"`datapackage.json` says something that the release does not account for ({listed(beyond)}). Ask the "
            "holder for the release as it was written."
        )
    words = {**said["about"], **{name: " ".join(one.values()) for name, one in said["columns"].items()}}
    rows = words_with_rows(words)
    if rows:
        yield f"`datapackage.json` holds rows of a table in the words of {listed(rows)}. Do not use the folder."


def _beyond(found: Any, expected: Any, where: str) -> Iterator[str]:
    """Where something says more than is expected of it."""
    if isinstance(found, Mapping) and isinstance(expected, Mapping):
        for key, value in found.items():
            if key not in expected:
                yield where or "a key"  # the key itself is not repeated: anything may stand there
            elif key != "type" or value not in (*_TYPES, "string"):  # files do not tell every type from texts
                yield from _beyond(value, expected[key], f"{where}.{key}".strip("."))
    elif isinstance(found, list) and isinstance(expected, list) and len(found) == len(expected):
        for one, other in zip(found, expected, strict=True):
            yield from _beyond(one, other, where)
    elif type(found) is not type(expected) or found != expected:
        yield where


def _mappings(value: Any) -> list[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def _texts(said: Mapping[str, Any]) -> dict[str, str]:
    return {key: word for key, word in said.items() if isinstance(word, str) and word}


def _resource(
    table: PublishedTable, words: Mapping[str, Any], folder: Path, entry: Mapping[str, Any]
) -> dict[str, Any]:
    files = [part["file"] for part in pieces_of(entry)]
    kind, several = Path(files[0]).suffix[1:], len(files) > 1
    others = {column["name"]: {"variable": column["variable"]} for column in entry["columns"] if "variable" in column}
    spelled = {one["name"]: _SPELLED.get(one["written"], "string") for one in entry["columns"] if "written" in one}
    return {
        "name": table.name.lower(),
        "path": files if several else files[0],
        "format": kind,
        "mediatype": FORMATS[kind].media_type,
        # Every part has the names of the columns; a tabular resource has them in its first file alone.
        **({} if several or kind != "csv" else {"profile": "tabular-data-resource"}),
        **({"encoding": "utf-8"} if kind == "csv" else {}),
        "bytes": sum((folder / file).stat().st_size for file in files),
        **({} if several else {"hash": f"sha256:{entry['sha256']}"}),
        "schema": {
            "fields": [
                {
                    "name": column.name,
                    **others.get(column.name, {}),
                    "type": spelled.get(column.name) or _type(table, column.name),
                    **words.get(column.name, {}),
                    "role": column.role,
                    "form": column.form,
                }
                for column in table.columns
            ],
            "missingValues": [""],
        },
    }


_SPELLED = {NUMBERS: "number"}
"""What the standard calls cells that are written as their source spelled them; days in any format are text there."""


def _type(table: PublishedTable, name: str) -> str:
    """Generalised cells are text; so is whatever the standard writes in another way than we do."""
    kind: Any = table.data.column(name).type
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    if table.form(name) != "value":
        return "string"
    return next((name for name, fits in _TYPES.items() if fits(kind)), "string")


def _name(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def _moment(text: str) -> str | None:
    """A day as the standard wants it; a year or a quarter is none, and stands on the datasheet alone."""
    try:
        return f"{date.fromisoformat(text)}T00:00:00Z"
    except ValueError:
        return None


def _licence(text: str) -> dict[str, str]:
    if re.match(r"https?://", text):
        return {"path": text}
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-") or "other"
    return {"name": name} if name == text else {"name": name, "title": text}


def _contributors(about: Mapping[str, str]) -> list[dict[str, str]]:
    found = [{"title": about["publisher"], "role": "publisher"}] if "publisher" in about else []
    if "contact" in about:
        contact = about["contact"]
        mail = {"email": contact} if re.fullmatch(r"[^@\s]+@[^@\s]+", contact) else {}
        found.append({"title": contact, **mail, "role": "maintainer"})
    return found
