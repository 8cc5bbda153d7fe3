"""Specs: from a TOML file to a schema, a method, requirements and reading options.

Everything that is wrong with a file is reported together, each problem with the key it stands under. Hierarchies
that are built from the data (``{intervals = [5, 10]}``) are kept as recipes until :func:`resolve` sees the data.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any, Literal, cast

import pyarrow as pa

from undercover.errors import DataError, HierarchyError, ParameterError, SchemaError, unknown
from undercover.hierarchies.build import from_dates, from_intervals, from_prefixes
from undercover.hierarchies.file import read_hierarchy
from undercover.io.distance_file import read_distances
from undercover.io.source import ReadOptions
from undercover.io.spec.file import ColumnPart, SpecFile, checked, checked_recipe
from undercover.model.distance.declared import Distances
from undercover.model.encoding.coded import distinct_values
from undercover.model.hierarchy import Hierarchy
from undercover.model.interval_ends import Ends
from undercover.model.kinds.dates import as_dates
from undercover.model.policy import Policy, policy_of
from undercover.model.release import Basis
from undercover.model.schema import Column, Kind, Schema
from undercover.parsing import toml_of

ROLES = ("identifiers", "quasi_identifiers", "sensitive", "insensitive", "drop")
WORDS = ("format", "description", "unit", "spellings")
WHO = ("unit", "one_row_per", "weight", "population")


@dataclass(frozen=True)
class HierarchyRecipe:
    """How to build a hierarchy once the values of its column are known."""

    way: Literal["intervals", "prefixes", "dates"]
    steps: tuple[Any, ...]
    origin: float = 0

    def build(self, values: Any) -> Hierarchy:
        """The hierarchy over ``values``."""
        if self.way == "intervals":
            return from_intervals(values, self.steps, origin=self.origin)
        return from_prefixes(values, self.steps) if self.way == "prefixes" else from_dates(values, self.steps)


@dataclass(frozen=True)
class Spec:
    """What a spec file says.

    ``schema`` lacks the hierarchies of ``recipes``; :func:`resolve` adds them.
    """

    schema: Schema
    method_name: str | None = None
    method_parameters: Mapping[str, Any] = field(default_factory=dict)
    requirements: tuple[Mapping[str, Any], ...] = ()
    options: ReadOptions = field(default_factory=ReadOptions)
    recipes: Mapping[str, HierarchyRecipe] = field(default_factory=dict)
    path: Path | None = None
    ledger: Path | None = None
    policy: Policy | None = None
    memory: str | int | None = None
    choice: Basis = "declared"


def load_spec(path: str | os.PathLike[str]) -> Spec:
    """Read a spec file."""
    place = Path(path)
    content = toml_of(place, "spec", SchemaError)
    try:
        return replace(spec_from_mapping(content, folder=place.parent), path=place)
    except SchemaError as error:
        raise SchemaError([f"`{place}`: {problem}" for problem in error.problems]) from error


def spec_from_mapping(content: Mapping[str, Any], *, folder: Path | None = None) -> Spec:
    """The same from a mapping; paths of hierarchies and distances are relative to ``folder``."""
    parts, problems = checked(content)
    roles = _roles(parts, problems)
    columns: dict[str, Column] = {}
    recipes: dict[str, HierarchyRecipe] = {}
    for name, part in parts.columns.items():
        hierarchy, recipe = _hierarchy(f"columns.{name}.hierarchy", part.hierarchy, folder or Path(), problems)
        if recipe is not None:
            recipes[name] = recipe
        distance = _distance(f"columns.{name}.distance", part.distance, folder or Path(), problems)
        try:
            columns[name] = Column(
                kind=part.kind,
                weight=part.weight,
                hierarchy=hierarchy,
                domain=_domain(part),
                bins=None if part.bins is None else tuple(part.bins),
                distance=distance,
                format=part.format,
                description=part.description,
                unit=part.unit,
                names_nobody=part.names_nobody,
                ends=cast(Ends | float | None, part.ends),
                spellings=part.spellings,
            )
        except SchemaError as error:
            problems += [f"[columns.{name}]: {problem}" for problem in error.problems]
    if not problems:
        try:
            who = _who(parts, folder or Path())
            schema = Schema(**roles, **who, columns=columns, missing=parts.data.missing, about=_about(parts))
        except SchemaError as error:
            problems += error.problems
    policy = _policy(parts, problems)
    if problems:
        raise SchemaError(problems)
    data = parts.data
    options = ReadOptions(
        separator=data.separator,
        decimal=data.decimal,
        thousands=data.thousands,
        encoding=data.encoding,
        nulls=tuple(data.nulls),
        text=tuple(name for name, column in columns.items() if column.kind in ("categorical", "ordinal")),
    )
    return Spec(
        schema=schema,
        method_name=parts.method.name if parts.method else None,
        method_parameters=dict(parts.method.model_extra or {}) if parts.method else {},
        requirements=tuple({"name": part.name, **(part.model_extra or {})} for part in parts.require),
        options=options,
        recipes=recipes,
        ledger=None if parts.ledger is None else (folder or Path()) / parts.ledger.file,
        policy=policy,
        memory=data.memory,
        choice=parts.choice.basis,
    )


def resolve(spec: Spec, data: pa.Table) -> Schema:
    """The schema of a spec, its recipes turned into hierarchies over the values of ``data``."""
    schema = spec.schema
    columns = dict(schema.columns)
    problems = []
    for name, recipe in spec.recipes.items():
        if name not in data.column_names:
            problems.append(unknown("Column", name, data.column_names))
            continue
        settings, values = schema.column(name), distinct_values(data.column(name))
        try:
            if recipe.way == "dates" and settings.kind in (None, "date") and not pa.types.is_temporal(values.type):
                settings, values = replace(settings, kind="date"), as_dates(values, settings.format)
            columns[name] = replace(settings, hierarchy=recipe.build(values))
        except (HierarchyError, DataError) as error:
            problems += [f"[columns.{name}]: {problem}" for problem in error.problems]
    if problems:
        raise SchemaError(problems)
    return replace(schema, columns=columns)


def schema_to_mapping(schema: Schema) -> dict[str, Any]:
    """A schema as plain lists, texts and numbers, hierarchies as rows; the way it is kept in ``run.json``."""
    columns: dict[str, dict[str, Any]] = {}
    for name, column in schema.columns.items():
        rows = None if column.hierarchy is None else [list(row) for row in column.hierarchy.rows]
        domain = None if column.domain is None or column.bins is not None else list(column.domain)
        columns[name] = {"kind": column.kind, "weight": column.weight, "hierarchy": rows, "domain": domain}
        if column.bins is not None:
            columns[name]["bins"] = list(column.bins)
        columns[name] |= {key: word for key in WORDS if (word := getattr(column, key)) is not None}
        columns[name] |= {key: True for key in ("found", "names_nobody") if getattr(column, key)}
        if column.ends is not None:
            columns[name]["ends"] = column.ends
        if column.distance is not None:
            own = column.distance
            columns[name]["distance"] = {"values": list(own.values), "rows": [list(row) for row in own.rows]}
    who = {name: getattr(schema, name) for name in WHO[:-1]} | {WHO[-1]: schema.population_named}
    roles = {role: list(getattr(schema, role)) for role in ROLES if role != "drop" or schema.drop}
    said = {name: value for name, value in who.items() if value is not None}
    about = {"about": dict(schema.about)} if schema.about else {}
    return {**roles, **said, "missing": schema.missing, "columns": columns, **about}


def schema_from_mapping(content: Mapping[str, Any]) -> Schema:
    """The schema that :func:`schema_to_mapping` wrote down."""
    columns = {}
    for name, column in content["columns"].items():
        rows = column["hierarchy"]
        own = column.get("distance")
        columns[name] = Column(
            kind=cast(Kind | None, column["kind"]),
            weight=column["weight"],
            hierarchy=None if rows is None else Hierarchy(rows),
            domain=None if column["domain"] is None else tuple(column["domain"]),
            bins=None if column.get("bins") is None else tuple(column["bins"]),
            distance=None if own is None else Distances(own["values"], own["rows"]),
            **{key: column.get(key) for key in WORDS},
            found=column.get("found", False),
            names_nobody=column.get("names_nobody", False),
            ends=column.get("ends"),
        )
    said = {name: content[name] for name in (*ROLES, *WHO) if name in content}
    return Schema(**said, columns=columns, missing=content["missing"], about=content.get("about"))


def _roles(parts: SpecFile, problems: list[str]) -> dict[str, Any]:
    roles: dict[str, Any] = {}
    for role in ROLES:
        value = getattr(parts.roles, role)
        names = [value] if isinstance(value, str) else value
        if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
            problems.append(f"`roles.{role}` must be a column name or a list of them. Got {value!r} instead.")
            continue
        roles[role] = names
    return roles


def _who(parts: SpecFile, folder: Path) -> dict[str, Any]:
    """What is said of people and of the population; a table of it is relative to ``folder``."""
    said = {name: getattr(parts.roles, name) for name in WHO}
    if isinstance(said["population"], str) and "://" not in said["population"]:
        said["population"] = str(folder / said["population"])
    return said


def _about(parts: SpecFile) -> dict[str, Any]:
    """What is said of the whole table; a date of TOML is written as it stands there."""
    said = {name: word for name, word in parts.about.model_dump().items() if word is not None}
    return {name: word.isoformat() if isinstance(word, date) else word for name, word in said.items()}


def _hierarchy(
    place: str, value: Any, folder: Path, problems: list[str]
) -> tuple[Hierarchy | None, HierarchyRecipe | None]:
    if value is None:
        return None, None
    if isinstance(value, str):
        try:
            return read_hierarchy(folder / value), None
        except HierarchyError as error:
            problems += [f"`{place}`: {problem}" for problem in error.problems]
            return None, None
    if not isinstance(value, Mapping):
        problems.append(f"`{place}` must be a path or a table such as {{intervals = [5, 10]}}. Got {value!r} instead.")
        return None, None
    part, found = checked_recipe(place, value)
    problems += found
    if found:
        return None, None
    if part.intervals is not None:
        return None, HierarchyRecipe("intervals", tuple(part.intervals), part.origin)
    if part.prefixes is not None:
        return None, HierarchyRecipe("prefixes", tuple(part.prefixes))
    return None, HierarchyRecipe("dates", tuple(part.dates or ()))


def _distance(place: str, value: str | None, folder: Path, problems: list[str]) -> Distances | None:
    if value is None:
        return None
    try:
        return read_distances(folder / value)
    except SchemaError as error:
        problems += [f"`{place}`: {problem}" for problem in error.problems]
        return None


def _policy(parts: SpecFile, problems: list[str]) -> Policy | None:
    if parts.policy is None:
        return None
    try:
        return policy_of(parts.policy.model_extra or {})
    except ParameterError as error:
        problems += [f"[policy]: {problem}" for problem in error.problems]
        return None


def _domain(part: ColumnPart) -> tuple[str, ...] | None:
    if part.domain is None:
        return None
    return tuple(str(value).lower() if isinstance(value, bool) else str(value) for value in part.domain)
