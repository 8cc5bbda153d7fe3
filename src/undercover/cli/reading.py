"""The table a command was given, read as its spec says; options on the command line win over the spec."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from undercover.errors import SchemaError
from undercover.io.source import Input, ReadOptions, read
from undercover.io.spark import SparkInput
from undercover.io.spec.load import ROLES, Spec, load_spec, resolve
from undercover.memory import Store, memory_of
from undercover.model.schema import Schema
from undercover.verbs.publish import engine_of
from undercover.verbs.spark.publish import far_input, reads_itself
from undercover.waiting import Progress
from undercover.wording import from_spec


def read_with_spec(
    data: str,
    spec_path: Path | None,
    roles: Mapping[str, tuple[str, ...]],
    missing: str | None = None,
    who: Mapping[str, Any] | None = None,
    *,
    memory: str | None = None,
    progress: Progress | None = None,
) -> tuple[Input, Schema | None, Spec | None, ReadOptions]:
    """Read ``data`` as the spec says; options on the command line win over the spec.

    With a ``progress`` a large table is held as codes.
    """
    spec, options = _spec(spec_path)
    allowed = memory or (spec.memory if spec else None)
    held: dict[str, Any] = {"store": Store(memory_of(allowed)), "progress": progress} if progress else {}
    given = read(data, options=options, **held)
    schema = None if spec is None else resolve(spec, given.data)
    if roles or missing or who:
        schema = _overlay(schema, roles, missing, who or {})
    return given, schema, spec, options


def far_with_spec(
    engine: str,
    data: str,
    spec_path: Path | None,
    roles: Mapping[str, tuple[str, ...]],
    missing: str | None,
    who: Mapping[str, Any],
) -> tuple[SparkInput, Schema | None, Spec | None, ReadOptions] | None:
    """The same where an engine reads ``data`` itself; ``None`` where it does not."""
    if not reads_itself(engine_of(engine), data):
        return None
    spec, options = _spec(spec_path)
    given = far_input(engine_of(engine), data, options)
    schema = None if spec is None else resolve(spec, given.values_of(spec.recipes))
    if roles or missing or who:
        schema = _overlay(schema, roles, missing, who)
    return given, schema, spec, options


def _spec(path: Path | None) -> tuple[Spec | None, ReadOptions]:
    """A spec, and how it says that data is read."""
    if path is None:
        return None, ReadOptions()
    spec = load_spec(path)
    from_spec(method=spec.method_name is not None)
    return spec, spec.options


def _overlay(
    schema: Schema | None, roles: Mapping[str, tuple[str, ...]], missing: str | None, who: Mapping[str, Any]
) -> Schema:
    if schema is None:
        if "quasi_identifiers" not in roles:
            raise SchemaError("Say which columns an attacker may know: --qi age,sex,zip, or give a --spec.")
        return Schema(**roles, **who, missing=missing or "error")  # type: ignore[arg-type]
    # A column given a role on the command line loses the one it had in the spec.
    taken = {name for names in roles.values() for name in names}
    taken |= {who["unit"]} if "unit" in who else set()
    had = {role: getattr(schema, role) for role in ROLES}
    parts = {role: tuple(name for name in names if name not in taken) for role, names in had.items()} | dict(roles)
    return replace(schema, **parts, **who, missing=missing or schema.missing)  # type: ignore[arg-type]


def with_text(options: ReadOptions, names: Sequence[str]) -> ReadOptions:
    """The same options, reading the named columns as they are written."""
    return replace(options, text=tuple(dict.fromkeys([*options.text, *names])))
