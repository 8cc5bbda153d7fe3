"""``private/run.json``: what may stand in it. Whoever reads a run trusts it from here on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from undercover.errors import DataError
from undercover.io.release.before_forms import recipe_by_old_rules
from undercover.io.release.contents import check_layout, misfits, read_json
from undercover.io.source import ReadOptions
from undercover.io.spec.load import schema_from_mapping
from undercover.model.schema import Schema
from undercover.model.verdict import Reason, Verdict
from undercover.parsing import MALFORMED


class _Part(BaseModel):
    model_config = ConfigDict(extra="allow", strict=True)


class _Named(_Part):
    name: str


class _Method(_Named):
    parameters: dict[str, Any]


class _Source(_Part):
    path: str | None = None
    sha256: str | None = None
    rows: int | None = Field(None, ge=0, lt=2**62)
    read_as: str | None = None
    name: str | None = None
    columns: list[str] | None = None
    kinds: dict[str, str] | None = None
    options: dict[str, Any] | None = None
    digest: dict[str, str] | None = None
    one_row: int | None = Field(None, ge=0, lt=2**64)
    asked: dict[str, Any] | None = None


class _Randomness(_Part):
    source: str
    seed: int | None = None


class _Judged(_Part):
    verdict: str = ""
    policy: dict[str, Any]
    reasons: list[dict[str, Any]]


class _Run(_Part):
    method: _Method
    recipe: dict[str, Any] | None = None
    release: dict[str, Any] | None = None
    schema_: dict[str, Any] = Field(alias="schema")
    requirements: list[_Named] = []
    source: _Source
    randomness: _Randomness
    made: str = ""
    engine: dict[str, str | int] = {}
    timings: dict[str, float]
    groups: int = Field(ge=0, lt=2**31)
    diagnostics: dict[str, Any]
    self_test: dict[str, Any] = {}
    frames: list[str]
    warnings: list[str]
    judged: _Judged | None = None


def read_run(path: Path) -> tuple[dict[str, Any], Schema, Verdict | None]:
    """What the file says as it stands, with its recipe whoever wrote it; the schema and the verdict that are in it."""
    content = read_json(path)
    check_layout(content, path)
    try:
        _Run.model_validate(content)
        schema = schema_from_mapping(content["schema"])
        _fits(ReadOptions, ReadOptions(**content["source"].get("options") or {}))
        judged = Verdict.of(content["judged"]) if content.get("judged") is not None else None
        for reason in () if judged is None else judged.reasons:
            _fits(Reason, reason)
        recipe = content["recipe"] if "recipe" in content else recipe_by_old_rules(content)
    except ValidationError as error:
        raise DataError(f"`{path}` cannot be read as a run: {misfits(error)} missing or malformed.") from error
    except MALFORMED as error:
        raise DataError(f"`{path}` cannot be read as a run: {error!r}.") from error
    return {**content, "recipe": recipe}, schema, judged


def _fits(kind: Any, value: Any) -> None:
    """Raise where the fields of a dataclass, which takes anything, are not of the types it says."""
    TypeAdapter(kind).validate_python(vars(value))
