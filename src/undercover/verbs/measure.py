"""Measure: what a release costs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from undercover.forms.case import Case
from undercover.model.release import Release
from undercover.model.run import Run
from undercover.model.schema import Schema
from undercover.utility.measures import Measures
from undercover.utility.measures import measure as measure_case
from undercover.utility.queries.counts import QueryError
from undercover.utility.queries.sums import SumError
from undercover.verbs.store import original_of, table_of
from undercover.waiting import Progress, teller, telling


@telling
def measure(
    original: Any,
    release: Release | Run,
    *,
    schema: Schema | None = None,
    query_error: QueryError | Sequence[QueryError] = (),
    sum_error: SumError | Sequence[SumError] = (),
    progress: Progress | bool = False,
) -> Measures:
    """What the release costs: discernibility, class sizes, loss per column, distributions before and after.

    Parameters
    ----------
    original
        The original table, as a frame, a path or an encoded table.
    release
        A release or a run.
    schema
        Kinds and hierarchies of the columns; taken from a run where one is given.
    query_error
        Also ask random COUNT queries, one workload or several, and measure how far off the answers are.
    sum_error
        The same of random sums of a sensitive column of numbers.
    progress
        ``True`` shows how far it is; or a function, called with a stage and the share of it that is done.

    Examples
    --------
    >>> import undercover as uc
    >>> people = uc.datasets.census(1000)
    >>> run = uc.publish(people, uc.Schema(quasi_identifiers=["age"], sensitive="income"), uc.Mondrian(k=10))
    >>> 0 < uc.measure(people, run.release).to_dict()["loss"]["arx"]["arithmetic"] < 1
    True
    """
    if not isinstance(release, Run):
        case = Case(table_of(original, schema, release), release)
    else:
        case = Case(original_of(release, original, schema), release.release, release)
    return measure_case(case, query_error=query_error, sum_error=sum_error, progress=teller(progress))
