"""What the benches of experiments share: a table that is encoded once, and parts of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import pyarrow as pa

from undercover.datasets import census
from undercover.model.protocols import Progress
from undercover.model.release import Release
from undercover.model.table import Table
from undercover.utility.queries.sum_workload import SumQueries
from undercover.utility.queries.sums import SumError, SumErrorResult


@dataclass(frozen=True, eq=False, kw_only=True)
class TableBench:
    """A table on which something is measured."""

    load: Callable[[], Table]  # called once
    queries: int = 0  # of each kind, where a release is asked for sums or counts
    _asked: dict[int, SumQueries] = field(default_factory=dict, init=False, repr=False)  # by seed

    @cached_property
    def table(self) -> Table:
        """The table, encoded on first use."""
        return self.load()

    def prepare(self, progress: Progress) -> None:
        """Encode the table before anything is measured."""
        progress("reading and encoding", 0.0)
        assert self.table is not None

    def sum_error(self, release: Release, seed: int) -> SumErrorResult | None:
        """How far sums are off, the same ones for every release of a seed; ``None`` where there are no numbers."""
        (sensitive,) = self.table.schema.sensitive
        if self.table[sensitive].domain.kind != "numeric":
            return None
        measure = SumError(queries=self.queries, seed=seed)
        if seed not in self._asked:
            self._asked[seed] = measure.drawn(self.table)
        return measure.of_release(self.table, release, self._asked[seed])


def part(table: Table, names: tuple[str, ...], copies: int = 1) -> Table:
    """A table with some of its quasi-identifiers, so many times one below the other."""
    kept = (*names, *table.schema.sensitive)
    settings = {name: column for name, column in table.schema.columns.items() if name in kept}
    schema = replace(table.schema, quasi_identifiers=names, identifiers=(), insensitive=(), columns=settings)
    narrow = Table(schema, {name: table[name] for name in kept}, table.n_rows, table.kept, table.n_input, {})
    return narrow if copies == 1 else narrow.take(np.tile(np.arange(table.n_rows), copies))


def grouped_census(rows: int, seed: int) -> pa.Table:
    """The built-in census with fifty groups of occupations, as many as the papers' SAL and OCC have."""
    people = census(rows, seed)
    groups = (people["occupation"].to_numpy() // 10).astype(np.int16)
    return people.append_column("occupation_group", pa.array(groups))
