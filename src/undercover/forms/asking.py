"""Which rows of published tables satisfy predicates, for somebody who knows some domains: surely, or by what share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from undercover.errors import ParameterError, unknown
from undercover.forms.domains import Domains, domain_of, shown_values
from undercover.forms.meaning import Values
from undercover.forms.predicates import ContinuousColumn, ListedColumn, Match
from undercover.forms.reading import Reading
from undercover.forms.spread import read_cells
from undercover.model.bins import bin_ends, touching
from undercover.model.queries import Predicate
from undercover.model.release import PublishedTable
from undercover.model.schema import Kind
from undercover.model.table import Table


@dataclass(frozen=True, eq=False)
class Asking:
    """Somebody who holds a release and asks it; what he does not know of domains is read off the cells."""

    reading: Reading
    domains: Domains | None = None
    _columns: dict[str, ListedColumn | ContinuousColumn] = field(default_factory=dict, init=False, repr=False)

    @property
    def tables(self) -> list[PublishedTable]:
        """The tables that are asked: that of quasi-identifiers, and that of values where it is another."""
        main, values = self.reading.main, self.reading.values_table
        return [main] if values is main else [main, values]

    def homes(self, names: Mapping[str, Predicate]) -> dict[str, PublishedTable]:
        """The table of each column asked about; buckets and counts are structure, not columns to ask about."""
        known = {column.name: table for table in self.tables for column in table.columns if column.role != "structure"}
        problems = [unknown("Column", name, known) for name in names if name not in known]
        if problems:
            raise ParameterError(problems)
        return {name: known[name] for name in names}

    def matches(self, where: Mapping[str, Predicate]) -> list[Match]:
        """For each of the tables, which of its rows satisfy the predicates on its own columns."""
        homes = self.homes(where)
        return [
            self.match(table, {name: where[name] for name, home in homes.items() if home is table})
            for table in self.tables
        ]

    def match(self, table: PublishedTable, where: Mapping[str, Predicate]) -> Match:
        """Which rows of one published table satisfy predicates on its own columns."""
        everything = np.ones(table.rows, dtype=bool)
        found = Match(everything, everything.astype(np.float64), everything)
        for name, predicate in where.items():
            cells = self.reading.cells(table, name)
            found = found.both(self.column(table, name).match(predicate).of_rows(cells.codes))
        return found

    def column(self, table: PublishedTable, name: str) -> ListedColumn | ContinuousColumn:
        """What the distinct cells of a column stand for."""
        if name not in self._columns:
            cells, form = self.reading.cells(table, name).labels, table.form(name)
            values = None if self._is_continuum(table, name, cells) else domain_of(name, cells, form, self.domains)
            if values is not None:
                self._columns[name] = ListedColumn(name, values, read_cells(name, cells, form, values))
            else:
                self._columns[name] = ContinuousColumn.of_cells(name, cells, _ends(cells))
        return self._columns[name]

    def _is_continuum(self, table: PublishedTable, name: str, cells: tuple[str, ...]) -> bool:
        """Whether declared bins hold all numbers between their ends."""
        stated = self.domains is not None and name in (
            self.domains.columns if isinstance(self.domains, Table) else self.domains
        )
        binned = table.form(name) == "interval" and name not in table.names("quasi-identifier")
        return binned and not stated and touching(bin_ends(cells))


def _ends(cells: tuple[str, ...]) -> Values:
    """What ranges on a continuum show: their ends, as numbers or moments."""
    shown = shown_values(cells, "interval")
    present = tuple(label for label in shown if label != "")
    numbers = Values(present, "numeric", False).numbers
    kind: Kind = "numeric" if np.isfinite(numbers).all() else "date"
    return Values(present + ("",) * ("" in shown), kind, "" in shown)
