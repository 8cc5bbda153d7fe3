"""The profile of a table: it is read, inspected and previewed, and the codes of its columns are kept.

The folder ``profile`` has ``profile.json`` (the inspection, a preview, how the file was read) and a file of codes for
every column, as narrow as can be, which the server maps and never loads.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa

from undercover.arrays import narrowest
from undercover.errors import DataError
from undercover.io.source import read
from undercover.memory import Store, memory_of
from undercover.studies.inspect.columns import code
from undercover.studies.inspect.inspection import inspect
from undercover.waiting import Progress
from undercover.web.desks.levels import keep_values
from undercover.web.desks.project import Project
from undercover.web.desks.store import private_folder, write_json

PREVIEW: Final = 50  # rows
MOST_VALUES: Final = 2000  # of a column, whose values are kept for hierarchies edited by hand


def profile(project: Project, request: Mapping[str, Any], progress: Progress) -> Mapping[str, Any]:
    """Profile a table, and suggest a spec to start from."""
    given = read(project.whence, options=project.options(), store=Store(memory_of(None)), progress=progress)
    most = int(request["most_rows"])
    if given.data.num_rows > most:
        raise DataError(f"The table has {given.data.num_rows:,} rows; this server takes at most {most:,}.")
    found = inspect(given.data, progress=progress)
    place = private_folder(project.folder / ".profile")
    columns = {}
    for number, name in enumerate(given.data.column_names):
        values = code(given.data.column(name))
        codes = values.coded.codes.astype(narrowest(values.coded.size))
        np.save(place / f"{number}.npy", codes)
        keep_values(place / f"{number}.arrow", values.values)
        columns[name] = {"codes": f"{number}.npy", "size": values.coded.size, **_values(values.values, values.counts)}
    shown = given.data.slice(0, PREVIEW)
    facts = {
        "read_as": given.source.get("read_as"),
        "inspection": found.to_dict(),
        "preview": {
            "columns": shown.column_names,
            "rows": [["" if cell is None else str(cell) for cell in row.values()] for row in shown.to_pylist()],
        },
        "values": columns,
    }
    write_json(place / "profile.json", facts)
    target = project.folder / "profile"
    shutil.rmtree(target, ignore_errors=True)
    place.rename(target)
    return {"rows": found.rows, "columns": len(found.columns)}


def _values(values: pa.Array, counts: Any) -> dict[str, Any]:
    """The values of a column and how often each occurs, where these are not too many."""
    if len(values) > MOST_VALUES:
        return {}
    return {"values": [str(value) for value in values.to_pylist()], "counts": [int(count) for count in counts]}


def suggested(project: Project) -> dict[str, Any]:
    """The roles that the profile suggests, as a spec says them."""
    assert project.profile is not None
    roles: dict[str, list[str]] = {}
    for column in project.profile["inspection"]["columns"]:
        roles.setdefault(column["role"], []).append(column["name"])
    named = {"quasi-identifier": "quasi_identifiers", "sensitive": "sensitive", "identifier": "identifiers"}
    found = {role: roles[called] for called, role in named.items() if called in roles}
    return {"roles": found}


def codes_of(project: Project, name: str) -> Any:
    """The codes of a column, mapped from its file."""
    assert project.profile is not None
    place: Path = project.folder / "profile" / project.profile["values"][name]["codes"]
    return np.load(place, mmap_mode="r")
