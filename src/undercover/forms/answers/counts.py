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

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from undercover.errors import DataError, NotTold
from undercover.forms import read
from undercover.forms.answers.asking import Asking, Match
from undercover.forms.distribution import BucketTable
from undercover.forms.domains import Domains
from undercover.model.queries import CountQuery
from undercover.model.release import Release
from undercover.model.view import View, Viewable, facts, say


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
        table. What is not given is read off the release; see :mod:`undercover.forms.domains`.

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
            raise NotTold(
                f"Values published by {self.release.method} are drawn at random; they cannot be counted as they stand."
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
