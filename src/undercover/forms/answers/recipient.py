"""COUNT and SUM answers from a release: an estimate, and bounds that are certain.

COUNT. One generalised table (LeFevre, DeWitt & Ramakrishnan 2006, "Workload-aware anonymization"): a row counts by the
share of its cells that satisfies the query, every covered value being equally likely; it surely counts if its cells lie
inside the query, and possibly if they meet it.

Two tables (Xiao & Tao 2006, "Anatomy", Section 3): in a bucket of m rows of which b satisfy the quasi-identifier
predicates and c values satisfy the sensitive one, about b c / m rows satisfy both; at least max(0, b + c - m) and at
most min(b, c) do. Where the cells of the QIT are generalised, b is the expected, the certain and the possible number in
turn.

Bounds hold for the table the release was made from: each suppressed row may satisfy the query, so their number is added
to the upper bound. The estimate is about the published rows.

SUM. One generalised table: a row's own value is published, so the bounds are the sums over the rows that surely count
and over those that possibly do (Li, Wang & He, "Mutual Cover", Section 5; Zhang et al. 2007 for the question). Two
tables: of a bucket of m rows between b and b' satisfy the quasi-identifier predicates, surely and possibly; the sum is
at least that of its b smallest values and at most that of its b' largest. With a predicate on the sensitive value, c of
the m values are left, and between max(0, b + c - m) and min(b', c) of them count. A column published as declared bins
(``[0, 9999]``): each row adds the middle of its bin to the estimate and the ends to the bounds. Quasi-identifiers drawn
at random: the plain sum over the published rows, without bounds. Values may be negative: then fewer rows may give more,
and the bounds take that into account. A missing value adds nothing; what suppressed rows would add nobody can bound.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from undercover.arrays import look_up
from undercover.errors import DataError, NotTold, ParameterError
from undercover.forms import read
from undercover.forms.answers.asking import Asking, Match
from undercover.forms.answers.bucket_values import BucketValues, Floats
from undercover.forms.answers.domains import Domains
from undercover.forms.distribution import BucketTable
from undercover.forms.reading import Reading
from undercover.model.bins import bin_ends
from undercover.model.figures import outwards
from undercover.model.queries import CountQuery, Predicate, Scalar, SumQuery
from undercover.model.release import PublishedTable, Release
from undercover.model.view import Figure, Said, View, Viewable, facts, say

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Answer(Viewable):
    """How many rows satisfy a query."""

    estimate: float
    lower: int
    upper: int

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {"estimate": self.estimate, "lower": self.lower, "upper": self.upper}

    def view(self) -> View:
        """What it shows."""
        surely = say("from {count} to {count}", self.lower, self.upper)
        return View("count", "Count", (facts(("about", say("{count} rows", self.estimate)), ("surely", surely)),))

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
        table. What is not given is read off the release; see :mod:`undercover.forms.answers.domains`.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from undercover.model.queries import Between
    >>> from undercover.model.release import PublishedColumn, PublishedTable
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

    def __post_init__(self) -> None:
        reading = read(self.release)
        if not (reading.covers and reading.true_values):
            did = "changed places" if reading.permuted else "are drawn"
            raise NotTold(
                f"Values published by {self.release.method} {did} at random; they cannot be counted as they stand."
                + (" Ask undercover.PerturbedCounts." if reading.channel is not None else "")
            )
        if reading.classes.problems:
            raise DataError(reading.classes.problems)

    @cached_property
    def asking(self) -> Asking:
        """Who finds the rows that satisfy predicates."""
        return Asking(read(self.release), self.domains)

    def answer(self, query: CountQuery) -> Answer:
        """Answer one query."""
        rows, *values = self.asking.matches(query.where)
        buckets = self.asking.reading.buckets
        if buckets is None:
            found = float(rows.share.sum()), int(rows.certain.sum()), int(rows.possible.sum())
        else:
            found = self._joined(buckets, rows, values[0])
        estimate, lower, upper = found
        return Answer(estimate, lower, upper + self.release.suppressed_rows)

    def _joined(self, buckets: BucketTable, rows: Match, values: Match) -> tuple[float, int, int]:
        """Bucket by bucket: rows that satisfy the one part of the query, values that satisfy the other."""
        of_row, count = buckets.rows.codes, buckets.count
        certain, expected, possible = (
            np.bincount(of_row, weights=part.astype(np.float64), minlength=count)
            for part in (rows.certain, rows.share, rows.possible)
        )
        size = np.bincount(of_row, minlength=count)
        chosen = np.bincount(buckets.of_line, weights=buckets.people * values.certain, minlength=count)
        return (
            float((expected * chosen / size).sum()),
            int(np.maximum(certain + chosen - size, 0).sum()),
            int(np.minimum(possible, chosen).sum()),
        )


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


@dataclass(frozen=True)
class SumAnswer(Viewable):
    """A sum: an estimate, and what it surely lies between, where that is known."""

    estimate: float
    lower: float | None = None
    upper: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {"estimate": self.estimate, "lower": self.lower, "upper": self.upper}

    def view(self) -> View:
        """What it shows; bounds are rounded outwards."""
        if self.lower is None or self.upper is None:
            bounds: tuple[str, Said | str] = ("bounds", "without bounds: values were drawn or dealt at random")
        else:
            ends = Figure(self.lower, text=outwards(self.lower)), Figure(self.upper, text=outwards(self.upper, up=True))
            bounds = ("surely", Said("from {} to {}", ends))
        return View("sum", "Sum", (facts(("about", self.estimate), bounds),))

    def __repr__(self) -> str:
        if self.lower is None or self.upper is None:
            return f"<SumAnswer: about {self.estimate:g}, without bounds>"
        return f"<SumAnswer: about {self.estimate:g}, surely from {self.lower:g} to {self.upper:g}>"


@dataclass(frozen=True, eq=False)
class Sums:
    """Somebody who holds a release and asks for one sum after the other of one column.

    Parameters
    ----------
    release
        One table, or ``qit`` and ``sat``.
    column
        What to add up.
    domains
        Which values columns can have; see :class:`undercover.Recipient`.

    Examples
    --------
    Two boxes of two rows and two buckets across them; of the second box nobody knows who is 30 and who is 34:

    >>> import pyarrow as pa
    >>> from undercover.model.release import PublishedColumn, PublishedTable
    >>> qit = pa.table({"age": ["[20, 29]", "[20, 29]", "[30, 34]", "[30, 34]"], "bucket": [0, 1, 0, 1]})
    >>> sat = pa.table({"bucket": [0, 0, 1, 1], "pay": [10, 20, 30, 40], "count": [1, 1, 1, 1]})
    >>> age, pay = PublishedColumn("age", "quasi-identifier", "interval"), PublishedColumn("pay", "sensitive", "value")
    >>> bucket, count = (PublishedColumn(name, "structure", "value") for name in ("bucket", "count"))
    >>> tables = PublishedTable("qit", (age, bucket), qit), PublishedTable("sat", (bucket, pay, count), sat)
    >>> from undercover.model.form import Buckets
    >>> from undercover.model.queries import Between
    >>> sums = Sums(Release("cross-bucket", {}, tables, False, form=Buckets()), "pay")
    >>> sums.answer({"age": Between(20, 29)})  # one row of each bucket, surely
    <SumAnswer: about 50, surely from 40 to 60>
    >>> sums.answer({"age": Between(20, 30)})  # and perhaps the others
    <SumAnswer: about 60, surely from 40 to 100>
    """

    release: Release
    column: str
    domains: Domains | None = None

    def __post_init__(self) -> None:
        if self.column in self._home.names("quasi-identifier"):
            raise ParameterError(f"Column `{self.column}` is a quasi-identifier; sums are of sensitive columns.")
        if self._reading.buckets is not None and self._home is self._reading.main:
            raise ParameterError(f"Sums of `{self.column}` in two tables are not answered; ask for a sensitive column.")
        if not np.isfinite(self.numbers).all():
            raise ParameterError(f"Column `{self.column}` holds no numbers that could be added up.")

    def answer(self, where: Mapping[str, Predicate | Scalar] | None = None) -> SumAnswer:
        """The sum over the rows that satisfy every predicate."""
        query = SumQuery(self.column, where=where)
        rows, *values = self.asking.matches(query.where)
        if self._reading.buckets is None:
            return self.of_rows(rows)
        homes = self.asking.homes(query.where)
        chosen = values[0].certain if any(home is self._reading.values_table for home in homes.values()) else None
        return self.of_buckets(rows, chosen)

    @property
    def _reading(self) -> Reading:
        return self.asking.reading

    @cached_property
    def asking(self) -> Asking:
        """Who finds the rows that satisfy predicates; rows whose quasi-identifiers were drawn are taken as they are."""
        if read(self.release).covers:
            return Recipient(self.release, self.domains).asking
        return Asking(read(self.release), self.domains)

    def of_rows(self, rows: Match) -> SumAnswer:
        """The sum over rows of one table that carry their own values."""
        estimate = float(rows.share @ self.numbers.mean(axis=1))
        if not self._reading.covers:
            return SumAnswer(estimate)
        surely = self.numbers[rows.certain].sum(axis=0)
        perhaps = self.numbers[rows.possible & ~rows.certain]
        return SumAnswer(
            estimate,
            float(surely[0] + np.minimum(perhaps[:, 0], 0).sum()),
            float(surely[1] + np.maximum(perhaps[:, 1], 0).sum()),
        )

    def of_buckets(self, rows: Match, chosen: Mask | None = None) -> SumAnswer:
        """The sum over rows of the QIT whose values are in the SAT, of which ``chosen`` lines may count."""
        low, middle, high = (one if chosen is None else one.only(chosen) for one in self.values)
        of_row, n = self.buckets.rows.codes, self.buckets.count
        surely, perhaps = (np.bincount(of_row[part], minlength=n) for part in (rows.certain, rows.possible))
        expected = np.bincount(of_row, weights=rows.share, minlength=n)
        left = np.diff(middle.starts)
        least, most = np.maximum(surely + left - low.sizes, 0), np.minimum(perhaps, left)
        return SumAnswer(
            float((expected * middle.totals / low.sizes).sum()),
            float(low.smallest(np.clip(low.negative, least, most)).sum()),
            float(high.largest(np.clip(high.positive, least, most)).sum()),
        )

    @cached_property
    def _home(self) -> PublishedTable:
        return self.asking.homes([self.column])[self.column]

    @cached_property
    def numbers(self) -> Floats:
        """(n_rows, 2) the ends of each published value; missing is 0, what is no number infinite."""
        cells = self._reading.cells(self._home, self.column, nan_is_missing=True)
        if self._home.form(self.column) == "interval":
            return look_up(bin_ends(cells.labels), cells.codes)
        numbers = np.array([_number(label) for label in cells.labels])
        return look_up(np.repeat(numbers[:, None], 2, axis=1), cells.codes)

    @property
    def buckets(self) -> BucketTable:
        """Which row is in which bucket, where values are in a table of their own."""
        assert self._reading.buckets is not None
        return self._reading.buckets

    @cached_property
    def values(self) -> tuple[BucketValues, BucketValues, BucketValues]:
        """The values of every bucket: by their lower ends, their middles and their upper ends."""
        found = self.buckets
        sizes = np.bincount(found.rows.codes, minlength=found.count)
        lines = np.repeat(np.arange(len(found.people)), found.people)

        def by(numbers: Floats) -> BucketValues:
            order = lines[np.lexsort((numbers[lines], found.of_line[lines]))]
            return BucketValues(sizes, order, found.of_line[order], numbers[order])

        low, high = self.numbers.T
        if (low == high).all():
            return (by(low),) * 3
        return by(low), by(self.numbers.mean(axis=1)), by(high)


def answer_sum(release: Release, query: SumQuery, *, domains: Domains | None = None) -> SumAnswer:
    """The sum of a column over the rows that satisfy a query, from a release alone.

    Parameters
    ----------
    release
        One table, or ``qit`` and ``sat``.
    query
        What to add up, and over which rows.
    domains
        Which values columns can have; see :class:`undercover.Recipient`.

    Examples
    --------
    >>> import undercover as uc
    >>> schema = uc.Schema(quasi_identifiers=["age", "sex"], sensitive="salary")
    >>> run = uc.publish(uc.datasets.census(1000, seed=1), schema, uc.CrossBucket(k=3, l=5), seed=1)
    >>> found = uc.answer_sum(run.release, uc.SumQuery("salary", where={"age": uc.Between(30, 40)}))
    >>> found.lower <= found.estimate <= found.upper
    True
    """
    return Sums(release, query.column, domains).answer(query.where)


def _number(label: str) -> float:
    if label == "":
        return 0.0
    try:
        return float(label)
    except ValueError:
        return np.inf
