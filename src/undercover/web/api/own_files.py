"""Files that a spec names: only those that are kept with the table, whatever a program sends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from undercover import plugins
from undercover.errors import SchemaError
from undercover.web.desks.project import Project

ROOMS: Final = ("hierarchies", "others")
"""Folders of a table whose files a spec may name."""


def check_files(project: Project, spec: Mapping[str, Any]) -> None:
    """Refuse a spec that names a file which is not kept with its table."""
    outside = [where for where, name in _named(spec) if not _kept(project, name)]
    if outside:
        kept = "hierarchies that were uploaded or edited here, and others' tables that were added"
        raise SchemaError(
            [f"`{where}` names a file that is not kept with this table. It may name {kept}." for where in outside]
        )


def _named(spec: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Every place of a spec in which a file may be named, and what stands there."""
    columns, roles, method = (_part(spec, name) for name in ("columns", "roles", "method"))
    for column, said in columns.items():
        for key in ("hierarchy", "distance"):
            if isinstance(said, Mapping) and isinstance(said.get(key), str):
                yield f"columns.{column}.{key}", said[key]
    if isinstance(roles.get("population"), str):
        yield "roles.population", roles["population"]
    if "ledger" in spec:
        yield "ledger.file", _part(spec, "ledger").get("file")
    name = method.get("name")
    if isinstance(name, str) and name in plugins.names("methods"):
        for parameter in getattr(plugins.load("methods", name), "paths", ()):
            given = method.get(parameter, [])
            for path in given if isinstance(given, list) else [given]:
                yield f"method.{parameter}", path


def _part(spec: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = spec.get(name)
    return found if isinstance(found, Mapping) else {}


def _kept(project: Project, name: Any) -> bool:
    room, _, file = str(name).partition("/")
    return room in ROOMS and "/" not in file and file not in ("", "..") and file in _names(project, room)


def _names(project: Project, room: str) -> set[str]:
    place = project.folder / room
    return {file.name for file in place.iterdir() if not file.is_symlink()} if place.is_dir() else set()
