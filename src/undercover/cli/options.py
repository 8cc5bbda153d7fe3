"""Options that several commands take, and names, roles and settings as they are typed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from undercover.errors import ParameterError
from undercover.model.schema import INSENSITIVE

Data = Annotated[
    str, typer.Argument(help="A file (CSV, Parquet, Excel, SPSS, Stata, …), a folder of parts, or a database URL.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
Qi = Annotated[str | None, typer.Option("--qi", help="Quasi-identifiers, by commas: what an attacker may know.")]
Sensitive = Annotated[str | None, typer.Option(help="Sensitive columns, by commas: what he must not learn.")]
Identifiers = Annotated[str | None, typer.Option(help="Identifiers, by commas: never published.")]
Insensitive = Annotated[str | None, typer.Option(help=f"By commas; each is {INSENSITIVE}.")]
Unit = Annotated[
    str | None,
    typer.Option(help="The column that says whose row it is, where people have several; `row`: each row is a person."),
]
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


def settings_from_text(settings: Sequence[str]) -> dict[str, Any]:
    """``["k=5", "l=3"]`` as a mapping."""
    problems = [f"--set takes NAME=VALUE. Got {text!r} instead." for text in settings if "=" not in text]
    if problems:
        raise ParameterError(problems)
    return dict(text.split("=", 1) for text in settings)
