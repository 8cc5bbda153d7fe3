"""What a check found: what was required, what the table has, and the classes that fall short."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from undercover.errors import ParameterError, unknown
from undercover.forms.classes import Classes
from undercover.forms.distribution import Distribution
from undercover.model.protocols import Guarantee
from undercover.model.release import Release
from undercover.model.run import Run

Sense = Literal["at least", "at most"]

_EXAMPLES = 10
_NONE = np.empty(0, dtype=np.int64)


@runtime_checkable
class Checkable(Guarantee, Protocol):
    """A guarantee that can be checked on the classes of a published table."""

    def check(self, classes: Classes) -> Finding:
        """Compute what the table has and compare."""
        ...


@runtime_checkable
class PrivatelyCheckable(Checkable, Protocol):
    """A guarantee about hidden things, which only the private run can show."""

    def check_run(self, run: Run) -> Finding:
        """Compute what the run has and compare."""
        ...


@runtime_checkable
class Stated(Checkable, Protocol):
    """A guarantee about how values were drawn, which no table shows and a release states."""

    def of_release(self, release: Release) -> Checkable:
        """The same, with what the release states filled in."""
        ...


@dataclass(frozen=True)
class Finding:
    """The outcome of one check.

    ``actual`` is the strongest promise of this kind the table keeps: the largest k or l, the smallest t, delta or
    beta; ``None`` where it is not known. ``holds`` is ``None`` where published tables cannot tell, and ``needs`` then
    names what could.

    Examples
    --------
    >>> Finding("k-anonymity", {"k": 5}, required=5, actual=3, holds=False)
    <Finding: k-anonymity fails, 3 where at least 5 is required>
    >>> Finding("t-closeness", {"t": 0.2}, required=0.2, actual=math.inf, holds=False, sense="at most").manifest_entry()
    {'name': 't-closeness', 't': 0.2, 'required': 0.2, 'actual': 'inf', 'holds': False}
    """

    name: str
    parameters: Mapping[str, Any]
    required: float | None = None
    actual: float | None = None
    holds: bool | None = None
    needs: str | None = None
    note: str = ""
    sense: Sense = "at least"
    violating_rows: int = 0
    examples: tuple[Mapping[str, Any], ...] = field(default=(), compare=False)
    violators: NDArray[np.int64] = field(default_factory=lambda: _NONE, compare=False, repr=False)

    @property
    def violating_classes(self) -> int:
        """Number of classes that fall short."""
        return len(self.violators)

    def shown(self) -> str:
        """The actual value for people, rounded so that it never promises more than there is.

        >>> Finding("l-diversity", {"l": 3}, required=3, actual=3.4567, holds=True).shown()
        '3.45'
        >>> Finding("t-closeness", {"t": 0.2}, required=0.2, actual=0.1234, holds=True, sense="at most").shown()
        '0.124'
        """
        return shown(self.actual, self.sense)

    def to_dict(self) -> dict[str, Any]:
        """Everything, at full precision, ready for JSON."""
        entry = self.manifest_entry()
        entry["violating_classes"] = self.violating_classes
        entry["violating_rows"] = self.violating_rows
        entry["examples"] = [{**example, "actual": _jsonable(example.get("actual"))} for example in self.examples]
        return entry

    def manifest_entry(self) -> dict[str, Any]:
        """What goes into ``release.json``: nothing about single classes."""
        entry: dict[str, Any] = {"name": self.name, **self.parameters}
        entry |= {"required": _jsonable(self.required), "actual": _jsonable(self.actual), "holds": self.holds}
        if self.needs:
            entry["needs"] = self.needs
        if self.note:
            entry["note"] = self.note
        return entry

    def with_note(self, note: str) -> Finding:
        """The same finding with one more remark."""
        return replace(self, note=f"{self.note} {note}".strip())

    def __repr__(self) -> str:
        if self.holds is None:
            return f"<Finding: {self.name} cannot be told from published tables; it needs: {self.needs}>"
        verdict = "holds" if self.holds else "fails"
        if self.actual is None or self.required is None:
            return f"<Finding: {self.name} {verdict}. {self.note}>"
        following = "" if self.holds or not self.examples else "; .examples lists the worst classes"
        return (
            f"<Finding: {self.name} {verdict}, {self.shown()} where {self.sense} {shown(self.required, None)} "
            f"is required{following}>"
        )


@dataclass(frozen=True)
class Outcome:
    """One sensitive column under a check: each class' own value and whether that is enough."""

    actual: NDArray[Any]  # (n_classes,)
    kept: NDArray[np.bool_]
    column: str | None = None
    problem: str = ""


