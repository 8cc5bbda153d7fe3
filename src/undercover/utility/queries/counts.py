"""Query workload error: how far COUNT answers from a release are off, over random queries.

LeFevre, DeWitt & Ramakrishnan 2006 for the workload and the estimate under the uniform assumption; Liu & Wang, "Privacy
Streamliner", Section 4, for the queries (see :mod:`undercover.utility.queries.workload`) and the error of one answer,

    |exact - estimate| / max(exact, 0.005 n)

with n the rows of the original table. The error of a workload is the mean; the median is given beside it.

Deviations: sizes are counted in values that occur (leaves where the column has a hierarchy), so a published range
counts what the original has between its ends, not all whole numbers. A suppressed row is in no box and counts towards
no estimate. Perturbed sensitive values are counted corrected, see :mod:`undercover.forms.perturbed.reading`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from undercover.errors import ParameterError, SchemaError, unknown
from undercover.forms import read
from undercover.forms.looking.rows import MANY, estimated_rows, rows_of
from undercover.forms.meaning import leaf_values
from undercover.forms.spread import Spread, spread_of_groups, spread_of_rows
from undercover.model.groups import Groups
from undercover.model.release import Release
from undercover.model.table import Table
from undercover.model.view import View, Viewable
from undercover.parameters import AtLeast, check
from undercover.randomness import Randomness
from undercover.utility.queries.through_rows import answers_of_rows
from undercover.utility.queries.views import error_view
from undercover.utility.queries.workload import Evaluator, Workload, asks_for_ranges, draw_workload, evaluate

FLOOR = 0.005  # of the rows: what a small answer is divided by instead of itself
ANSWERS = (0.0, 0.001, 0.005, 0.01, 0.05, 0.2)  # answers of at least these shares of the whole are shown together
_EXACT = 1e-9  # an answer is right that is no farther off than sums of fractions are rounded


@dataclass(frozen=True)
class QueryErrorResult(Viewable):
    """The errors of one workload."""

    quasi_identifiers: tuple[str, ...]
    sensitive: str
    rows: int
    exact: NDArray[np.float64] = field(repr=False, compare=False)  # (n_queries,)
    estimated: NDArray[np.float64] = field(repr=False, compare=False)  # (n_queries,)

    @property
    def errors(self) -> NDArray[np.float64]:
        """(n_queries,) relative error of each query."""
        return relative(self.exact, self.estimated, self.rows)

    @property
    def mean(self) -> float:
        """The query workload error."""
        return float(self.errors.mean())

    @property
    def median(self) -> float:
        """The error that half of the queries stay below."""
        return float(np.median(self.errors))

    @property
    def queries(self) -> int:
        """Number of queries."""
        return len(self.exact)

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "quasi_identifiers": list(self.quasi_identifiers),
            "sensitive": self.sensitive,
            "queries": self.queries,
            "mean": self.mean,
            "median": self.median,
            "p90": float(np.quantile(self.errors, 0.9)),
            "by_answer": by_answer(self.exact / self.rows, self.errors),
        }

    def view(self) -> View:
        """What it shows."""
        return error_view(self.to_dict())

    def __repr__(self) -> str:
        return (
            f"<QueryErrorResult: mean {self.mean:.2%}, median {self.median:.2%} over {self.queries:,} queries "
            f"on {', '.join(self.quasi_identifiers)} and {self.sensitive}>"
        )


def relative(exact: NDArray[np.float64], estimated: NDArray[np.float64], whole: float) -> NDArray[np.float64]:
    """How far answers are off, over what is true or, where that is little, over the least part of the whole.

    >>> relative(np.array([100.0, 1.0]), np.array([90.0, 1.0 + 1e-13]), 1000).tolist()
    [0.1, 0.0]
    """
    off = np.abs(estimated - exact) / np.maximum(np.abs(exact), FLOOR * whole)
    return np.where(off > _EXACT, off, 0.0)


def answers_together(results: Sequence[QueryErrorResult]) -> list[dict[str, Any]]:
    """:func:`by_answer` over the questions of several workloads."""
    shares = [result.exact / result.rows for result in results]
    return by_answer(np.concatenate(shares), np.concatenate([result.errors for result in results]))


def by_answer(shares: NDArray[np.float64], errors: NDArray[np.float64]) -> list[dict[str, Any]]:
    """Errors by which share of the whole the true answer is, nothing first; where there are such answers."""
    place = np.where(shares > 0, np.searchsorted(ANSWERS, shares, side="right"), 0)
    found = []
    for position, (low, high) in enumerate(pairwise([0.0, *ANSWERS, 1.0])):
        those = errors[place == position]
        if len(those):
            ends: dict[str, Any] = {"from": low, "to": high, "queries": len(those)}
            found.append({**ends, "median": float(np.median(those)), "p90": float(np.quantile(those, 0.9))})
    return found


@dataclass(frozen=True, kw_only=True)
class QueryError:
    """The query workload error as a measure.

    Parameters
    ----------
    quasi_identifiers
        The sets of columns to ask about, one workload each; by default all quasi-identifiers together.
    sensitive
        The sensitive column; by default the only one.
    queries
        Queries of each workload.
    seed
        Of the queries. The same seed asks every release the same.
    evaluator
        ``auto``, ``cube`` or ``direct``; they differ in speed only.

    Examples
    --------
    >>> import undercover as uc
    >>> people = uc.datasets.census(1000)
    >>> schema = uc.Schema(quasi_identifiers=["age", "sex"], sensitive="income")
    >>> run = uc.publish(people, schema, uc.Mondrian(k=10))
    >>> measure = uc.QueryError(quasi_identifiers=[["age"], ["age", "sex"]], queries=100)
    >>> found = measure.of_release(run.original, run.release)
    >>> sorted(found)
    [('age',), ('age', 'sex')]
    >>> abs(found["age",].mean - measure.of_groups(run.original, run.groups)["age",].mean) < 1e-9
    True
    >>> uc.QueryError(queries=0)
    Traceback (most recent call last):
    undercover.errors.ParameterError: The 'queries' parameter of QueryError must be an int in [1, inf). Got 0 instead.
    """

    quasi_identifiers: tuple[tuple[str, ...], ...] | None = None
    sensitive: str | None = None
    queries: Annotated[int, AtLeast(1)] = 1000
    seed: Annotated[int, AtLeast(0)] = 0
    evaluator: Evaluator = "auto"

    def __post_init__(self) -> None:
        problems: tuple[str, ...] = ()
        try:
            if self.quasi_identifiers is not None:
                object.__setattr__(self, "quasi_identifiers", _as_sets(self.quasi_identifiers))
        except ParameterError as error:
            problems = error.problems
        check(self, problems)

    def of_release(self, original: Table, release: Release) -> dict[tuple[str, ...], QueryErrorResult]:
        """The errors of a release, read from its published tables."""
        sets, sensitive = self._resolved(original)
        if original.n_rows > MANY and self.evaluator == "auto":
            return self._of_many(original, release, sets, sensitive)

        def estimate(names: Sequence[str], workloads: Sequence[Workload]) -> list[NDArray[np.float64]]:
            return estimated(original, release, names, sensitive, workloads, self.evaluator)

        return self._errors(original, sets, sensitive, estimate, Randomness(seed=self.seed))

    def _of_many(
        self, original: Table, release: Release, sets: Sequence[tuple[str, ...]], sensitive: str, threads: int = 2
    ) -> dict[tuple[str, ...], QueryErrorResult]:
        """The same by going through all rows, where there are very many."""
        workloads = [draw_workload(original, names, sensitive, self.queries, Randomness(self.seed)) for names in sets]
        names = list(dict.fromkeys(name for names in sets for name in names))
        values = {name: leaf_values(original[name]) for name in names}
        ranges = {name for name in names if asks_for_ranges(original[name])}
        asked: Any = (names, sensitive, workloads, ranges, threads)
        exact, reading = answers_of_rows(rows_of(original, names, values), *asked), read(release)
        if reading.people is None:
            found = answers_of_rows(estimated_rows(reading, original, values), *asked)
        else:  # whose rows are far fewer than people
            found = estimated(original, release, names, sensitive, workloads)
        return {
            work.names: QueryErrorResult(work.names, sensitive, original.n_rows, np.rint(true), counted)
            for work, true, counted in zip(workloads, exact, found, strict=True)
        }

    def of_groups(self, table: Table, groups: Groups) -> dict[tuple[str, ...], QueryErrorResult]:
        """The errors of groups that are published as the tightest boxes around their rows."""
        return self._of_groups(table, groups, Randomness(seed=self.seed))

    def _of_groups(
        self, table: Table, groups: Groups, randomness: Randomness
    ) -> dict[tuple[str, ...], QueryErrorResult]:
        sets, sensitive = self._resolved(table)

        def estimate(names: Sequence[str], workloads: Sequence[Workload]) -> list[NDArray[np.float64]]:
            return _answers(table, spread_of_groups(table, groups, names, sensitive), workloads, self.evaluator)

        return self._errors(table, sets, sensitive, estimate, randomness)

    def _resolved(self, table: Table) -> tuple[tuple[tuple[str, ...], ...], str]:
        """The sets of columns and the sensitive column, checked against a table."""
        known = table.schema.quasi_identifiers
        sets = self.quasi_identifiers or (known,)
        problems = [
            unknown("Quasi-identifier", name, known)
            for name in dict.fromkeys(name for names in sets for name in names)
            if name not in known
        ]
        columns = table.schema.sensitive
        sensitive = self.sensitive or (columns[0] if len(columns) == 1 else None)
        if sensitive is None:
            problems.append(f"QueryError asks about one sensitive column. The table has {len(columns)}; name one.")
        elif sensitive not in columns:
            problems.append(unknown("Sensitive column", sensitive, columns))
        if problems or sensitive is None:
            raise SchemaError(problems)
        return sets, sensitive

    def _errors(
        self,
        table: Table,
        sets: Sequence[tuple[str, ...]],
        sensitive: str,
        estimate: Callable[[Sequence[str], Sequence[Workload]], list[NDArray[np.float64]]],
        randomness: Randomness,
    ) -> dict[tuple[str, ...], QueryErrorResult]:
        workloads = [draw_workload(table, names, sensitive, self.queries, randomness) for names in sets]
        names = list(dict.fromkeys(name for names in sets for name in names))
        estimated = estimate(names, workloads)
        exact = _answers(table, spread_of_rows(table, names, sensitive), workloads, self.evaluator)
        return {
            workload.names: QueryErrorResult(workload.names, sensitive, table.n_rows, np.rint(true), found)
            for workload, true, found in zip(workloads, exact, estimated, strict=True)
        }


def estimated(
    original: Table,
    release: Release,
    names: Sequence[str],
    sensitive: str,
    workloads: Sequence[Workload],
    evaluator: Evaluator = "auto",
) -> list[NDArray[np.float64]]:
    """What a recipient of the release counts for every query, workload by workload."""
    values = {name: leaf_values(original[name]) for name in names}
    seen, *alike = read(release).spreads(values, sensitive, original[sensitive].domain.labels)
    counted = _answers(original, seen, workloads, evaluator)
    of_any = [replace(workload, values=np.zeros_like(workload.values)) for workload in workloads]
    for spread in alike:
        parts = zip(counted, _answers(original, spread, of_any, evaluator), strict=True)
        counted = [found + taken_off for found, taken_off in parts]
    return counted


def _answers(
    table: Table, spread: Spread, workloads: Sequence[Workload], evaluator: Evaluator
) -> list[NDArray[np.float64]]:
    ranges = {name for name in spread.coverage if asks_for_ranges(table[name])}
    return evaluate(spread, workloads, ranges, evaluator)


def about_each(release: Release, queries: int = 1000) -> tuple[QueryError, ...]:
    """Queries about every quasi-identifier alone and about all together, for each sensitive column of a release."""
    if not read(release).told:
        return ()
    columns = [column for table in release.tables for column in table.columns]
    # A column may stand in several tables (cross-bucket's joined view).
    names = list(dict.fromkeys(column.name for column in columns if column.role == "quasi-identifier"))
    sensitive = list(dict.fromkeys(column.name for column in columns if column.role == "sensitive"))
    sets = tuple((name,) for name in names) + ((tuple(names),) if len(names) > 1 else ())
    return tuple(QueryError(quasi_identifiers=sets, sensitive=name, queries=queries) for name in sensitive if sets)


def query_errors(
    table: Table,
    groups: Groups,
    *,
    quasi_identifiers: Sequence[Sequence[str]],
    queries: int = 1000,
    randomness: Randomness | None = None,
    sensitive: str | None = None,
    evaluator: Evaluator = "auto",
) -> dict[tuple[str, ...], QueryErrorResult]:
    """The query workload error of groups for several sets of quasi-identifiers, from one cube.

    Each group is published as the tightest box around its rows. By default the queries come from the stream of seed 0:
    the same seed asks every grouping the same. Evaluators differ in speed only.
    """
    measure = QueryError(
        quasi_identifiers=_as_sets(quasi_identifiers), sensitive=sensitive, queries=queries, evaluator=evaluator
    )
    return measure._of_groups(table, groups, Randomness(seed=0) if randomness is None else randomness)


def _as_sets(given: Sequence[Sequence[str]]) -> tuple[tuple[str, ...], ...]:
    """Sets of names; one that is empty or names a column twice is refused."""
    if isinstance(given, str) or any(isinstance(names, str) for names in given):
        raise ParameterError('The sets of quasi-identifiers are lists of lists: [["age"], ["age", "sex"]].')
    sets = tuple(tuple(names) for names in given)
    if not sets or any(not names or len(set(names)) < len(names) for names in sets):
        raise ParameterError("Each set of quasi-identifiers needs at least one column, and none twice.")
    return sets
