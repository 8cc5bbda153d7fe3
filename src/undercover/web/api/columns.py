"""Columns, and all that is decided: the spec of a table as JSON, checked and written as a whole."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Annotated, Any

from pydantic import BaseModel, Field

from undercover.errors import ParameterError, SchemaError, unknown
from undercover.hierarchies.file import hierarchy_text, write_hierarchy
from undercover.model.hierarchy import Hierarchy
from undercover.web.access.asking import Of
from undercover.web.api.own_files import check_files
from undercover.web.api.said import Strict
from undercover.web.api.said import router as part
from undercover.web.desks.columns.editing import problems_of, suggested, with_settings
from undercover.web.desks.columns.profiled import Profiled
from undercover.web.desks.columns.singled_out import Figures
from undercover.web.desks.plan import method_of
from undercover.web.desks.project import Project

router = part("columns")
_SPEC = {
    "roles": {"quasi_identifiers": ["age", "zip"], "sensitive": "disease"},
    "columns": {"age": {"kind": "numeric"}},
}


class SpecFacts(BaseModel):
    """What is decided of a table, as a spec file says it."""

    revision: int
    spec: dict[str, Any]


class SuggestedFacts(BaseModel):
    """What the profile suggests."""

    spec: dict[str, Any]
    columns: dict[str, dict[str, Any]] = Field(
        description="What was found of each column, and the reasons for its role."
    )
    questions: list[dict[str, Any]]


class NewSpec(Strict):
    """Another spec in place of the one there is."""

    spec: dict[str, Any] = Field(examples=[_SPEC], description="As a spec file says it; see `undercover schema`.")
    revision: int | None = Field(None, ge=0, le=2**31, description="Of the spec it was made from; refused if older.")
    decided: bool = Field(True, description="Whether the columns are decided on.")


@router.get("/tables/{key}/spec")
def show(project: Of) -> SpecFacts:
    """What is decided so far."""
    return SpecFacts(revision=project.revision, spec=project.spec)


@router.put("/tables/{key}/spec")
def change(project: Of, new: NewSpec) -> SpecFacts:
    """Decide: roles, kinds, unit, hierarchies, missing values, policy, method, requirements; checked together."""
    check(project, new.spec)
    choices = {**project.choices, "columns_decided": new.decided}
    changed = project.change(spec=new.spec, choices=choices, revision=new.revision)
    return SpecFacts(revision=changed.revision, spec=changed.spec)


class Levels(Strict):
    """A hierarchy: for each value of a column its groups, from narrow to wide."""

    rows: list[Annotated[list[str], Field(min_length=1, max_length=50)]] = Field(
        min_length=1, max_length=100_000, examples=[[["Bonn", "DE"], ["Lyon", "FR"]]]
    )
    revision: int | None = Field(None, ge=0, le=2**31)


@router.put("/tables/{key}/hierarchies/{column}")
def hierarchy(project: Of, column: str, said: Levels) -> SpecFacts:
    """Keep a hierarchy with the table, and let the spec name it for a column."""
    names = Profiled(project).names
    if column not in names:
        raise ParameterError(unknown("Column", column, names))
    own = Hierarchy([tuple(row) for row in said.rows])
    digest = sha256(hierarchy_text(own).encode()).hexdigest()[:8]
    name = f"hierarchies/column-{names.index(column)}-{digest}.csv"
    write_hierarchy(own, project.folder / name)
    spec = with_settings(project.spec, column, {"hierarchy": name})
    check(project, spec)
    changed = project.change(spec=spec, revision=said.revision)
    return SpecFacts(revision=changed.revision, spec=changed.spec)


class Known(Strict):
    """What others may know of a person."""

    known: list[str] = Field(min_length=1, max_length=10_000, examples=[["age", "zip"]])
    unit: str | None = Field(None, description="The column that says whose row it is; none: every row is a person.")


class Alone(BaseModel):
    """How well people are hidden among those who agree with them."""

    people: int
    alone: int = Field(description="People whom nobody else agrees with.")
    below: dict[int, int] = Field(description="People in groups of fewer than so many.")
    mean: float = Field(description="The mean chance of being found.")
    looked_at: int | None = Field(description="People of a sample, where these are estimates.")


class SingledOut(BaseModel):
    """Whom some columns single out together, and whom the others do without each."""

    together: Alone
    without: dict[str, Alone]


@router.get("/tables/{key}/suggested")
def suggestions(project: Of) -> SuggestedFacts:
    """The spec that is suggested, why, and a question for every column nobody can decide but you."""
    table = Profiled(project)
    columns = {column["name"]: column for column in table.inspection["columns"]}
    return SuggestedFacts(spec=suggested(table.inspection), columns=columns, questions=table.inspection["questions"])


@router.post("/tables/{key}/singled-out")
def alone(project: Of, said: Known) -> SingledOut:
    """How many people each choice of known columns singles out; nothing is written."""
    table = Profiled(project)
    named = [*said.known, *([] if said.unit is None else [said.unit])]
    problems = [unknown("Column", name, table.names) for name in named if name not in table.columns]
    if problems:
        raise ParameterError(problems)
    found = table.singled_out({"roles": {"quasi_identifiers": list(dict.fromkeys(said.known)), "unit": said.unit}})
    assert found is not None  # at least one column is known
    together, without = found
    return SingledOut(together=_alone(together), without={name: _alone(one) for name, one in without.items()})


def _alone(found: Figures) -> Alone:
    return Alone(**{name: getattr(found, name) for name in Alone.model_fields})


def check(project: Project, spec: dict[str, Any]) -> None:
    """Raise everything that is wrong with a spec: what it says, files it names, its columns, its method."""
    try:
        json.dumps(spec, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError as error:
        raise SchemaError("The spec has a character that is none (half of a pair).") from error
    check_files(project, spec)
    table = Profiled(project)
    problems = problems_of(spec, table.inspection, project.folder)
    if problems:
        raise SchemaError(problems)
    if "method" in spec:
        method_of(spec, project.folder)
