"""What a release is for, and how far it is from what the table itself would give: 0 is the table, more is worse.

- ``looking``: the distance between the true distribution of two columns and the one a recipient estimates, mean over
  all pairs (:mod:`undercover.utility.kept`). It is defined for every form of release, which the width of a cell is not.
- ``queries``: mean relative error of COUNT queries, those of a file or random ones about one to three neighbouring
  quasi-identifiers and a sensitive value.
- ``learning:COLUMN``: the share of the original rows that a tree gets wrong which was trained on the release to tell
  a sensitive column, beyond what it gets wrong if trained on the table.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from undercover.errors import ParameterError, SchemaError, unknown
from undercover.forms import read
from undercover.forms.estimates import estimates_of_rows
from undercover.model.cells import EVERYTHING
from undercover.model.queries import CountQuery
from undercover.model.release import PublishedColumn, PublishedTable, Release
from undercover.model.schema import Schema
from undercover.model.table import Table
from undercover.utility.classification import Classification
from undercover.utility.kept import distances_of
from undercover.utility.queries.asked import AskedQueries, read_queries
from undercover.utility.queries.counts import QueryError

PURPOSES = ("looking", "queries", "learning:COLUMN")
LITTLE = 0.1  # what is kept of a useless release, of all that could be
QUERIES = 50  # about each set of columns

Loss = Callable[[Release], float]


@dataclass(frozen=True)
class Purpose:
    """What a release is for; ``measured`` says in words what its loss is, after "by how much"."""

    name: str
    measured: str
    on: Callable[[Table], Loss]  # of releases of a table

    def __repr__(self) -> str:
        return f"<Purpose {self.name}: {self.measured}>"


def purpose_of(
    name: str | Purpose, schema: Schema, workload: str | os.PathLike[str] | Sequence[CountQuery] | None = None
) -> Purpose:
    """A purpose by its name; a ``workload`` of queries is one for queries.

    >>> purpose_of("looking", Schema(quasi_identifiers="age"))
    <Purpose looking: distance of pairs of columns from the truth>
    >>> purpose_of("lookin", Schema(quasi_identifiers="age"))
    Traceback (most recent call last):
    undercover.errors.ParameterError: Purpose `lookin` is not known. Did you mean `looking`? There are: ...
    """
    if isinstance(name, Purpose):
        return name
    kind, _, column = name.partition(":")
    if workload is not None and name not in ("queries", "looking"):
        raise ParameterError(f"A workload is for queries, and `{name}` asks for something else. Leave one of them out.")
    if workload is not None:
        asked = read_queries(workload) if isinstance(workload, str | os.PathLike) else tuple(workload)
        words = f"mean relative error of the {len(asked):,} COUNT queries of the workload"
        return Purpose("queries", words, lambda table: _asked(table, asked))
    if name == "looking":
        return Purpose(name, "distance of pairs of columns from the truth", _pairs)
    if name == "queries":
        if not schema.sensitive:
            raise SchemaError("COUNT queries ask about a sensitive value, and the table has no sensitive column.")
        return Purpose(name, "mean relative error of random COUNT queries", _queries)
    if kind == "learning":
        if column not in schema.sensitive:
            raise SchemaError(f"What is learnt is a sensitive column. {unknown('Column', column, schema.sensitive)}")
        words = f"share of rows in which a tree is wrong about `{column}` beyond one trained on the table"
        return Purpose(name, words, lambda table: _learnt(table, column))
    raise ParameterError(unknown("Purpose", name, PURPOSES))


def nothing_kept(table: Table) -> Release:
    """The table with ``*`` for every quasi-identifier: what there is to lose."""
    schema = table.schema
    columns = [PublishedColumn(name, "quasi-identifier", "set") for name in schema.quasi_identifiers]
    columns += [PublishedColumn(name, "sensitive", "value") for name in schema.sensitive]
    data = {name: pa.repeat(EVERYTHING, table.n_rows) for name in schema.quasi_identifiers}
    data |= {name: pa.array(table[name].domain.labels).take(pa.array(table[name].codes)) for name in schema.sensitive}
    return Release("nothing", {}, (PublishedTable("table", tuple(columns), pa.table(data)),), True)


def neighbours(names: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Sets of one, two and three columns, as many of each as there are columns; every column is in equally many."""
    count = len(names)
    around = (
        tuple(sorted((start + step) % count for step in range(size)))
        for size in range(1, min(3, count) + 1)
        for start in range(count)
    )
    return tuple(tuple(names[place] for place in places) for places in dict.fromkeys(around))


def _pairs(table: Table) -> Loss:
    def loss(release: Release) -> float:
        far = distances_of(table, read(release).estimates(table))
        return far.mean if far.pair_mean is None else far.pair_mean

    return loss


def _queries(table: Table) -> Loss:
    def loss(release: Release) -> float:
        shown = read(release).main.names("quasi-identifier")
        sets = neighbours([name for name in table.schema.quasi_identifiers if name in shown])
        errors = [
            result.errors
            for name in table.schema.sensitive
            for result in QueryError(quasi_identifiers=sets, sensitive=name, queries=QUERIES)
            .of_release(table, release)
            .values()
        ]
        return float(np.concatenate(errors).mean())

    return loss


def _asked(table: Table, queries: Sequence[CountQuery]) -> Loss:
    asked = AskedQueries.of(table, queries)
    return lambda release: float(asked.errors(release).mean())


def _learnt(table: Table, column: str) -> Loss:
    task = Classification(sensitive=column)
    best = task.error(table, estimates_of_rows(table))
    return lambda release: max(0.0, task.error(table, read(release).estimates(table)) - best)
