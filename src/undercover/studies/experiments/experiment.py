"""What an experiment is: independent cells, plots folded from their figures, and claims judged by them.

An experiment is data. Nothing runs before :func:`undercover.studies.experiments.runner.run_experiment` is handed one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from undercover.model.protocols import Progress
from undercover.studies.experiments.rows import NotMeasuredError, Rows

Verdict = Literal["held", "not held", "cannot be tested"]
HELD: Verdict = "held"
NOT_HELD: Verdict = "not held"
CANNOT_BE_TESTED: Verdict = "cannot be tested"


@dataclass(frozen=True)
class Cell:
    """One measurement, independent of every other.

    >>> cell = Cell("area", "square", 3, lambda side: {"area": side**2}, {"side": 3})
    >>> cell.measure(**cell.parameters)
    {'area': 9}
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


@dataclass(frozen=True)
class Claim:
    """Something a paper says of its measurements."""

    id: str  # short and stable, for scripts
    place: str  # where the paper says it
    judge: Callable[[Rows], Judgement]  # where rows are missing it may raise NotMeasuredError
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

    >>> judged(True, "2 of 2").verdict
    'held'
    """
    return Judgement(HELD if held else NOT_HELD, figures)


def untestable(reason: str) -> Callable[[Rows], Judgement]:
    """The judge of a claim no measurement of ours can decide.

    >>> untestable("we do not have that algorithm")(Rows(())).verdict
    'cannot be tested'
    """
    return lambda rows: Judgement(CANNOT_BE_TESTED, reason)


@dataclass(frozen=True)
class Plot:
    """A picture of one measure, with the table of its figures."""

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


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """What a paper measured, as cells, plots and claims."""

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
