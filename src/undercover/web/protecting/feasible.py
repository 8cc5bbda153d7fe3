"""What is counted of a table by the columns that were decided on, from the codes of its profile: no row is read."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from undercover.errors import SchemaError
from undercover.model.about import Holding
from undercover.model.bins import Bins
from undercover.model.policy import Policy, policy_of
from undercover.model.schema import Schema
from undercover.randomness import Randomness
from undercover.units import one_row_each
from undercover.web.desks.project import Project

_LARGEST = np.iinfo(np.int64).max


def policy_asked(project: Project) -> Policy:
    """The policy of a table; the standard one where nobody chose."""
    return policy_of(project.spec.get("policy"))


def holding_of(project: Project) -> Holding:
    """The counts of a table; refused where its columns are not decided on."""
    profile = project.profile
    if profile is None:
        raise SchemaError("The table has not been read yet. Wait for the first step, Data.")
    if not project.spec.get("roles", {}).get("quasi_identifiers"):
        raise SchemaError("Nobody has said yet which columns somebody may know. Decide on the columns first.")
    place = project.folder / "profile" / "profile.json"
    decided = json.dumps({part: project.spec.get(part) for part in ("roles", "columns", "data")}, sort_keys=True)
    return _counted(project.folder, decided, place.stat().st_mtime_ns)


@lru_cache(maxsize=64)
def _counted(folder: Path, decided: str, made: int) -> Holding:
    """The same, once for all that is decided of the columns and every profile of them."""
    project = Project(folder)
    schema, profile = project.loaded().schema, project.profile
    assert profile is not None
    columns = _Columns(folder / "profile", profile)
    rows = _kept(schema, columns)
    unit = schema.unit_column
    units = None if unit is None or schema.one_row_per is not None else columns.codes(unit)[rows]
    known = [(columns.codes(name)[rows], columns.size(name)) for name in schema.quasi_identifiers]
    sizes = people = np.unique(_together(known), return_counts=True)[1]
    if units is not None:
        many = columns.size(str(unit))
        people = np.unique(np.unique(_together([*known, (units, many)])) // many, return_counts=True)[1]
    return Holding(
        schema=schema,
        rows=len(rows),
        people=len(rows) if units is None else len(np.unique(units)),
        most_of_one=1 if units is None else int(np.bincount(units).max(initial=0)),
        alike=int(sizes.min(initial=len(rows))),
        alone=int((people == 1).sum()),
        counts={name: found for name in _countable(schema) if (found := columns.counts(name, schema, rows))},
    )


def _countable(schema: Schema) -> tuple[str, ...]:
    """The sensitive columns; none where the run will draw which rows are kept."""
    return () if schema.unit_column is not None and schema.one_row_per == "random" else schema.sensitive


class _Columns:
    """The columns of a profile, whose codes are mapped from their files."""

    def __init__(self, folder: Path, profile: dict[str, Any]) -> None:
        self._folder, self._values = folder, profile["values"]
        self._missing = {column["name"]: column["missing"] for column in profile["inspection"]["columns"]}

    def codes(self, name: str) -> NDArray[Any]:
        if name not in self._values:
            raise SchemaError(f"Column `{name}` is no longer in the table. Decide on the columns again.")
        found: NDArray[Any] = np.load(self._folder / self._values[name]["codes"], mmap_mode="r")
        return found

    def size(self, name: str) -> int:
        return int(self._values[name]["size"])

    def missing(self, name: str) -> NDArray[np.bool_] | None:
        """Where nothing is known; ``None`` where all is."""
        return self.codes(name) == self.size(name) - 1 if self._missing.get(name) else None

    def counts(self, name: str, schema: Schema, rows: NDArray[np.int64]) -> tuple[int, ...]:
        """Rows of each value, the most frequent first; none of numbers in bins whose values were too many to keep."""
        counts = np.bincount(self.codes(name)[rows], minlength=self.size(name))
        edges = schema.column(name).bins
        if edges is not None:
            values = self._values[name].get("values")
            if values is None:
                return ()
            places = Bins.of(edges).place(np.array(values, dtype=np.float64))
            counts = np.bincount(places[places >= 0], weights=counts[: len(places)][places >= 0]).astype(np.int64)
        return tuple(sorted((int(count) for count in counts if count), reverse=True))


def _kept(schema: Schema, columns: _Columns) -> NDArray[np.int64]:
    """The rows that are published: none that misses a value where these are left out, one of each if so asked."""
    named = [*schema.quasi_identifiers, *schema.sensitive]
    kept = np.ones(len(columns.codes(named[0])), dtype=bool)
    for name in named if schema.missing == "drop" else ():
        missing = columns.missing(name)
        kept &= True if missing is None else ~missing
    rows = np.flatnonzero(kept)
    if schema.unit_column is None or schema.one_row_per is None:
        return rows
    units = columns.codes(schema.unit_column)[rows].astype(np.int64)
    return rows[one_row_each(units, schema.one_row_per, Randomness(0))]


def _together(columns: list[tuple[NDArray[Any], int]]) -> NDArray[np.int64]:
    """A number for every combination of codes, numbered anew where they would not fit."""
    found, size = columns[0][0].astype(np.int64), columns[0][1]
    for codes, more in columns[1:]:
        if size * more > _LARGEST:
            values, found = np.unique(found, return_inverse=True)
            found, size = found.reshape(-1), len(values)
        found, size = found * more + codes, size * more
    return found
