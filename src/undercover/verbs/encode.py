"""A table as codes, beside the population that its schema names."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from undercover.errors import DataError, listed
from undercover.io.source import read
from undercover.model.schema import Missing, Schema
from undercover.model.table import Table
from undercover.randomness import Randomness


def encoded(data: pa.Table, schema: Schema, one_row: Randomness | None = None) -> Table:
    """Check and encode a table; ``one_row`` draws the row of every unit that is kept."""
    table = Table.from_arrow(data, schema, one_row=one_row)
    people = schema.population
    if people is None or isinstance(people, int | float):
        return table
    return replace(table, population=_population(table, read(people).data))


def _population(table: Table, data: pa.Table) -> Table:
    """Everybody the table is a sample of, who must have every value that the table has."""
    names = table.schema.quasi_identifiers
    settings = {name: table[name].settings for name in names}
    kinds = {name: table[name].domain.kind for name in names if table[name].domain.kind != "ordinal"}
    settings |= {name: replace(settings[name], kind=kind) for name, kind in kinds.items()}
    missing: Missing = "category" if table.schema.missing == "category" else "drop"
    everybody = Table.from_arrow(data, Schema(quasi_identifiers=names, columns=settings, missing=missing))
    lacking = {name: set(table[name].domain.labels) - set(everybody[name].domain.labels) for name in names}
    if any(lacking.values()):
        who = ((name, listed(sorted(values))) for name, values in lacking.items() if values)
        raise DataError(
            [f"Nobody of the population has {v} in `{n}`. It must have everybody of the table." for n, v in who]
        )
    return everybody
