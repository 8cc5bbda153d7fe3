"""COUNT answers from a release: an estimate, and bounds that are certain.

One generalised table (LeFevre, DeWitt & Ramakrishnan 2006, "Workload-aware anonymization"): a row counts by the share
of its cells that satisfies the query, every covered value being equally likely; it surely counts if its cells lie
inside the query, and possibly if they meet it.

Two tables (Xiao & Tao 2006, "Anatomy", Section 3): in a bucket of m rows of which b satisfy the quasi-identifier
predicates and c values satisfy the sensitive one, about b c / m rows satisfy both; at least max(0, b + c - m) and at
most min(b, c) do. Where the cells of the QIT are generalised, b is the expected, the certain and the possible number in
turn.

Bounds hold for the table the release was made from: each suppressed row may satisfy the query, so their number is added
to the upper bound. The estimate is about the published rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from undercover.errors import DataError, ParameterError, unknown
from undercover.forms.classes import BUCKET, COUNT, classes_of
from undercover.forms.domains import Domains, domain_of, shown_values
from undercover.forms.meaning import Values
from undercover.forms.predicates import ContinuousColumn, ListedColumn, Match
from undercover.forms.spread import read_cells
from undercover.forms.written import Written, written
from undercover.model.bins import bin_ends, touching
from undercover.model.drawn import is_perturbed
from undercover.model.queries import CountQuery, Predicate
from undercover.model.release import PublishedTable, Release
from undercover.model.schema import Kind
from undercover.model.table import Table

# Their cells are drawn at random: a published value is not the value of that row.
_PERTURBED = ("mutual-cover", "perturbed-generalization")


@dataclass(frozen=True)
class Answer:
    """How many rows satisfy a query.

    Examples
    --------
    >>> Answer(estimate=12.5, lower=8, upper=20)
    <Answer: about 12.5 rows, surely from 8 to 20>
    """

    estimate: float
    lower: int
    upper: int

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {"estimate": self.estimate, "lower": self.lower, "upper": self.upper}

    def __repr__(self) -> str:
        return f"<Answer: about {self.estimate:g} rows, surely from {self.lower:,} to {self.upper:,}>"


@dataclass(frozen=True, eq=False)
class Recipient:
    """Somebody who holds a release, knows some domains, and asks query after query.

    Parameters
    ----------
    release
        One generalised table, or ``qit`` and ``sat``.
    domains
        Which values columns can have: for each column a list, a ``range`` or a hierarchy, or the holder's encoded
        table. What is not given is read off the release; see :mod:`undercover.forms.domains`.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from undercover.model.queries import Between
    >>> from undercover.model.release import PublishedColumn
    >>> columns = (PublishedColumn("age", "quasi-identifier", "interval"), PublishedColumn("ill", "sensitive", "value"))
    >>> data = pa.table({"age": ["[20, 29]", "[20, 29]", "[30, 34]"], "ill": ["flu", "cold", "flu"]})
    >>> recipient = Recipient(Release("mondrian", {}, (PublishedTable("table", columns, data),), True))
    >>> recipient.answer(CountQuery(where={"age": Between(25, 34), "ill": "flu"}))
    <Answer: about 1.5 rows, surely from 1 to 2>
    >>> recipient.answer(CountQuery(where={"ill": "flu"}))
    <Answer: about 2 rows, surely from 2 to 2>
    """

    release: Release
    domains: Domains | None = None
    _columns: dict[str, ListedColumn | ContinuousColumn] = field(default_factory=dict, init=False, repr=False)
    _written: dict[tuple[str, str], Written] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        if self.release.method in _PERTURBED:
            raise ParameterError(
                f"Values published by {self.release.method} are drawn at random; they cannot be counted as they stand."
                + (" Ask undercover.PerturbedCounts." if is_perturbed(self.release) else "")
            )
        if len(self.release.tables) > 1:
            problems = classes_of(self.release).problems
            if problems:
                raise DataError(problems)

    @cached_property
    def main(self) -> PublishedTable:
        """The table with the quasi-identifiers."""
        return self.release.published("qit") if self.sensitive_table is not None else self.release.published()

    @cached_property
    def sensitive_table(self) -> PublishedTable | None:
        """The table with the sensitive values, where they are in one of their own."""
        return self.release.published("sat") if len(self.release.tables) > 1 else None

    def answer(self, query: CountQuery) -> Answer:
        """Answer one query."""
        homes = self._homes(query.where)
        asked = [{name: query.where[name] for name, table in homes.items() if table is at} for at in self._tables]
        rows = self.match(self.main, asked[0])
        if self.sensitive_table is None:
            found = float(rows.share.sum()), int(rows.certain.sum()), int(rows.possible.sum())
        else:
            found = self._joined(rows, self.match(self.sensitive_table, asked[1]))
        estimate, lower, upper = found
        return Answer(estimate, lower, upper + self.release.suppressed_rows)

    def match(self, table: PublishedTable, where: Mapping[str, Predicate]) -> Match:
        """Which rows of one published table satisfy predicates on its own columns."""
        everything = np.ones(table.rows, dtype=bool)
        found = Match(everything, everything.astype(np.float64), everything)
        for name, predicate in where.items():
            found = found.both(self._column(table, name).match(predicate).of_rows(self._cells(table, name).codes))
        return found

    @property
    def _tables(self) -> list[PublishedTable]:
        return [self.main] if self.sensitive_table is None else [self.main, self.sensitive_table]

    def _homes(self, names: Mapping[str, Predicate]) -> dict[str, PublishedTable]:
        """The table of each column asked about; buckets and counts are structure, not columns to ask about."""
        known = {column.name: table for table in self._tables for column in table.columns if column.role != "structure"}
        problems = [unknown("Column", name, known) for name in names if name not in known]
        if problems:
            raise ParameterError(problems)
        return {name: known[name] for name in names}

    def _joined(self, rows: Match, values: Match) -> tuple[float, int, int]:
        """Bucket by bucket: rows that satisfy the one part of the query, values that satisfy the other."""
        assert self.sensitive_table is not None
        in_qit, in_sat = self._cells(self.main, BUCKET), self._cells(self.sensitive_table, BUCKET)
        place = {label: i for i, label in enumerate(in_qit.labels)}
        of_sat = np.array([place[label] for label in in_sat.labels], dtype=np.int64)[in_sat.codes]
        people = np.asarray(self.sensitive_table.data.column(COUNT).to_numpy(), dtype=np.int64)
        certain, expected, possible = (
            np.bincount(in_qit.codes, weights=part.astype(np.float64), minlength=len(place))
            for part in (rows.certain, rows.share, rows.possible)
        )
        size = np.bincount(in_qit.codes, minlength=len(place))
        chosen = np.bincount(of_sat, weights=people * values.certain, minlength=len(place))
        return (
            float((expected * chosen / size).sum()),
            int(np.maximum(certain + chosen - size, 0).sum()),
            int(np.minimum(possible, chosen).sum()),
        )

    def _cells(self, table: PublishedTable, name: str) -> Written:
        key = (table.name, name)
        if key not in self._written:
            self._written[key] = written(table.data.column(name))
        return self._written[key]

    def _is_continuum(self, table: PublishedTable, name: str, cells: tuple[str, ...]) -> bool:
        """Whether declared bins hold all numbers between their ends."""
        stated = self.domains is not None and name in (
            self.domains.columns if isinstance(self.domains, Table) else self.domains
        )
        binned = table.form(name) == "interval" and name not in table.names("quasi-identifier")
        return binned and not stated and touching(bin_ends(cells))

    def _column(self, table: PublishedTable, name: str) -> ListedColumn | ContinuousColumn:
        if name not in self._columns:
            cells, form = self._cells(table, name).labels, table.form(name)
            values = None if self._is_continuum(table, name, cells) else domain_of(name, cells, form, self.domains)
            if values is not None:
                self._columns[name] = ListedColumn(name, values, read_cells(name, cells, form, values))
            else:
                self._columns[name] = ContinuousColumn.of_cells(name, cells, _ends(cells))
        return self._columns[name]


def answer(release: Release, query: CountQuery, *, domains: Domains | None = None) -> Answer:
    """How many rows satisfy a query, from a release alone.

    Parameters
    ----------
    release
        One generalised table, or ``qit`` and ``sat``.
    query
        What to count.
    domains
        Which values columns can have; see :class:`Recipient`, which is also the one to use for many queries.

    Examples
    --------
    >>> import undercover as uc
    >>> schema = uc.Schema(quasi_identifiers=["age", "sex"], sensitive="income")
    >>> run = uc.publish(uc.datasets.census(1000, seed=1), schema, uc.Mondrian(k=10), seed=1)
    >>> found = uc.answer(run.release, uc.CountQuery(where={"age": uc.Between(30, 40), "sex": "Female"}))
    >>> found.lower <= found.estimate <= found.upper
    True
    """
    return Recipient(release, domains).answer(query)


def _ends(cells: tuple[str, ...]) -> Values:
    """What ranges on a continuum show: their ends, as numbers or moments."""
    shown = shown_values(cells, "interval")
    present = tuple(label for label in shown if label != "")
    numbers = Values(present, "numeric", False).numbers
    kind: Kind = "numeric" if np.isfinite(numbers).all() else "date"
    return Values(present + ("",) * ("" in shown), kind, "" in shown)
