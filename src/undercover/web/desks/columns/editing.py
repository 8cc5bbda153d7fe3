"""The columns of a spec, changed step by step: functions from a spec, as a mapping, to another one.

A spec file says the same; nothing here knows of pages. What a form says is taken over by :func:`filled`: fields are
named by what they are about and the number of the column (``role-3``), and a field that is not there changes nothing.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from undercover.errors import SchemaError
from undercover.io.spec.load import ROLES, WORDS, spec_from_mapping
from undercover.model.figures import counted
from undercover.model.schema import ABOUT, ALL_OTHERS, EACH_ROW

ANSWERS: Final = ("quasi_identifiers", "sensitive", "identifiers", "insensitive", "drop")
"""What may be decided of a column, in the order in which it is asked."""

_CALLED: Final = {
    "quasi-identifier": "quasi_identifiers",
    "sensitive": "sensitive",
    "identifier": "identifiers",
    "insensitive": "insensitive",
}
_SAID: Final = (*WORDS, "kind", "domain", "bins", "names_nobody")
Fields = Mapping[str, str]
Spec = dict[str, Any]


def suggested(inspection: Mapping[str, Any]) -> Spec:
    """What an inspection suggests, as a spec says it."""
    roles: dict[str, Any] = {}
    columns: dict[str, Any] = {}
    holes = False
    for column in inspection["columns"]:
        role = _CALLED.get(column["role"])
        if role is None:
            continue
        roles.setdefault(role, []).append(column["name"])
        holes |= bool(column["missing"]) and role != "identifiers"
        if column["categories"] and role != "identifiers":
            columns[column["name"]] = {"kind": "categorical"}
        elif column["kind"] == "date" and role == "quasi_identifiers":
            columns[column["name"]] = {"kind": "date"}
    if inspection["unit"] is not None:
        roles["unit"] = inspection["unit"]
    found = {"roles": roles, "columns": columns, "data": {"missing": "category"} if holes else {}}
    return {name: part for name, part in found.items() if part}


def begun(spec: Mapping[str, Any], inspection: Mapping[str, Any]) -> Spec:
    """A spec as it is, or with what is suggested where nothing was said of any role."""
    if "roles" in spec:
        return dict(spec)
    found = suggested(inspection)
    data = {**found.pop("data", {}), **spec.get("data", {})}
    columns = found.pop("columns", {})
    for name, said in spec.get("columns", {}).items():
        columns[name] = {**columns.get(name, {}), **said}
    whole = {**spec, **found, "columns": columns, "data": data}
    return {name: part for name, part in whole.items() if part or name not in ("columns", "data")}


def named(spec: Mapping[str, Any], role: str) -> list[str]:
    """The columns of a role.

    >>> named({"roles": {"sensitive": "disease"}}, "sensitive")
    ['disease']
    """
    said = spec.get("roles", {}).get(role, [])
    return [said] if isinstance(said, str) else list(said)


def role_of(spec: Mapping[str, Any], name: str) -> str:
    """What is decided of a column; empty where nothing is."""
    role = next((role for role in ROLES if name in named(spec, role)), "")
    if not role and name == spec.get("roles", {}).get("unit"):
        return "identifiers"
    return "drop" if not role and ALL_OTHERS in named(spec, "drop") else role


def undecided(spec: Mapping[str, Any], names: Iterable[str]) -> list[str]:
    """The columns nobody has decided on; a weight needs no role."""
    weight = spec.get("roles", {}).get("weight")
    return [name for name in names if name != weight and not role_of(spec, name)]


def with_roles(spec: Mapping[str, Any], answers: Mapping[str, str], names: Sequence[str]) -> Spec:
    """The spec with other roles; ``names`` are all columns, in the order in which they are kept.

    What belongs to another role goes: bins are of sensitive columns, levels and distances of quasi-identifiers.

    >>> with_roles({"roles": {"sensitive": "age"}}, {"age": "quasi_identifiers"}, ["age", "zip"])
    {'roles': {'quasi_identifiers': ['age']}}
    """
    now = {name: answers.get(name, role_of(spec, name)) for name in names}
    roles = {key: said for key, said in spec.get("roles", {}).items() if key not in ROLES}
    lists = {role: [name for name in names if now[name] == role] for role in ROLES}
    changed = {**spec, "roles": {**roles, **{role: own for role, own in lists.items() if own}}}
    for name, role in now.items():
        foreign = {
            "bins": "sensitive",
            "spellings": "sensitive",
            "hierarchy": "quasi_identifiers",
            "distance": "quasi_identifiers",
        }
        changed = with_settings(changed, name, {key: None for key, whose in foreign.items() if role != whose})
    return changed


def with_settings(spec: Mapping[str, Any], name: str, settings: Mapping[str, Any]) -> Spec:
    """The spec with other settings of one column; ``None`` takes one back.

    >>> with_settings({"columns": {"age": {"kind": "date"}}}, "age", {"kind": None})
    {}
    """
    return _with(spec, "columns", {name: _told({**spec.get("columns", {}).get(name, {}), **settings}) or None})


def with_part(spec: Mapping[str, Any], part: str, said: Mapping[str, Any]) -> Spec:
    """The spec with other words in one part, such as ``data``; ``None`` takes a word back."""
    return _with(spec, part, said)


def _with(spec: Mapping[str, Any], part: str, said: Mapping[str, Any]) -> Spec:
    now = _told({**spec.get(part, {}), **said})
    others = {key: value for key, value in spec.items() if key != part}
    return {**others, part: now} if now else others


def _told(said: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in said.items() if value is not None}


def filled(spec: Mapping[str, Any], names: Sequence[str], fields: Fields) -> tuple[Spec, dict[str, str]]:
    """The spec with what a form says, and what of it cannot be understood, by field."""
    problems: dict[str, str] = {}
    answers = {
        name: fields[f"role-{number}"] for number, name in enumerate(names) if fields.get(f"role-{number}", "-") != "-"
    }
    changed = with_roles(spec, {name: role for name, role in answers.items() if role in ("", *ANSWERS)}, names)
    for number, name in enumerate(names):
        settings = _settings(spec.get("columns", {}).get(name, {}), number, fields, problems)
        if role_of(changed, name) != "sensitive":
            settings = {key: value for key, value in settings.items() if key not in ("bins", "spellings")}
        changed = with_settings(changed, name, settings)
    if fields.get("missing") and fields["missing"] != spec.get("data", {}).get("missing", "error"):
        changed = with_part(changed, "data", {"missing": fields["missing"]})
    who: dict[str, Any] = {key: fields[key] or None for key in ("unit", "one_row_per", "weight") if key in fields}
    if "unit" in who and who["unit"] in (None, EACH_ROW):
        who["one_row_per"] = None
    if "population" in fields and not isinstance(spec.get("roles", {}).get("population"), str):
        who["population"] = _read(_share, fields, "population", problems)
    changed = with_part(changed, "roles", who)
    about = {word: fields[f"about-{word}"] or None for word in ABOUT if f"about-{word}" in fields}
    return with_part(changed, "about", about), problems


def _settings(now: Mapping[str, Any], number: int, fields: Fields, problems: dict[str, str]) -> dict[str, Any]:
    """What a form says of one column: a format is of dates, an order of what is ordinal."""
    given = {key: fields[f"{key}-{number}"] for key in _SAID if f"{key}-{number}" in fields}
    settings: dict[str, Any] = {key: given[key] or None for key in ("kind", "description", "unit") if key in given}
    kind = settings.get("kind", now.get("kind"))
    if "kind" in given or "format" in given:
        settings["format"] = given.get("format", now.get("format")) or None if kind == "date" else None
    if "domain" in given and kind == "ordinal":
        settings["domain"] = [line for line in map(str.strip, given["domain"].splitlines()) if line] or None
    elif now.get("kind") == "ordinal" and kind != "ordinal":
        settings["domain"] = None
    if "spellings" in given:
        settings["spellings"] = given["spellings"] or None
    if "names_nobody" in given:
        settings["names_nobody"] = True if given["names_nobody"] == "true" else None
    if "bins" in given:
        settings["bins"] = _read(numbers, fields, f"bins-{number}", problems) or None
    return settings


def _read(how: Callable[[str], Any], fields: Fields, field: str, problems: dict[str, str]) -> Any:
    try:
        return how(fields[field]) if fields[field] else None
    except SchemaError as error:
        problems[field] = str(error)
        return None


def numbers(text: str) -> list[int | float]:
    """Numbers with commas, semicolons or spaces between them.

    >>> numbers("0, 10; 20.5")
    [0, 10, 20.5]
    """
    found = []
    for word in re.split(r"[,;\s]+", text.strip()):
        try:
            value = float(word)
        except ValueError:
            value = math.nan
        if word and not math.isfinite(value):
            raise SchemaError(f"`{word}` is no number. Write numbers with commas between them, such as 0, 10, 20.5.")
        if word:
            found.append(int(value) if value == int(value) and "." not in word and "e" not in word.lower() else value)
    return found


def _share(text: str) -> float:
    """A percentage as a share."""
    try:
        share = float(text.rstrip("% ").replace(",", ".")) / 100
    except ValueError:
        share = math.nan
    if not 0 < share <= 1:
        raise SchemaError(f"`{text}` is no percentage above 0 and up to 100.")
    return share


def problems_of(spec: Mapping[str, Any], inspection: Mapping[str, Any], folder: Path) -> list[str]:
    """What speaks against a spec: what every spec file is checked for, and whether it fits the table."""
    found = {column["name"]: column for column in inspection["columns"]}
    try:
        schema = spec_from_mapping(spec, folder=folder).schema.for_columns(found)
        schema.check_against(found)
    except SchemaError as error:
        return list(error.problems)
    problems = []
    unit = schema.unit_column
    if unit is not None and found[unit]["missing"]:
        empty = counted(found[unit]["missing"], "row")
        problems.append(f"Column `{unit}` says whose row it is, and it is empty in {empty}. Fill it in first.")
    if schema.weight is not None and found[schema.weight]["kind"] != "numeric":
        problems.append(f"Column `{schema.weight}` is the weight of the rows, and it does not hold numbers.")
    for name, column in schema.columns.items():
        if column.kind == "numeric" and found[name]["kind"] != "numeric":
            problems.append(f"Column `{name}` is declared numeric, and not all of its values are numbers.")
    return problems


def placed(problems: Iterable[str], names: Sequence[str]) -> tuple[dict[str, list[str]], list[str]]:
    """Problems by the column they are about, and those that are about none.

    >>> placed(["Column `age` has more than one role.", "At least one quasi-identifier is needed."], ["age"])
    ({'age': ['Column `age` has more than one role.']}, ['At least one quasi-identifier is needed.'])
    """
    by_name: dict[str, list[str]] = {}
    others = []
    for problem in problems:
        marks = ("[columns.{}]", "`columns.{}.", "Column `{}`", "The hierarchy of `{}`")
        about = next((name for name in names if any(mark.format(name) in problem for mark in marks)), None)
        if about is None:
            others.append(problem)
        else:
            by_name.setdefault(about, []).append(problem.removeprefix(f"[columns.{about}]: "))
    return by_name, others
