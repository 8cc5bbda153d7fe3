"""The spec of a run, written down again: with it and the same table the release can be made once more.

A spec file names hierarchies and distances by their files, so there is a file for each beside it. What the run found
out by itself (levels, groups, kinds of undeclared columns) is not in it: the method finds it out again.
The standard library reads TOML and does not write it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from undercover.errors import InternalError
from undercover.hierarchies.file import hierarchy_text
from undercover.io.distance_file import distances_text
from undercover.io.plain import plain
from undercover.io.spec.file import SPEC_VERSION
from undercover.io.spec.load import ROLES, WHO, schema_to_mapping
from undercover.model.distance.declared import Distances
from undercover.model.hierarchy import Hierarchy
from undercover.model.policy import STANDARD
from undercover.model.release import Choice
from undercover.model.run import Run

_READING = ("separator", "decimal", "thousands", "encoding", "nulls")
SPEC = "spec.toml"


def spec_files(run: Run) -> dict[str, str]:
    """The files of a spec by name: ``spec.toml`` and the hierarchies and distances it names."""
    schema: Mapping[str, Any] = run.source.get("asked") or schema_to_mapping(run.schema)
    files: dict[str, str] = {}
    parts = [f"version = {SPEC_VERSION}\n", _part("[data]", {"missing": schema["missing"], **_reading(run)})]
    parts.append(_part("[roles]", {role: schema[role] for role in (*ROLES, *WHO) if schema.get(role)}))
    for name, settings in schema["columns"].items():
        said = {key: value for key, value in settings.items() if key not in ("hierarchy", "found")}
        if settings["hierarchy"] is not None:
            file = f"hierarchy-{len(files) + 1}{_as_file_name(name)}.csv"
            files[file] = hierarchy_text(Hierarchy(settings["hierarchy"]))
            said["hierarchy"] = file
        if settings.get("distance") is not None:
            file = f"distance-{len(files) + 1}{_as_file_name(name)}.csv"
            files[file] = distances_text(Distances(**settings["distance"]))
            said["distance"] = file
        if said.get("weight") == 1:
            del said["weight"]
        if any(value is not None for value in said.values()):
            parts.append(_part(f"[columns.{quoted(name)}]", said))
    if schema.get("about"):
        parts.append(_part("[about]", schema["about"]))
    parts.append(_part("[method]", {"name": run.release.method, **plain(run.recipe)}))
    if run.release.choice.basis != Choice().basis:
        parts.append(_part("[choice]", {"basis": run.release.choice.basis}))
    parts += [_part("[[require]]", plain(dict(requirement))) for requirement in run.requirements]
    if run.policy != STANDARD:
        limits = {key: "none" if value is None else value for key, value in run.policy.to_dict().items() if value != {}}
        parts.append(_part("[policy]", {"name": "none"} if not run.policy.judges else limits))
    return {SPEC: "\n".join(parts), **files}


def _part(title: str, entries: Mapping[str, Any]) -> str:
    lines = [f"{_key(key)} = {written(value)}" for key, value in entries.items() if value is not None]
    return "\n".join([title, *lines, ""])


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else quoted(key)


def _reading(run: Run) -> dict[str, Any]:
    options = run.source.get("options", {})
    return {key: plain(options[key]) for key in _READING if options.get(key)}


def _as_file_name(name: str) -> str:
    kept = re.sub(r"[^A-Za-z0-9_-]+", "", name)[:40]
    return f"-{kept}" if kept else ""


def quoted(text: str) -> str:
    r"""A TOML basic string; JSON escapes all that TOML wants escaped but DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def written(value: Any) -> str:
    """A value on one line: text, number, truth, list or inline table."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else str(value)  # inf and nan are written as Python does
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(written, value))}]"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{quoted(str(key))} = {written(inner)}" for key, inner in value.items()) + "}"
    raise InternalError(f"A {type(value).__name__} cannot be written as TOML.")
