"""What an experiment is: independent cells, plots folded from their figures, and claims judged by them.

An experiment is data. Nothing runs before :func:`undercover.studies.experiments.runner.run_experiment` is handed one.
What claims are judged by stands at the end: whether figures rise, fall, stay flat or stay below others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass, field
from itertools import pairwise
from operator import gt, lt
from typing import Any, Literal, TypeVar

from undercover.model.protocols import Progress
from undercover.studies.experiments.rows import NotMeasuredError, Rows

Verdict = Literal["held", "not held", "cannot be tested"]
HELD: Verdict = "held"
NOT_HELD: Verdict = "not held"
CANNOT_BE_TESTED: Verdict = "cannot be tested"
Order = Callable[[float, float], bool]
Write = Callable[[float], str]
Found = TypeVar("Found", bound=Sized)


@dataclass(frozen=True)
class Cell:
    """One measurement, independent of every other."""

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
    """Something a paper says of its measurements."""

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
    """Held or not."""
    return Judgement(HELD if held else NOT_HELD, figures)


def untestable(reason: str) -> Judge:
    """The judge of a claim no measurement of ours can decide."""
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


def steps(order: Order, values: Iterable[float]) -> list[bool]:
    """Whether each value and the next stand in that order."""
    return [order(before, after) for before, after in pairwise(values)]


def rises(values: Iterable[float]) -> bool:
    """Whether every value is above the one before."""
    return all(steps(lt, values))


def falls(values: Iterable[float]) -> bool:
    """Whether every value is below the one before."""
    return all(steps(gt, values))


def spread(values: Iterable[float]) -> float:
    """The largest over the smallest: 1 where all is flat."""
    found = list(values)
    return max(found) / max(min(found), 1e-300)


def several(found: Found, missing: str, least: int = 2) -> Found:
    """The figures, if there are enough of them to compare."""
    if len(found) < least:
        raise NotMeasuredError(missing)
    return found


def every(parts: Iterable[tuple[bool, str]], joint: str = "; ", *, missing: str = "nothing was measured") -> Judgement:
    """Held where every part did, each with its figures."""
    found = list(parts)
    if not found:
        raise NotMeasuredError(missing)
    return judged(all(held for held, _ in found), joint.join(text for _, text in found))


def counted(
    held: Sequence[bool], what: str, *, share: float = 1.0, missing: str = "nothing to compare was measured"
) -> Judgement:
    """Held where at least that share of all comparisons did."""
    if not held:
        raise NotMeasuredError(missing)
    return judged(sum(held) >= share * len(held), f"{sum(held):,} of {len(held):,}{what}")


def monotone(holds: Callable[[Iterable[float]], bool], figure: str, series: str, measure: str, write: Write) -> Judge:
    """Whether the means of a series do from each x to the next what ``holds`` asks: :func:`rises` or :func:`falls`."""

    def judge(rows: Rows) -> Judgement:
        means = several(rows.means(figure, series, measure), f"{measure} was measured at one place only")
        return judged(holds(means.values()), ", ".join(f"{x:g}: {write(mean)}" for x, mean in means.items()))

    return judge


def below(
    figure: str,
    ours: str,
    others: Sequence[str],
    measure: str,
    *,
    write: Write,
    at: str,
    missing: str,
    share: float | None = None,
    named: bool = False,
) -> Judge:
    """Whether a mean is below that of all others at every x, or at most that ``share`` of the least of them.

    ``write``, ``at`` and ``named`` say how figures and places are written, ``missing`` what is said where ``ours``,
    which takes the place of ``{}``, was measured nowhere.
    """

    def part(rows: Rows, x: float) -> tuple[bool, str]:
        mine, *theirs = (rows.mean(figure, series, measure, x) for series in (ours, *others))
        held = mine < min(theirs) if share is None else mine <= share * min(theirs)
        if named:
            pairs = zip((ours, *others), (mine, *theirs), strict=True)
            return held, f"{at.format(x)}: {', '.join(f'{name} {write(value)}' for name, value in pairs)}"
        return held, f"{at.format(x)}: {write(mine)} against {' and '.join(map(write, theirs))}"

    return lambda rows: every((part(rows, x) for x in rows.xs(figure, ours)), missing=missing.format(ours))
