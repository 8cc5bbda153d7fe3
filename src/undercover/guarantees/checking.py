"""From figures of classes to a finding: the worst class of the worst column against what was asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from undercover.errors import ParameterError, unknown
from undercover.exact import plain
from undercover.forms.classes import Classes
from undercover.forms.distribution import BLOCK, Distribution
from undercover.model.beliefs import JointBeliefs
from undercover.model.finding import Finding, Sense
from undercover.model.protocols import Cover, Guarantee, fits
from undercover.model.release import Release
from undercover.model.run import Run
from undercover.parameters import check

Topic = Literal["unchanged", "others", "draws"]
LooksAt = Literal["classes", "boxes", "both"]
"""What a guarantee looks at in a release of two tables: buckets, rows that are written alike, or both."""

_EXAMPLES = 10
_PER_VALUE = 16  # entries of a block for every value, which a judge looks at once a block
_NONE = np.empty(0, dtype=np.int64)


@runtime_checkable
class Checkable(Guarantee, Protocol):
    """A guarantee that can be checked on the classes of a published table."""

    def check(self, classes: Classes) -> Finding:
        """Compute what the table has and compare."""


@runtime_checkable
class PrivatelyCheckable(Checkable, Protocol):
    """A guarantee about hidden things, which only the private run can show."""

    def check_run(self, run: Run) -> Finding:
        """Compute what the run has and compare."""


@runtime_checkable
class Stated(Checkable, Protocol):
    """A guarantee about how values were drawn, which no table shows and a release states."""

    def of_release(self, release: Release) -> Checkable:
        """The same, with what the release states filled in."""


@runtime_checkable
class Particular(Checkable, Protocol):
    """A guarantee that only some releases can promise."""

    def unfit(self, release: Release) -> str | None:
        """Why this one cannot; ``None`` where it can."""


@runtime_checkable
class Gradual(Checkable, Protocol):
    """A guarantee that can be asked for so weakly that it promises nothing; any other promises something."""

    def is_vacuous(self, classes: Classes) -> bool:
        """Whether every table with these rows and values keeps it, however they are grouped."""


@runtime_checkable
class Limited(Checkable, Protocol):
    """A guarantee with limits of its own, beyond what :meth:`covers` leaves open."""

    def limits(self, about: Topic) -> list[str]:
        """What it does not cover: with unchanged columns, next to tables of others, or where values were drawn."""


@runtime_checkable
class JointlyDecidable(Checkable, Protocol):
    """A guarantee that decides whether it holds for people who are in several releases."""

    def holds_jointly(self, beliefs: JointBeliefs) -> bool | None:
        """Whether it holds for whoever has all of these releases; ``None`` where that is not decided.

        ``False`` only on bounds: what is believed under an assumption is not decided.
        """


def holds_jointly(guarantee: Guarantee, beliefs: JointBeliefs) -> bool | None:
    """Whether a guarantee holds across releases, by its own word; ``None`` of one that does not say."""
    return guarantee.holds_jointly(beliefs) if fits(guarantee, JointlyDecidable) else None


@dataclass(frozen=True, kw_only=True)
class Promise:
    """What most guarantees have in common: their fields are checked, and written in a spec as they are."""

    about: ClassVar[frozenset[Cover]] = frozenset()
    looks_at: ClassVar[LooksAt] = "classes"
    shown_as: ClassVar[str | None] = None  # what its number is called in a line; None: by its first parameter, "": none
    least_rows: ClassVar[str | None] = None  # the parameter that every class has at least so many rows of
    remarks: ClassVar[tuple[str, ...]] = ()
    """Patterns of what a check of the private run may remark, which nobody else can check."""

    def __post_init__(self) -> None:
        check(self)

    def parameters(self) -> Mapping[str, Any]:
        """What was asked for, as written in a spec."""
        asked = {parameter.name: getattr(self, parameter.name) for parameter in fields(self)}
        return {name: plain(value) for name, value in asked.items() if value is not None}

    def covers(self) -> frozenset[Cover]:
        """What it is about."""
        return self.about

    def holds_jointly(self, beliefs: JointBeliefs) -> bool | None:
        """Not decided, unless a guarantee says otherwise."""
        return None

    def is_vacuous(self, classes: Classes) -> bool:
        """Whether it promises nothing about a table with these rows and values."""
        return False


class Given(NamedTuple):
    """A number that is given beside the one of a requirement, and how that is written."""

    example: str
    needed: bool = False


@dataclass(frozen=True)
class Outcome:
    """One sensitive column under a check: each class' own value and whether that is enough."""

    actual: NDArray[Any]  # (n_classes,)
    kept: NDArray[np.bool_]
    column: str | None = None
    problem: str = ""


def conclude(guarantee: Guarantee, classes: Classes, outcomes: Sequence[Outcome], *, required: float) -> Finding:
    """Put the outcomes of all columns together; the worst value of the worst column is reported."""
    parameters, sense = dict(guarantee.parameters()), guarantee.sense
    columns = tuple(dict.fromkeys([*classes.quasi_identifiers, *(o.column for o in outcomes if o.column is not None)]))
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
        columns=columns,
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
    named = [column] if column is not None else classes.sensitive
    return [judge(classes.sensitive[name].as_read) for name in named]


def in_blocks(judge: Callable[[Distribution], Outcome]) -> Callable[[Distribution], Outcome]:
    """A judge who looks at some classes after the others: what he works out of entries is never there for all."""

    def judged(column: Distribution) -> Outcome:
        parts = [judge(part) for part in column.blocks(max(BLOCK, _PER_VALUE * column.n_values))]
        if len(parts) < 2 or parts[0].problem:
            return parts[0] if parts else judge(column)
        actual, kept = (np.concatenate([getattr(part, name) for part in parts]) for name in ("actual", "kept"))
        return Outcome(actual, kept, column.name)

    return judged


def of_column(column: str | None) -> str:
    """Whose values a promise is about, at the end of its title."""
    return f" of {column}" if column else ""


def value_of(column: str | None) -> str:
    """What a promise calls the values it is about."""
    return f"value of {column}" if column else "sensitive value"


def failed(problem: str) -> Outcome:
    """The outcome where nothing can be computed."""
    return Outcome(_NONE, _NONE.astype(bool), problem=problem)


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
