"""Repeated values: no sensitive value is so rare in the whole table that it points at somebody."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from undercover.forms.classes import Classes
from undercover.forms.distribution import Distribution
from undercover.guarantees.checking import Outcome, assess, conclude
from undercover.model.beliefs import JointBeliefs
from undercover.model.finding import Finding, Sense
from undercover.model.protocols import Cover, Short
from undercover.parameters import AtLeast, check


@dataclass(frozen=True, kw_only=True)
class RepeatedValues:
    """Every sensitive value that is published occurs at least ``times`` times.

    >>> RepeatedValues(times=3).title()
    'Values repeated 3 times'
    """

    name: ClassVar[str] = "repeated-values"
    sense: ClassVar[Sense] = "at least"
    short: ClassVar[Short] = {"times": {}}

    times: Annotated[int, AtLeast(1)]

    def __post_init__(self) -> None:
        check(self)

    def parameters(self) -> Mapping[str, Any]:
        """What was asked for, as written in a spec."""
        return {"times": self.times}

    def title(self) -> str:
        """Its name and numbers."""
        return f"Values repeated {self.times} times"

    def meaning(self) -> str:
        """What it means for the people in the table."""
        return f"Whoever has a sensitive value shares it with at least {self.times - 1} others in the table."

    def covers(self) -> frozenset[Cover]:
        """It bounds nothing about a person who is found."""
        return frozenset()

    def holds_jointly(self, beliefs: JointBeliefs) -> bool | None:
        """How often a value occurs in the table is the same beside any other release."""
        return True

    def check(self, classes: Classes) -> Finding:
        """Find the rarest value."""

        def judge(column: Distribution) -> Outcome:
            rarest = int(column.overall[column.overall > 0].min())
            every = np.full(classes.count, rarest)
            return Outcome(every, every >= self.times, column.name)

        return conclude(self, classes, assess("RepeatedValues", classes, None, judge), required=self.times)
