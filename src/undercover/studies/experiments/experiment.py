"""What an experiment is: independent cells, their figures as tidy rows, plots folded from these, and claims judged.

An experiment is data. Nothing runs before :func:`undercover.studies.experiments.runner.run_experiment` is handed one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import stdev
from typing import Any, Literal

from undercover.model.protocols import Progress

COLUMNS = ("experiment", "figure", "series", "x", "measure", "value", "repetition")
Verdict = Literal["held", "not held", "cannot be tested"]
HELD: Verdict = "held"
NOT_HELD: Verdict = "not held"
CANNOT_BE_TESTED: Verdict = "cannot be tested"
LEAST_FOR_T = 5
"""Repetitions from which on an interval of their mean is worth drawing."""
STUDENT = (
    2.777, 2.571, 2.447, 2.365, 2.307, 2.263, 2.229, 2.201, 2.179, 2.161, 2.145, 2.132, 2.120,
    2.110, 2.101, 2.094, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.049, 2.046,
)  # fmt: skip
"""The 97.5% point of Student's t of as many repetitions and of each number above, rounded up; the last for all more."""


class NotMeasuredError(LookupError):
    """A figure that a claim needs and no cell could measure."""


@dataclass(frozen=True)
class Row:
    """One measured value."""

    experiment: str
    figure: str
    series: str
    x: float | str
    measure: str
    value: float
    repetition: int = 0


@dataclass(frozen=True)
class Rows:
    """Measured values, in the order of their cells."""

    rows: tuple[Row, ...]

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def values(
        self, figure: str, series: str | None = None, measure: str | None = None, x: float | str | None = None
    ) -> list[float]:
        """All values that fit; what is left out does not matter."""
        return [
            row.value
            for row in self.rows
            if row.figure == figure
            and (series is None or row.series == series)
            and (measure is None or row.measure == measure)
            and (x is None or row.x == x)
        ]

    def found(self, figure: str, series: str, measure: str, x: float | str | None = None) -> list[float]:
        """The same, if there are any."""
        found = self.values(figure, series, measure, x)
        if not found:
            raise NotMeasuredError(f"{measure} was not measured for {series}" + (f" at {x}" if x is not None else ""))
        return found

    def mean(self, figure: str, series: str, measure: str, x: float | str | None = None) -> float:
        """The mean over repetitions (and over every x, where none is named)."""
        found = self.found(figure, series, measure, x)
        return sum(found) / len(found)

    def means(self, figure: str, series: str, measure: str) -> dict[Any, float]:
        """The mean at every x of the series, by ascending x."""
        return {x: self.mean(figure, series, measure, x) for x in sorted(self.xs(figure, series))}

    def least(self, figure: str, series: str, measure: str, x: float | str | None = None) -> float:
        """The least of the repetitions: of a duration, the one that was disturbed least."""
        return min(self.found(figure, series, measure, x))

    def xs(self, figure: str, series: str) -> list[Any]:
        """Where the series was measured, in the order of its cells."""
        return list(dict.fromkeys(row.x for row in self.rows if row.figure == figure and row.series == series))

    def points(
        self, figure: str, measure: str, *, panel: str = "", series: Iterable[str] | None = None
    ) -> list[dict[str, Any]]:
        """What the repetitions of every series and x came to, ready to be drawn (:func:`summarised`)."""
        wanted = None if series is None else set(series)
        grouped: dict[tuple[str, float | str], list[Row]] = {}
        for row in self.rows:
            if row.figure == figure and row.measure == measure and (wanted is None or row.series in wanted):
                grouped.setdefault((row.series, row.x), []).append(row)
        return [_point(panel, same) for same in grouped.values()]

    def panels(
        self, figure: str, measures: Mapping[str, str], series: Iterable[str] | None = None
    ) -> list[dict[str, Any]]:
        """The points of several measures, each in the panel of that title."""
        return [
            point
            for measure, panel in measures.items()
            for point in self.points(figure, measure, panel=panel, series=series)
        ]


def _point(panel: str, rows: Sequence[Row]) -> dict[str, Any]:
    found = summarised([row.value for row in rows])
    return {"panel": panel, "series": rows[0].series, "x": rows[0].x, **found}


