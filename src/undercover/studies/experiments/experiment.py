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

    Parameters
    ----------
    figure, series, x
        Where its values stand: the figure, the line or bar in it, and the place on the horizontal axis.
    measure
        Called with ``parameters`` as keywords; returns values by the name of what was measured. An
        :class:`~undercover.errors.UndercoverError` means that it cannot be measured on this table.
    parameters
        All the measurement depends on beside the data. They are part of the key a finished cell is found by.
    repetition
        Which of several measurements of the same thing.
    cost
        Expected work, in any unit; only the time left is estimated from it.

    Examples
    --------
    >>> cell = Cell("area", "square", 3, lambda side: {"area": side**2}, {"side": 3})
    >>> cell.measure(**cell.parameters)
    {'area': 9}
    """

    figure: str
    series: str
    x: float | str
    measure: Callable[..., Mapping[str, float]]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    repetition: int = 0
    cost: float = 1.0


@dataclass(frozen=True)
class Judgement:
    """A verdict and the figures it rests on."""

    verdict: Verdict
    figures: str


@dataclass(frozen=True)
class Claim:
    """Something a paper says of its measurements.

    Parameters
    ----------
    id, place
        Short and stable, for scripts, and where the paper says it.
    judge
        From the measured rows to a verdict. Where rows are missing it may raise :class:`NotMeasuredError`.
    statement, criterion
        What is said, in our own words, and when we say that it held, with the tolerance.

    Examples
    --------
    >>> claim = Claim(
    ...     id="small", statement="Areas are small.", place="Section 1", criterion="under 10",
    ...     judge=lambda rows: judged(rows.mean("area", "square", "area") < 10, "9"),
    ... )
    >>> claim.judged(Rows(()))
    Judgement(verdict='cannot be tested', figures='area was not measured for square')
    """

    id: str
    place: str
    judge: Callable[[Rows], Judgement]
    statement: str
    criterion: str

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
    """A picture of one measure, with the table of its figures.

    Parameters
    ----------
    id, title, caption
        A name unique on the page, a heading, and what to see in it.
    points
        ``panel``, ``series``, ``x``, ``mean``, ``min``, ``max`` and ``count`` each; :meth:`Rows.points` makes them.
    x_title, y_title
        Of the axes.
    unit
        How a figure is written: ``seconds``, ``share``, ``number``.
    mark
        ``line`` over numbers, ``bar`` over names.
    reference
        Series to draw as a dashed line: an optimum, a baseline.
    note
        What a reader must know to judge it.
    """

    id: str
    title: str
    caption: str
    points: Sequence[Mapping[str, Any]]
    x_title: str
    y_title: str
    unit: Literal["seconds", "share", "number"] = "number"
    mark: Literal["line", "bar"] = "line"
    reference: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """What a paper measured, as cells, plots and claims.

    Parameters
    ----------
    name, title, paper
        As on the command line, for people, and the source.
    version
        Raised whenever cells would measure something else; results of an earlier version are not used again.
    data
        What the data are, so that equal means the same table: the hash of a file or the parameters of a generator.
    about
        What was run: terms and their descriptions.
    cells
        In the order in which they run.
    plots
        From measured rows to pictures.
    claims
        What the paper says, to be judged.
    prepare
        Called once before the first cell that has to run: loads tables, compiles.
    settings
        What every cell depends on beside the data and its own parameters; part of the keys.
    parameters
        What else was chosen, for the record.
    private
        Whether the data are somebody's.
    """

    name: str
    title: str
    paper: str
    version: int
    data: Mapping[str, Any]
    cells: Sequence[Cell]
    plots: Callable[[Rows], Sequence[Plot]]
    claims: Sequence[Claim]
    about: Mapping[str, str] = field(default_factory=dict)
    prepare: Callable[[Progress], None] = lambda progress: None
    settings: Mapping[str, Any] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    private: bool = False