def conclude(
    guarantee: Guarantee, classes: Classes, outcomes: Sequence[Outcome], *, required: float, sense: Sense
) -> Finding:
    """Put the outcomes of all columns together; the worst value of the worst column is reported."""
    parameters = dict(guarantee.parameters())
    problems = [outcome.problem for outcome in outcomes if outcome.problem]
    if problems:
        return Finding(
            guarantee.name, parameters, required, holds=False, note=" ".join(dict.fromkeys(problems)), sense=sense
        )
    if not classes.count:
        return Finding(guarantee.name, parameters, required, holds=True, note="There are no classes.", sense=sense)
    worst = min if sense == "at least" else max
    actual = worst((outcome.actual.min() if worst is min else outcome.actual.max()).item() for outcome in outcomes)
    kept = np.logical_and.reduce([outcome.kept for outcome in outcomes])
    violators = np.flatnonzero(~kept)
    return Finding(
        guarantee.name,
        parameters,
        required,
        actual,
        not len(violators),
        sense=sense,
        violating_rows=int(classes.sizes[violators].sum()),
        examples=_examples(classes, outcomes, sense),
        violators=violators,
    )


def assess(owner: str, classes: Classes, column: str | None, judge: Callable[[Distribution], Outcome]) -> list[Outcome]:
    """Judge the sensitive columns a guarantee speaks of: the one it names, or all."""
    if not classes.sensitive:
        raise ParameterError(f"{owner} is about sensitive values, but no column is sensitive. Name one.")
    if column is not None and column not in classes.sensitive:
        raise ParameterError(unknown("Sensitive column", column, classes.sensitive))
    if classes.problems:
        return [failed(" ".join(classes.problems))]
    if not classes.count:
        return []
    return [judge(classes.sensitive[name]) for name in ([column] if column is not None else classes.sensitive)]


def failed(problem: str) -> Outcome:
    """The outcome where nothing can be computed."""
    return Outcome(_NONE, _NONE.astype(bool), problem=problem)


def shown(value: float | None, sense: Sense | None) -> str:
    """A number for people: rounded down where more is better, up where less is.

    >>> shown(2.9999999999999996, "at least"), shown(5, "at least"), shown(None, "at most"), shown(math.inf, "at most")
    ('3', '5', 'unknown', '∞')
    """
    if value is None:
        return "unknown"
    if math.isinf(value):
        return "∞"
    if isinstance(value, int) or value == 0 or sense is None:
        return format(value, "g") if isinstance(value, float) else str(value)
    decimals = max(2, 2 - math.floor(math.log10(abs(value))))
    # What floating point got wrong in the last digits is no reason to show 2.99 for 3.
    slack = 1e-12 if sense == "at least" else -1e-12
    rounding = ROUND_FLOOR if sense == "at least" else ROUND_CEILING
    rounded = Decimal(value * (1 + slack)).quantize(Decimal(1).scaleb(-decimals), rounding=rounding)
    return format(rounded.normalize(), "f")


def _examples(classes: Classes, outcomes: Sequence[Outcome], sense: Sense) -> tuple[Mapping[str, Any], ...]:
    """The worst classes, worst first."""
    found: list[tuple[float, int, int, Outcome]] = []
    for number, outcome in enumerate(outcomes):
        bad = np.flatnonzero(~outcome.kept)
        badness = outcome.actual[bad] if sense == "at least" else -outcome.actual[bad]
        worst = np.argsort(badness, kind="stable")[:_EXAMPLES]
        found += [(float(badness[position]), number, int(bad[position]), outcome) for position in worst]
    found.sort(key=lambda entry: entry[:3])
    examples = []
    for _, _, index, outcome in found[:_EXAMPLES]:
        example: dict[str, Any] = {"cells": classes.describe(index), "size": int(classes.sizes[index])}
        if outcome.column is not None:
            example["column"] = outcome.column
        examples.append({**example, "actual": outcome.actual[index].item()})
    return tuple(examples)


def _jsonable(value: float | None) -> float | str | None:
    return "inf" if isinstance(value, float) and math.isinf(value) else value
