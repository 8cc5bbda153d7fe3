"""What claims are judged by: whether figures rise, fall, stay flat or stay below others, and how that is told."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Sized
from itertools import pairwise
from operator import gt, lt
from typing import TypeVar

from undercover.studies.experiments.experiment import Judge, Judgement, NotMeasuredError, Rows, judged

Order = Callable[[float, float], bool]
Write = Callable[[float], str]
Found = TypeVar("Found", bound=Sized)


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
