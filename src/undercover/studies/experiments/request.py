"""What somebody asks of an experiment: on which table, how large, how often, and with which choices."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa

from undercover.errors import DataError, ParameterError, SchemaError, listed, unknown
from undercover.io.plain import plain
from undercover.io.source import Input
from undercover.io.spec.load import schema_to_mapping
from undercover.model.schema import Schema
from undercover.wording import option

Maker = Callable[[int, int], pa.Table]  # from a number of rows and a seed


@dataclass(frozen=True, kw_only=True)
class Request:
    """The choices that every experiment knows."""

    given: Input | None = None  # without it the built-in data are used
    schema: Schema | None = None
    rows: int | None = None  # of a file the first, of the generator as many as are asked for
    quick: bool = False  # a small variant that takes seconds
    repetitions: int | None = None  # by default what the experiment holds right
    seed: int = 0  # of the generator, the methods and the queries
    options: Mapping[str, str] = field(default_factory=dict)  # choices of the one experiment

    def __post_init__(self) -> None:
        problems = [
            f"The {name!r} of an experiment must be an int in [{least}, inf). Got {value!r} instead."
            for name, value, least in (
                ("rows", self.rows, 1),
                ("repetitions", self.repetitions, 1),
                ("seed", self.seed, 0),
            )
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < least)
        ]
        if problems:
            raise ParameterError(problems)
        if self.given is not None and self.schema is None:
            raise SchemaError(
                "Say what the columns of the table are: --qi age,sex,zip --sensitive disease, or give a --spec."
            )

    def choices(self, known: Iterable[str]) -> dict[str, str]:
        """The options, all of which must be known."""
        names = list(known)
        problems = [unknown("Option", name, names) for name in self.options if name not in names]
        if problems:
            raise ParameterError(problems)
        return dict(self.options)

    def whole(self) -> Request:
        """The same on the scale that the experiment holds right."""
        return replace(self, quick=False, rows=None, repetitions=None)

    def seeds(self, repetitions: int) -> str:
        """How often is measured, and with which seeds.

        >>> Request().seeds(1), Request(seed=4).seeds(3)
        ('1, seed 0', '3, seeds 4 to 6')
        """
        last = self.seed + repetitions - 1
        return f"{repetitions:,}, " + (f"seed {last}" if repetitions == 1 else f"seeds {self.seed} to {last}")

    def built_in(self, make: Maker, rows: int, schema: Schema, name: str = "built-in census", **choices: str) -> Source:
        """The table that was given, or else a built-in one of so many rows, if no other number was asked for."""
        generator = {"name": name, "rows": self.rows or rows, "seed": self.seed, **choices}
        return self.source(lambda: make(self.rows or rows, self.seed), generator, schema)

    def source(self, generate: Callable[[], pa.Table], generator: Mapping[str, Any], schema: Schema) -> Source:
        """The table that was given, or else the one ``generate`` makes; ``generator`` says all it depends on."""
        if self.given is None or self.schema is None:
            return Source(generate, schema, {"generator": dict(generator)}, str(generator["name"]), private=False)
        data, source = self.given.data, self.given.source
        if self.rows is not None:
            if self.rows > data.num_rows:
                raise DataError(
                    f"{option(rows=self.rows)} asks for {self.rows:,} rows. The table has {data.num_rows:,}."
                )
            data = data.slice(0, self.rows)
        self.schema.check_against(data.column_names)
        roles = schema_to_mapping(self.schema)
        identity = {
            "sha256": source.get("sha256"),
            "rows": data.num_rows,
            "quasi_identifiers": list(self.schema.quasi_identifiers),
            "sensitive": list(self.schema.sensitive),
            "content": _fingerprint(data.select(list(self.schema.published)), roles),
        }
        name = str(source.get("path") or "a frame").replace("\\", "/").rsplit("/", 1)[-1]
        return Source(lambda: data, self.schema, identity, name, private=True)


@dataclass(frozen=True)
class Source:
    """A table that can be had, and what it is known by."""

    load: Callable[[], pa.Table]
    schema: Schema
    identity: Mapping[str, Any]
    name: str
    private: bool

    @property
    def n_rows(self) -> int:
        """Rows of the table."""
        return int(self.identity.get("rows") or self.identity["generator"]["rows"])


def one_sensitive(schema: Schema) -> str:
    """The sensitive column of an experiment that takes one."""
    if len(schema.sensitive) != 1:
        raise SchemaError(f"This experiment takes one sensitive column. Got {listed(schema.sensitive)}.")
    return schema.sensitive[0]


def _fingerprint(data: pa.Table, roles: Mapping[str, Any]) -> str:
    """A hash of what was read and of what it is taken for: one file can be read in several ways."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, data.schema) as stream:
        stream.write_table(data)
    digest = hashlib.sha256(sink.getvalue())
    digest.update(json.dumps(plain(roles), sort_keys=True).encode())
    return digest.hexdigest()
