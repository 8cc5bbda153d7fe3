"""Options that several commands take, and what becomes of them: names, roles, a schema and a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from undercover.errors import ParameterError, SchemaError
from undercover.io.source import Input, ReadOptions, read
from undercover.io.spark import SparkInput
from undercover.io.spec.load import ROLES, Spec, load_spec, resolve
from undercover.memory import Store, memory_of
from undercover.model.schema import INSENSITIVE, Schema
from undercover.verbs.publish import engine_of
from undercover.verbs.spark.publish import far_input, reads_itself
from undercover.waiting import Progress
from undercover.wording import from_spec

Data = Annotated[
    str, typer.Argument(help="A file (CSV, Parquet, Excel, SPSS, Stata, …), a folder of parts, or a database URL.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
Qi = Annotated[str | None, typer.Option("--qi", help="Quasi-identifiers, by commas: what an attacker may know.")]
Sensitive = Annotated[str | None, typer.Option(help="Sensitive columns, by commas: what he must not learn.")]
Identifiers = Annotated[str | None, typer.Option(help="Identifiers, by commas: never published.")]
Insensitive = Annotated[str | None, typer.Option(help=f"By commas; each is {INSENSITIVE}.")]
Unit = Annotated[str | None, typer.Option(help="The column that says whose row it is, where people have several.")]
OneRowPer = Annotated[str | None, typer.Option(help="Keep one row of every unit: its first, last or a random one.")]
Weight = Annotated[str | None, typer.Option(help="The column of sampling weights: people a row stands for.")]
Population = Annotated[str | None, typer.Option(help="The share of the population in the table, or a table of it.")]
Drop = Annotated[str | None, typer.Option(help="Columns not to publish, by commas; '*' is all others.")]
Missing = Annotated[str | None, typer.Option(help="What a missing value means: error, drop or category.")]
SpecFile = Annotated[Path | None, typer.Option("--spec", help="A spec in TOML; `inspect --write-spec` writes one.")]
Require = Annotated[
    list[str] | None,
    typer.Option(help="What must hold, such as k=5, l=3, distinct-l=3, t=0.2, growth=0.25 or rho1=0.2,rho2=0.5."),
]
PolicyName = Annotated[
    str | None, typer.Option("--policy", help="What may happen to people: standard, open, research, none, or a file.")
]
LedgerFile = Annotated[Path | None, typer.Option("--ledger", help="A private record of who was published before.")]
DespiteEarlier = Annotated[bool, typer.Option(help="Publish although earlier releases of the same people break it.")]
NewRelease = Annotated[Path, typer.Option(help="The release folder to make.")]
Seed = Annotated[int | None, typer.Option(help="Reproducible, and therefore not for publication.")]
TablesAs = Annotated[str, typer.Option(help="Of the published tables: csv, parquet, xlsx, dta or sav.")]
SafeForSpreadsheets = Annotated[
    bool, typer.Option(help="Keep spreadsheets from taking cells of csv and xlsx files for formulas.")
]
RowsPerFile = Annotated[int | None, typer.Option(help="Most rows of a csv or parquet file; more lie in parts.")]
Engine = Annotated[str, typer.Option(help="Where the work runs: local or spark.")]
Memory = Annotated[str | None, typer.Option(help="How much may be used, such as 8GB; by default most of what is free.")]
Parts = Annotated[int | None, typer.Option(help="Cut the table into so many parts, to need less memory.")]
Force = Annotated[bool, typer.Option(help="Replace what stands there.")]
Accept = Annotated[str | None, typer.Option(help="Publish even if the verdict says not to: why.")]
By = Annotated[str | None, typer.Option(help="Who decides; by default whoever is logged in.")]
Fresh = Annotated[bool, typer.Option("--fresh", help="Forget what is in the folder.")]
Original = Annotated[str | None, typer.Option(help="The original table: a file or database URL.")]
Known = Annotated[str | None, typer.Option(help="What the attacker knows, by commas; by default all.")]


def names(text: str | None) -> tuple[str, ...] | None:
    """Names by commas."""
    return None if text is None else tuple(name.strip() for name in text.split(",") if name.strip())


def roles(**given: str | None) -> dict[str, tuple[str, ...]]:
    """The roles that were given, as a schema calls them."""
    called = {"qi": "quasi_identifiers"}
    return {called.get(role, role): names(text) or () for role, text in given.items() if text is not None}


def who(*, unit: str | None, one_row_per: str | None, weight: str | None, population: str | None) -> dict[str, Any]:
    """What was said of people and of the population; a population that is no number is a table."""
    said: dict[str, Any] = {"unit": unit, "one_row_per": one_row_per, "weight": weight, "population": population}
    try:
        said["population"] = None if population is None else float(population)
    except ValueError:
        said["population"] = population
    return {name: value for name, value in said.items() if value is not None}


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


def settings_from_text(settings: Sequence[str]) -> dict[str, Any]:
    """``["k=5", "l=3"]`` as a mapping."""
    problems = [f"--set takes NAME=VALUE. Got {text!r} instead." for text in settings if "=" not in text]
    if problems:
        raise ParameterError(problems)
    return dict(text.split("=", 1) for text in settings)


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
