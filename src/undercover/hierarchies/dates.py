"""Hierarchies over dates: 2024-03-17 lies in 2024-03, that in 2024-Q1, in 2024 and in the 2020s."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, datetime
from typing import Any

import pyarrow as pa

from undercover.errors import HierarchyError, unknown
from undercover.hierarchies.leaves import distinct
from undercover.model.hierarchy import ROOT, Hierarchy
from undercover.model.table import write_values

LEVELS: dict[str, Callable[[date], str]] = {
    "day": lambda moment: f"{moment.year:04d}-{moment.month:02d}-{moment.day:02d}",
    "month": lambda moment: f"{moment.year:04d}-{moment.month:02d}",
    "quarter": lambda moment: f"{moment.year:04d}-Q{(moment.month + 2) // 3}",
    "year": lambda moment: f"{moment.year:04d}",
    "decade": lambda moment: f"{moment.year // 10 * 10:04d}s",
}
"""The levels there are, from the finest to the coarsest."""


def from_dates(values: Any, levels: Sequence[str] = ("month", "quarter", "year", "decade")) -> Hierarchy:
    """A hierarchy of calendar periods.

    Parameters
    ----------
    values
        Dates or times, or texts in ISO form.
    levels
        Some of ``day``, ``month``, ``quarter``, ``year`` and ``decade``, from fine to coarse.

    Examples
    --------
    >>> from_dates(["2024-03-17", "2019-12-01"], levels=["month", "year"]).rows
    (('2019-12-01', '2019-12', '2019', '*'), ('2024-03-17', '2024-03', '2024', '*'))
    """
    problems = [unknown("Level", str(level), LEVELS) for level in levels if level not in LEVELS]
    if not levels:
        problems.append("A hierarchy of dates needs at least one level.")
    elif not problems:
        rank = [list(LEVELS).index(level) for level in levels]
        if rank != sorted(set(rank)):
            problems.append(f"Levels of dates must go from fine to coarse, each once. Got {list(levels)} instead.")
    if problems:
        raise HierarchyError(problems)
    moments = _as_dates(distinct(values))
    labels = write_values(moments)
    periods = [[LEVELS[level](moment) for moment in moments.to_pylist()] for level in levels]
    return Hierarchy(zip(labels, *periods, [ROOT] * len(labels), strict=True))


def _as_dates(values: pa.Array) -> pa.Array:
    if pa.types.is_date(values.type):
        return values.cast(pa.date32())
    if pa.types.is_timestamp(values.type):
        return values.cast(pa.timestamp("us"))
    texts = values.to_pylist()
    try:
        return pa.array([date.fromisoformat(text) for text in texts], pa.date32())
    except (TypeError, ValueError):
        pass
    try:
        return pa.array([datetime.fromisoformat(text) for text in texts], pa.timestamp("us"))
    except (TypeError, ValueError) as error:
        raise HierarchyError(
            f"A hierarchy of dates needs dates in ISO form such as 2024-03-17. Got {texts[0]!r} instead ({error})."
        ) from error
