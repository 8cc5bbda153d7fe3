"""COUNT queries that somebody brings: read from a file, counted in the table, and estimated from a release of any form.

The file is TOML, a ``[[count]]`` for every query::

    [[count]]
    where = {age = {between = [30, 40]}, sex = "F", disease = ["flu", "cold"]}

A value means that value, a list one of several; ``{not = [...]}`` is none of them, and an end of ``between`` may be
left open with ``"any"``. A query asks about quasi-identifiers and at most one sensitive column.

A query is taken apart into ranges of positions and single sensitive values, which is what
:mod:`undercover.utility.queries.workload` counts, and the parts are added up. Errors are those of
:mod:`undercover.utility.queries.counts`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from undercover.errors import ParameterError, SchemaError, listed, unknown
from undercover.forms.answers.asking import ListedColumn
from undercover.forms.coverage import Coverage
from undercover.forms.meaning import domain_values, leaf_values
from undercover.forms.spread import spread_of_rows
from undercover.model.queries import Between, CountQuery, NoneOf, OneOf, Predicate
from undercover.model.release import Release
from undercover.model.table import Table
from undercover.parsing import toml_of
from undercover.utility.queries.counts import FLOOR, estimated
from undercover.utility.queries.workload import Workload, evaluate

OPEN = "any"
MOST_PARTS = 100_000  # of one query
_EXAMPLE = '[[count]] and where = {age = {between = [30, 40]}, sex = "F"}'


def read_queries(path: str | os.PathLike[str]) -> tuple[CountQuery, ...]:
    """The queries of a file; everything that is wrong with it is told together."""
    place = Path(path)
    content = toml_of(place, "workload", ParameterError)
    entries, problems = content.get("count"), []
    if set(content) != {"count"} or not isinstance(entries, list) or not entries:
        raise ParameterError(f"The workload `{place}` must have queries and nothing else: {_EXAMPLE}.")
    found: list[CountQuery] = []
    for number, entry in enumerate(entries, start=1):
        where = entry.get("where") if isinstance(entry, Mapping) else None
        if not isinstance(where, Mapping) or set(entry) != {"where"} or not where:
            problems.append(f"Query {number} of `{place}` must have `where` and nothing else: {_EXAMPLE}.")
            continue
        try:
            found.append(CountQuery(where={name: _predicate(name, said) for name, said in where.items()}))
        except ParameterError as error:
            problems += [f"Query {number} of `{place}`: {problem}" for problem in error.problems]
    if problems:
        raise ParameterError(problems)
    return tuple(found)


def _predicate(name: str, said: Any) -> Predicate:
    if not isinstance(said, Mapping):
        return OneOf(said)
    if set(said) == {"between"} and isinstance(said["between"], list) and len(said["between"]) == 2:
        low, high = (None if end == OPEN else end for end in said["between"])
        return Between(low, high)
    if set(said) == {"not"}:
        return NoneOf(said["not"])
    raise ParameterError(f"What is asked of `{name}` is a value, a list, {{between = [low, high]}} or {{not = [...]}}.")


class Part(NamedTuple):
    """Simple queries about the same columns, and to which query of the file each belongs."""

    sensitive: str
    workload: Workload
    belongs: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class AskedQueries:
    """Queries taken apart, ready to be put to releases of one table.

    Examples
    --------
    >>> import undercover as uc
    >>> schema = uc.Schema(quasi_identifiers=["age", "sex"], sensitive="income")
    >>> run = uc.publish(uc.datasets.census(1000), schema, uc.Mondrian(k=10))
    >>> asked = AskedQueries.of(run.original, [CountQuery(where={"age": Between(30, 40)})])
    >>> 0 <= float(asked.errors(run.release)[0]) < 1
    True
    """

    original: Table
    parts: tuple[Part, ...]
    exact: NDArray[np.float64]

    @classmethod
    def of(cls, original: Table, queries: Sequence[CountQuery]) -> AskedQueries:
        """Check the queries against a table and count in it."""
        schema, problems = original.schema, []
        for number, query in enumerate(queries, start=1):
            known = (*schema.quasi_identifiers, *schema.sensitive)
            problems += [
                f"Query {number}: {unknown('Column', name, known)}" for name in query.where if name not in known
            ]
            secret = [name for name in query.where if name in schema.sensitive]
            if len(secret) > 1:
                problems.append(f"Query {number} asks about {listed(secret)}: one sensitive column at a time.")
        if not schema.sensitive:
            problems.append("COUNT queries ask about a sensitive value as well, and the table has no sensitive column.")
        if problems:
            raise SchemaError(problems)
        parts = _together([_taken_apart(original, query, place) for place, query in enumerate(queries)])
        exact = np.zeros(len(queries))
        for sensitive, workload, belongs in parts:
            spread = spread_of_rows(original, workload.names, sensitive)
            np.add.at(exact, belongs, evaluate(spread, [workload], (), "direct")[0])
        return cls(original, parts, np.rint(exact))

    def errors(self, release: Release) -> NDArray[np.float64]:
        """(n_queries,) relative error of every answer."""
        found = np.zeros(len(self.exact))
        for sensitive, workload, belongs in self.parts:
            (counted,) = estimated(self.original, release, workload.names, sensitive, [workload], "direct")
            np.add.at(found, belongs, counted)
        return np.abs(found - self.exact) / np.maximum(self.exact, FLOOR * self.original.n_rows)


def _together(parts: Sequence[Part]) -> tuple[Part, ...]:
    """One part for all queries about the same columns: a release is read once for them."""
    alike: dict[tuple[str, ...], list[Part]] = {}
    for part in parts:
        alike.setdefault((part.sensitive, *part.workload.names), []).append(part)
    return tuple(
        Part(
            sensitive,
            Workload(
                tuple(names),
                np.concatenate([part.workload.values for part in found]),
                np.concatenate([part.workload.lows for part in found]),
                np.concatenate([part.workload.highs for part in found]),
            ),
            np.concatenate([part.belongs for part in found]),
        )
        for (sensitive, *names), found in alike.items()
    )


def _taken_apart(original: Table, query: CountQuery, place: int) -> Part:
    schema = original.schema
    sensitive = next((name for name in query.where if name in schema.sensitive), schema.sensitive[0])
    names = [name for name in query.where if name in schema.quasi_identifiers] or [schema.quasi_identifiers[0]]
    values = np.flatnonzero(_asked(original, sensitive, query))
    runs = [_runs(_asked(original, name, query)) for name in names]
    size = len(values) * int(np.prod([len(found) for found in runs]))
    if size > MOST_PARTS:
        raise ParameterError(f"Query {place + 1} falls into {size:,} parts; ask for ranges, or for fewer values.")
    ranges = np.array(list(product(*runs)), dtype=np.int64).reshape(-1, len(names), 2)
    count = len(ranges)
    boxes = np.tile(ranges, (len(values), 1, 1))
    workload = Workload(tuple(names), np.repeat(values, count), boxes[:, :, 0].copy(), boxes[:, :, 1].copy())
    return Part(sensitive, workload, np.full(len(boxes), place, dtype=np.int64))


def _asked(original: Table, name: str, query: CountQuery) -> NDArray[np.bool_]:
    """Which values of a column satisfy a query; all where it does not ask about it."""
    secret = name in original.schema.sensitive
    values = domain_values(original[name]) if secret else leaf_values(original[name])
    if name not in query.where:
        return np.ones(values.size, dtype=bool)
    nothing = np.zeros(0, dtype=np.int64)
    return ListedColumn(name, values, Coverage.of_ranges(nothing, nothing, values.size)).asked(query.where[name])


def _runs(asked: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """First and last position of every stretch that is asked for."""
    edges = np.diff(np.concatenate([[False], asked, [False]]).astype(np.int8))
    return list(zip(np.flatnonzero(edges == 1).tolist(), (np.flatnonzero(edges == -1) - 1).tolist(), strict=True))
