"""From options and a spec to a schema and a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from undercover.errors import ParameterError, SchemaError
from undercover.io.source import Input, ReadOptions, read
from undercover.io.spec.load import Spec, load_spec, resolve
from undercover.model.schema import Schema


def read_with_spec(
    data: str, spec_path: Path | None, roles: Mapping[str, tuple[str, ...]], missing: str | None = None
) -> tuple[Input, Schema | None, Spec | None, ReadOptions]:
    """Read ``data`` as the spec says; options on the command line win over the spec."""
    spec = None if spec_path is None else load_spec(spec_path)
    options = ReadOptions() if spec is None else spec.options
    given = read(data, options=options)
    schema = None
    if spec is not None:
        schema = resolve(spec, given.data)
    if roles or missing:
        schema = _overlay(schema, roles, missing)
    return given, schema, spec, options


def settings_from_text(settings: Sequence[str]) -> dict[str, Any]:
    """``["k=5", "l=3"]`` as a mapping.

    >>> settings_from_text(["k=5", "cut=median"])
    {'k': '5', 'cut': 'median'}
    """
    problems = [f"--set takes NAME=VALUE. Got {text!r} instead." for text in settings if "=" not in text]
    if problems:
        raise ParameterError(problems)
    return dict(text.split("=", 1) for text in settings)


def _overlay(schema: Schema | None, roles: Mapping[str, tuple[str, ...]], missing: str | None) -> Schema:
    if schema is None:
        if "quasi_identifiers" not in roles:
            raise SchemaError("Say which columns an attacker may know: --qi age,sex,zip, or give a --spec.")
        return Schema(**roles, missing=missing or "error")  # type: ignore[arg-type]
    parts = {
        "quasi_identifiers": schema.quasi_identifiers,
        "sensitive": schema.sensitive,
        "identifiers": schema.identifiers,
        "insensitive": schema.insensitive,
    }
    # A column given a role on the command line loses the one it had in the spec.
    taken = {name for names in roles.values() for name in names}
    parts = {role: tuple(name for name in names if name not in taken) for role, names in parts.items()} | dict(roles)
    return Schema(**parts, columns=schema.columns, missing=missing or schema.missing)  # type: ignore[arg-type]


def with_text(options: ReadOptions, names: Sequence[str]) -> ReadOptions:
    """The same options, reading the named columns as they are written."""
    return replace(options, text=tuple(dict.fromkeys([*options.text, *names])))
