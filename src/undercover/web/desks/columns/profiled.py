"""A table as its profile knows it: columns, codes mapped from files, and what a spec does to the people in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from undercover.errors import DataError
from undercover.model.hierarchy import Hierarchy
from undercover.studies.inspect.uniqueness import CodedColumn
from undercover.web.desks.columns.editing import named
from undercover.web.desks.columns.levels import Level, Levels, kept_values, levels_of, looked_at
from undercover.web.desks.columns.singled_out import Figures, Part, Rows, singled_out, words
from undercover.web.desks.project import Project


@dataclass(frozen=True)
class People:
    """What a unit means for a table."""

    people: int
    rows: int
    several: int  # people who have more than one row
    most: int  # rows of one person


class Profiled:
    """The profile of a table, read once."""

    def __init__(self, project: Project) -> None:
        profile = project.profile
        if profile is None:
            raise DataError("The table has not been looked at yet. Wait until the first step is done.")
        self._folder, self._profile = project.folder, profile

    @property
    def inspection(self) -> dict[str, Any]:
        """What was found."""
        found: dict[str, Any] = self._profile["inspection"]
        return found

    @cached_property
    def columns(self) -> dict[str, dict[str, Any]]:
        """What was found of each column."""
        return {column["name"]: column for column in self.inspection["columns"]}

    @cached_property
    def names(self) -> list[str]:
        """Of all columns, in their order."""
        return list(self.columns)

    def name(self, number: int) -> str:
        """The column of a number."""
        if not 0 <= number < len(self.names):
            raise DataError("There is no such column in this table.")
        return self.names[number]

    def coded(self, name: str) -> CodedColumn:
        """The codes of a column, mapped from their file."""
        about = self._profile["values"][name]
        return CodedColumn(np.load(self._folder / "profile" / about["codes"], mmap_mode="r"), about["size"])

    def counted(self, name: str) -> list[tuple[str, int]]:
        """The values of a column with how often each occurs; none where there are too many."""
        about = self._profile["values"][name]
        return list(zip(about.get("values", ()), about.get("counts", ()), strict=True))

    def spread(self, name: str) -> list[float]:
        """How numbers or dates are spread, from the smallest to the largest; nothing of other columns."""
        found: list[float] = self._profile["pictures"].get(name, {}).get("spread", [])
        return found

    def values(self, name: str) -> pa.Array | None:
        """The distinct values of a column in the order of its codes, where they are not too many."""
        place: Path = self._folder / "profile" / self._profile["values"][name]["codes"]
        return kept_values(place.with_suffix(".arrow"))

    def holes(self, spec: Mapping[str, Any]) -> NDArray[np.bool_] | None:
        """(n_rows,) whether a row lacks a value in a quasi-identifier or sensitive column; ``None``: no row does."""
        lacking = None
        for name in [*named(spec, "quasi_identifiers"), *named(spec, "sensitive")]:
            if self.columns[name]["missing"]:
                column = self.coded(name)
                here = np.asarray(column.codes) == column.size - 1
                lacking = here if lacking is None else lacking | here
        return lacking

    def rows(self, spec: Mapping[str, Any]) -> Rows:
        """The rows that are published, and whose they are."""
        holes = self.holes(spec) if spec.get("data", {}).get("missing") == "drop" else None
        unit = spec.get("roles", {}).get("unit")
        units = self.coded(unit).codes if unit in self.columns else None
        return Rows(self.inspection["rows"], units, None if holes is None else ~holes)

    def known(self, spec: Mapping[str, Any]) -> list[str]:
        """What others are taken to know: quasi-identifiers, and what is published unchanged."""
        return [*named(spec, "quasi_identifiers"), *named(spec, "insensitive")]

    def singled_out(self, spec: Mapping[str, Any]) -> tuple[Figures, dict[str, Figures]] | None:
        """Whom all that others may know singles out, and without each column; ``None``: they know nothing."""
        known = {name: self.coded(name) for name in self.known(spec)}
        return singled_out(known, self.rows(spec)) if known else None

    def people(self, spec: Mapping[str, Any]) -> People | None:
        """What the unit of a spec means here; ``None``: every row is a person."""
        unit = spec.get("roles", {}).get("unit")
        if unit not in self.columns:
            return None
        counts = np.bincount(self.coded(unit).codes)
        return People(len(counts), int(counts.sum()), int((counts > 1).sum()), int(counts.max(initial=0)))

    def people_again(self, spec: Mapping[str, Any]) -> str:
        """What speaks for several rows per person, where nobody has said what a person is; empty otherwise."""
        found = self.inspection.get("repeated_people", {})  # a profile of an earlier version did not look
        return str(found["text"]) if found.get("asks") and not spec.get("roles", {}).get("unit") else ""

    def levels(self, name: str, settings: Mapping[str, Any], own: Hierarchy | None = None) -> Levels | None:
        """The levels of a column by its settings; ``None`` where it has too many values to show them."""
        values = self.values(name)
        return None if values is None or not len(values) else levels_of(name, values, settings, self._folder, own)

    def looked_at(self, name: str, levels: Levels, spec: Mapping[str, Any]) -> Sequence[Level]:
        """What each level looks like, with the people it singles out beside what else others may know."""
        column = self.coded(name)
        others = [self.coded(other) for other in self.known(spec) if other != name]
        parts = [Part(words(other.size), other.codes) for other in others]
        return looked_at(levels, column.codes, bool(self.columns[name]["missing"]), parts, self.rows(spec))
