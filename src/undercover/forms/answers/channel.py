"""Counts, sums and marginals from a release of perturbed generalization: unbiased, with standard errors.

Of a cell of G people one row is published, with its value kept with probability p and otherwise drawn from U. For a set
S of values the indicator b = [value in S] has the mean p c / G + (1 - p) |S| / |U|, where c people of the cell have a
value in S (Tao, Xiao, Li & Zhang, equation 11; the inversion is Warner's 1965). So

    Σ over cells  G a (b - (1 - p) |S| / |U|) / p

is an unbiased estimate of how many people satisfy the query, with a the share of the cell that satisfies its predicates
on quasi-identifiers. Cells that lie partly in the query count by that share, as if their people were spread evenly; the
standard error does not cover this, only what was drawn.

The variance of one draw cannot be told from it. The squared distance of b from any fixed number is at least its
variance on average, so the weighted spread of b over the cells gives a standard error that is on average too large
rather than too small.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from undercover.errors import ParameterError, unknown
from undercover.forms import read
from undercover.forms.answers.asking import Asking, Match
from undercover.forms.answers.domains import Domains, domain_of, stated_domains
from undercover.forms.reading import Reading
from undercover.model.bins import bin_ends
from undercover.model.channel import Channel
from undercover.model.queries import Between, CountQuery, OneOf, Predicate, Scalar, label_of
from undercover.model.release import PublishedColumn, PublishedTable, Release
from undercover.model.view import View, Viewable, facts, say

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Estimate(Viewable):
    """A number and how far it may be off."""

    value: float
    standard_error: float

    def interval(self, z: float = 1.96) -> tuple[float, float]:
        """From ``z`` standard errors below to as many above; 1.96 holds the truth 95 times in 100."""
        return self.value - z * self.standard_error, self.value + z * self.standard_error

    def to_dict(self) -> dict[str, float]:
        """Ready for JSON."""
        return {"estimate": self.value, "standard_error": self.standard_error}

    def view(self) -> View:
        """What it shows."""
        spread = say("{cost} (one standard error)", self.standard_error)
        following = "`.interval()` holds the truth 95 times in 100."
        return View(
            "estimate", "Estimate", (facts(("about", self.value), ("give or take", spread)),), following=following
        )

    def __repr__(self) -> str:
        return f"<Estimate: {self.value:g} ± {self.standard_error:g} (one standard error)>"


@dataclass(frozen=True, eq=False)
class PerturbedCounts:
    """Somebody who holds a release of perturbed generalization and asks it.

    Parameters
    ----------
    release
        The published table with its column ``G``.
    domains
        Which values quasi-identifiers can have, as for :class:`undercover.Recipient`; the trees and orders that the
        release states are known anyway.

    Examples
    --------
    >>> import undercover as uc
    >>> people, schema = uc.datasets.census(5000, seed=1), uc.datasets.census_schema(["age", "sex"])
    >>> run = uc.publish(people, schema, uc.PerturbedGeneralization(k=6, p=0.5), seed=1)
    >>> asked = PerturbedCounts(run.release)
    >>> asked.count({"sex": "Female"}).standard_error  # cells of one sex: nothing was drawn
    0.0
    >>> found = asked.count({"sex": "Female", "income": uc.Between(0, 24)})
    >>> true = sum(s == "Female" and i < 25 for s, i in zip(people["sex"].to_pylist(), people["income"].to_pylist()))
    >>> abs(found.value - true) < 4 * found.standard_error
    True
    """

    release: Release
    domains: Domains | None = None
    _noise: Channel = field(init=False, repr=False)
    _reading: Reading = field(init=False, repr=False)

    def __post_init__(self) -> None:
        reading = read(self.release)
        if reading.channel is None:
            raise ParameterError(f"The values of this release by {self.release.method} did not go through a channel.")
        object.__setattr__(self, "_noise", reading.channel)
        object.__setattr__(self, "_reading", reading)

    @property
    def sensitive(self) -> str:
        """The column whose values were perturbed."""
        return self.release.published().names("sensitive")[0]

    @property
    def values(self) -> tuple[str, ...]:
        """The declared domain of the sensitive column."""
        return self._noise.domain

    def count(self, where: Mapping[str, Predicate | Scalar] | CountQuery | None = None) -> Estimate:
        """How many people satisfy predicates on quasi-identifiers and the sensitive column."""
        asked = where if isinstance(where, CountQuery) else CountQuery(where=where)
        share = self._share(asked)
        if self.sensitive not in asked.where:
            return Estimate(float((self._people * share).sum()), 0.0)
        return self._inverted(share, self.match(asked.where[self.sensitive]).share)

    def sum(self, where: Mapping[str, Predicate | Scalar] | None = None) -> Estimate:
        """The sum of a numeric sensitive column over the people who satisfy predicates on quasi-identifiers.

        People of a bin count as if they stood in its middle; :meth:`sum_between` says how far that may be off.
        """
        return self._inverted(self._quasi_share(where), self._numbers.mean(axis=1))

    def sum_between(self, where: Mapping[str, Predicate | Scalar] | None = None) -> tuple[Estimate, Estimate]:
        """The sum if everybody stood at the lower end of their bin, and at the upper end: the truth lies between them.

        >>> import undercover as uc
        >>> people = uc.datasets.census(5000, seed=1).select(["age", "salary"])
        >>> columns = {"salary": uc.Column(bins=range(0, 400_001, 20_000))}
        >>> schema = uc.Schema(quasi_identifiers=["age"], sensitive="salary", columns=columns)
        >>> release = uc.publish(people, schema, uc.PerturbedGeneralization(k=6, p=0.5), seed=1).release
        >>> asked = PerturbedCounts(release)
        >>> least, most = asked.sum_between()
        >>> round((most.value - least.value) / 5000)  # a bin has 20,000 salaries
        19999
        >>> least.value < asked.sum().value < most.value
        True
        """
        share = self._quasi_share(where)
        return self._inverted(share, self._numbers[:, 0]), self._inverted(share, self._numbers[:, 1])

    def mean(self, where: Mapping[str, Predicate | Scalar] | None = None) -> Estimate:
        """The mean of a numeric sensitive column over the same people."""
        share = self._quasi_share(where)
        people = float((self._people * share).sum())
        if not people:
            raise ParameterError("Nobody satisfies the query, so there is no mean.")
        total = self._inverted(share, self._numbers.mean(axis=1))
        return Estimate(total.value / people, total.standard_error / people)

    def marginal(
        self, where: Mapping[str, Predicate | Scalar] | None = None, *, by: str | None = None
    ) -> list[dict[str, Any]]:
        """How many people have each sensitive value, for everybody or by the values of a quasi-identifier.

        Estimates are unbiased and may therefore lie below 0 where there are few or none.

        >>> import undercover as uc
        >>> people, schema = uc.datasets.census(2000, seed=1), uc.datasets.census_schema(["age", "sex"])
        >>> release = uc.publish(people, schema, uc.PerturbedGeneralization(k=6, p=0.5), seed=1).release
        >>> table = PerturbedCounts(release).marginal()
        >>> len(table), round(sum(line["estimate"] for line in table))
        (50, 2000)
        """
        if by is None:
            share = self._quasi_share(where)
            return [
                {self.sensitive: value, **self._inverted(share, indicator).to_dict()}
                for value, indicator in zip(self._noise.domain, np.eye(self._noise.size), strict=True)
            ]
        lines = []
        for label in self._labels(by):
            conditions = {**(where or {}), by: OneOf([label or None])}
            lines += [{by: label, **line} for line in self.marginal(conditions)]
        return lines

    @cached_property
    def _people(self) -> Floats:
        assert self._reading.people is not None
        return self._reading.people.astype(np.float64)

    @cached_property
    def _numbers(self) -> Floats:
        """(n_values, 2) the ends of the values of the domain, which for plain numbers are the same."""
        column = self.release.published().data.column(self.sensitive)
        if not (self._binned or pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
            raise ParameterError(f"Column `{self.sensitive}` holds no numbers, so it has no sum.")
        return bin_ends(self._noise.domain)

    @property
    def _binned(self) -> bool:
        """Whether the domain was declared as bins of numbers."""
        return self.release.published().form(self.sensitive) == "interval"

    @cached_property
    def _cells(self) -> Asking:
        """Who finds the cells that satisfy predicates on quasi-identifiers."""
        return Asking(self._reading, self._domains)

    @cached_property
    def _domains(self) -> Domains:
        return stated_domains(self.release, self.domains)

    def _labels(self, name: str) -> tuple[str, ...]:
        """The values of a quasi-identifier, missing as the empty text."""
        table = self.release.published()
        if name not in table.names("quasi-identifier"):
            raise ParameterError(unknown("Quasi-identifier", name, table.names("quasi-identifier")))
        values = domain_of(name, self._reading.column(name).labels, table.form(name), self._domains)
        if values is None:
            raise ParameterError(f"Column `{name}` is a continuum. Ask for ranges of it: Between(...).")
        return values.labels

    def _share(self, query: CountQuery) -> Floats:
        """(n_cells,) the part of each cell that satisfies the predicates on quasi-identifiers."""
        table = self.release.published()
        known = (*table.names("quasi-identifier"), self.sensitive)
        problems = [unknown("Column", name, known) for name in query.where if name not in known]
        if problems:
            raise ParameterError(problems)
        quasi = {name: predicate for name, predicate in query.where.items() if name != self.sensitive}
        return self._cells.match(self._reading.main, quasi).share

    def _quasi_share(self, where: Mapping[str, Predicate | Scalar] | None) -> Floats:
        if self.sensitive in (where or {}):
            raise ParameterError(f"Ask about quasi-identifiers only; `{self.sensitive}` is what is estimated.")
        return self._share(CountQuery(where=where))

    def chosen(self, predicate: Predicate) -> NDArray[np.bool_]:
        """(n_values,) which values of the domain satisfy a predicate; a bin, if all of it does."""
        return self.match(predicate).certain

    def match(self, predicate: Predicate) -> Match:
        """Which values of the domain satisfy a predicate; bins surely, possibly, and by what share of them.

        People are taken to be spread evenly over their bin, as over the cells of quasi-identifiers.
        """
        labels = () if isinstance(predicate, Between) else tuple(map(label_of, predicate.values))
        if self._binned and labels and all(label in self._noise.code for label in labels):
            asked = np.isin(np.array(self._noise.domain), labels) == isinstance(predicate, OneOf)
            return Match(asked, asked.astype(np.float64), asked)
        kind = self.release.published().data.column(self.sensitive).type
        values = pa.array(self._noise.domain, pa.string())
        numeric = not (pa.types.is_string(kind) or pa.types.is_dictionary(kind) or pa.types.is_boolean(kind))
        column = PublishedColumn(self.sensitive, "sensitive", "interval" if self._binned else "value")
        data = pa.table({self.sensitive: values.cast(kind) if numeric else values})
        table = PublishedTable("table", (column,), data)
        known = None if self._binned else {self.sensitive: list(self._noise.domain)}
        alone = Asking(read(Release("domain", {}, (table,), True)), known)
        return alone.match(table, {self.sensitive: predicate})

    def _inverted(self, share: Floats, worth: Floats) -> Estimate:
        """Σ over the people of what their value is worth, from what was drawn."""
        p = float(self._noise.p)
        if p == 0:
            raise ParameterError("p = 0: no value was kept, so nothing can be estimated of them.")
        weight = self._people * share / p
        found = worth[self._reading.seen]
        value = float((weight * (found - (1 - p) * worth.mean())).sum())
        squares = weight * weight
        total = float(squares.sum())
        if not total:
            return Estimate(0.0, 0.0)
        centre = float((squares * found).sum()) / total
        draws = total * total / float((squares * squares).sum())
        if draws < 2:  # one cell decides: its own draw tells nothing of its spread
            return Estimate(value, math.sqrt(total) * float(np.ptp(worth)) / 2)
        spread = float((squares * (found - centre) ** 2).sum()) * draws / (draws - 1)
        return Estimate(value, math.sqrt(spread))
