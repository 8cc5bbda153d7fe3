"""All measures of a release in one go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from undercover.errors import NotTold
from undercover.forms.case import Case
from undercover.forms.displacement import Displacement
from undercover.forms.loss import Loss
from undercover.model.figures import LOSSES, cost
from undercover.model.view import View, Viewable
from undercover.utility.binned_tables import BinnedTables, binned_tables
from undercover.utility.discernibility import (
    average_class_size,
    by_groups,
    discernibility,
    optimal_discernibility,
    smallest_class,
)
from undercover.utility.kept import associations, distances_between
from undercover.utility.queries.counts import QueryError, QueryErrorResult, answers_together
from undercover.utility.queries.sums import SumError, SumErrorResult
from undercover.utility.views import measures_view
from undercover.waiting import Progress, no_progress, through


@dataclass(frozen=True)
class Measures(Viewable):
    """What a release costs.

    ``discernibility`` counts rows that are written alike. Where groups of a run were published with the same cells,
    ``discernibility_by_groups`` counts the groups apart; else it is ``None``. ``discernibility_optimum`` is the least
    of any release that promises classes of the same size; ``None`` where the release states neither k nor l.
    ``query_errors`` (COUNT) and ``sum_errors`` (SUM) are there where asked for. Where quasi-identifiers were drawn, no
    classes are counted: ``displacement`` says how far values moved, or ``note`` why nobody can tell. Where sensitive
    values were dealt anew it is against the owner of the value, and ``moved_cells`` how far quasi-identifiers alone
    were moved from the person's place. ``tables`` has the distributions of columns and pairs, before and after.

    Examples
    --------
    >>> Measures(discernibility=8, average_class_size=2.0, classes=2, rows=4, loss={}, suppressed_rows=0)
    <Measures: 2 classes of 2 rows on average, no loss measured; .to_dict() has the numbers>
    """

    discernibility: int | None
    average_class_size: float | None
    classes: int | None
    rows: int
    loss: dict[str, Loss]
    suppressed_rows: int
    discernibility_optimum: int | None = None
    discernibility_by_groups: int | None = None
    query_errors: tuple[QueryErrorResult, ...] = ()
    sum_errors: tuple[SumErrorResult, ...] = ()
    displacement: Displacement | None = None
    moved_cells: Displacement | None = None
    note: str = ""
    tables: BinnedTables | None = field(default=None, repr=False, compare=False)

    @property
    def discernibility_ratio(self) -> float | None:
        """Discernibility over its optimum."""
        if self.discernibility is None or not self.discernibility_optimum:
            return None
        return self.discernibility / self.discernibility_optimum

    @property
    def suppressed_share(self) -> float:
        """Suppressed rows as a share of all."""
        everything = self.rows + self.suppressed_rows
        return self.suppressed_rows / everything if everything else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Everything, at full precision, ready for JSON."""
        asked: dict[str, Any] = {}
        if self.discernibility_by_groups is not None:
            asked["discernibility_by_groups"] = self.discernibility_by_groups
        if self.query_errors:
            asked["query_errors"] = [result.to_dict() for result in self.query_errors]
            asked["query_errors_by_answer"] = answers_together(self.query_errors)
        if self.sum_errors:
            asked["sum_errors"] = [result.to_dict() for result in self.sum_errors]
        if self.displacement is not None:
            asked["displacement"] = self.displacement.to_dict()
        if self.moved_cells is not None:
            means = {name: loss.arithmetic for name, loss in self.moved_cells.losses().items()}
            asked["moved_quasi_identifiers"] = {**means, **self.moved_cells.to_dict()}
        if self.note:
            asked["note"] = self.note
        if self.tables is not None:
            asked["distances"] = distances_between(self.tables).to_dict()
            asked["distributions"] = [column.to_dict() for column in self.tables.columns.values()]
            asked["associations"] = [found.to_dict() for found in associations(self.tables)]
        return {
            "discernibility": self.discernibility,
            "discernibility_optimum": self.discernibility_optimum,
            "discernibility_ratio": self.discernibility_ratio,
            "average_class_size": self.average_class_size,
            "classes": self.classes,
            "rows": self.rows,
            "loss": {name: loss.to_dict() for name, loss in self.loss.items()},
            "suppressed_rows": self.suppressed_rows,
            "suppressed_share": self.suppressed_share,
            **asked,
        }

    def view(self) -> View:
        """What it shows."""
        return measures_view(self.to_dict())

    def __repr__(self) -> str:
        if self.classes is None or self.average_class_size is None:
            moved = self.loss.get("shift")
            loss = (
                "no loss measured" if moved is None else f"{LOSSES['shift']} by {cost(moved.arithmetic)} of their scale"
            )
            return f"<Measures: {self.rows:,} rows with drawn values, {loss}; .to_dict() has the numbers>"
        arx = self.loss.get("arx")
        loss = "no loss measured" if arx is None else f"{LOSSES['arx']} {cost(arx.arithmetic)}"
        return (
            f"<Measures: {self.classes:,} classes of {self.average_class_size:g} rows on average, {loss}; "
            ".to_dict() has the numbers>"
        )


def measure(
    case: Case,
    *,
    query_error: QueryError | Sequence[QueryError] = (),
    sum_error: SumError | Sequence[SumError] = (),
    progress: Progress = no_progress,
) -> Measures:
    """Measure a release against the table it was made from.

    Beside it whatever queries are asked for, counts and sums: one workload or several of each.
    """
    original, release, reading = case.original, case.release, case.reading
    classes, charged, least = reading.classes, reading.charged, smallest_class(release)
    everybody = classes.rows + classes.suppressed
    best = optimal_discernibility(everybody, least) if charged and least and least <= everybody else None
    loss: Mapping[str, Loss] = {}
    moved, note = None, ""
    try:
        loss, moved = reading.losses(original, case.own), reading.moved(original, case.own)
    except NotTold as why:
        note = str(why)
    workloads = (query_error,) if isinstance(query_error, QueryError) else query_error
    sums = (sum_error,) if isinstance(sum_error, SumError) else sum_error
    asked: list[tuple[str, Any]] = [*(("counts", one) for one in workloads), *(("sums", one) for one in sums)]
    told = through(progress, "measuring", asked, lambda entry: entry[0])
    found: list[Any] = [one.of_release(original, release) for _, one in told]
    return Measures(
        discernibility=discernibility(charged) if charged else None,
        average_class_size=average_class_size(charged) if charged else None,
        classes=charged.count if charged else None,
        rows=classes.rows,
        loss=dict(loss),
        suppressed_rows=classes.suppressed,
        discernibility_optimum=best,
        discernibility_by_groups=by_groups(case),
        query_errors=tuple(one for errors in found if isinstance(errors, dict) for one in errors.values()),
        sum_errors=tuple(one for one in found if not isinstance(one, dict)),
        tables=binned_tables(original, release, case.threads),
        displacement=moved,
        moved_cells=reading.moved_cells(original, case.run),
        note=note,
    )