def summarised(values: Sequence[float]) -> dict[str, Any]:
    """Mean, least and greatest of repetitions, and the ``interval`` that is drawn, with its name.

    From five repetitions on that is the 95% interval of the mean by Student's t; of fewer it would say more of t than
    of them, so it is their range. What was measured once has none.

    >>> summarised([1.0, 3.0])["interval"], [round(end, 2) for end in summarised([1.0, 2.0, 3.0, 4.0, 5.0])["interval"]]
    ([1.0, 3.0], [1.04, 4.96])
    """
    count, mean = len(values), sum(values) / len(values)
    interval, kind = [min(values), max(values)], "range"
    if count >= LEAST_FOR_T:
        half = STUDENT[min(count - LEAST_FOR_T, len(STUDENT) - 1)] * stdev(values) / count**0.5
        interval, kind = [mean - half if min(values) < 0 else max(0.0, mean - half), mean + half], "95%"
    return {
        "mean": mean,
        "min": min(values),
        "max": max(values),
        "count": count,
        "interval": interval if count > 1 else None,
        "interval_is": kind if count > 1 else None,
    }


@dataclass(frozen=True)
class Cell:
    """One measurement, independent of every other.

    >>> Cell(figure="area", series="square", x=3, measure=lambda side: {"area": side**2}).repetition
    0
    """

    figure: str
    series: str  # the line or bar in the figure
    x: float | str  # the place on the horizontal axis
    measure: Callable[..., Mapping[str, float]]  # called with the parameters; an UndercoverError: cannot be measured
    parameters: Mapping[str, Any] = field(default_factory=dict)  # all it depends on beside the data; part of its key
    repetition: int = 0
    cost: float = 1.0  # expected work, in any unit; only the time left is estimated from it


@dataclass(frozen=True)
class Judgement:
    """A verdict and the figures it rests on."""

    verdict: Verdict
    figures: str


Judge = Callable[[Rows], Judgement]
"""Gives a verdict with the figures it rests on; where figures are missing, it raises ``NotMeasuredError``."""


@dataclass(frozen=True)
class Claim:
    """Something a paper says of its measurements.

    >>> claim = Claim("large", "Section 1", untestable("nobody measured it"), "It is large.", "more than 1")
    >>> claim.judged(Rows([])).verdict
    'cannot be tested'
    """

    id: str  # short and stable, for scripts
    place: str  # where the paper says it
    judge: Judge
    statement: str  # in our own words
    criterion: str  # when we say that it held, with the tolerance

    def judged(self, rows: Rows) -> Judgement:
        """The verdict on what was measured; what was not cannot be judged."""
        try:
            return self.judge(rows)
        except NotMeasuredError as missing:
            return Judgement(CANNOT_BE_TESTED, str(missing))


def judged(held: bool, figures: str) -> Judgement:
    """Held or not.

    >>> judged(9 > 1, "9 against 1")
    Judgement(verdict='held', figures='9 against 1')
    """
    return Judgement(HELD if held else NOT_HELD, figures)


def untestable(reason: str) -> Judge:
    """The judge of a claim no measurement of ours can decide."""
    return lambda rows: Judgement(CANNOT_BE_TESTED, reason)


@dataclass(frozen=True)
class Plot:
    """A picture of one measure, with the table of its figures.

    >>> Plot(id="area", title="Area", caption="", points=[], x_title="side", y_title="area").mark
    'line'
    """

    id: str  # unique on the page
    title: str
    caption: str  # what to see in it
    points: Sequence[Mapping[str, Any]]  # as Rows.points makes them
    x_title: str
    y_title: str
    unit: Literal["seconds", "share", "number"] = "number"
    mark: Literal["line", "bar"] = "line"
    reference: tuple[str, ...] = ()  # series to draw as a dashed line: an optimum, a baseline
    note: str = ""  # what a reader must know to judge it


@dataclass(frozen=True)
class Shortened:
    """Something that a quick run does on a smaller scale."""

    what: str
    quick: str
    whole: str


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """What a paper measured, as cells, plots and claims.

    >>> nothing = {"data": {}, "cells": [], "plots": lambda rows: [], "claims": []}
    >>> Experiment(name="squares", title="Squares", paper="", version=1, **nothing).private
    False
    """

    name: str
    title: str
    paper: str
    version: int  # raised whenever cells would measure something else: earlier results are then not used again
    data: Mapping[str, Any]  # equal means the same table: the hash of a file or the parameters of a generator
    cells: Sequence[Cell]  # in the order in which they run
    plots: Callable[[Rows], Sequence[Plot]]
    claims: Sequence[Claim]
    about: Mapping[str, str] = field(default_factory=dict)  # what was run: terms and their descriptions
    prepare: Callable[[Progress], None] = lambda progress: None  # once before the first cell: loads tables, compiles
    settings: Mapping[str, Any] = field(default_factory=dict)  # what every cell depends on as well; part of the keys
    parameters: Mapping[str, Any] = field(default_factory=dict)  # what else was chosen, for the record
    private: bool = False  # whether the data are somebody's
    shortened: Sequence[Shortened] | None = None  # what a quick run leaves out of the whole one; ``None``: it is whole
