"""Columns, and all that is decided: the spec of a table as JSON, checked and written as a whole."""

from __future__ import annotations

import json
from typing import Any

from pydantic import BaseModel, Field

from undercover.errors import SchemaError
from undercover.io.spec.load import spec_from_mapping
from undercover.web.access.asking import Of
from undercover.web.api.own_files import check_files
from undercover.web.api.said import Strict
from undercover.web.api.said import router as part
from undercover.web.desks.desk import Missing
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


def check(project: Project, spec: dict[str, Any]) -> None:
    """Raise everything that is wrong with a spec: what it says, files it names, its columns, its method."""
    try:
        json.dumps(spec, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError as error:
        raise SchemaError("The spec has a character that is none (half of a pair).") from error
    check_files(project, spec)
    found = spec_from_mapping(spec, folder=project.folder)
    if project.profile is None:
        raise Missing("The table has not been read yet. Look at its jobs.")
    found.schema.check_against([column["name"] for column in project.profile["inspection"]["columns"]])
    if found.method_name is not None:
        method_of(spec, project.folder)
