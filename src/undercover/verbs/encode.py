"""A table as codes, beside the population that its schema names."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from importlib.resources import files

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from undercover.engines.local import LocalEngine
from undercover.errors import DataError, ParameterError, SchemaError, described
from undercover.io.source import read
from undercover.memory import Store, size_in_words
from undercover.model.encoding.coded import distinct_values
from undercover.model.protocols import Engine
from undercover.model.schema import Missing, Schema
from undercover.model.table import Table
from undercover.randomness import Randomness
from undercover.wording import option

SHORTEST = 5
"""Letters and figures of an identifier that is looked for in words; a shorter one (a year) is found by chance."""
MOST_WORDS = 12
"""Of one identifier."""
LARGEST = 1e150
"""Numbers beyond it have squares that no float holds; the same of their inverses."""


def encoded(
    data: pa.Table,
    schema: Schema,
    one_row: Randomness | None = None,
    *,
    engine: Engine | None = None,
    store: Store | None = None,
) -> Table:
    """Check and encode a table, here or where an engine does; ``one_row`` draws the row of a unit that is kept."""
    store = store or Store()
    if engine is None or isinstance(engine, LocalEngine):
        table = Table.from_arrow(data, schema, one_row=one_row, empty=store.empty)
    else:
        table = engine.encode(data, schema, one_row=one_row)
    _check_sizes(table)
    people = schema.population
    if people is None or isinstance(people, int | float):
        return table
    return replace(table, population=_population(table, read(people, store=store).data))


def _check_sizes(table: Table) -> None:
    """Refuse numbers so large or so near to zero that sums, squares and quotients of them are none."""
    problems = []
    for name, column in table.columns.items():
        values = column.domain.values
        if not pa.types.is_floating(values.type):
            continue
        sizes = np.abs(values.to_numpy(zero_copy_only=False))
        outside = int(((sizes > LARGEST) | ((sizes < 1 / LARGEST) & (sizes > 0))).sum())
        if outside:
            problems.append(
                f"Column `{name}` has {outside:,} different numbers beyond {LARGEST:g}, or nearer to zero than "
                f"{1 / LARGEST:g}: nothing can be computed with them. Correct them, or give the column in another unit."
            )
    if problems:
        raise DataError(problems)


def check_fits(rows: int, method: str, memory: int) -> None:
    """Refuse a table before the work begins that will not fit, whatever is done, and say what is needed.

    >>> check_fits(10**12, "any", 10**9)
    Traceback (most recent call last):
    undercover.errors.ParameterError: 1,000,000,000,000 rows do not fit: any needs about 260 bytes for each ...
    """
    sizes: dict[str, int] = json.loads(files("undercover").joinpath("bytes_per_row.json").read_text())
    each = sizes.get(method, sizes["any"])
    if rows * each > memory:
        raise ParameterError(
            f"{rows:,} rows do not fit: {method} needs about {each} bytes for each with its report, "
            f"{size_in_words(rows * each)} in all, and {size_in_words(memory)} may be used. Allow more "
            f"({option(memory=...)}), take a larger machine, or publish a random sample of the rows."
        )


def check_said(schema: Schema, data: pa.Table) -> None:
    """Refuse words about the table and its columns, which are published, that have an identifier of somebody in it.

    >>> schema = Schema(identifiers="mail", quasi_identifiers="age", about={"contact": "Ask ada@example.org."})
    >>> check_said(schema, pa.table({"mail": ["Ada@example.org"], "age": [36]}))
    Traceback (most recent call last):
    undercover.errors.SchemaError: `about.contact` holds a value of the identifier `mail`, and it is published. ...
    """
    columns = {f"columns.{name}.{key}": w for name, own in schema.said["columns"].items() for key, w in own.items()}
    texts = {**{f"about.{name}": word for name, word in schema.said["about"].items()}, **columns}
    held = {name: data.column(name) for name in schema.identifiers if name in data.column_names} if texts else {}
    problems = []
    for name, column in held.items():
        values = pc.utf8_lower(pc.utf8_trim(distinct_values(column).cast(pa.string()), " \t()[]+#.,;:"))
        problems += [
            f"`{place}` holds a value of the identifier `{name}`, and it is published. Say it without."
            for place, text in texts.items()
            if pc.any(pc.is_in(values, value_set=pa.array(_spans(text), pa.string()))).as_py()
        ]
    if problems:
        raise SchemaError(problems)


def _spans(text: str) -> list[str]:
    """What stands in a text from one word's beginning to a word's end, in small letters, if it is long enough."""
    words = [(match.start(), match.end()) for match in re.finditer(r"\w+", text)]
    found = {
        text[start:end].lower()
        for first, (start, _) in enumerate(words)
        for _, end in words[first : first + MOST_WORDS]
    }
    return [span for span in found if len(re.sub(r"\W", "", span)) >= SHORTEST]


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
        who = ((name, described(sorted(values))) for name, values in lacking.items() if values)
        raise DataError(
            [f"Nobody of the population has {v} in `{n}`. It must have everybody of the table." for n, v in who]
        )
    return everybody
