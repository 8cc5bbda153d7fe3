"""The shape of a spec file: what may stand in it, and how its faults are told.

pydantic checks keys and types here, at the edge, and nowhere further in.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from undercover.errors import unknown
from undercover.model.release import Basis
from undercover.model.schema import Kind, Missing, OneRow, Spellings
from undercover.version import VERSION

SPEC_VERSION = 1
"""Of spec files, said under ``version``; it rises when a key comes to mean something else."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class DataPart(_Part):
    """``[data]``: how to read the input, what a missing value means, and how much memory may be used."""

    missing: Missing = "error"
    separator: str | None = None
    decimal: Literal[".", ","] | None = None
    thousands: Literal[",", ".", "'", " "] | None = None
    encoding: str | None = None
    nulls: list[str] = Field(default_factory=list)
    memory: str | int | None = None


class RolesPart(_Part):
    """``[roles]``: which column plays which part; one name or a list."""

    identifiers: Any = ()
    quasi_identifiers: Any = ()
    sensitive: Any = ()
    insensitive: Any = ()
    drop: Any = ()
    unit: str | None = None
    one_row_per: OneRow | None = None
    weight: str | None = None
    population: float | int | str | None = None


class RecipePart(_Part):
    """A hierarchy that is built from the data: intervals, prefixes or dates."""

    intervals: list[float | int] | None = None
    prefixes: list[int] | None = None
    dates: list[str] | None = None
    origin: float | int = 0


class ColumnPart(_Part):
    """``[columns.NAME]``: settings of one column."""

    kind: Kind | None = None
    weight: float | int = 1.0
    hierarchy: Any = None
    domain: list[Any] | None = None
    bins: list[float | int] | None = None
    distance: str | None = None
    format: str | None = None
    description: str | None = None
    unit: str | None = None
    names_nobody: bool = False
    ends: str | float | int | None = None
    spellings: Spellings | None = None


class NamedPart(BaseModel):
    """``[method]`` and ``[[require]]``: a name and free parameters, checked by whoever they belong to."""

    model_config = ConfigDict(extra="allow", strict=True)

    name: str


class AboutPart(_Part):
    """``[about]``: what the recipient is told of the whole table."""

    title: str | None = None
    description: str | None = None
    publisher: str | None = None
    date: Any = None
    licence: str | None = None
    contact: str | None = None
    citation: str | None = None


class LedgerPart(_Part):
    """``[ledger]``: the private record of who was published before."""

    file: str


class ChoicePart(_Part):
    """``[choice]``: what the choice of the method rests on."""

    basis: Basis = "declared"


class PolicyPart(BaseModel):
    """``[policy]``: what may happen to people; checked by the policy itself."""

    model_config = ConfigDict(extra="allow", strict=True)


class SpecFile(_Part):
    """The whole file."""

    version: int = Field(default=SPEC_VERSION, ge=1)
    data: DataPart = Field(default_factory=DataPart)
    roles: RolesPart = Field(default_factory=RolesPart)
    columns: dict[str, ColumnPart] = Field(default_factory=dict)
    method: NamedPart | None = None
    choice: ChoicePart = Field(default_factory=ChoicePart)
    require: list[NamedPart] = Field(default_factory=list)
    ledger: LedgerPart | None = None
    policy: PolicyPart | None = None
    about: AboutPart = Field(default_factory=AboutPart)


_PARTS: Mapping[tuple[str, ...], type[BaseModel]] = {
    (): SpecFile,
    ("data",): DataPart,
    ("roles",): RolesPart,
    ("columns", "*"): ColumnPart,
    ("choice",): ChoicePart,
    ("ledger",): LedgerPart,
    ("about",): AboutPart,
}


def checked(content: Mapping[str, Any]) -> tuple[SpecFile, list[str]]:
    """The content of a file as far as it can be understood, and everything that is wrong with it."""
    found = content.get("version")
    if isinstance(found, int) and found > SPEC_VERSION:
        later = f"This is a spec of version {found}; undercover {VERSION} reads version {SPEC_VERSION}."
        return SpecFile(), [f"{later} Install a later version of undercover."]
    try:
        return SpecFile.model_validate(content), []
    except ValidationError as error:
        return SpecFile(), told(error, _PARTS)


def checked_recipe(place: str, content: Mapping[str, Any]) -> tuple[RecipePart, list[str]]:
    """An inline hierarchy, and what is wrong with it; exactly one way of building it must be named."""
    try:
        recipe = RecipePart.model_validate(content)
    except ValidationError as error:
        return RecipePart(), [problem.replace("`", f"`{place}.", 1) for problem in told(error, {(): RecipePart})]
    ways = [way for way in ("intervals", "prefixes", "dates") if getattr(recipe, way) is not None]
    if len(ways) != 1:
        found = ", ".join(ways) or "none"
        return recipe, [f"`{place}` must name one of intervals, prefixes and dates. Found: {found}."]
    return recipe, []


def told(error: ValidationError, parts: Mapping[tuple[str, ...], type[BaseModel]]) -> list[str]:
    """pydantic's findings as sentences, one per key."""
    problems: dict[str, str] = {}
    for finding in error.errors(include_url=False):
        steps = [str(step) for step in finding["loc"]]
        place = _key_path(finding["loc"])
        if finding["type"] == "extra_forbidden":
            part = _part(steps[:-1], parts)
            sentence = unknown("Key", steps[-1], part.model_fields if part else ()).replace(
                f"`{steps[-1]}`", f"`{place}`", 1
            )
        elif finding["type"] == "missing":
            sentence = f"`{place}` is missing."
        elif finding["type"] == "literal_error":
            sentence = unknown(f"`{place}`: value", str(finding["input"]), _choices(finding))
        else:
            wish = finding["msg"].removeprefix("Input should be ").removeprefix("a valid ")
            sentence = f"`{place}` must be a {wish}. Got {finding['input']!r} instead."
        problems.setdefault(place, sentence)
    return list(problems.values())


def _choices(finding: Any) -> list[str]:
    expected = str(finding["ctx"]["expected"])
    known = [*get_args(Kind), *get_args(Missing), *get_args(OneRow), *get_args(Spellings), *get_args(Basis), ".", ","]
    return [choice for choice in known if f"'{choice}'" in expected]


def _key_path(location: Iterable[int | str]) -> str:
    """``columns.age.weight``; numbers of tables count from 1, and the branches pydantic tried are left out."""
    tried = {"float", "int", "str", "bool"}
    steps = [f"{step + 1}" if isinstance(step, int) else step for step in location]
    return ".".join(step for place, step in enumerate(steps) if not (place == len(steps) - 1 and step in tried))


def _part(steps: list[str], parts: Mapping[tuple[str, ...], type[BaseModel]]) -> type[BaseModel] | None:
    for pattern, part in parts.items():
        if len(pattern) == len(steps) and all(want in ("*", step) for want, step in zip(pattern, steps, strict=True)):
            return part
    return None
