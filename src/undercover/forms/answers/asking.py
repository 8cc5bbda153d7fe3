"""Which cells of a published column satisfy a predicate: surely, possibly, and with what share.

A cell satisfies a predicate surely if every value it covers does, possibly if one does, and by a share that is the part
of the covered values that do (every value equally likely). On a continuum the share is one of length.

Which rows of published tables satisfy predicates, for somebody who knows some domains: surely, or by what share.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from undercover.arrays import look_up
from undercover.errors import DataError, ParameterError, unknown
from undercover.forms.answers.domains import Domains, domain_of, shown_values
from undercover.forms.coverage import Coverage
from undercover.forms.meaning import NOTHING, Values
from undercover.forms.reading import Reading
from undercover.forms.spread import read_cells
from undercover.model.bins import bin_ends, touching
from undercover.model.cells import EVERYTHING, looks_generalized, read_interval
from undercover.model.queries import Between, OneOf, Predicate, label_of
from undercover.model.release import PublishedTable
from undercover.model.schema import Kind
from undercover.model.table import Table

Floats = NDArray[np.float64]


class Match(NamedTuple):
    """For every cell, or every row: surely, by what share, possibly."""

    certain: NDArray[np.bool_]
    share: Floats
    possible: NDArray[np.bool_]

    def of_rows(self, cells: NDArray[np.integer]) -> Match:
        """The same for rows, given the cell of each."""
        return Match(*(look_up(one, cells) for one in (self.certain, self.share, self.possible)))

    def both(self, other: Match) -> Match:
        """Both predicates, on different columns taken as independent within a row."""
        return Match(self.certain & other.certain, self.share * other.share, self.possible & other.possible)


@dataclass(frozen=True, eq=False)
class ListedColumn:
    """A column whose values can be listed."""

    name: str
    values: Values
    coverage: Coverage

    def match(self, predicate: Predicate) -> Match:
        """Count, in every cell, the covered values that satisfy the predicate."""
        covered = self.coverage.covered(self.asked(predicate))
        return Match(covered == self.coverage.sizes, covered / self.coverage.sizes, covered > 0)

    def asked(self, predicate: Predicate) -> NDArray[np.bool_]:
        """(n_positions,) which values satisfy the predicate."""
        if isinstance(predicate, Between):
            return self._between(predicate)
        chosen = np.zeros(self.values.size, dtype=bool)
        for label in map(label_of, predicate.values):
            meaning = self.values.read(label, "interval" if self._is_range(label) else "value")
            if meaning == NOTHING and label and self.values.kind in ("categorical", "ordinal"):
                raise ParameterError(unknown(f"Value of column `{self.name}`", label, self.values.labels))
            chosen[meaning.low : meaning.high + 1] = True
        return chosen if isinstance(predicate, OneOf) else ~chosen

    def _is_range(self, label: str) -> bool:
        """Whether a published range such as ``[0, 9]`` is asked for, which stands for the numbers in it."""
        return self.values.kind == "numeric" and label not in self.values.position and looks_generalized(label)

    def _between(self, predicate: Between) -> NDArray[np.bool_]:
        if self.values.kind == "categorical":
            raise ParameterError(
                f"The values of column `{self.name}` have no order. Ask with OneOf instead of Between."
            )
        inside = np.ones(self.values.size, dtype=bool)
        place = np.arange(self.values.size)
        if self.values.has_missing:
            inside[-1] = False
        if self.values.kind == "ordinal":
            scale, ends = place.astype(np.float64), {label: float(i) for i, label in enumerate(self.values.labels)}
            low, high = (
                None if end is None else self._rank(label_of(end), ends) for end in (predicate.low, predicate.high)
            )
        else:
            scale = self.values.numbers
            low, high = (number_of(self.name, end, self.values) for end in (predicate.low, predicate.high))
        if low is not None:
            inside &= scale >= low if predicate.low_included else scale > low
        if high is not None:
            inside &= scale <= high if predicate.high_included else scale < high
        return inside

    def _rank(self, label: str, ranks: dict[str, float]) -> float:
        if label not in ranks:
            raise ParameterError(unknown(f"Value of column `{self.name}`", label, self.values.labels))
        return ranks[label]


@dataclass(frozen=True, eq=False)
class ContinuousColumn:
    """A column of ranges on a continuum: numbers that are not all whole, or moments."""

    name: str
    values: Values  # what is shown of the column: its ends
    low: Floats  # (n_cells,)
    high: Floats  # (n_cells,)
    missing: NDArray[np.bool_]  # (n_cells,) a missing value
    unsure: NDArray[np.bool_]  # (n_cells,) a number or a missing value

    @classmethod
    def of_cells(cls, name: str, cells: tuple[str, ...], values: Values) -> ContinuousColumn:
        """Read the ends of every cell."""
        numbers = values.numbers[: values.size - values.has_missing]
        low, high = np.zeros(len(cells)), np.zeros(len(cells))
        for i, cell in enumerate(cells):
            if cell[:1] == "{":
                raise DataError(
                    f"Column `{name}` is published as ranges and sets. Say its values: domains={{{name!r}: [...]}}."
                )
            ends = (numbers.min(), numbers.max())
            if cell not in (EVERYTHING, ""):
                ends = tuple(numbers[values.position[end]] for end in read_interval(cell))
            low[i], high[i] = ends
        star = np.array([cell == EVERYTHING for cell in cells], dtype=bool)
        missing = np.array([cell == "" for cell in cells], dtype=bool)
        return cls(name, values, low, high, missing, star & values.has_missing)

    def match(self, predicate: Predicate) -> Match:
        """Compare the ends of every cell with the predicate."""
        if isinstance(predicate, Between):
            return self._between(predicate)
        found = Match(*(np.zeros(len(self.low), dtype=kind) for kind in (bool, np.float64, bool)))
        for value in predicate.values:
            if isinstance(value, str) and looks_generalized(value):  # a published range, which stands for what is in it
                there = self._between(Between(*read_interval(value)))
                found = Match(
                    found.certain | there.certain,
                    np.minimum(found.share + there.share, 1.0),
                    found.possible | there.possible,
                )
                continue
            at = number_of(self.name, value, self.values)
            if at is None:
                exactly, inside = self.missing, self.missing | self.unsure
            else:
                inside = (self.low <= at) & (at <= self.high) & ~self.missing
                exactly = inside & (self.low == self.high) & ~self.unsure
            found = Match(found.certain | exactly, np.maximum(found.share, exactly), found.possible | inside)
        return found if isinstance(predicate, OneOf) else Match(~found.possible, 1.0 - found.share, ~found.certain)

    def _between(self, predicate: Between) -> Match:
        low, high = (number_of(self.name, end, self.values) for end in (predicate.low, predicate.high))
        low, high = -np.inf if low is None else low, np.inf if high is None else high
        above = self.low >= low if predicate.low_included else self.low > low
        below = self.high <= high if predicate.high_included else self.high < high
        reaches = self.high >= low if predicate.low_included else self.high > low
        begins = self.low <= high if predicate.high_included else self.low < high
        certain = above & below & ~self.missing & ~self.unsure
        possible = reaches & begins & ~self.missing & (low <= high)
        length = self.high - self.low
        overlap = np.maximum(np.minimum(self.high, high) - np.maximum(self.low, low), 0.0)
        share = np.divide(overlap, length, out=(above & below).astype(np.float64), where=length > 0)
        return Match(certain, np.where(possible, share, 0.0), possible)


def number_of(name: str, end: object, values: Values) -> float | None:
    """An end of a range on the scale of its column; ``None`` where there is none."""
    if end is None:
        return None
    number = float(Values((label_of(end),), values.kind, False).numbers[0])
    if not np.isfinite(number):
        kind = "a date" if values.kind == "date" else "a number"
        raise ParameterError(f"Column `{name}` is asked for {kind}. Got {end!r} instead.")
    return number


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

    def homes(self, names: Iterable[str]) -> dict[str, PublishedTable]:
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
